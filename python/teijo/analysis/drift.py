"""Whether drives differ by what they have in common (a host, a firmware), or by a number that each
has (its temperature): permutation tests on ranks, exact where there are few arrangements.

Values are logarithms, a row a drive and a column a figure; the first column is their level.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.difference import CONFIDENCE, student_t_limit
from teijo.analysis.outliers import FOUND_SHARE, centre_and_scale

Floats = NDArray[np.float64]
Orders = NDArray[np.int64]

ARRANGEMENTS_MOST: Final = 10_000
"""With more arrangements than this, so many are drawn."""
ARRANGEMENTS_LEAST: Final = 2_000
"""So many are drawn at least, of however many drives and figures."""
LEAST_PER_GROUP: Final = 3
"""A group with fewer drives is not compared."""
RANK_EFFICIENCY: Final = 3 / math.pi
"""A test of normal values by their ranks sees what one of means sees with this share of them."""
RANK_VARIANCE: Final = 1.06
"""The variance of atanh(rank correlation) times n − 3 (Fieller, Hartley and Pearson 1957)."""
_WORK_MOST: Final = 500_000_000
_BATCH_MOST: Final = 4_000_000
_SEED: Final = 20_260_118
_ROUNDING: Final = 1e-9
_SLOPES_MOST: Final = 2_000_000
Same = Literal["same", "finer", "coarser", "crossed"]


@dataclass(frozen=True, kw_only=True)
class Shuffled:
    """What chance makes of the drives' order.

    `p_values` has for each column the share of arrangements in which it goes as far with the
    groups (or the number) as it does; `together` that share for the columns behind the first,
    each counted among all of these by the largest statistic of every arrangement (Westfall and
    Young 1993). `p_least` is the smallest that there can be. `exact`: all arrangements were looked
    at, else so many were drawn.
    """

    p_values: tuple[float, ...]
    together: tuple[float, ...]
    p_least: float
    arrangements: int
    exact: bool


def by_group(values: Floats, groups: Sequence[Hashable]) -> Shuffled:
    """Return whether columns differ between groups, each drive of one, none without one.

    The statistic is Kruskal and Wallis's; its distribution is that over the arrangements of these
    drives in groups of these sizes.
    """
    statistics, observed = _of_groups(values, groups)
    sizes = list(Counter(groups).values())
    assert len(sizes) >= 2, "one group is no comparison"
    count = math.factorial(len(groups))
    for size in sizes:
        count //= math.factorial(size)
    arrangements = _splits(tuple(range(len(groups))), tuple(sizes))
    return _shuffled(observed, statistics, arrangements, count, values.size)


def by_number(values: Floats, numbers: Sequence[float]) -> Shuffled:
    """Return whether columns go with a number of each drive, up or down: Spearman's rank
    correlation, with its distribution over the arrangements of the drives.
    """
    statistics, observed = _of_numbers(values, numbers)
    drives = len(numbers)
    arrangements = itertools.permutations(range(drives))
    return _shuffled(observed, statistics, arrangements, math.factorial(drives), values.size)


def within_strata(
    values: Floats,
    groups: Sequence[Hashable] | Sequence[float],
    strata: Sequence[Hashable],
    *,
    numbers: bool = False,
) -> float:
    """Return the p-value of the first column's difference between groups (or of its going with
    numbers) that is left among drives of one stratum: drives change places only within theirs.

    A stratum of one group tells nothing and is left out; 1.0 where all are. Values are aligned by
    the medians of their strata first.
    """
    groups_in: dict[Hashable, set[Hashable]] = {}
    for group, name in zip(groups, strata, strict=True):
        groups_in.setdefault(name, set()).add(group)
    kept = [at for at, name in enumerate(strata) if len(groups_in[name]) > 1]
    if not kept:
        return 1.0
    levels, own_strata = values[kept, :1].copy(), [strata[at] for at in kept]
    places = [
        np.flatnonzero([each == name for each in own_strata]) for name in dict.fromkeys(own_strata)
    ]
    for own in places:
        levels[own] -= np.median(levels[own])
    of = _of_numbers if numbers else _of_groups
    chosen: list[Any] = [groups[at] for at in kept]
    statistics, observed = of(levels, chosen)
    seen = statistics(observed[None])[0, 0] - _ROUNDING
    rng = np.random.default_rng((_SEED, len(kept), 1))
    orders = np.tile(np.arange(len(kept)), (ARRANGEMENTS_LEAST, 1))
    for own in places:
        orders[:, own] = rng.permuted(np.tile(own, (ARRANGEMENTS_LEAST, 1)), axis=1)
    beyond = int((statistics(orders[:, observed])[:, 0] >= seen).sum())
    return (beyond + 1) / (ARRANGEMENTS_LEAST + 1)


def rank_correlation(values: Sequence[float], numbers: Sequence[float]) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; 0 where one is constant."""
    first, second = (_scores(np.array(each, np.float64)[:, None])[:, 0]
                     for each in (values, numbers))  # fmt: skip
    return float(first @ second)


