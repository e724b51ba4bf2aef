"""A tier's arithmetic: hand-made rates, limits that must hold, and counts of I/Os as an oracle."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.tiering import (
    cliff_of,
    crossover,
    hit_share,
    in_turn,
    side_by_side,
    stripes,
)

GB = 10**9
RATES = st.floats(1, 1e7)
SHARES = st.floats(0, 1)


def test_the_cliff_lies_between_the_last_set_that_is_held_and_the_next() -> None:
    found = cliff_of([(256 * GB, 100.0), (1000 * GB, 98.0), (2000 * GB, 95.0), (4000 * GB, 9.0)])
    assert found is not None
    assert (found.good_bytes, found.bad_bytes) == (2000 * GB, 4000 * GB)
    assert found.level == pytest.approx((100 + 98 + 95) / 3)
    assert found.after == 9
    assert found.width == 2
    assert found.middle_bytes == pytest.approx(math.sqrt(8) * 1000 * GB)


def test_a_set_that_falls_and_comes_back_is_no_cliff() -> None:
    assert cliff_of([(1, 100.0), (2, 10.0), (4, 100.0)]) is None
    assert cliff_of([(1, 100.0), (2, 80.0), (4, 75.0)]) is None
    assert cliff_of([(1, 100.0)]) is None
    assert cliff_of([]) is None
    assert cliff_of([(1, 0.0), (2, 0.0)]) is None


def test_a_quarter_of_the_set_in_the_tier_brings_a_third_more_than_the_slow_device() -> None:
    # 8 TB over 2 TB: the slow device's time dominates, 1/(1 − 1/4).
    share = hit_share(2000 * GB, 8000 * GB)
    assert share == 0.25
    assert in_turn(1e9, 100, share) == pytest.approx(133.33, rel=1e-4)
    assert hit_share(2000 * GB, 256 * GB) == 1
    assert in_turn(450_000, 2_260, 1.0) == pytest.approx(450_000)
    # At 1 MiB: 1/(0.25/3 + 0.75/5) = 4.29 GB/s in turn, 5/0.75 = 6.67 side by side.
    assert in_turn(3.0, 5.0, share) == pytest.approx(4.286, rel=1e-3)
    assert side_by_side(3.0, 5.0, share) == pytest.approx(6.667, rel=1e-3)


@given(fast=RATES, slow=RATES, share=SHARES)
def test_in_turn_is_the_count_of_ios_by_the_sum_of_their_times(
    fast: float, slow: float, share: float
) -> None:
    hits = round(share * 1000)
    time = hits / fast + (1000 - hits) / slow
    assert in_turn(fast, slow, hits / 1000) == pytest.approx(1000 / time)


@given(fast=RATES, slow=RATES, share=SHARES)
def test_side_by_side_is_never_slower_than_in_turn(fast: float, slow: float, share: float) -> None:
    assert side_by_side(fast, slow, share) >= in_turn(fast, slow, share) * (1 - 1e-9)


@given(fast=RATES, slow=RATES)
def test_as_many_stripes_as_said_are_enough_and_one_fewer_is_not(fast: float, slow: float) -> None:
    count = stripes(fast, slow)
    assert count is not None
    assert count * fast >= slow * (1 - 1e-9)
    assert count == 1 or (count - 1) * fast < slow


def test_nothing_striped_from_nothing() -> None:
    assert stripes(0.0, 5.0) is None
    assert stripes(3.0, 5.0) == 2
    assert stripes(3.0, 3.0) == 1
    assert stripes(3.0, 0.5) == 1
    assert stripes(3.0, 3.03) == 2
    assert stripes(3.0, 3.03, equal=0.02) == 1


def test_the_crossover_is_where_two_powers_of_the_size_meet() -> None:
    sizes = [4096, 65536, 262144, 1048576]
    tier = [1000.0 for _ in sizes]
    slow = [size**0.5 * 2.5 for size in sizes]
    # 2.5 √s = 1000 at s = 160,000.
    assert crossover(sizes, tier, slow) == pytest.approx(160_000)
    assert crossover(sizes, slow, tier) is None
    assert crossover(sizes, tier, [2000.0] * 4) == 4096
    assert crossover([], [], []) is None
    assert crossover([4096, 8192], [1.0, 1.0], [0.0, 2.0]) == 8192
