"""Differences against tables, an integral, exact fractions, and thousands of drawn comparisons."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.difference import (
    Difference,
    difference_of,
    f_share,
    five_batches,
    holm,
    student_t_limit,
    student_t_share,
)

LEVELS = st.lists(st.integers(1, 10**6).map(float), min_size=2, max_size=8)
FREEDOMS = st.floats(1, 500)


def share_by_integral(t: float, freedom: float) -> float:
    """The share of Student's t outside ±t, from its density by Simpson's rule.

    With t = √ν · tan u the density becomes a constant times cos u to the power ν − 1.
    """
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    end = math.atan(t / math.sqrt(freedom))
    u = np.linspace(0, end, 4001)
    weights = np.full(4001, 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    inside = (weights * np.cos(u) ** (freedom - 1)).sum() * end / 4000 / 3
    return float(1 - 2 * constant / math.sqrt(math.pi) * inside)


def autocorrelated(likeness: float, count: int, series: int, seed: int) -> np.ndarray:
    """Return series of AR(1) about 100: each sample is like its neighbour, plus something new."""
    draw = np.random.default_rng(seed).normal(size=(count, series))
    found = np.empty_like(draw)
    found[0] = draw[0] / math.sqrt(1 - likeness**2)
    for place in range(1, count):
        found[place] = likeness * found[place - 1] + draw[place]
    return 100 + found.T


def covered(firsts: Sequence[Sequence[float]], seconds: Sequence[Sequence[float]]) -> float:
    """Return the share of comparisons of equals whose interval has 1 in it, in percent."""
    found = [difference_of(one, other) for one, other in zip(firsts, seconds, strict=True)]
    return 100 - 100 * sum(each is not None and each.shown for each in found) / len(found)


# --- Student's t ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freedom", "limit"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (8, 2.306), (30, 2.042), (120, 1.980)],
)
def test_the_limits_are_those_of_the_printed_tables(freedom, limit):
    assert student_t_limit(0.05, freedom) == pytest.approx(limit, abs=0.0005)


def test_without_end_of_freedom_it_is_the_normal_distribution():
    assert student_t_limit(0.05, math.inf) == pytest.approx(1.959964, abs=1e-6)
    assert student_t_share(1.959964, math.inf) == pytest.approx(0.05, abs=1e-6)


def test_one_degree_of_freedom_is_cauchys_distribution():
    for t in (0.01, 0.5, 1.0, 12.7, 1e4):
        assert student_t_share(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-9)


@given(t=st.floats(0.01, 30), freedom=FREEDOMS)
def test_the_share_outside_is_the_integral_of_the_density(t, freedom):
    assert student_t_share(t, freedom) == pytest.approx(share_by_integral(t, freedom), abs=1e-9)


@given(share=st.floats(1e-6, 0.9), freedom=FREEDOMS)
def test_the_limit_leaves_that_share_outside(share, freedom):
    limit = student_t_limit(share, freedom)
    assert student_t_share(limit, freedom) == pytest.approx(share, rel=1e-8)


@pytest.mark.parametrize(
    ("over", "under", "limit"),
    [(1, 10, 4.9646), (2, 27, 3.3541), (4, 27, 2.7278), (9, 9, 3.1789), (60, 5, 4.4314)],
)
def test_the_shares_of_f_are_those_of_the_printed_tables(over, under, limit):
    assert f_share(limit, over, under) == pytest.approx(0.05, abs=1e-5)


@given(t=st.floats(0.001, 30), freedom=FREEDOMS)
def test_the_square_of_students_t_is_f_with_one_degree_over(t, freedom):
    assert f_share(t * t, 1, freedom) == pytest.approx(student_t_share(t, freedom), abs=1e-12)


# --- one difference ---------------------------------------------------------------------------


def test_a_difference_worked_by_hand():
    found = difference_of([9.0, 10.0, 11.0], [18.0, 20.0, 22.0])
    assert found is not None
    # Either side: variance of the relative values 0.01, so a squared error of 0.01 / 3.
    assert found.ratio == 2
    assert found.freedom == pytest.approx(4)
    reach = 2.7764451 * math.sqrt(0.02 / 3)
    assert math.log(found.high / 2) == pytest.approx(reach, rel=1e-6)
    assert found.low * found.high == pytest.approx(4)
    assert found.shown


@given(first=LEVELS, second=LEVELS)
def test_ratio_error_and_freedom_are_those_of_exact_fractions(first, second):
    found = difference_of(first, second)
    assert found is not None
    errors, means = [], []
    for values in (first, second):
        exact = [Fraction(value) for value in values]
        mean = sum(exact) / len(exact)
        variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
        errors.append(variance / len(exact) / mean**2)
        means.append(mean)
    assert found.ratio == pytest.approx(float(means[1] / means[0]), rel=1e-12)
    if not sum(errors):
        assert found.low == found.high == found.ratio
        return
    freedom = sum(errors) ** 2 / sum(
        error**2 / (len(values) - 1) for error, values in zip(errors, (first, second), strict=True)
    )
    assert found.freedom == pytest.approx(float(freedom), rel=1e-9)
    reach = student_t_limit(0.05, float(freedom)) * math.sqrt(sum(errors))
    assert math.log(found.high / found.ratio) == pytest.approx(reach, rel=1e-6, abs=1e-12)


@given(first=LEVELS, second=LEVELS, factor=st.floats(0.001, 1000))
def test_exchanged_sides_give_the_reciprocal_and_a_unit_changes_nothing(first, second, factor):
    one, other = difference_of(first, second), difference_of(second, first)
    scaled = difference_of([factor * v for v in first], [factor * v for v in second])
    assert one is not None
    assert other is not None
    assert scaled is not None
    assert one.low == pytest.approx(1 / other.high, rel=1e-9)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-6, abs=1e-12)
    assert one.ratio == pytest.approx(scaled.ratio, rel=1e-9)


@given(first=LEVELS, second=LEVELS)
def test_a_difference_is_shown_where_its_p_value_is_below_a_twentieth(first, second):
    found = difference_of(first, second)
    assert found is not None
    if abs(found.p_value - 0.05) > 1e-6:
        assert found.shown == (found.p_value < 0.05)


def test_too_few_batches_and_means_of_nothing_have_no_difference():
    assert difference_of([1.0], [1.0, 2.0]) is None
    assert difference_of([], []) is None
    assert difference_of([0.0, 0.0], [1.0, 2.0]) is None


def test_values_that_never_scatter_differ_only_beyond_what_a_count_can_tell():
    same = [1000.0] * 5
    assert difference_of(same, same) == Difference(
        ratio=1.0, low=1.0, high=1.0, p_value=1.0, freedom=math.inf
    )
    by_one = [1001.0] * 5
    exact, counted = difference_of(same, by_one), difference_of(same, by_one, resolution=0.001)
    assert exact is not None
    assert counted is not None
    assert (exact.shown, exact.p_value) == (True, 0.0)
    assert not counted.shown
    assert counted.p_value == pytest.approx(0.05, rel=0.01), "one I/O is just what it can tell"


@given(first=LEVELS, second=LEVELS, resolution=st.floats(0, 0.5))
def test_the_interval_reaches_at_least_as_far_as_a_count_can_tell(first, second, resolution):
    plain = difference_of(first, second)
    wider = difference_of(first, second, resolution=resolution)
    assert plain is not None
    assert wider is not None
    reach = max(math.log(plain.high / plain.ratio), resolution)
    assert math.log(wider.high / wider.ratio) == pytest.approx(reach, abs=1e-9)
    assert math.log(wider.ratio / wider.low) == pytest.approx(reach, abs=1e-9)
    assert wider.p_value >= plain.p_value * (1 - 1e-9)
    if abs(wider.p_value - 0.05) > 1e-6:
        assert wider.shown == (wider.p_value < 0.05)


# --- how often it is wrong --------------------------------------------------------------------


def test_of_equal_sides_of_five_rounds_about_one_in_twenty_differs():
    rounds = np.random.default_rng(7).normal(100, 2, size=(2, 4000, 5)).tolist()
    # Welch's t stays a little on the safe side with five and five: 95.6 % in theory.
    assert covered(*rounds) == pytest.approx(95.5, abs=1.0)


@pytest.mark.parametrize("spread", [1, 4, 10])
def test_sides_that_scatter_differently_are_still_judged_at_five_percent(spread):
    draw = np.random.default_rng(11).normal(size=(2, 3000, 5))
    draw[1] *= spread
    assert 94 <= covered(*(1000 + draw).tolist()) <= 96.5


def test_a_planted_difference_of_five_percent_is_found_where_rounds_scatter_by_one():
    draw = np.random.default_rng(3).normal(100, 1, size=(2, 500, 5))
    draw[1] *= 1.05
    found = [difference_of(one, other) for one, other in zip(*draw.tolist(), strict=True)]
    shown = [each for each in found if each is not None and each.low > 1]
    assert len(shown) > 0.99 * len(found)


@pytest.mark.parametrize(
    ("likeness", "samples"), [(0.0, 30), (0.5, 72), (0.5, 300), (0.8, 180), (0.8, 600), (0.9, 360)]
)
def test_of_autocorrelated_series_the_interval_covers_nineteen_in_twenty(likeness, samples):
    series = autocorrelated(likeness, samples, 3000, seed=samples)
    batches = [five_batches(each) for each in series.tolist()]
    assert 92 <= covered(batches[::2], batches[1::2]) <= 98


def test_taking_every_sample_as_a_batch_would_be_wrong_half_the_time():
    series = autocorrelated(0.8, 180, 1000, seed=5).tolist()
    assert covered(series[::2], series[1::2]) < 60


# --- batches, and many at once ----------------------------------------------------------------


def test_five_batches_are_equal_stretches_and_what_is_left_over_is_at_the_front():
    assert five_batches([99.0, *(float(n) for n in range(10))]) == (0.5, 2.5, 4.5, 6.5, 8.5)
    assert five_batches([1.0, 2.0, 3.0, 4.0]) == ()


def test_holms_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.7, 0.6]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_judging_together_never_makes_a_difference_surer_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert all(p <= a <= 1 for p, a in pairs)
    assert [a for _, a in pairs] == sorted(a for _, a in pairs)


def test_judged_together_a_false_difference_comes_in_one_family_of_twenty():
    draw = np.random.default_rng(2).random(size=(4000, 40))
    families = [min(holm(each)) < 0.05 for each in draw.tolist()]
    assert 100 * sum(families) / len(families) == pytest.approx(5, abs=1)
