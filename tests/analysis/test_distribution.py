"""The distribution of a figure over drives: against quartiles worked out by hand and by Python."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.distribution import distribution_of


def test_five_drives_have_the_quartiles_that_are_drives_themselves() -> None:
    found = distribution_of([30.0, 10.0, 50.0, 20.0, 40.0])
    assert found is not None
    assert found.quartiles == (20.0, 30.0, 40.0)
    assert (found.least, found.at_least) == (10.0, 1)
    assert (found.most, found.at_most) == (50.0, 2)
    assert found.count == 5
    assert found.median == 30.0


def test_a_drive_without_the_figure_does_not_count_and_keeps_its_place() -> None:
    found = distribution_of([None, 3.0, None, 1.0])
    assert found is not None
    assert (found.count, found.at_least, found.at_most) == (2, 3, 1)


def test_nothing_measured_has_no_distribution() -> None:
    assert distribution_of([]) is None
    assert distribution_of([None, None]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_quartiles_are_those_of_the_standard_library(values: list[float]) -> None:
    found = distribution_of(values)
    assert found is not None
    assert found.quartiles == pytest.approx(
        statistics.quantiles(values, n=4, method="inclusive"), abs=1e-6, rel=1e-9
    )
