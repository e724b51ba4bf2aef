"""The statistic of an original beside the mean of its passes."""

import math

import pytest

from teijo.document.grid import Figure
from teijo.methods.classic.statistic import Statistic, statistics_tables

RATE = Figure(name="Rate", unit="MB/s", digits=1)
TIME = Figure(name="Time", unit="µs", digits=1, more_is_faster=False)


def of(figure: Figure, told: float | None, *values: float) -> Statistic:
    return Statistic(test="SEQ", figure=figure, rule="maximum", told=told, values=values)


def test_a_maximum_flatters_by_its_distance_from_the_mean():
    assert of(RATE, 120.0, 80.0, 100.0, 120.0).flatters_percent == pytest.approx(20.0)


def test_a_time_flatters_where_it_is_shorter():
    assert of(TIME, 80.0, 80.0, 100.0, 120.0).flatters_percent == pytest.approx(20.0)


def test_the_interval_is_students_of_the_passes():
    mean = of(RATE, 120.0, 80.0, 100.0, 120.0).mean
    assert mean is not None
    # t of 2 degrees at 97.5 % is 4.302653; the standard error of 80, 100, 120 is 20/sqrt(3).
    assert mean.half_width == pytest.approx(4.302653 * 20 / math.sqrt(3), rel=1e-5)


def test_one_pass_has_no_interval_and_none_has_no_mean():
    alone = of(RATE, 100.0, 100.0)
    assert alone.mean is not None
    assert alone.mean.half_width is None
    assert of(RATE, 100.0).flatters_percent is None


def test_each_figure_has_a_table_of_its_own_and_the_meaning_follows():
    blocks = statistics_tables([of(RATE, 1.0, 1.0), of(TIME, 2.0, 2.0), of(RATE, 3.0, 3.0)])
    assert [len(getattr(block, "rows", ())) for block in blocks] == [2, 1, 0]
    assert statistics_tables([]) == []


def test_the_longest_call_is_not_said_to_be_worse_than_a_mean():
    longest = Statistic(
        test="SEQ", figure=TIME, rule="the longest call", told=120.0, values=(1.0, 2.0), alike=False
    )
    assert longest.flatters_percent is None
