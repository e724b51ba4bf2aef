"""Percentiles of a histogram, against numpy's order statistics."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis import percentile
from teijo.terms.histogram import EMPTY, Histogram


def histogram_of(values: list[int]) -> Histogram:
    # Below 2,048 ns every bucket is one nanosecond wide, so nothing is lost.
    places, counts = np.unique(np.array(values), return_counts=True)
    return Histogram((places, counts), sum(values), min(values), max(values))


@given(st.lists(st.integers(1, 2047), min_size=2, max_size=3000))
def test_percentiles_are_order_statistics_and_only_where_ios_lie_beyond(values):
    found = dict(percentile.percentiles_ns(histogram_of(values)))
    for percent, value in found.items():
        if value is None:
            assert len(values) * (100 - percent) / 100 < 1
        else:
            assert value == np.quantile(values, percent / 100, method="inverted_cdf")


@given(st.integers(1, 10**7), st.sampled_from(percentile.HEADLINE))
def test_ios_beyond_a_percentile_are_counted_whole(count, percent):
    exact = count * (Fraction(100) - Fraction(str(percent))) / 100
    assert percentile.ios_beyond(count, percent) == math.floor(exact)
    assert percentile.is_resolved(count, percent) == (exact >= 1)


def test_five_nines_need_a_hundred_thousand_ios():
    one_short = Histogram((np.array([10]), np.array([99_999])), 999_990, 10, 10)
    enough = Histogram((np.array([10]), np.array([100_000])), 1_000_000, 10, 10)
    assert dict(percentile.percentiles_ns(one_short))[99.999] is None
    assert dict(percentile.percentiles_ns(enough))[99.999] == 10


@given(st.lists(st.integers(1, 2047), min_size=1, max_size=500))
def test_the_curve_says_how_many_ios_were_as_slow(values):
    points = percentile.curve_ns(histogram_of(values))
    for share, value in points[:-1]:
        assert share == pytest.approx(sum(v >= value for v in values) / len(values))
    assert points[-1] == (1 / len(values), max(values))
    assert percentile.percentile_name(99.999) == "p99.999"


def test_a_curve_of_nothing_is_empty_and_a_long_one_is_thinned():
    assert percentile.curve_ns(EMPTY) == ()
    wide = histogram_of(list(range(1, 2048)))
    assert len(percentile.curve_ns(wide, points_most=100)) <= 105


@given(st.lists(st.integers(0, 2047), min_size=1, max_size=500), st.sampled_from([1, 3, 10, 40]))
def test_every_io_lies_in_one_bin_of_equal_width_on_a_log_axis(values, per_decade):
    bins = percentile.decade_bins(histogram_of(values), per_decade)
    assert sum(count for _, _, count in bins) == len(values)
    for low, high, count in bins:
        assert high / low == pytest.approx(10 ** (1 / per_decade))
        inside = sum(low * (1 - 1e-9) <= max(value, 1) < high * (1 - 1e-9) for value in values)
        assert count == inside
    assert bins[0][2] > 0
    assert bins[-1][2] > 0


def test_a_wide_bucket_falls_in_the_bin_of_its_middle():
    (only,) = percentile.decade_bins(Histogram((np.array([9_992_192]), np.array([5])), 0, 0, 0), 1)
    assert only == (pytest.approx(1e6), pytest.approx(1e7), 5)
    # The bucket from 9,998,336 is 8,192 wide: its middle lies in the next decade.
    (only,) = percentile.decade_bins(Histogram((np.array([9_998_336]), np.array([5])), 0, 0, 0), 1)
    assert only == (pytest.approx(1e7), pytest.approx(1e8), 5)
    assert percentile.decade_bins(EMPTY) == ()
