"""The cells of the study: the matrix of sizes and loads, the probe for the device's unit, and the
order in which a block has them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis.unit_size import Direction
from teijo.document.phrase import say
from teijo.methods.phrases import sequential_writes
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.cell import mix_name
from teijo.terms.geometry import Geometry
from teijo.terms.step import ROUND, Measure, Precondition
from teijo.terms.workload import Stream, Workload
from teijo.units import format_block_size

PROBE_SIZES: Final = tuple(1024 << power for power in range(8))
"""1 to 128 KiB: up to twice the largest unit that is looked for."""
PROBE_MIXES: Final = (100, 80)
"""Reads by themselves, and writes few enough that a drive's buffer takes them."""
FILL_BLOCK_BYTES: Final = 128 * units.KIB
FILL_DEPTH: Final = 32


@dataclass(frozen=True, kw_only=True)
class Point:
    """One cell of the matrix."""

    size_bytes: int
    load: int

    @property
    def name(self) -> str:
        """The cell's name: "4 KiB × 10"."""
        return f"{format_block_size(self.size_bytes)} × {self.load}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on the axes of the matrix."""
        size = format_block_size(self.size_bytes)
        return ("outstanding", str(self.load)), ("block size", size)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One half of a pair: I/Os of a size on their own grid, or on one of half of it.

    One I/O is outstanding. Half of the I/Os on the smaller grid lie as on their own.
    """

    size_bytes: int
    read_percent: int
    shifted: bool

    @property
    def name(self) -> str:
        """The cell's name: "probe 80/20 4 KiB on 2 KiB"."""
        size, grid = map(format_block_size, (self.size_bytes, self.grid_bytes))
        return f"probe {mix_name(self.read_percent)} {size} on {grid}"

    @property
    def grid_bytes(self) -> int:
        """The grid of the offsets."""
        return self.size_bytes // 2 if self.shifted else self.size_bytes

    @property
    def direction(self) -> Direction:
        """The I/Os to time: of a mix the writes, whose covering of a part costs a reading."""
        return "read" if self.read_percent == 100 else "write"


Cell = Point | Probe


def points_of(settings: BlockSizeSettings) -> tuple[Point, ...]:
    """Return the matrix, sizes within loads."""
    return tuple(
        Point(size_bytes=size, load=load)
        for load in settings.loads
        for size in settings.block_sizes_bytes
    )


def pairs_of(settings: BlockSizeSettings, geometry: Geometry) -> tuple[tuple[Probe, Probe], ...]:
    """Return the pairs of the probe; none where it is off, and none that write where nothing does.

    Half of a size must still be a whole number of logical blocks.
    """
    span = settings.span_bytes(geometry)
    return tuple(
        (
            Probe(size_bytes=size, read_percent=percent, shifted=False),
            Probe(size_bytes=size, read_percent=percent, shifted=True),
        )
        for percent in PROBE_MIXES
        for size in PROBE_SIZES
        if settings.probe == "on"
        and 2 * geometry.logical_block_bytes <= size <= span // 2
        and (percent == 100 or settings.read_percent < 100)
    )


def block(settings: BlockSizeSettings, geometry: Geometry, number: int) -> tuple[Measure, ...]:
    """Return every cell once, in the order of the block with this number.

    The two of a pair stay together, so that whatever drifts touches both; which is first is drawn.
    """
    draw = np.random.default_rng([settings.order, number])
    groups: list[tuple[Cell, ...]] = [(point,) for point in points_of(settings)]
    for pair in pairs_of(settings, geometry):
        groups.append(pair if draw.integers(2) else pair[::-1])
    return tuple(
        _measure(settings, cell, number)
        for place in draw.permutation(len(groups))
        for cell in groups[place]
    )


def cells_in_block(settings: BlockSizeSettings, geometry: Geometry) -> int:
    """Return how many cells a block has."""
    return len(points_of(settings)) + 2 * len(pairs_of(settings, geometry))


def preconditioning(settings: BlockSizeSettings, geometry: Geometry) -> tuple[Precondition, ...]:
    """Return what is written before the cells, so that part-writes and reads meet data."""
    span = settings.span_bytes(geometry)
    in_order = sequential_writes(
        min(FILL_BLOCK_BYTES, span),
        active_range=settings.active_range,
        threads=1,
        queue_depth=FILL_DEPTH,
        content=settings.content,
    )
    at_random = Stream(
        read_percent=0,
        block_size_bytes=max(4 * units.KIB, geometry.logical_block_bytes),
        queue_depth=FILL_DEPTH,
        active_range=settings.active_range,
        content=settings.content,
    )
    fills = (
        (in_order, settings.fill_times),
        (Workload(streams=(at_random,)), settings.random_times),
    )
    return tuple(
        Precondition(workload=workload, total_bytes=times * span)
        for workload, times in fills
        if times
    )


def sizes_text(sizes: Iterable[int]) -> str:
    """Return the sizes as a person says them: the first and the last."""
    ordered = sorted(sizes)
    first, last = format_block_size(ordered[0]), format_block_size(ordered[-1])
    return first if len(ordered) == 1 else say("{first} to {last}", first=first, last=last)


def _measure(settings: BlockSizeSettings, cell: Cell, number: int) -> Measure:
    match cell:
        case Point():
            read_percent, load, grid = settings.read_percent, cell.load, 0
        case Probe():
            read_percent, load, grid = cell.read_percent, 1, cell.grid_bytes
    stream = Stream(
        read_percent=read_percent,
        block_size_bytes=cell.size_bytes,
        queue_depth=load,
        active_range=settings.active_range,
        content=settings.content,
        alignment_bytes=grid,
    )
    return Measure(
        workload=Workload(streams=(stream,)),
        duration_ns=settings.duration_ns,
        phase=ROUND,
        round_number=number,
        cell=cell.name,
    )
