"""Cells measured in blocks, each block with every cell once: how cells compare, and whether the
device changes from block to block. A cell is its values, one a block, in the blocks' order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Final, Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.difference import Difference, Level, difference_between, difference_of, level_of
from teijo.analysis.repeats import estimate_of_run
from teijo.analysis.replicates import Estimate
from teijo.terms.result import StepResult

NEARLY: Final = 0.90
"""Share of the highest rate that is nearly all of it."""


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """A cell by its answers, a block each, at least one; its intervals allow for blocks that
    resemble their neighbours.
    """

    answers: tuple[StepResult, ...]

    @property
    def iops_values(self) -> tuple[float, ...]:
        """IOPS, one value a block."""
        return tuple(answer.iops for answer in self.answers)

    @cached_property
    def iops(self) -> Estimate:
        """IOPS over the blocks."""
        return _estimate(self.iops_values)

    @cached_property
    def throughput_mb_s(self) -> Estimate:
        """MB/s over the blocks."""
        return _estimate([measures.throughput_mb_s(answer) for answer in self.answers])

    @cached_property
    def latency_ms(self) -> Estimate:
        """The mean latency over the blocks."""
        means = [measures.latency_ns_mean(answer) for answer in self.answers]
        return _estimate(means).times(1 / units.NS_PER_MS)

    def times_ns(self, direction: Literal["read", "write"]) -> tuple[float, ...]:
        """Return the mean latency of one direction, a block each; none if one has no such I/O."""
        times = [measures.latency_ns_of(answer, direction) for answer in self.answers]
        known = tuple(time for time in times if time is not None)
        return known if len(known) == len(times) else ()


def ratio_in_blocks(one: Sequence[float], other: Sequence[float]) -> Difference | None:
    """Return the mean of one cell by that of the other; None without two blocks of both.

    The interval is that of the blocks' own ratios: a level that wanders from block to block is in
    both cells.
    """
    if min(other, default=0.0) <= 0:
        return None
    level = level_of([a / b for a, b in zip(one, other, strict=True)])
    if level is None:
        return None
    # Only the error is that of the blocks' ratios: their mean is not the ratio of the means.
    certain = Level(mean=1.0, squared_error=0.0, freedom=level.freedom)
    return difference_between(certain, replace(level, mean=fmean(one) / fmean(other)))


def drift_of(cells: Sequence[Sequence[float]]) -> Difference | None:
    """Return the second half of the blocks by the first, over all cells alike; None for fewer than
    two blocks in each half.
    """
    means = [fmean(each) for each in cells]
    shares = [
        [each / mean for each in cell] for cell, mean in zip(cells, means, strict=True) if mean
    ]
    levels = [_geometric_mean(block) for block in zip(*shares, strict=True)]
    half = len(levels) // 2
    # Of an odd number of blocks the middle one is in neither half.
    return difference_of(levels[:half], levels[len(levels) - half :]) if half >= 2 else None


def smallest_near_best(rates: Mapping[int, float]) -> int | None:
    """Return the smallest key whose rate is nearly the highest; None where no rate is above 0."""
    highest = max(rates.values(), default=0.0)
    near = [key for key, rate in rates.items() if rate >= NEARLY * highest]
    return min(near) if highest else None


def _estimate(values: Sequence[float]) -> Estimate:
    found = estimate_of_run(values)
    assert found is not None, "a cell has an answer"
    return found


def _geometric_mean(shares: Sequence[float]) -> float:
    if not shares or min(shares) <= 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, shares)) / len(shares))
