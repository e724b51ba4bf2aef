"""What a lap says of the blocks it touched and of what it wrote, on files and in virtual time."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo.analysis.revisits import even_distinct
from teijo.device.layout import unwritten_bytes
from teijo.engine import Session, open_simulated
from teijo.engine.content import content_of, content_of_files, sample_of
from teijo.engine.folder import Folder
from teijo.terms.census import Census
from teijo.terms.result import Performed
from teijo.terms.work import RANDOM_CALLS, FileContent, FileIo
from tests.engine.plans import MIB, for_bytes, opened, stream, written

SIZE = 16 * MIB
PAGES = SIZE // 4096


def simulated() -> Session:
    return open_simulated("slc-a", capacity="256MiB")


def taken(session: Session, total_bytes: int, **changes: Any) -> tuple[Census, ...]:
    plan = for_bytes(total_bytes, stream(SIZE, **({"census": True} | changes)))
    return session.run(plan).result.census


def test_a_sequential_pass_touches_each_block_once_and_a_second_the_same_again() -> None:
    session = simulated()
    (first,) = taken(session, SIZE, access="sequential", threads=3)
    assert (first.ios, first.distinct, first.revisit_share) == (PAGES, PAGES, 0)
    (again,) = taken(session, 2 * SIZE, access="sequential")
    assert (again.ios, again.distinct, again.revisit_share) == (2 * PAGES, PAGES, 0.5)
    assert first.overlap(again) == again.overlap(first) == 1
    (behind,) = taken(session, SIZE, access="sequential", start_bytes=SIZE)
    assert behind.overlap(first) == 0


def test_threads_that_all_begin_at_the_start_read_the_same_blocks() -> None:
    (shared,) = taken(simulated(), SIZE // 2, access="sequential", threads=4)
    own = {"access": "sequential", "threads": 4, "thread_stride_bytes": 0}
    (apart,) = taken(simulated(), SIZE // 2, **own)
    assert shared.revisit_share == 0
    assert apart.revisit_share == pytest.approx(0.75, abs=0.05)


def test_even_draws_touch_as_many_blocks_as_the_urn_says_and_the_same_seed_the_same() -> None:
    ios = 3 * PAGES
    (found,) = taken(simulated(), ios * 4096, threads=2)
    assert found.distinct == pytest.approx(PAGES * (1 - (1 - 1 / PAGES) ** ios), rel=0.05)
    (few,) = taken(simulated(), 500 * 4096, segment_bytes=200 * MIB, stride_bytes=200 * MIB)
    (same,) = taken(simulated(), 500 * 4096, segment_bytes=200 * MIB, stride_bytes=200 * MIB)
    seed = {"segment_bytes": 200 * MIB, "stride_bytes": 200 * MIB, "seed": 8}
    (other,) = taken(simulated(), 500 * 4096, **seed)
    assert few.overlap(same) == 1
    overlap = few.overlap(other)
    assert overlap is not None
    assert overlap < 0.05


def test_reads_and_writes_are_counted_apart_and_nothing_is_where_nobody_asks() -> None:
    reads, writes = taken(simulated(), SIZE, read_percent=70, access="shuffled")
    assert (reads.operation, writes.operation) == ("read", "write")
    assert reads.ios + writes.ios == PAGES
    assert reads.overlap(writes) == 0
    assert taken(simulated(), SIZE, census=False) == ()


@pytest.mark.parametrize("engine", ["native", "sync"])
def test_a_file_gives_the_census_that_a_simulated_device_gives(scratch: Path, engine: str) -> None:
    load = {"read_percent": 30, "queue_depth": 1}
    with opened(written(scratch / "target", SIZE), engine) as session:
        real = taken(session, 4 * MIB, **load)
    assert real == taken(simulated(), 4 * MIB, **load)


def test_the_sample_of_content_is_what_a_file_gets(scratch: Path) -> None:
    load = {"access": "sequential", "read_percent": 0, "queue_depth": 1, "block_size_bytes": 65536}
    for content in ("random", "refill", "compressible", "dedupable", "one-block", "counting"):
        placed = stream(SIZE, content=content, content_percent=40, **load)
        path = written(scratch / "target", SIZE)
        with opened(path) as session:
            session.run(for_bytes(8 * 65536, placed))
        data = path.read_bytes()
        own = tuple(data[start : start + 32768] for start in range(0, 8 * 65536, 65536))
        assert sample_of(own) == content_of(placed), content


def test_what_is_written_is_told_by_how_often_it_repeats_and_how_it_compresses() -> None:
    def shares(**changes: Any) -> tuple[float, float]:
        found = content_of(stream(SIZE, read_percent=0, **changes))
        return found.repeated_share, found.compressible_share

    fresh = shares()
    assert fresh[0] == 0
    assert fresh[1] < 0.05
    assert shares(content="one-block")[0] == pytest.approx(63 / 64)
    assert shares(content="one-block")[1] == 0
    assert shares(content="zero", threads=4) == (63 / 64, pytest.approx(0.99, abs=0.01))
    counted = shares(content="counting", block_size_bytes=MIB)
    assert counted == (63 / 64, pytest.approx(0.93, abs=0.02))
    half = shares(content="compressible", content_percent=50, block_size_bytes=65536)
    assert half == (0, pytest.approx(0.5, abs=0.05))
    again = content_of(stream(SIZE, read_percent=0, seed=7)).prints
    assert again == content_of(stream(SIZE, read_percent=0, seed=7)).prints
    assert not set(again) & set(content_of(stream(SIZE, read_percent=0, seed=8)).prints)


def test_what_was_never_written_of_a_file_is_counted_and_of_a_pipe_unknown(scratch: Path) -> None:
    path = scratch / "sparse"
    with path.open("wb") as file:
        file.truncate(4 * MIB)
        file.seek(MIB)
        file.write(b"x" * MIB)
        file.flush()
        os.fsync(file.fileno())
        assert unwritten_bytes(file.fileno(), 4 * MIB) == 3 * MIB
        file.seek(0)
        file.write(b"x" * 4 * MIB)
        file.flush()
        os.fsync(file.fileno())
        assert unwritten_bytes(file.fileno(), 4 * MIB) in (0, None)
    reading, writing = os.pipe()
    assert unwritten_bytes(reading, MIB) is None
    os.close(reading)
    os.close(writing)


CHUNKS = 400
"""Of a file: fewer than a census keeps, so that each is in it."""
FILLED = FileIo(operation="write", file_bytes=CHUNKS * 8192, chunk_bytes=8192, fresh=True)


def worked(path: Path | None, *works: FileIo) -> list[Performed]:
    """Return what came of works on files, in a folder or in virtual time."""
    if path is None:
        with closing(open_simulated("os(slc-a)")) as session:
            return [session.perform(each, 5 + at, lambda _: True) for at, each in enumerate(works)]
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    with closing(Folder(descriptor)) as folder:
        os.close(descriptor)
        return [folder.run(each, 5 + at, lambda _: True) for at, each in enumerate(works)]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("share", [False, True])
def test_work_on_files_touches_in_a_folder_what_it_touches_in_virtual_time(
    workers: int, share: bool, tmp_path: Path
) -> None:
    filled = replace(FILLED, workers=1 if share else workers, census=True)
    drawn = replace(
        filled, fresh=False, calls=900, workers=workers, share=share, rewrite_percent=20
    )
    works = [filled, *(replace(drawn, operation=name) for name in RANDOM_CALLS)]
    works += [replace(drawn, operation=name, each_once=True) for name in RANDOM_CALLS]
    real, simulated = worked(tmp_path, *works), worked(None, *works)
    assert [each.census for each in real] == [each.census for each in simulated]
    files = 1 if share else workers
    for work, done in zip(works, real, strict=True):
        (census,) = done.census
        assert (census.stream, census.operation) == ("files", work.operation)
        assert census.ios == done.results[0].count == work.count
        if work.operation == "write":
            assert census.distinct == pytest.approx(CHUNKS * files)
            assert census.revisit_share == 0
            continue
        if work.each_once:
            assert census.distinct == pytest.approx(min(900, CHUNKS * files))
            continue
        each = even_distinct(CHUNKS, 900 / files) * files
        assert census.distinct == pytest.approx(each, rel=0.05)
    assert worked(None, replace(filled, census=False))[0].census == ()


def test_steps_of_one_seed_touch_the_same_chunks_and_others_do_not() -> None:
    drawn = replace(FILLED, operation="random-read", fresh=False, calls=80, census=True)
    with closing(open_simulated("os(slc-a)")) as session:
        session.perform(FILLED, 1, lambda _: True)
        first, again, other = (
            session.perform(drawn, seed, lambda _: True).census[0] for seed in (8, 8, 9)
        )
    assert again.overlap(first) == 1
    assert other.overlap(first) == pytest.approx(first.distinct / CHUNKS, abs=0.15)


@pytest.mark.long
def test_the_sample_of_content_is_what_large_files_get(tmp_path: Path) -> None:
    for content in ("random", "zero", "one-block", "cumulative"):
        for work in (
            replace(FILLED, content=content),
            replace(FILLED, content=content, chunk_bytes=65536, file_bytes=16 * 65536),
            replace(FILLED, content=content, chunk_bytes=1, timed_calls=8192),
            replace(FILLED, content=content, chunk_bytes=1, style="stdio", file_bytes=64 * 4096),
            replace(FILLED, content=content, chunk_bytes=512),
        ):
            worked(tmp_path, work)
            data = (tmp_path / "large-00000").read_bytes()
            (tmp_path / "large-00000").unlink()
            unit = 4096 if work.style == "stdio" else work.chunk_bytes * work.timed_calls
            unit = max(4096, unit)
            writes = max(8, min(64, 262144 // min(unit, 32768)))
            own = tuple(data[at * unit :][: min(unit, 32768)] for at in range(writes))
            assert sample_of(own) == content_of_files(work, 5), work
    assert content_of_files(replace(FILLED, operation="rewrite"), 5) is None


def test_what_is_written_to_files_is_told_by_how_it_repeats_and_compresses() -> None:
    def shares(content: FileContent) -> tuple[float, float]:
        found = content_of_files(replace(FILLED, content=content), 1)
        assert found is not None
        return found.repeated_share, found.compressible_share

    fresh = shares("random")
    assert fresh[0] == 0
    assert fresh[1] < 0.05
    assert shares("zero") == (63 / 64, pytest.approx(0.99, abs=0.01))
    # Of each chunk the first half is another, and the second is still all zeros.
    assert shares("cumulative") == (31 / 64, pytest.approx(0.99, abs=0.01))
    assert shares("one-block") == (62 / 64, pytest.approx(0, abs=0.05))
