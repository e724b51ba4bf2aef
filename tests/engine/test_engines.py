"""What every engine on a descriptor promises, native and fio alike, on one file and loop device.

Rates are not compared: a shared host decides them. Counts, bytes, places and errors are.
"""

import errno
import itertools
import os
import signal
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from teijo.engine import Progress
from teijo.errors import DeviceError, PlanError
from tests.engine.plans import (
    LONG_NS,
    MIB,
    SECOND_NS,
    for_bytes,
    for_time,
    opened,
    stream,
    totals,
    written,
)

SIZE = 16 * MIB
BYTE = 0x5A


@pytest.fixture(params=["native", "sync", "fio"])
def engine(request: pytest.FixtureRequest, need: Callable[[str], str]) -> str:
    if request.param == "fio":
        need("fio")
    return str(request.param)


@pytest.fixture
def target(scratch: Path) -> Path:
    return written(scratch / "target", SIZE, BYTE)


def test_reads_for_a_time_are_counted_once_each_and_change_nothing(
    engine: str, target: Path
) -> None:
    before = target.read_bytes()
    with opened(target, engine) as session:
        lap = session.run(for_time(SECOND_NS // 5, stream(SIZE, threads=2)))
    (read,) = lap.result.results
    assert (read.stream, read.operation, read.errors) == ("main", "read", {})
    assert read.count > 0
    assert read.bytes == read.count * 4096
    assert read.latency.counts.sum() == read.count
    assert 0 < read.latency.min_ns <= read.latency.sum_ns / read.count <= read.latency.max_ns
    assert lap.result.elapsed_ns >= SECOND_NS // 5
    assert lap.failure == ""
    assert target.read_bytes() == before


def test_the_intervals_add_up_to_the_lap(engine: str, target: Path) -> None:
    # 200 arrivals at 400 a second: the last one is due in the fifth interval, on any machine. fio
    # counts from when it runs, which a busy machine delays: its last ones are due sooner.
    mixed = stream(SIZE, read_percent=50, ios_per_second=400.0)
    plan = for_bytes(200 * 4096, mixed, interval_ns=SECOND_NS // 10)
    with opened(target, engine) as session:
        lap = session.run(plan)
    assert {lap.operation for lap in lap.result.results} == {"read", "write"}
    for direction in lap.result.results:
        series = direction.intervals
        assert series.ios.sum() == direction.count
        assert series.bytes.sum() == direction.bytes
        assert series.latency_ns_sum.sum() == pytest.approx(direction.latency.sum_ns, rel=0.05)
        assert (np.diff(series.index) > 0).all()
    last = max(direction.intervals.index[-1] for direction in lap.result.results)
    assert last >= (0 if engine == "fio" else 4)


def test_a_byte_bound_is_met_exactly_with_several_threads(engine: str, target: Path) -> None:
    plan = for_bytes(3 * MIB, stream(SIZE, threads=3, read_percent=0))
    with opened(target, engine) as session:
        assert totals(session.run(plan)) == (3 * MIB // 4096, 3 * MIB)


def test_one_sequential_pass_of_four_threads_writes_every_byte_once(
    engine: str, target: Path
) -> None:
    size = SIZE - 4096
    passes = stream(
        size,
        access="sequential",
        read_percent=0,
        block_size_bytes=MIB // 8,
        threads=4,
        content="zero",
    )
    with opened(target, engine) as session:
        lap = session.run(for_bytes(size, passes))
    body = target.read_bytes()
    assert totals(lap)[1] == size, "so that no byte was written twice"
    assert body[:size] == bytes(size)
    assert body[size:] == bytes([BYTE]) * 4096
    assert lap.result.cursors == {"main": 0}


def test_preconditioning_by_four_threads_writes_every_sector_exactly_twice(
    engine: str, target: Path
) -> None:
    size = SIZE - 4096
    passes = [
        stream(
            size,
            access="sequential",
            read_percent=0,
            block_size_bytes=MIB // 8,
            threads=4,
            seed=seed,
        )
        for seed in (1, 2)
    ]
    seen = [sectors_of(target, size)]
    with opened(target, engine) as session:
        for one in passes:
            lap = session.run(for_bytes(size, one))
            assert totals(lap)[1] == size, "so that a pass that missed none wrote none twice"
            assert lap.result.cursors == {"main": 0}, "and the next pass goes on from the beginning"
            seen.append(sectors_of(target, size))
        assert totals(session.run(for_bytes(2 * size, passes[0])))[1] == 2 * size
    for before, after in itertools.pairwise(seen):
        assert all(a != b for a, b in zip(before, after, strict=True))


def sectors_of(path: Path, size: int) -> list[bytes]:
    """Read a file back and return its sectors."""
    body = path.read_bytes()[:size]
    return [body[start : start + 512] for start in range(0, size, 512)]


@pytest.mark.parametrize("access", ["random", "sequential"])
def test_nothing_is_written_outside_the_range(engine: str, access: str, target: Path) -> None:
    start, size = 3 * MIB, 2 * MIB
    inside = stream(size, start_bytes=start, access=access, read_percent=0, threads=2)
    with opened(target, engine) as session:
        session.run(for_bytes(4 * MIB, inside))
    body = target.read_bytes()
    assert body[start : start + size] != bytes([BYTE]) * size
    assert body[:start] == bytes([BYTE]) * start
    assert body[start + size :] == bytes([BYTE]) * (SIZE - start - size)


def test_a_sequential_stream_goes_on_where_the_lap_before_ended(engine: str, target: Path) -> None:
    fields = {"access": "sequential", "read_percent": 0, "block_size_bytes": MIB, "content": "zero"}
    with opened(target, engine) as session:
        first = session.run(for_bytes(10 * MIB, stream(SIZE, **fields)))
        assert first.result.cursors == {"main": 10 * MIB}
        written(target, SIZE, BYTE)
        second = session.run(for_bytes(8 * MIB, stream(SIZE, cursor_bytes=10 * MIB, **fields)))
    assert second.result.cursors == {"main": 2 * MIB}
    body = target.read_bytes()
    assert body[10 * MIB :] == bytes(6 * MIB), "to the end of the range"
    assert body[: 2 * MIB] == bytes(2 * MIB), "and round to its beginning"
    assert body[2 * MIB : 10 * MIB] == bytes([BYTE]) * 8 * MIB


def test_a_timed_sequential_stream_from_a_cursor_comes_round(engine: str, target: Path) -> None:
    fields = {"access": "sequential", "read_percent": 0, "block_size_bytes": MIB, "content": "zero"}
    with opened(target, engine) as session:
        whole = stream(SIZE, cursor_bytes=12 * MIB, **fields)
        lap = session.run(for_time(LONG_NS, whole), lambda look: look.ios <= SIZE // MIB)
    assert totals(lap)[1] > SIZE
    assert target.read_bytes() == bytes(SIZE)


def test_random_content_is_unique_in_every_sector_and_incompressible(
    engine: str, target: Path
) -> None:
    passes = stream(SIZE, access="sequential", read_percent=0, block_size_bytes=MIB // 4)
    with opened(target, engine) as session:
        session.run(for_bytes(SIZE, passes))
    body = target.read_bytes()
    sectors = np.frombuffer(body, np.dtype("V512"))
    assert len(set(sectors.tolist())) == SIZE // 512
    block = MIB // 4
    assert len(zlib.compress(body[:block])) > 0.95 * block, "the stamps of a block are 3 % of it"


def test_two_streams_have_their_own_statistics(engine: str, target: Path) -> None:
    small = stream(SIZE // 2, name="small", queue_depth=2)
    large = stream(
        SIZE // 2, name="large", start_bytes=SIZE // 2, block_size_bytes=65536, read_percent=0
    )

    def until_both_moved(look: Progress) -> bool:
        return not 4096 * look.ios < look.bytes < 65536 * look.ios

    with opened(target, engine) as session:
        lap = session.run(for_time(LONG_NS, small, large), until_both_moved)
    by_name = {(lap.stream, lap.operation): lap for lap in lap.result.results}
    assert set(by_name) == {("small", "read"), ("large", "write")}
    for (name, _), direction in by_name.items():
        block = 4096 if name == "small" else 65536
        assert direction.bytes == direction.count * block > 0


def test_failed_reads_are_counted_by_errno_and_have_no_latency(
    engine: str, loop_device: Path, scratch: Path
) -> None:
    os.truncate(scratch / "backing", 60 * MIB)
    plan = for_bytes(16 * MIB, stream(64 * MIB, block_size_bytes=65536))
    with opened(loop_device, engine) as session:
        lap = session.run(plan)
    (read,) = lap.result.results
    assert set(read.errors) == {errno.EIO}
    assert read.latency.counts.sum() == read.count
    assert read.bytes == read.count * 65536
    assert read.intervals.errors.sum() == read.errors[errno.EIO]
    assert lap.failure == "", "a device that fails now and then is not gone"


def test_a_device_of_which_nothing_is_left_ends_the_lap_with_its_reason(
    engine: str, loop_device: Path, scratch: Path
) -> None:
    lost = stream(32 * MIB, start_bytes=32 * MIB)
    both = for_time(LONG_NS, lost)
    os.truncate(scratch / "backing", 16 * MIB)
    with opened(loop_device, engine) as session:
        try:
            failure = session.run(both).failure
        except DeviceError as error:
            failure = error.message
    assert "gone" in failure


def test_an_observer_that_returns_false_ends_the_lap_and_keeps_it(
    engine: str, target: Path
) -> None:
    looks: list[Progress] = []

    def observe(progress: Progress) -> bool:
        looks.append(progress)
        return progress.ios == 0

    with opened(target, engine) as session:
        lap = session.run(for_time(LONG_NS, stream(SIZE)), observe)
        again = session.run(for_bytes(MIB, stream(SIZE)))
    assert totals(lap)[0] >= looks[-1].ios > 0
    assert lap.result.elapsed_ns < LONG_NS
    assert totals(again)[1] == MIB, "the session serves on"


def test_what_an_observer_raises_comes_out_of_run(engine: str, target: Path) -> None:
    def observe(progress: Progress) -> bool:
        raise ValueError("no more")

    with opened(target, engine) as session:
        with pytest.raises(ValueError, match="no more"):
            session.run(for_time(LONG_NS, stream(SIZE)), observe)
        assert totals(session.run(for_bytes(MIB, stream(SIZE))))[1] == MIB


def test_ctrl_c_ends_the_lap_even_when_nobody_observes(engine: str, target: Path) -> None:
    press = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with opened(target, engine) as session:
        press.start()
        with pytest.raises(KeyboardInterrupt):
            session.run(for_time(LONG_NS, stream(SIZE)))
        assert totals(session.run(for_bytes(MIB, stream(SIZE))))[1] == MIB


def test_an_open_loop_issues_as_many_as_were_due(engine: str, target: Path) -> None:
    with opened(target, engine) as session:
        lap = session.run(for_time(SECOND_NS // 2, stream(SIZE, ios_per_second=400.0)))
    (read,) = lap.result.results
    # Never more than were due; what a busy machine left undone is told (fio does not tell).
    assert 0 < read.count <= 210
    if engine != "fio":
        assert read.backlog_end is not None
        assert read.count + read.backlog_end == 200


def test_a_block_that_splits_logical_blocks_is_refused_before_any_io(
    engine: str, target: Path
) -> None:
    with opened(target, engine) as session, pytest.raises(PlanError, match="1000 B is no multiple"):
        session.run(for_bytes(100_000, stream(1_000_000, block_size_bytes=1000)))


def test_a_target_that_shrank_is_a_named_error_and_still_there(engine: str, target: Path) -> None:
    with opened(target, engine, capacity_bytes=SIZE) as session:
        with pytest.raises(DeviceError, match="the range ends at"):
            session.run(for_time(SECOND_NS, stream(2 * SIZE)))
        if engine == "fio":
            os.truncate(target, SIZE // 2)
            with pytest.raises(DeviceError, match="the range ends at"):
                session.run(for_time(SECOND_NS, stream(SIZE)))
    assert target.exists()
