"""The best of several values: its expectation, by tables and by drawing; two levels of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.extremes import expected_gain_percent, expected_maximum, two_levels


@pytest.mark.parametrize(
    ("count", "sigmas"),
    [(1, 0.0), (2, 0.56419), (3, 0.84628), (4, 1.02938), (5, 1.16296), (9, 1.48501)],
)
def test_the_largest_of_normal_values_lies_where_the_tables_of_order_statistics_say(count, sigmas):
    assert expected_maximum(count) == pytest.approx(sigmas, abs=1e-5)


def test_two_and_three_have_their_closed_forms():
    assert expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-9)
    assert expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)


def test_drawing_many_fives_finds_the_same():
    drawn = np.random.default_rng(13).standard_normal((200_000, 5)).max(axis=1)
    assert expected_maximum(5) == pytest.approx(drawn.mean(), abs=0.006)


def test_what_is_expected_of_five_passes_is_their_scatter_by_1_16():
    values = [98.0, 101.0, 103.0, 99.0, 104.0]
    scatter = np.std(values, ddof=1)
    assert expected_gain_percent(values) == pytest.approx(1.16296 * scatter / 101.0 * 100, rel=1e-5)


@pytest.mark.parametrize("values", [[], [5.0], [0.0, 0.0]])
def test_nothing_is_expected_where_nothing_scatters_around_a_level(values):
    assert expected_gain_percent(values) is None


def test_values_in_two_groups_are_told_apart_and_one_group_is_left_whole():
    assert two_levels([480.0, 110.0, 470.0, 112.0, 475.0]) == (
        (110.0, 112.0),
        (470.0, 475.0, 480.0),
    )
    assert two_levels([100.0, 98.0, 103.0, 99.0, 104.0]) is None
    assert two_levels([100.0, 110.0, 121.0, 133.0, 146.0]) is None, "a slope has no gap"
    assert two_levels([100.0, 500.0, 100.0]) is None, "three values say nothing"
    assert two_levels([0.0, 0.0, 500.0, 500.0]) is None


@given(st.lists(st.floats(1.0, 1e6), min_size=4, max_size=12))
def test_two_levels_hold_every_value_once_and_do_not_overlap(values):
    found = two_levels(values)
    if found is not None:
        low, high = found
        assert sorted([*low, *high]) == sorted(values)
        assert max(low) < min(high)
