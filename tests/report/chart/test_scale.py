"""Domains hold their values and ticks lie where people expect them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.report.chart.scale import (
    finite,
    linear_domain,
    log_domain,
    log_ticks,
    time_ticks,
    whole_ticks,
)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([16.4, 29876.3], [10, 50000]),
        ([19000, 56000], [10000, 100000]),
        ([100, 1000], [100, 1000]),
        ([7], [5, 10]),
        ([10], [5, 20]),
        ([], [1, 10]),
    ],
)
def test_a_log_axis_ends_at_a_round_number(values: list[float], domain: list[float]) -> None:
    assert log_domain(values) == domain


@given(st.lists(st.floats(1e-6, 1e12), min_size=1))
def test_a_log_axis_holds_its_values_and_has_a_tick(values: list[float]) -> None:
    low, high = log_domain(values)
    assert low <= min(values) * 1.00001
    assert high >= max(values) * 0.99999
    assert low < high
    assert log_ticks([low, high])


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.booleans())
def test_a_linear_axis_holds_its_values(values: list[float], from_zero: bool) -> None:
    low, high = linear_domain(values, from_zero=from_zero)
    assert low <= min(values)
    assert max(values) <= high
    assert low < high
    assert not from_zero or low <= 0 <= high


def test_a_log_axis_names_the_twos_and_fives_only_where_there_is_room() -> None:
    assert log_ticks([100, 1000]) == [100, 200, 500, 1000]
    assert log_ticks([10, 100000]) == [10, 100, 1000, 10000, 100000]


def test_rounds_get_a_tick_each_and_minutes_do_not() -> None:
    assert whole_ticks([3.0, 1.0, 2.0, 1.0]) == [1.0, 2.0, 3.0]
    assert whole_ticks([0.5, 1.0]) is None
    assert whole_ticks([float(minute) for minute in range(1440)]) is None


def test_a_day_in_minutes_has_ticks_at_whole_hours() -> None:
    assert time_ticks([0, 1440], "min") == [float(hour * 120) for hour in range(13)]
    assert time_ticks([0, 1440], "GB") is None


def test_what_cannot_be_drawn_is_left_out() -> None:
    values = (1, None, math.nan, math.inf, "x", 0, -2.5)
    assert finite(values) == [1.0, 0.0, -2.5]
    assert finite(values, positive=True) == [1.0]
