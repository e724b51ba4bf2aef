"""What chance makes of offsets and of orders: how many blocks even draws touch, and how seldom
loads come in order by themselves.
"""

import math
from collections.abc import Sequence

import numpy as np


def even_distinct(places: float, ios: float) -> float:
    """Return how many different places `ios` even draws touch on average: N(1 − (1 − 1/N)ⁿ)."""
    if places <= 1:
        return min(places, ios)
    return -places * math.expm1(ios * math.log1p(-1 / places))


def walked_again(places: float, earlier: float, between: float, own: float) -> float:
    """Return which share of a walk's places an earlier one has passed, once round or not at all.

    One walk in a circle of `places`: `earlier` of them, `between` others, then `own`.
    """
    if not own or places <= 0:
        return 0.0
    if max(earlier, own) >= places:
        return min(1.0, earlier / places)
    begins = (earlier + between) % places
    # The walk meets the earlier one where it begins within it, or goes once round into it.
    within = max(0.0, min(earlier, begins + own) - begins)
    round_again = max(0.0, min(earlier, begins + own - places))
    return min(1.0, (within + round_again) / own)


def inversions_of(values: Sequence[float]) -> int:
    """Return how many pairs of the values stand in falling order."""
    return sum(
        later < earlier for place, earlier in enumerate(values) for later in values[place + 1 :]
    )


def rank_correlation(groups: Sequence[Sequence[float]]) -> float | None:
    """Return Kendall's tau of the values with their places, over all groups together.

    1: every group rises throughout; −1: every group falls; None where no group has a pair. The
    values of a group are different.
    """
    pairs = sum(math.comb(len(each), 2) for each in groups)
    if not pairs:
        return None
    return 1 - 2 * sum(map(inversions_of, groups)) / pairs


def chance_of_order(groups: Sequence[Sequence[float]]) -> float:
    """Return how often orders drawn at random would correlate as strongly, rising or falling.

    Exact: the counts of permutations by inversions (Mahonian numbers), convolved over groups.
    """
    counts = np.ones(1)
    for group in groups:
        for length in range(2, len(group) + 1):
            counts = np.convolve(counts, np.ones(length) / length)
    found = sum(map(inversions_of, groups))
    extreme = min(found, len(counts) - 1 - found)
    tail = float(counts[: extreme + 1].sum())
    return min(1.0, 2 * tail)
