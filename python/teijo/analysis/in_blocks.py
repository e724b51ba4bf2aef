"""Cells measured in blocks, each block with every cell once: how cells compare, and whether the
device changes from block to block. A cell is its values, one a block, in the blocks' order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from teijo.analysis.difference import (
    Difference,
    Level,
    difference_between,
    difference_of,
    level_of,
)

NEARLY: Final = 0.90
"""Share of the highest rate that is nearly all of it."""


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
    certain = Level(mean=1.0, squared_error=0.0, freedom=level.freedom)
    return difference_between(certain, replace(level, mean=_mean(one) / _mean(other)))


def drift_of(cells: Sequence[Sequence[float]]) -> Difference | None:
    """Return the second half of the blocks by the first, over all cells alike; None for fewer than
    two blocks in each half.
    """
    means = [_mean(each) for each in cells]
    shares = [
        [each / mean for each in cell] for cell, mean in zip(cells, means, strict=True) if mean
    ]
    levels = [_geometric_mean(block) for block in zip(*shares, strict=True)]
    half = len(levels) // 2
    return difference_of(levels[:half], levels[len(levels) - half :]) if half >= 2 else None


def smallest_near_best(rates: Mapping[int, float]) -> int | None:
    """Return the smallest key whose rate is nearly the highest; None where no rate is above 0."""
    highest = max(rates.values(), default=0.0)
    near = [key for key, rate in rates.items() if rate >= NEARLY * highest]
    return min(near) if highest else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _geometric_mean(shares: Sequence[float]) -> float:
    if not shares or min(shares) <= 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, shares)) / len(shares))
