"""The latency histogram against exact order statistics, and its buckets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.terms.histogram import (
    EMPTY,
    Histogram,
    bucket_width_ns,
    decoded,
    encoded,
    histogram_of,
    merged,
)

latencies = st.lists(st.integers(1, 1 << 40), min_size=1, max_size=200)
shares = st.floats(0.0, 1.0)


def of(values: list[int]) -> Histogram:
    """Return the histogram of these latencies, as the engine would."""
    lows = np.array([value - value % bucket_width_ns(value) for value in values])
    buckets = np.unique(lows, return_counts=True)
    return Histogram(encoded(buckets), sum(values), min(values), max(values))


@given(latencies, shares)
def test_a_quantile_is_within_a_twentieth_of_a_percent_of_the_order_statistic(
    values: list[int], share: float
) -> None:
    exact = np.quantile(np.array(values), share, method="inverted_cdf")
    assert of(values).quantile_ns(share) == pytest.approx(exact, rel=0.0005, abs=1)


@given(latencies)
def test_the_extremes_and_the_mean_are_exact(values: list[int]) -> None:
    histogram = of(values)
    assert histogram.quantile_ns(0.0) >= min(values) == histogram.min_ns
    assert histogram.quantile_ns(1.0) <= max(values) == histogram.max_ns
    assert histogram.mean_ns == pytest.approx(sum(values) / len(values))
    assert histogram.count == len(values)


@given(st.lists(latencies, max_size=5))
def test_a_merge_is_the_histogram_of_all_the_parts(parts: list[list[int]]) -> None:
    everything = [value for part in parts for value in part]
    whole = of(everything) if everything else EMPTY
    assert merged([EMPTY, *(of(part) for part in parts)]) == whole


@given(st.integers(0, (1 << 48) - 1))
def test_a_bucket_is_as_wide_as_that_of_the_encoding(value_ns: int) -> None:
    def lowest(of_ns: int) -> int:
        ((values_ns, _),) = decoded([encoded((np.array([of_ns]), np.ones(1, np.int64)))])
        return int(values_ns[0])

    low, width = lowest(value_ns), bucket_width_ns(value_ns)
    assert low <= value_ns < low + width
    assert lowest(low + width - 1) == low
    if low + width < 1 << 48:
        assert lowest(low + width) == low + width


def test_no_latencies_have_no_quantiles() -> None:
    assert EMPTY.count == EMPTY.quantile_ns(0.5) == EMPTY.mean_ns == 0


def test_the_upper_edge_of_a_bucket_is_the_lowest_value_of_the_next() -> None:
    histogram = of([2047, 2048, 2050, 4095, 4096])
    np.testing.assert_array_equal(histogram.values_ns, [2047, 2048, 2050, 4094, 4096])
    np.testing.assert_array_equal(histogram.upper_edges_ns(), [2048, 2050, 2052, 4096, 4100])


@given(latencies)
def test_a_histogram_of_single_times_is_that_of_the_engine(values: list[int]) -> None:
    assert histogram_of(np.array(values, np.int64)) == of(values)


def test_a_histogram_of_no_times_is_empty() -> None:
    assert histogram_of(np.empty(0, np.int64)) == EMPTY
