"""What the study measures and finds: the matrix of sizes and loads, the probe for the device's
unit, the order of each block; cells with intervals, ratios between sizes, the unit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.difference import Difference
from teijo.analysis.in_blocks import Repeats, drift_of, ratio_in_blocks, smallest_near_best
from teijo.analysis.unit_size import DIRECTIONS, Direction, Sized, UnitFound, infer, shifted_of
from teijo.document.phrase import say
from teijo.methods.found import Found
from teijo.methods.phrases import sequential_writes
from teijo.methods.rounds import Round, Rounds, over, rounds_of
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.step import ROUND, Measure, Precondition
from teijo.terms.watch import Watch
from teijo.terms.workload import Stream, Workload
from teijo.units import format_block_size

PROBE_SIZES: Final = tuple(1024 << power for power in range(8))
"""1 to 128 KiB: up to twice the largest unit that is looked for."""
PROBE_MIXES: Final = (100, 80)
"""Reads by themselves, and writes few enough that a drive's buffer takes them."""
FILL_BLOCK_BYTES: Final = 128 * units.KIB  # as the PTS preconditions
FILL_DEPTH: Final = 32


@dataclass(frozen=True, kw_only=True)
class Point:
    """One cell: random I/Os of a size and a mix. A cell of the matrix has them on their own grid.

    A probe has a `grid_bytes`: that of its size, or half of it, on which half of the I/Os lie as
    on their own. The two are a pair.
    """

    size_bytes: int
    read_percent: int
    load: int = 1
    grid_bytes: int = 0

    @property
    def name(self) -> str:
        """The cell's name: "4 KiB × 10", "probe 80/20 4 KiB on 2 KiB"."""
        size = format_block_size(self.size_bytes)
        if not self.grid_bytes:
            return f"{size} × {self.load}"
        return f"probe {mix_name(self.read_percent)} {size} on {format_block_size(self.grid_bytes)}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on the axes of the matrix."""
        return (
            ("r/w mix", mix_name(self.read_percent)),
            ("outstanding", str(self.load)),
            ("block size", format_block_size(self.size_bytes)),
        )

    @property
    def direction(self) -> Direction:
        """The I/Os to time: of a mix the writes, whose covering of a part costs a reading."""
        return "read" if self.read_percent == 100 else "write"


def points_of(settings: BlockSizeSettings) -> tuple[Point, ...]:
    """Return the matrix, sizes within loads."""
    return tuple(
        Point(size_bytes=size, read_percent=settings.read_percent, load=load)
        for load in settings.loads
        for size in settings.block_sizes_bytes
    )


