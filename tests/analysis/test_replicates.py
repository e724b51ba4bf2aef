"""Repeats of one measurement: the scatter of their mean, and how far an interval reaches."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.replicates import Estimate, standard_error


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=20))
def test_the_standard_error_is_numpys(values: list[float]) -> None:
    expected = np.std(values, ddof=1) / math.sqrt(len(values))
    assert standard_error(values) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_the_reach_is_upwards_and_a_share_of_the_mean() -> None:
    found = Estimate(mean=10.0, low=8.0, high=12.5, count=5)
    assert found.reach_share == 0.25
    assert found.times(2).three == (20, 16, 25)
    one = Estimate(mean=3.0, low=None, high=None, count=1)
    assert (one.reach_share, one.times(2).three) == (None, (6, None, None))
