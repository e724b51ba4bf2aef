"""fio alone: where its jobs go (from its own I/O log), what it cannot do, and its life."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.engine import Plan
from teijo.engine.fio.job import JobFile, job_file, sequential_parts
from teijo.engine.plan import VerifyPlan
from teijo.errors import DeviceError, HostError, PlanError
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
KIB_128 = 128 * 1024


@pytest.fixture(autouse=True)
def fio(need: Callable[[str], str]) -> str:
    return need("fio")


@pytest.fixture
def target(scratch: Path) -> Path:
    return written(scratch / "target", SIZE)


Touched = list[tuple[int, int]]


@pytest.fixture
def touched(fio: str, target: Path, scratch: Path) -> Callable[..., Touched]:
    """Return a function that runs a plan's job file and gives (offset, length) of each I/O.

    A plan that is bound by time ends after so many bytes here: what it touches must not depend
    on the machine's speed.
    """

    def run(plan: Plan, *, ends_after_bytes: int | None = None) -> Touched:
        job = of(plan, path=str(target))
        lines = []
        for line in job.text.splitlines():
            if ends_after_bytes and line.startswith(("time_based=", "runtime=", "io_size=")):
                continue
            lines.append(line)
            if line.startswith("[s"):
                lines.append(f"write_iolog={line.strip('[]')}.iolog")
        lines += [f"io_size={ends_after_bytes}"] if ends_after_bytes else []
        (scratch / "job.fio").write_text("\n".join(lines))
        subprocess.run([fio, "job.fio"], cwd=scratch, capture_output=True, check=True)
        found = []
        for log in sorted(scratch.glob("*.iolog")):
            for line in log.read_text().splitlines():
                fields = line.split()
                if fields[2:3] in (["read"], ["write"]):
                    found.append((int(fields[3]), int(fields[4])))
            log.unlink()
        return found

    return run


def of(plan: Plan, *, path: str = "/target", engine: str = "io_uring") -> JobFile:
    return job_file(plan, engine=engine, path=path, device_bytes=SIZE)


def test_another_seed_gives_other_offsets_and_the_same_seed_the_same(
    touched: Callable[..., Touched],
) -> None:
    first, same, other = (
        touched(for_bytes(MIB, stream(SIZE, queue_depth=1, seed=seed))) for seed in (7, 7, 8)
    )
    assert first == same
    assert len(set(first) & set(other)) < len(first) / 2


def test_two_threads_do_not_walk_the_same_offsets(touched: Callable[..., Touched]) -> None:
    both = touched(for_bytes(2 * MIB, stream(SIZE, queue_depth=1, threads=2)))
    half = len(both) // 2
    assert len(set(both[:half]) & set(both[half:])) < half / 2


def test_random_offsets_cover_the_range_and_stay_in_it(
    touched: Callable[..., Touched],
) -> None:
    inside = touched(for_bytes(8 * MIB, stream(2 * MIB, start_bytes=4 * MIB)))
    assert all(4 * MIB <= offset < 6 * MIB for offset, _ in inside)
    assert len({offset for offset, _ in inside}) == pytest.approx(512 * (1 - 0.018), rel=0.02)


@pytest.mark.parametrize("threads", [1, 3, 4])
@pytest.mark.parametrize("cursor_bytes", [0, 5 * MIB])
def test_two_passes_touch_every_block_exactly_twice(
    touched: Callable[..., Touched], threads: int, cursor_bytes: int
) -> None:
    size = SIZE - 8192
    passes = stream(
        size,
        access="sequential",
        read_percent=0,
        block_size_bytes=KIB_128,
        threads=threads,
        cursor_bytes=cursor_bytes,
    )
    counts = Counter(
        offset + sector
        for offset, length in touched(for_bytes(2 * size, passes))
        for sector in range(0, length, 4096)
    )
    assert counts == dict.fromkeys(range(0, size, 4096), 2)


def test_a_mix_of_sizes_and_zones_is_fios_own(touched: Callable[..., Touched]) -> None:
    composite = stream(
        SIZE,
        block_mix=((4096, 70), (16384, 30)),
        block_size_bytes=16384,
        access="zoned",
        zones=((50.0, 5.0), (30.0, 15.0), (20.0, 80.0)),
    )
    found = touched(for_bytes(16 * MIB, composite))
    small = sum(length == 4096 for _, length in found) / len(found)
    assert small == pytest.approx(0.7, abs=0.05)
    near = sum(offset < SIZE * 0.05 for offset, _ in found) / len(found)
    assert near == pytest.approx(0.5, abs=0.06)


def test_patterns_and_contents_are_written_in_fios_words() -> None:
    writes = {"read_percent": 0, "flush_every_writes": 32}
    zipf = of(for_time(SECOND_NS, stream(SIZE, access="zipf", skew=1.1, **writes))).text
    assert "random_distribution=zipf:1.1\n" in zipf
    assert "fdatasync=32\n" in zipf
    fresh = of(for_time(SECOND_NS, stream(SIZE, content="refill", **writes))).text
    assert "refill_buffers=1\n" in fresh
    partly = stream(SIZE, content="compressible", content_percent=40, **writes)
    assert "buffer_compress_percentage=40\n" in of(for_time(SECOND_NS, partly)).text
    repeated = stream(SIZE, content="dedupable", content_percent=30, **writes)
    assert "dedupe_percentage=30\n" in of(for_time(SECOND_NS, repeated)).text


@pytest.mark.parametrize(
    "changes",
    [
        {"verify": VerifyPlan(run=1, generation=1)},
        {"access": "shuffled"},
        {"access": "zipf", "skew": 1.0},
        {"discard_percent": 10},
        {"access": "sequential", "block_mix": ((4096, 1), (8192, 1)), "block_size_bytes": 8192},
    ],
)
def test_what_fio_would_do_otherwise_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(PlanError, match="fio cannot"):
        of(for_time(SECOND_NS, stream(SIZE, **changes)))


def test_segments_are_touched_evenly_and_the_gaps_not_at_all(
    touched: Callable[..., Touched],
) -> None:
    pieces = stream(SIZE, segments=16, segment_bytes=MIB // 4, stride_bytes=MIB)
    # 16 I/Os are what a piece gets before the next one: four times around.
    found = touched(for_time(LONG_NS, pieces), ends_after_bytes=4 * MIB)
    assert {offset // MIB for offset, _ in found} == set(range(16))
    assert max(offset % MIB for offset, _ in found) < MIB // 4
    counts = Counter(offset // MIB for offset, _ in found)
    assert set(counts.values()) == {64}


def test_the_parts_of_a_sequential_stream_hold_its_bytes() -> None:
    for threads in (1, 2, 3, 7):
        for size in (SIZE, SIZE - 4096, 40 * KIB_128 + 512):
            whole = stream(size, access="sequential", block_size_bytes=KIB_128, threads=threads)
            for total in (size, 2 * size, size // KIB_128 * KIB_128 // 2):
                parts = sequential_parts(whole, total)
                held = sum(part.total_bytes or 0 for part in parts)
                assert 0 <= held - total < KIB_128, (threads, size, total)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            for_time(SECOND_NS, stream(4 * MIB, segments=2, segment_bytes=MIB)),
            "to the end of the device",
        ),
        (
            for_time(
                SECOND_NS,
                stream(
                    SIZE, segments=2, segment_bytes=MIB, stride_bytes=8 * MIB, access="sequential"
                ),
            ),
            "over 2 segments",
        ),
        (
            for_bytes(MIB, stream(SIZE, segments=2, segment_bytes=MIB, stride_bytes=8 * MIB)),
            "by bytes",
        ),
        (for_bytes(MIB, stream(MIB), stream(MIB, name="other")), "several streams"),
        (for_time(SECOND_NS, stream(SIZE, threads=4, ios_per_second=3.0)), "3 I/Os per second"),
        (for_time(SECOND_NS, stream(512)), "smaller than a block"),
    ],
)
def test_what_fio_cannot_do_is_refused_with_a_remedy(plan: Plan, words: str) -> None:
    with pytest.raises(PlanError, match=words) as refused:
        of(plan)
    assert refused.value.remedy


def test_psync_is_refused_a_queue() -> None:
    with pytest.raises(PlanError, match="queue depth is 8"):
        of(for_time(SECOND_NS, stream(SIZE)), engine="psync")


def test_a_gap_between_two_laps_is_noted(target: Path) -> None:
    with opened(target, "fio") as session:
        lap = session.run(for_bytes(MIB, stream(SIZE), open_ended=True))
    assert any("starts anew" in note for note in lap.notes)


def test_the_backend_names_the_version(target: Path) -> None:
    with opened(target, "fio") as session:
        assert session.backend.startswith("fio 3.")


def test_a_missing_fio_says_how_to_install_it(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HostError, match="fio is not installed") as missing, opened(target, "fio"):
        pass
    assert "apt install fio" in missing.value.remedy


def test_a_block_that_direct_io_refuses_is_a_named_error(target: Path) -> None:
    with (
        pytest.raises(DeviceError, match="cannot read 100 B with direct I/O"),
        opened(target, "fio", logical_block_bytes=100),
    ):
        pass


def test_a_claimed_device_is_driven(loop_device: Path) -> None:
    descriptor = os.open(loop_device, os.O_RDWR | os.O_EXCL)
    try:
        with opened(loop_device, "fio") as session:
            assert totals(session.run(for_bytes(MIB, stream(SIZE))))[1] == MIB
    finally:
        os.close(descriptor)


def test_a_file_that_shrank_is_neither_grown_nor_removed(target: Path) -> None:
    with opened(target, "fio") as session:
        os.truncate(target, SIZE // 2)
        with pytest.raises(DeviceError, match="the range ends at"):
            session.run(for_bytes(MIB, stream(SIZE)))
    assert target.stat().st_size == SIZE // 2


ORPHAN = """
import sys
from pathlib import Path
from tests.engine.plans import LONG_NS, for_time, opened, stream
with opened(Path(sys.argv[1]), "fio") as session:
    session.run(for_time(LONG_NS, stream(1 << 20)), lambda look: print("ran", flush=True) or True)
