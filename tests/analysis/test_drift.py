"""Groups and trends of drives: exact tables of the textbooks, every arrangement tried one by one,
and the rates of false and of found differences counted.
"""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teijo.analysis.drift import (
    ARRANGEMENTS_MOST,
    by_group,
    by_number,
    least_correlation,
    least_difference,
    rank_correlation,
    scale_within,
    slope_of,
    split_by,
    within_strata,
)


def column(*values: float) -> np.ndarray:
    return np.array(values, np.float64)[:, None]


def mean_ranks(values: list[float]) -> list[float]:
    ordered = sorted(values)
    return [
        statistics.fmean(at for at, other in enumerate(ordered, 1) if other == value)
        for value in values
    ]


def kruskal(values: list[float], groups: list[str]) -> float:
    """Return the statistic from its definition: squared rank sums by group."""
    ranks = mean_ranks(values)
    sums: dict[str, list[float]] = {}
    for rank, group in zip(ranks, groups, strict=True):
        sums.setdefault(group, []).append(rank)
    return sum(sum(own) ** 2 / len(own) for own in sums.values())


def share_of_all(values: list[float], groups: list[str]) -> float:
    """Return the p-value over every order of the groups' names, equal ones among them."""
    seen = kruskal(values, groups)
    tried = [kruskal(values, list(order)) for order in itertools.permutations(groups)]
    return sum(each >= seen - 1e-9 for each in tried) / len(tried)


def test_three_against_three_that_are_apart_are_one_in_ten() -> None:
    found = by_group(column(1, 2, 3, 4, 5, 6), "aaabbb")
    assert found.exact
    assert found.arrangements == 20
    assert found.p_values == (0.1,)
    assert found.p_least == 0.1


def test_two_in_each_of_three_groups_are_as_in_the_table_of_kruskal_and_wallis() -> None:
    # H = 4.571, its largest value: p = 0.0667 (Kruskal and Wallis 1952, table 6.1 for 2, 2, 2).
    found = by_group(column(1, 2, 3, 4, 5, 6), "aabbcc")
    assert found.p_values[0] == pytest.approx(1 / 15)
    # H = 3.714: p = 0.2
    assert by_group(column(1, 2, 3, 5, 4, 6), "aabbcc").p_values[0] == pytest.approx(0.2)


def test_ranks_of_five_are_as_in_the_table_of_spearman() -> None:
    straight = by_number(column(10, 20, 30, 40, 50), [1, 2, 3, 4, 5])
    assert straight.p_values[0] == pytest.approx(2 / 120)
    assert straight.p_least == pytest.approx(2 / 120)
    # A correlation of 0.9: 5 orders of 120 a side.
    assert by_number(column(20, 10, 30, 40, 50), [1, 2, 3, 4, 5]).p_values[0] == 10 / 120


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=6, max_size=6), st.permutations("aabbbc"))
def test_the_share_is_that_of_every_order_tried(values: list[int], groups: list[str]) -> None:
    numbers = [float(each) for each in values]
    found = by_group(np.array(numbers)[:, None], groups)
    assert found.exact
    assert found.p_values[0] == pytest.approx(share_of_all(numbers, groups))


def test_many_figures_count_together_by_the_largest_statistic() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(7, 4))
    groups = "aaabbbb"
    found = by_group(values, groups)
    seen = [kruskal(values[:, at].tolist(), list(groups)) for at in range(4)]
    orders = set(itertools.permutations(groups))
    largest = [
        max(kruskal(values[:, at].tolist(), list(order)) for at in range(1, 4)) for order in orders
    ]
    expected = [
        sum(each >= seen[at] - 1e-9 for each in largest) / len(orders) for at in range(1, 4)
    ]
    assert found.together == pytest.approx(expected)
    assert all(one >= alone for one, alone in zip(found.together, found.p_values[1:], strict=True))


def test_more_arrangements_than_are_looked_at_are_drawn_and_never_give_zero() -> None:
    values = np.arange(40, dtype=np.float64)[:, None]
    found = by_group(values, ["a"] * 20 + ["b"] * 20)
    assert not found.exact
    assert found.arrangements == ARRANGEMENTS_MOST
    assert found.p_values[0] == found.p_least == 1 / (ARRANGEMENTS_MOST + 1)
    assert by_group(values, ["a"] * 20 + ["b"] * 20) == found


def test_drawn_arrangements_come_near_to_all_of_them() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(18, 1))
    values[:9] += 0.8
    groups = ["a"] * 9 + ["b"] * 9
    drawn = by_group(values, groups)
    ranks = mean_ranks(values[:, 0].tolist())
    seen = abs(sum(ranks[:9]) - 9 * 19 / 2)
    every = [
        abs(sum(each) - 9 * 19 / 2) >= seen - 1e-9 for each in itertools.combinations(ranks, 9)
    ]
    assert not drawn.exact
    assert drawn.p_values[0] == pytest.approx(sum(every) / len(every), abs=0.01)


