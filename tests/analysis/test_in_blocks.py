"""Cells of one block share its level: it is in no ratio of theirs, and in their drift."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.difference import difference_of
from teijo.analysis.in_blocks import drift_of, ratio_in_blocks, smallest_near_best

RATES = st.lists(st.floats(min_value=1, max_value=1e6), min_size=2, max_size=9)


@given(levels=RATES)
def test_a_level_that_wanders_from_block_to_block_is_in_no_ratio(levels: list[float]) -> None:
    ratio = ratio_in_blocks([3 * each for each in levels], levels)
    assert ratio is not None
    assert (ratio.low, ratio.ratio, ratio.high) == pytest.approx((3, 3, 3), rel=1e-6)


def test_a_ratio_is_of_the_means_and_its_interval_that_of_the_blocks_ratios() -> None:
    one, other = [200.0, 330.0], [100.0, 150.0]
    ratio, ratios = ratio_in_blocks(one, other), difference_of([1, 1], [2, 2.2])
    assert ratio is not None
    assert ratios is not None
    assert ratio.ratio == pytest.approx(530 / 250)
    assert ratio.high / ratio.ratio == pytest.approx(ratios.high / ratios.ratio)


def test_one_block_or_one_without_io_has_no_ratio() -> None:
    assert ratio_in_blocks([1.0], [1.0]) is None
    assert ratio_in_blocks([1.0, 1.0], [1.0, 0.0]) is None
    assert ratio_in_blocks([], []) is None


def test_a_drift_is_that_of_all_cells_alike_whatever_their_rates() -> None:
    drift = drift_of([[100, 101, 80, 81], [1e6, 1.01e6, 8e5, 8.1e5], [0, 0, 0, 0]])
    assert drift is not None
    assert drift.ratio == pytest.approx(161 / 201)
    assert drift.shown
    assert drift_of([[100, 101, 80]]) is None
    assert drift_of([]) is None


def test_nearly_all_is_nine_tenths_of_the_highest() -> None:
    assert smallest_near_best({4: 50, 8: 90, 16: 100, 32: 95}) == 8
    assert smallest_near_best({4: 50, 8: 89.9, 16: 100}) == 16
    assert smallest_near_best({4: 0.0}) is None
    assert smallest_near_best({}) is None
