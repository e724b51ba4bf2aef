"""Repeats of one measurement: their mean and Student's interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.replicates import estimate_of, standard_error


def test_five_repeats_have_the_interval_of_the_tables() -> None:
    found = estimate_of([9.0, 10.0, 11.0, 10.0, 10.0])
    assert found is not None
    assert found.mean == 10
    assert found.high is not None
    assert found.low is not None
    # t(0.975, 4) = 2.776 (any table); the standard deviation is sqrt(1/2).
    reach = 2.776 * math.sqrt(0.5 / 5) / 10
    assert math.log(found.high / found.mean) == pytest.approx(reach, rel=1e-3)
    assert found.low * found.high == pytest.approx(found.mean**2)
    assert found.reach_share == pytest.approx(math.expm1(reach), rel=1e-3)


def test_rates_that_scatter_widely_have_an_interval_above_zero() -> None:
    found = estimate_of([1.0, 2.0, 100.0])
    assert found is not None
    assert found.low is not None
    assert 0 < found.low < found.mean
    around_zero = estimate_of([-1.0, 1.0])
    assert around_zero is not None
    assert around_zero.low is not None
    assert around_zero.low < 0


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    one = estimate_of([3.0])
    assert one is not None
    assert (one.low, one.high, one.reach_share) == (None, None, None)
    assert estimate_of([]) is None


def test_repeats_that_are_equal_have_an_interval_of_nothing() -> None:
    found = estimate_of([2.0, 2.0, 2.0])
    assert found is not None
    assert (found.low, found.high) == (2.0, 2.0)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=20))
def test_the_standard_error_is_numpys(values: list[float]) -> None:
    expected = np.std(values, ddof=1) / math.sqrt(len(values))
    assert standard_error(values) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_an_interval_of_95_percent_covers_the_truth_that_often() -> None:
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        found = estimate_of(draw.normal(100, 5, 5).tolist())
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 100 <= found.high
    assert 0.935 <= covered / 2000 <= 0.965
