"""Chance in offsets and orders, against known answers and counting all permutations."""

import math
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.revisits import (
    chance_of_order,
    even_distinct,
    inversions_of,
    rank_correlation,
    walked_again,
)


@pytest.mark.parametrize(
    ("places", "ios", "expected"),
    [(1, 5, 1), (2, 1, 1), (2, 2, 1.5), (365, 23, 22.3), (10**12, 1000, 1000), (100, 10**6, 100)],
)
def test_even_draws_touch_what_the_urn_says(places: int, ios: int, expected: float) -> None:
    assert even_distinct(places, ios) == pytest.approx(expected, rel=1e-3)


def test_even_draws_are_those_of_a_generator() -> None:
    drawn = np.random.default_rng(1)
    for places, ios in ((50, 20), (1000, 3000)):
        seen = [len(np.unique(drawn.integers(0, places, ios))) for _ in range(300)]
        assert float(np.mean(seen)) == pytest.approx(even_distinct(places, ios), rel=0.01)


def test_loads_in_order_correlate_fully_and_both_ways() -> None:
    assert rank_correlation([(1, 2, 3, 4), (5, 9)]) == 1
    assert rank_correlation([(4, 3, 2, 1)]) == -1
    assert rank_correlation([(2, 1, 4, 3)]) == pytest.approx(1 - 2 * 2 / 6)
    assert rank_correlation([(1,), ()]) is None
    assert chance_of_order([(1,)]) == 1


@pytest.mark.parametrize("lengths", [(5,), (4, 2), (3, 3), (2, 2, 2)])
def test_the_chance_of_an_order_is_that_of_all_permutations(lengths: Sequence[int]) -> None:
    everything = [
        sum(map(inversions_of, groups))
        for groups in product(*(list(permutations(range(length))) for length in lengths))
    ]
    most = sum(math.comb(length, 2) for length in lengths)
    for groups in ([tuple(range(length)) for length in lengths],):
        found = sum(map(inversions_of, groups))
        as_extreme = sum(min(one, most - one) <= min(found, most - found) for one in everything)
        assert chance_of_order(groups) == pytest.approx(as_extreme / len(everything))


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=3))
def test_a_chance_is_a_share_and_the_same_backwards(groups: list[list[int]]) -> None:
    chance = chance_of_order(groups)
    assert 0 < chance <= 1
    assert chance_of_order([each[::-1] for each in groups]) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("earlier", "between", "own"),
    [(30, 0, 30), (30, 10, 80), (30, 60, 25), (10, 95, 50), (50, 130, 40), (100, 7, 20), (5, 0, 0)],
)
def test_a_walk_in_a_circle_meets_what_an_earlier_one_passed(
    earlier: int, between: int, own: int
) -> None:
    passed = {place % 100 for place in range(earlier)}
    begins = earlier + between
    walk = [place % 100 for place in range(begins, begins + own)]
    met = sum(place in passed for place in walk) / own if own else 0.0
    assert walked_again(100, earlier, between, own) == pytest.approx(met)
