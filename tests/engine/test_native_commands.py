"""Flushes and discards: counted and timed apart, in no figure of the reads and writes."""

from pathlib import Path
from typing import Any

import pytest

from teijo.engine import Lap, open_simulated
from tests.engine.plans import MIB, SECOND_NS, for_bytes, for_time, opened, stream, totals, written

SIZE = 8 * MIB
BLOCK = 4096


def commands(lap: Lap) -> dict[str, tuple[int, int]]:
    """Return (count, bytes) of each command."""
    for part in lap.result.commands:
        assert int(part.latency.counts.sum()) == part.count, "each is timed"
    return {part.operation: (part.count, part.bytes) for part in lap.result.commands}


def test_a_discard_takes_its_blocks_share_of_the_bytes_and_leaves_a_hole(scratch: Path) -> None:
    target = written(scratch / "target", SIZE)
    with opened(target) as session:
        plan = stream(SIZE, access="shuffled", read_percent=0, discard_percent=100)
        lap = session.run(for_bytes(SIZE, plan))
    assert commands(lap) == {"discard": (SIZE // BLOCK, SIZE)}
    assert totals(lap) == (0, 0)
    assert target.stat().st_blocks == 0
    assert target.stat().st_size == SIZE


@pytest.mark.parametrize("engine", ["native", "sync"])
def test_reads_writes_and_discards_share_the_ios_as_asked(scratch: Path, engine: str) -> None:
    target = written(scratch / "target", SIZE)
    with opened(target, engine) as session:
        shares = {"read_percent": 50, "discard_percent": 20}
        plan = stream(SIZE, queue_depth=1, flush_every_writes=10, **shares)
        lap = session.run(for_bytes(16 * MIB, plan))
    (discards, discarded), (flushes, flushed) = commands(lap)["discard"], commands(lap)["flush"]
    ios = 16 * MIB // BLOCK
    assert discards + totals(lap)[0] == ios
    assert discarded + totals(lap)[1] == 16 * MIB
    # Five standard deviations of a binomial draw of 4096.
    assert abs(discards - 0.2 * ios) < 5 * (ios * 0.2 * 0.8) ** 0.5
    writes = next(part.count for part in lap.result.results if part.operation == "write")
    assert (flushes, flushed) == (writes // 10, 0)


@pytest.mark.parametrize(
    "changes", [{"read_percent": 100, "flush_every_writes": 4}, {"read_percent": 50}]
)
def test_a_stream_that_sends_no_command_has_no_row_of_one(
    scratch: Path, changes: dict[str, Any]
) -> None:
    target = written(scratch / "target", SIZE)
    with opened(target) as session:
        assert session.run(for_bytes(MIB, stream(SIZE, **changes))).result.commands == ()


def test_a_simulated_drive_trims_what_is_discarded() -> None:
    """What was given up need not be moved: the same writes cost less wear."""

    def moved(discard_percent: int) -> float:
        session = open_simulated("slc-a", capacity="256MiB")
        size = session.facts.capacity_bytes
        fill = stream(size, access="sequential", read_percent=0, block_size_bytes=MIB)
        session.run(for_bytes(2 * size, fill))
        before = session.health()
        churn = stream(size, read_percent=0, discard_percent=discard_percent, queue_depth=16)
        lap = session.run(for_time(5 * SECOND_NS, churn))
        assert bool(lap.result.commands) == bool(discard_percent)
        after = session.health()
        names = ("nand_writes_bytes", "host_writes_bytes")
        nand, host = (after[name] - before[name] for name in names)
        return nand / host

    assert moved(40) < 0.8 * moved(0)