"""


def test_fio_dies_with_us(target: Path, need: Callable[[str], str]) -> None:
    need("setpriv")
    root = Path(__file__).parents[2]
    ours = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(target)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": f"{root}:{root / 'python'}", "TMPDIR": str(target.parent)},
    )
    assert ours.stdout is not None
    assert ours.stdout.readline() == b"ran\n"
    children = Path(f"/proc/{ours.pid}/task/{ours.pid}/children").read_text().split()
    assert len(children) == 1
    os.kill(ours.pid, signal.SIGKILL)
    ours.wait()
    ours.stdout.close()
    while is_running(int(children[0])):
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Return whether a process is there and no zombie (whoever is its new parent reaps it)."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_a_lap_stopped_in_its_first_leg_keeps_what_was_read(target: Path) -> None:
    stops = for_time(LONG_NS, stream(SIZE, access="sequential", cursor_bytes=8192))
    with opened(target, "fio") as session:
        lap = session.run(stops, lambda look: look.ios == 0)
    assert totals(lap)[0] > 0
    assert lap.result.elapsed_ns < LONG_NS


def test_writes_through_are_dsync_and_other_terms_are_said_or_refused() -> None:
    job = of(for_time(LONG_NS, stream(SIZE, read_percent=0, write_through=True)))
    assert "sync=dsync" in job.text.splitlines()
    assert "sync" not in of(for_time(LONG_NS, stream(SIZE, read_percent=0))).text
    same = of(for_time(LONG_NS, stream(SIZE, read_percent=0, content="one-block")))
    assert any("a random block of its own" in note for note in same.notes)
    own = {"access": "sequential", "thread_stride_bytes": 0}
    of(for_time(LONG_NS, stream(SIZE, **own)))
    with pytest.raises(PlanError, match="cursor of its own"):
        of(for_time(LONG_NS, stream(SIZE, threads=2, **own)))
    with pytest.raises(PlanError, match="counted bytes"):
        of(for_time(LONG_NS, stream(SIZE, read_percent=0, content="counting")))