def slope_of(values: Sequence[float], numbers: Sequence[float]) -> float | None:
    """Return the median slope of all pairs (Theil 1950, Sen 1968); None where no two differ."""
    y, x = np.array(values, np.float64), np.array(numbers, np.float64)
    # Of very many drives every k-th is enough: the slope is for a reader, not for the verdict.
    step = max(1, math.ceil(y.size**2 / _SLOPES_MOST))
    i, j = np.triu_indices(y.size, 1)
    i, j = i[::step], j[::step]
    differ = x[i] != x[j]
    if not differ.any():
        return None
    return float(np.median((y[j] - y[i])[differ] / (x[j] - x[i])[differ]))


def split_by(first: Sequence[Hashable], second: Sequence[Hashable]) -> Same:
    """Return how two ways to split the same drives go together: the same, the first finer (each
    of its groups lies in one of the second's), coarser, or crossed.
    """
    pairs = set(zip(first, second, strict=True))
    finer, coarser = len(pairs) == len(set(first)), len(pairs) == len(set(second))
    if finer and coarser:
        return "same"
    return "finer" if finer else "coarser" if coarser else "crossed"


def scale_within(levels: Sequence[float], groups: Sequence[Hashable]) -> float:
    """Return the standard deviation of drives of one group, outliers left out."""
    values = np.array(levels, np.float64)
    left = values.copy()
    names = set(groups)
    for name in names:
        own = np.array([each == name for each in groups])
        left[own] -= np.median(values[own])
    scale = float(centre_and_scale(left[:, None])[1][0])
    return scale * math.sqrt(values.size / max(1, values.size - len(names)))


def least_difference(scale: float, first: int, second: int, *, tests: int) -> float:
    """Return by how much two groups of so many drives must differ to be told apart in 95 of 100
    cases, among so many tests; of normal values of this standard deviation.
    """
    freedom = first + second - 2
    alone = student_t_limit((1 - CONFIDENCE) / tests, freedom)
    # The limit is of both tails, and a difference is missed in one of them.
    found = student_t_limit(2 * (1 - FOUND_SHARE), freedom)
    error = scale * math.sqrt((1 / first + 1 / second) / RANK_EFFICIENCY)
    return (alone + found) * error


def least_correlation(drives: int, *, tests: int) -> float:
    """Return the rank correlation that is seen in 95 of 100 cases, among so many tests."""
    normal = NormalDist()
    limit = normal.inv_cdf(1 - (1 - CONFIDENCE) / tests / 2) + normal.inv_cdf(FOUND_SHARE)
    return math.tanh(limit * math.sqrt(RANK_VARIANCE / (drives - 3)))


Statistics = Callable[[Orders], Floats]
"""The statistic of each column, in several orders of the drives."""


