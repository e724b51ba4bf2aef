"""Percentiles of a histogram, against numpy's order statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis import percentile
from teijo.terms.histogram import EMPTY, Histogram


def histogram_of(values: list[int]) -> Histogram:
    # Below 2,048 ns every bucket is one nanosecond wide, so nothing is lost.
    places, counts = np.unique(np.array(values), return_counts=True)
    return Histogram(places, counts, sum(values), min(values), max(values))


@given(st.lists(st.integers(1, 2047), min_size=2, max_size=3000))
def test_percentiles_are_order_statistics_and_only_where_ios_lie_beyond(values):
    found = dict(percentile.percentiles_ns(histogram_of(values)))
    for percent, value in found.items():
        if value is None:
            assert len(values) * (100 - percent) / 100 < 1
        else:
            assert value == np.quantile(values, percent / 100, method="inverted_cdf")


def test_five_nines_need_a_hundred_thousand_ios():
    one_short = Histogram(np.array([10]), np.array([99_999]), 999_990, 10, 10)
    enough = Histogram(np.array([10]), np.array([100_000]), 1_000_000, 10, 10)
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
