"""What a record of the study shows: cells with intervals, ratios between sizes, the unit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from teijo.analysis import measures
from teijo.analysis.difference import (
    Difference,
    Level,
    difference_between,
    difference_of,
    level_of,
)
from teijo.analysis.repeats import estimate_of_run
from teijo.analysis.replicates import Estimate
from teijo.analysis.unit_size import DIRECTIONS, Direction, Shifted, Sized, UnitFound, infer
from teijo.methods.rounds import Round, Rounds, exchanges_of, rounds_of
from teijo.methods.studies.block_size.cells import (
    Point,
    Probe,
    cells_in_block,
    pairs_of,
    points_of,
)
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.record import Record
from teijo.terms.result import StepResult

NEARLY: Final = 0.90
"""Share of the highest throughput at which a size brings nearly all of it."""


@dataclass(frozen=True, kw_only=True)
class PointFound:
    """One cell of the matrix: its answers, a repeat each, and their means with intervals, which
    allow for blocks that resemble their neighbours.
    """

    point: Point
    answers: tuple[StepResult, ...]
    iops: Estimate
    throughput_mb_s: Estimate
    latency_ns: Estimate

    @property
    def iops_values(self) -> tuple[float, ...]:
        """IOPS, one value a repeat."""
        return tuple(answer.iops for answer in self.answers)


@dataclass(frozen=True, kw_only=True)
class BlockSizes:
    """All that was found. `counted` are the blocks behind the numbers, without the warm-up.

    `unit` is None without a probe, or before there are two repeats.
    """

    rounds: Rounds
    counted: tuple[Round, ...]
    points: Mapping[Point, PointFound]
    unit: UnitFound | None

    def at(self, size_bytes: int, load: int) -> PointFound | None:
        """Return a cell, None where it was not measured."""
        return self.points.get(Point(size_bytes=size_bytes, load=load))

    def ratio(self, size_bytes: int, other_bytes: int, load: int) -> Difference | None:
        """Return IOPS of one size by those of another, with its interval; None without two
        repeats of both.

        Each block has both, in an order of its own, so the interval is that of the blocks' own
        ratios: a level that wanders from block to block is in both.
        """
        one, other = self.at(size_bytes, load), self.at(other_bytes, load)
        if one is None or other is None or min(other.iops_values) <= 0:
            return None
        ratios = [a / b for a, b in zip(one.iops_values, other.iops_values, strict=True)]
        level = level_of(ratios)
        if level is None:
            return None
        certain = Level(mean=1.0, squared_error=0.0, freedom=level.freedom)
        mean = one.iops.mean / other.iops.mean
        return difference_between(certain, replace(level, mean=mean))

    def enough(self, load: int) -> int | None:
        """Return the smallest size that brings 90 % of the highest throughput at this load."""
        own = [one for point, one in self.points.items() if point.load == load]
        highest = max((one.throughput_mb_s.mean for one in own), default=0.0)
        sizes = [
            one.point.size_bytes for one in own if one.throughput_mb_s.mean >= NEARLY * highest
        ]
        return min(sizes, default=None) if highest else None

    @property
    def drift(self) -> Difference | None:
        """The second half of the blocks by the first, in IOPS, over all cells alike."""
        levels = [_level(each, self.points) for each in self.counted]
        half = len(levels) // 2
        return difference_of(levels[:half], levels[len(levels) - half :]) if half >= 2 else None


def blocks_of(settings: BlockSizeSettings, record: Record) -> BlockSizes:
    """Return what a record shows so far, growing or sealed."""
    cells = cells_in_block(settings, record.geometry)
    rounds = rounds_of(exchanges_of(record), cells)
    counted = rounds.whole[settings.warm_up :]
    points = {
        point: _point(point, [each.at(point.name) for each in counted])
        for point in points_of(settings)
        if counted
    }
    unit = None
    pairs = pairs_of(settings, record.geometry)
    if len(counted) >= 2 and pairs:
        lowest = settings.loads[0]
        sized = [
            found
            for point in points.values()
            if point.point.load == lowest
            for found in _sized(settings, point)
        ]
        shifted = [_shifted(pair, counted) for pair in pairs]
        unit = infer(
            sized,
            [one for one in shifted if one is not None],
            record.geometry.logical_block_bytes,
        )
    return BlockSizes(rounds=rounds, counted=tuple(counted), points=points, unit=unit)


def latency_ns(answer: StepResult, direction: Direction) -> float | None:
    """Return the mean latency of one direction of a step, None where it had no such I/O."""
    parts = answer.of(direction)
    count = sum(part.timed.count for part in parts)
    return sum(part.timed.sum_ns for part in parts) / count if count else None


def _point(point: Point, answers: Sequence[StepResult]) -> PointFound:
    means = [
        estimate_of_run([value(answer) for answer in answers])
        for value in (
            lambda answer: answer.iops,
            measures.throughput_mb_s,
            measures.latency_ns_mean,
        )
    ]
    iops, throughput, latency = means
    assert iops is not None, "a counted block has every cell"
    assert throughput is not None, iops
    assert latency is not None, iops
    return PointFound(
        point=point,
        answers=tuple(answers),
        iops=iops,
        throughput_mb_s=throughput,
        latency_ns=latency,
    )


def _level(block: Round, points: Mapping[Point, PointFound]) -> float:
    """Return the geometric mean of a block's IOPS, each by its cell's mean over the blocks."""
    shares = [
        block.at(point.name).iops / found.iops.mean
        for point, found in points.items()
        if found.iops.mean
    ]
    if not shares or min(shares) <= 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, shares)) / len(shares))


def _sized(settings: BlockSizeSettings, found: PointFound) -> list[Sized]:
    """Return the times of a cell's reads and of its writes, as far as every repeat had some."""
    alone = settings.read_percent in (0, 100)
    sized = []
    for direction in DIRECTIONS:
        times = [latency_ns(answer, direction) for answer in found.answers]
        known = tuple(time for time in times if time is not None)
        if len(known) == len(times):
            sized.append(
                Sized(
                    direction=direction,
                    size_bytes=found.point.size_bytes,
                    time_ns=known,
                    alone=alone,
                )
            )
    return sized


def _shifted(pair: tuple[Probe, Probe], counted: Sequence[Round]) -> Shifted | None:
    """Return what a pair says: of reads alone their times, of a mix those of its writes."""
    direction: Direction = "read" if pair[0].read_percent == 100 else "write"
    own, ratios = [], []
    for each in counted:
        times = [latency_ns(each.at(probe.name), direction) for probe in pair]
        if times[0] and times[1]:
            own.append(times[0])
            ratios.append(times[1] / times[0])
    if not own:
        return None
    return Shifted(
        direction=direction,
        size_bytes=pair[0].size_bytes,
        own_ns=math.fsum(own) / len(own),
        ratios=tuple(ratios),
    )
