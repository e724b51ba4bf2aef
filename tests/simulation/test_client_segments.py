"""The client's active range amount: which blocks are written, read off the file that was written.

A file with holes shows it without a look at the engine: what was never written has no blocks.
"""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.methods.pts.iops.method import Iops
from teijo.runner.compile import compile_load
from teijo.terms.geometry import Geometry
from teijo.terms.placing import place
from teijo.terms.step import Measure
from teijo.terms.workload import Access, ActiveRange
from teijo.units import GIB, KIB, MIB
from tests.engine.plans import opened
from tests.methods.canned import Canned, play

SEGMENTS = 2048
Extent = tuple[int, int]


def holes(folder: Path, size_bytes: int) -> Path:
    """Make a file of nothing but holes, on a file system that keeps them."""
    path = folder / "target"
    with path.open("wb") as file:
        file.truncate(size_bytes)
    if path.stat().st_blocks:
        pytest.skip("needs a file system with holes")
    return path


def extents(path: Path) -> list[Extent]:
    """Return (start, length) of every stretch of the file that has blocks, in order."""
    found: list[Extent] = []
    descriptor = os.open(path, os.O_RDONLY)
    try:
        end, size = 0, path.stat().st_size
        while end < size:
            try:
                start = os.lseek(descriptor, end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    break
                raise
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
            found.append((start, end - start))
    finally:
        os.close(descriptor)
    return found


def cell(geometry: Geometry, amount: str, segments: int = SEGMENTS, share: str = "100") -> Measure:
    """Return the tracked cell of a client IOPS run over this amount."""
    overrides = {"amount": amount, "segments": str(segments), "active_range": share,
                 "block_sizes": "4KiB", "mixes": "0/100"}  # fmt: skip
    device = Canned(rate=lambda _: 1_000.0)
    played = play(Iops(), device, spec="1.0-client", geometry=geometry, overrides=overrides)
    return played.measured[0]


def write(
    path: Path, geometry: Geometry, step: Measure, total_bytes: int, **changes: Access
) -> None:
    plan = compile_load(step, geometry, {}, 11)
    (placed,) = plan.streams
    placed = replace(placed, stream=replace(placed.stream, **changes))
    plan = replace(plan, streams=(placed,), duration_ns=None, total_bytes=total_bytes)
    with opened(path) as session:
        session.run(plan)


@pytest.mark.parametrize("share", ["100", "75"])
def test_one_pass_over_the_amount_writes_2048_equal_segments_and_exactly_the_amount(
    tmp_path: Path, share: str
) -> None:
    """The client's plan at 1:256: 8 GiB of 64 GiB become 32 MiB of 256 MiB, in as many pieces."""
    size = 256 * MIB
    geometry = Geometry(capacity_bytes=size, nominal_capacity_bytes=size)
    path = holes(tmp_path, size)
    step = cell(geometry, "32MiB", share=share)
    write(path, geometry, step, 32 * MIB, access=Access.SHUFFLED)
    found = extents(path)
    assert {length for _, length in found} == {32 * MIB // SEGMENTS}
    starts = [start for start, _ in found]
    stride = size * int(share) // 100 // SEGMENTS
    assert starts == [number * stride for number in range(SEGMENTS)]
    assert path.stat().st_blocks * 512 == pytest.approx(32 * MIB, rel=0.01), "and its metadata"
    assert sum(length for _, length in found) == 32 * MIB


@pytest.mark.parametrize(("amount", "segment_bytes"), [("8GiB", 4 * MIB), ("16GiB", 8 * MIB)])
def test_random_writes_of_the_full_plan_fall_in_all_2048_segments_and_nowhere_else(
    tmp_path: Path, amount: str, segment_bytes: int
) -> None:
    size = 64 * GIB
    geometry = Geometry(capacity_bytes=size, nominal_capacity_bytes=size)
    path = holes(tmp_path, size)
    step = cell(geometry, amount)
    (stream,) = step.workload.streams
    placed = place(stream.active_range, geometry, stream.block_size_bytes)
    assert placed == (SEGMENTS, segment_bytes, size // SEGMENTS)
    write(path, geometry, step, 64 * MIB)
    stride = size // SEGMENTS
    found = extents(path)
    assert all(start % stride + length <= segment_bytes for start, length in found)
    # 16,384 writes over 2,048 segments: one would be missed with a chance of 2,048 × e^-8 = 0.7;
    # no more than a few are, where all are equally likely.
    assert SEGMENTS - 8 <= len({start // stride for start, _ in found}) <= SEGMENTS
    places = [start % stride for start, _ in found]
    assert min(places) < segment_bytes // 100
    assert max(places) > segment_bytes - segment_bytes // 100


def test_the_full_plans_touch_exactly_8_and_16_gib_of_any_drive_that_holds_them() -> None:
    for capacity in (64 * GIB, 256_060_514_304, 1_000_204_886_016):
        for amount in (8 * GIB, 16 * GIB):
            for share in (75, 100):
                asked = ActiveRange(share_percent=share, amount_bytes=amount, segments=SEGMENTS)
                drive = Geometry(capacity_bytes=capacity, nominal_capacity_bytes=capacity)
                count, length, stride = place(asked, drive, 1024 * KIB)
                assert count * length == amount
                assert stride >= length
                assert (count - 1) * stride + length <= capacity * share // 100