def test_groups_alike_differ_in_5_of_100_cases() -> None:
    rng = np.random.default_rng(3)
    shares = [by_group(rng.normal(size=(9, 1)), "aaabbbccc").p_values[0] for _ in range(300)]
    rate = sum(share <= 0.05 for share in shares) / len(shares)
    assert rate <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_a_constant_figure_goes_with_nothing() -> None:
    values = np.column_stack([np.arange(8.0), np.full(8, 3.0)])
    assert by_group(values, "aaaabbbb").p_values[1] == 1.0
    assert by_number(values, list(range(8))).p_values[1] == 1.0


def test_the_rank_correlation_is_spearmans() -> None:
    # Twelve pairs with ties, worked out by Pearson's formula on mean ranks.
    x = [7.0, 6, 4, 5, 8, 7, 10, 3, 9, 2, 6, 1]
    y = [5.0, 4, 5, 6, 10, 7, 9, 2, 8, 1, 4, 3]
    expected = statistics.correlation(mean_ranks(x), mean_ranks(y))
    assert rank_correlation(x, y) == pytest.approx(expected)
    assert rank_correlation(x, [2.0] * 12) == 0.0


def test_the_slope_is_the_median_of_all_slopes() -> None:
    assert slope_of([1.0, 3.0, 5.0, 7.0, 400.0], [0.0, 1.0, 2.0, 3.0, 4.0]) == 2.0
    assert slope_of([1.0, 2.0], [4.0, 4.0]) is None


def test_two_groups_of_twenty_that_differ_by_the_least_difference_are_told_apart() -> None:
    rng = np.random.default_rng(4)
    apart = least_difference(1.0, 20, 20, tests=1)
    count = 150
    found = 0
    for _ in range(count):
        values = rng.normal(size=(40, 1))
        values[:20] += apart
        found += by_group(values, ["a"] * 20 + ["b"] * 20).p_values[0] <= 0.05
    assert found / count == pytest.approx(0.95, abs=0.06)


def test_a_trend_of_the_least_correlation_is_seen() -> None:
    rng = np.random.default_rng(5)
    rho = least_correlation(40, tests=1)
    count = 150
    found = 0
    # Of normal pairs the rank correlation is a little smaller than the correlation.
    slope = 2 * math.sin(math.pi * rho / 6)
    for _ in range(count):
        x = rng.normal(size=40)
        y = slope * x + math.sqrt(1 - slope**2) * rng.normal(size=40)
        found += by_number(y[:, None], x.tolist()).p_values[0] <= 0.05
    assert found / count == pytest.approx(0.95, abs=0.06)


def test_the_scale_is_that_within_groups() -> None:
    rng = np.random.default_rng(6)
    levels = rng.normal(0.0, 0.02, 600)
    levels[:300] += 5.0
    groups = ["a"] * 300 + ["b"] * 300
    assert scale_within(levels.tolist(), groups) == pytest.approx(0.02, rel=0.12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("aabb", "xxyy", "same"),
        ("aabb", "yyxx", "same"),
        ("abcd", "xxyy", "finer"),
        ("aabb", "wxyz", "coarser"),
        ("aabb", "xyxy", "crossed"),
        ("aabb", "xxxy", "crossed"),
    ],
)
def test_two_splits_are_the_same_one_finer_or_crossed(
    first: str, second: str, expected: str
) -> None:
    assert split_by(first, second) == expected


def test_a_difference_that_is_the_strata_s_own_is_left_within_them_by_chance_alone() -> None:
    hosts = "a" * 20 + "b" * 20
    firmware = "1" * 16 + "2" * 24
    count = 100
    left = 0
    for seed in range(count):
        levels = np.random.default_rng(seed).normal(0.0, 0.01, (40, 1))
        levels[:20] += 0.1
        assert by_group(levels, firmware).p_values[0] < 0.001
        left += within_strata(levels, firmware, hosts) <= 0.05
        assert within_strata(levels, hosts, firmware) < 0.05
    assert left <= 0.05 * count + 4 * math.sqrt(0.05 * 0.95 * count)


def test_what_the_stratum_tells_is_not_left_within_it() -> None:
    levels = np.arange(40.0)[:, None]
    assert within_strata(levels, "x" * 20 + "y" * 20, "a" * 20 + "b" * 20) == 1.0


def test_a_trend_within_strata_is_left_and_one_between_them_is_not() -> None:
    rng = np.random.default_rng(8)
    strata = ["a"] * 15 + ["b"] * 15
    warmth = [*rng.normal(30, 3, 15), *rng.normal(50, 3, 15)]
    between = np.array([0.0] * 15 + [0.1] * 15)[:, None] + rng.normal(0, 0.01, (30, 1))
    assert by_number(between, warmth).p_values[0] < 0.001
    assert within_strata(between, warmth, strata, numbers=True) > 0.05
    trend = between + 0.01 * np.array(warmth)[:, None]
    assert within_strata(trend, warmth, strata, numbers=True) < 0.05


def test_strata_of_one_drive_each_leave_nothing() -> None:
    levels = np.arange(8.0)[:, None]
    assert within_strata(levels, "aaaabbbb", range(8)) == 1.0
