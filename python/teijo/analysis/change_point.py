"""Change points of a series: where its level changes, found exactly by PELT with squared error.

What a change means (a cliff, a stall) is not known here. Samples are of equal weight, in order.
"""

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_SAMPLES = 3
PENALTY_TIMES = 3.0
BLOCK_SAMPLES = (1, 2, 4, 8)
_BLOCKS_LEAST = 8
_NORMAL_MEDIAN = 0.6744897501960817
"""The median of the absolute value of a standard normal variable."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Samples `first` to `end` − 1, and their mean."""

    first: int
    end: int
    mean: float


def change_points(
    values: Sequence[float] | Floats, *, penalty: float, least_samples: int = LEAST_SAMPLES
) -> tuple[int, ...]:
    """Return where new segments begin, in order, the first one's beginning left out.

    The segmentation has the least sum of squared deviations from the segments' means plus
    `penalty` for each change, among all whose segments have at least `least_samples`. It is found
    exactly: pruned optimal partitioning (Killick, Fearnhead and Eckley 2012), where a place that
    is dominated is dropped only once the segment that dominates it is long enough to exist.
    """
    assert penalty > 0, penalty
    assert least_samples >= 1, least_samples
    series = np.asarray(values, np.float64)
    count = series.size
    if count < 2 * least_samples:
        return ()
    cost = _Cost(series)
    best = np.full(count + 1, np.inf)
    # The first segment begins at no change, so it is not charged for one.
    best[0] = -penalty
    came_from = np.zeros(count + 1, np.int64)
    places = np.zeros(0, np.int64)
    dropped_at = np.zeros(0, np.int64)
    for end in range(least_samples, count + 1):
        newest = end - least_samples
        # A place before that would leave the first segment too short.
        if newest == 0 or newest >= least_samples:
            places = np.append(places, newest)
            dropped_at = np.append(dropped_at, count + 1)
        kept = dropped_at > end
        places, dropped_at = places[kept], dropped_at[kept]
        totals = best[places] + cost.of(places, end)
        at = int(np.argmin(totals))
        best[end], came_from[end] = totals[at] + penalty, places[at]
        dominated = (totals >= best[end]) & (dropped_at > count)
        dropped_at[dominated] = end + least_samples
    changes: list[int] = []
    place = int(came_from[count])
    while place:
        changes.append(place)
        place = int(came_from[place])
    return tuple(reversed(changes))


def penalty_of(values: Sequence[float] | Floats, *, noise_least: float = 0.0) -> float:
    """Return the price of a change: 3 σ² ln n, at least that of a noise of `noise_least`.

    Schwarz's criterion asks 2 σ² ln n for a change's two numbers, its place and its level; a half
    more, since σ is estimated and neighbours resemble each other. A series without any noise has
    a price that only rounding errors are below.
    """
    series = np.asarray(values, np.float64)
    noise = max(noise_of(series), noise_least)
    price = PENALTY_TIMES * noise**2 * math.log(max(2, series.size))  # ln 1 would make it free
    rounding = math.ulp(1.0) * float(((series - series.mean()) ** 2).sum()) if series.size else 0.0
    # A flat series has neither noise nor rounding, and a price of 0 would part it anywhere.
    return max(price, rounding, sys.float_info.min)


def noise_of(values: Sequence[float] | Floats) -> float:
    """Return the standard deviation of the noise about a level that changes rarely.

    From the median of the differences of neighbouring means over 1, 2, 4 and 8 samples, each as if
    samples were independent; the largest of the four, so that noise which lasts for some samples
    is not taken for changes. 0 for fewer than eight samples.
    """
    series = np.asarray(values, np.float64)
    return max((_noise_of_blocks(series, length) for length in BLOCK_SAMPLES), default=0.0)


def segments_of(values: Sequence[float] | Floats, changes: Sequence[int]) -> tuple[Segment, ...]:
    """Return the segments between change points, none for an empty series."""
    series = np.asarray(values, np.float64)
    if not series.size:
        return ()
    edges = (0, *changes, series.size)
    return tuple(
        Segment(first=first, end=end, mean=float(series[first:end].mean()))
        for first, end in itertools.pairwise(edges)
    )


def _noise_of_blocks(series: Floats, length: int) -> float:
    blocks = series.size // length
    if blocks < _BLOCKS_LEAST:
        return 0.0
    means = series[: blocks * length].reshape(blocks, length).mean(axis=1)
    typical = float(np.median(np.abs(np.diff(means)))) / _NORMAL_MEDIAN
    # The difference of two such means has 2 / length of the variance of a sample.
    return typical * math.sqrt(length / 2)


class _Cost:
    """The sum of squared deviations from the mean, of any stretch of a series."""

    def __init__(self, series: Floats) -> None:
        centred = series - series.mean()  # or the squares would drown what they differ by
        self._sum = np.concatenate(([0.0], np.cumsum(centred)))
        self._squares = np.concatenate(([0.0], np.cumsum(centred**2)))

    def of(self, firsts: NDArray[np.int64], end: int) -> Floats:
        """Return the costs of samples from each of `firsts` to `end` − 1."""
        total = self._sum[end] - self._sum[firsts]
        squares = self._squares[end] - self._squares[firsts]
        # Rounding can leave the difference of two large sums below zero.
        costs: Floats = np.maximum(0.0, squares - total**2 / (end - firsts))
        return costs
