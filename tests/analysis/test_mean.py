"""A mean of a few passes: a known answer, an interval that covers, and what is no level."""

import random
import statistics

import pytest

from teijo.analysis.mean import first_apart, mean_of, trend_of

T_OF_FIVE = 2.776445
"""Student's t at 95 % and 4 degrees of freedom, from a printed table."""


def test_the_half_width_of_five_values_is_that_of_the_table():
    values = [98.0, 101.0, 103.0, 99.0, 104.0]
    mean = mean_of(values)
    assert mean is not None
    assert mean.value == statistics.fmean(values) == 101.0
    assert mean.half_width == pytest.approx(T_OF_FIVE * statistics.stdev(values) / 5**0.5, rel=1e-6)
    assert mean.half_percent == pytest.approx(mean.half_width / 1.01)


def test_values_that_do_not_scatter_are_known_to_one_of_their_count_and_no_better():
    assert mean_of([250.0] * 5).half_width == 0.0
    assert mean_of([250.0] * 5, resolution=1 / 500).half_width == pytest.approx(0.5)
    wide = mean_of([98.0, 101.0, 103.0, 99.0, 104.0], resolution=1e-6)
    assert wide.half_width == mean_of([98.0, 101.0, 103.0, 99.0, 104.0]).half_width


def test_one_value_has_no_interval_and_none_has_no_mean():
    assert mean_of([7.0]).half_width is None
    assert mean_of([7.0]).half_percent is None
    assert mean_of([]) is None
    assert mean_of([0.0, 0.0]).half_percent is None


def test_95_of_100_intervals_hold_the_mean():
    draw = random.Random(3)
    runs = [mean_of([draw.gauss(100, 10) for _ in range(5)]) for _ in range(1500)]
    held = sum(abs(run.value - 100) <= run.half_width for run in runs)
    # 1,425 are expected, with a standard deviation of 8.4.
    assert 1425 - 34 < held < 1425 + 34


@pytest.mark.parametrize(
    ("values", "ratio"),
    [
        ([100, 90, 80, 70, 60], 0.6),
        ([60, 70, 80, 90, 120], 2.0),
        ([100, 99, 98, 97, 96], None),
        ([100, 90, 95, 70, 60], None),
        ([100, 80, 60], None),
        ([100, 80, 60, 0], None),
    ],
)
def test_values_that_go_one_way_all_along_are_no_level(values, ratio):
    assert trend_of(values) == ratio


@pytest.mark.parametrize(
    ("values", "ratio"),
    [
        ([129, 100, 101, 99, 100], 1.29),
        ([50, 100, 101, 99, 100], 0.5),
        ([109, 100, 101, 99, 100], None),
        ([129, 100, 140, 99, 101], None),
        ([129, 100, 101], None),
        ([], None),
    ],
)
def test_a_first_value_apart_from_all_others_is_told(values, ratio):
    assert first_apart(values) == (None if ratio is None else pytest.approx(ratio))