def pairs_of(settings: BlockSizeSettings, geometry: Geometry) -> tuple[tuple[Point, Point], ...]:
    """Return the pairs of the probe; none where it is off, and none that write where nothing does.

    Half of a size must still be a whole number of logical blocks.
    """
    span = settings.active_range.span_on(geometry)
    return tuple(
        (
            Point(size_bytes=size, read_percent=percent, grid_bytes=size),
            Point(size_bytes=size, read_percent=percent, grid_bytes=size // 2),
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
    # Of order and number alone: a run that is resumed draws what it drew before.
    draw = np.random.default_rng([settings.order, number])
    groups: list[tuple[Point, ...]] = [(point,) for point in points_of(settings)]
    for pair in pairs_of(settings, geometry):
        # With one order always, what drifts would look like the cost of a shift.
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
    span = settings.active_range.span_on(geometry)
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


def _measure(settings: BlockSizeSettings, cell: Point, number: int) -> Measure:
    stream = Stream(
        read_percent=cell.read_percent,
        block_size_bytes=cell.size_bytes,
        queue_depth=cell.load,
        active_range=settings.active_range,
        content=settings.content,
        alignment_bytes=cell.grid_bytes,
    )
    return Measure(
        workload=Workload(streams=(stream,)),
        duration_ns=settings.duration_ns,
        phase=ROUND,
        round_number=number,
        cell=cell.name,
    )


class BlockSizeFound(Found[BlockSizeSettings]):
    """What a record of the study shows. A block that counts is one after the warm-up."""

    @cached_property
    def course(self) -> Rounds:
        """The blocks, whole and under way."""
        return rounds_of(self.exchanges, cells_in_block(self.settings, self.record.geometry))

    @cached_property
    def counted(self) -> tuple[Round, ...]:
        """The blocks behind the numbers."""
        return self.course.whole[self.settings.warm_up :]

    @property
    def rounds(self) -> int:
        """How many blocks were measured whole."""
        return len(self.course.whole)

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last block that counts."""
        return (self.counted[0].number, self.counted[-1].number) if self.counted else None

    @cached_property
    def points(self) -> Mapping[Point, Repeats]:
        """The cells of the matrix; none before a block counts."""
        return {
            point: Repeats(answers=tuple(each.at(point) for each in self.counted))
            for point in points_of(self.settings)
            if self.counted
        }

    def with_load(self, load: int) -> Mapping[int, Repeats]:
        """Return the cells of one load by their sizes in bytes, ascending."""
        return {at.size_bytes: one for at, one in self.points.items() if at.load == load}

    def at(self, size_bytes: int, load: int) -> Repeats | None:
        """Return a cell, None where it was not measured."""
        return self.with_load(load).get(size_bytes)

    def ratio(self, size_bytes: int, other_bytes: int, load: int) -> Difference | None:
        """Return IOPS of one size by those of another, with its interval; None without two
        repeats of both.
        """
        one, other = self.at(size_bytes, load), self.at(other_bytes, load)
        if one is None or other is None:
            return None
        # Block by block, so that a level that wanders between blocks is in neither size.
        return ratio_in_blocks(one.iops_values, other.iops_values)

    def enough(self, load: int) -> int | None:
        """Return the smallest size that brings 90 % of the highest throughput at this load."""
        cells = self.with_load(load).items()
        return smallest_near_best({size: one.throughput_mb_s.mean for size, one in cells})

    @cached_property
    def drift(self) -> Difference | None:
        """The second half of the blocks by the first, in IOPS, over all cells alike."""
        return drift_of([one.iops_values for one in self.points.values()])

    @cached_property
    def unit(self) -> UnitFound | None:
        """The unit of the device; None without a probe, or before two blocks count."""
        settings, geometry = self.settings, self.record.geometry
        pairs = pairs_of(settings, geometry)
        # Of one block the scatter is not known, so no unit can be told from it.
        if len(self.counted) < 2 or not pairs:
            return None
        sized = [
            Sized(
                direction=direction,
                size_bytes=size,
                time_ns=times,
                alone=settings.read_percent in (0, 100),
            )
            # The formula is of one I/O at a time, and the lowest load comes nearest to that.
            for size, one in self.with_load(settings.loads[0]).items()
            for direction in DIRECTIONS
            if (times := one.times_ns(direction))
        ]
        shifted = (
            shifted_of(
                own.direction,
                own.size_bytes,
                zip(self._times_ns(own), self._times_ns(moved), strict=True),
            )
            for own, moved in pairs
        )
        return infer(sized, [one for one in shifted if one], geometry.logical_block_bytes)

    def _times_ns(self, probe: Point) -> list[float | None]:
        """Return the mean latency of a probe, a block each."""
        answers = (each.at(probe.name) for each in self.counted)
        return [measures.latency_ns_of(answer, probe.direction) for answer in answers]

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The unit with its weight, and the size that is enough at each load."""
        if not self.counted:
            return ()
        found = self.unit
        size = None if found is None else found.unit_bytes
        weight = None if found is None or size is None else found.weights[size]
        return (
            Scalar(name="unit of the device", value=_kib(size), unit="KiB"),
            Scalar(name="weight of that unit", value=weight, unit=""),
            *(
                Scalar(
                    name=say(
                        "size of 90 % of the highest throughput, {load} outstanding", load=load
                    ),
                    value=_kib(self.enough(load)),
                    unit="KiB",
                )
                for load in self.settings.loads
            ),
        )

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells of the matrix over the blocks that count."""
        return tuple(over(self.counted, points_of(self.settings)).values())

    @property
    def watch_running(self) -> Watch:
        """The block and cell under way, and what is left."""
        settings, geometry = self.settings, self.record.geometry
        number, done = self.rounds + 1, len(self.course.under_way)
        ahead = (settings.blocks - self.rounds) * cells_in_block(settings, geometry)
        left_ns = max(0, ahead - done) * settings.duration_ns
        filled = len(self.record.taken(Precondition))
        watch = Watch(phase="measure", remaining_ns_least=left_ns, remaining_ns_most=left_ns)
        if fills := preconditioning(settings, geometry)[filled:]:
            left_bytes = sum(step.total_bytes for step in fills)
            return replace(watch, phase="precondition", remaining_bytes=left_bytes)
        watch = replace(watch, rounds_least=settings.blocks, rounds_most=settings.blocks)
        if number > settings.blocks:
            return watch
        cell = block(settings, geometry, number)[done].cell
        return replace(watch, phase=ROUND, round_number=number, cell=cell)


def _kib(size_bytes: int | None) -> float | None:
    return None if size_bytes is None else size_bytes / units.KIB