def _of_groups(values: Floats, groups: Sequence[Hashable]) -> tuple[Statistics, Orders]:
    """Return Kruskal and Wallis's statistic, and the order that the groups have."""
    names = list(dict.fromkeys(groups))
    labels = np.array([names.index(each) for each in groups])
    sizes = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ranks = _scores(values)

    def statistics(orders: Orders) -> Floats:
        sums = np.add.reduceat(ranks[orders], starts, axis=1)
        found: Floats = (sums**2 / sizes[None, :, None]).sum(axis=1)
        return found

    return statistics, np.argsort(labels, kind="stable")


def _of_numbers(values: Floats, numbers: Sequence[float]) -> tuple[Statistics, Orders]:
    """Return the size of Spearman's rank correlation, and the order as it is."""
    ranks, own = _scores(values), _scores(np.array(numbers, np.float64)[:, None])[:, 0]

    def statistics(orders: Orders) -> Floats:
        found: Floats = np.abs(own[orders] @ ranks)
        return found

    return statistics, np.arange(len(numbers))


def _shuffled(
    observed: Orders,
    statistics: Statistics,
    arrangements: Iterator[tuple[int, ...]],
    count: int,
    work: int,
) -> Shuffled:
    """Return the shares of arrangements that go as far as the observed one, column by column."""
    exact = count <= ARRANGEMENTS_MOST
    if not exact:
        count = min(ARRANGEMENTS_MOST, max(ARRANGEMENTS_LEAST, _WORK_MOST // work))
        arrangements = _drawn(observed.size, count)
    seen = statistics(observed[None])[0] - _ROUNDING
    beyond, beyond_all = np.zeros(seen.size, np.int64), np.zeros(seen.size, np.int64)
    level: list[Floats] = []
    for orders in _batches(arrangements, max(1, _BATCH_MOST // work)):
        found = statistics(orders)
        level.append(found[:, 0])
        beyond += (found >= seen).sum(axis=0)
        if seen.size > 1:
            largest = found[:, 1:].max(axis=1)
            beyond_all += (largest[:, None] >= seen).sum(axis=0)
    # The observed arrangement is one of all; where some are drawn it counts besides them.
    more, of = (0, count) if exact else (1, count + 1)
    levels = np.concatenate(level)
    least = int((levels >= levels.max() - _ROUNDING).sum()) if exact else 1
    return Shuffled(
        p_values=tuple(((beyond + more) / of).tolist()),
        together=tuple(((beyond_all + more) / of).tolist()[1:]),
        p_least=least / of,
        arrangements=count,
        exact=exact,
    )


def _scores(values: Floats) -> Floats:
    """Return ranks around 0 of squared length 1 for each column; 0 of a constant one."""
    ranks = np.empty(values.shape)
    for at in range(values.shape[1]):
        _, place, counts = np.unique(values[:, at], return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks[:, at] = (ends - (counts - 1) / 2)[place]
    ranks -= ranks.mean(axis=0)
    lengths = np.sqrt((ranks**2).sum(axis=0))
    found: Floats = np.divide(ranks, lengths, out=np.zeros_like(ranks), where=lengths > 0)
    return found


def _splits(drives: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the drives in every way to split them in groups of these sizes, one behind another."""
    if len(sizes) == 1:
        yield drives
        return
    for chosen in itertools.combinations(drives, sizes[0]):
        left = tuple(each for each in drives if each not in chosen)
        for rest in _splits(left, sizes[1:]):
            yield (*chosen, *rest)


def _drawn(drives: int, count: int) -> Iterator[tuple[int, ...]]:
    rng = np.random.default_rng((_SEED, drives))
    for _ in range(count):
        yield tuple(rng.permutation(drives).tolist())


def _batches(arrangements: Iterator[tuple[int, ...]], most: int) -> Iterator[Orders]:
    while several := list(itertools.islice(arrangements, most)):
        yield np.array(several, np.int64)
