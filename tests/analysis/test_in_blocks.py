"""Cells of one block share its level: it is in no ratio of theirs, and in their drift."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.difference import difference_of
from teijo.analysis.in_blocks import Repeats, drift_of, ratio_in_blocks, smallest_near_best
from teijo.analysis.measures import latency_ns_of
from teijo.terms.result import OperationResult, StepResult
from tests.methods.canned import flow

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


def answer(*flows: OperationResult) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=10**9, results=flows)


def test_a_cell_is_the_mean_of_its_blocks_in_the_units_of_a_report() -> None:
    cell = Repeats(
        answers=tuple(answer(flow("read", ios, 10**6, mean_ns=ios * 1000)) for ios in (100, 300))
    )
    assert (cell.iops.mean, cell.throughput_mb_s.mean) == (200, 200)
    assert cell.latency_ms.mean == pytest.approx(0.2)
    assert cell.iops.low is not None
    assert cell.latency_ms.low == pytest.approx(cell.iops.low / 1000)


def test_the_times_of_a_direction_are_none_where_a_block_has_no_such_io() -> None:
    both = answer(flow("read", 10, 512, mean_ns=100), flow("write", 5, 512, mean_ns=300))
    reads = answer(flow("read", 10, 512, mean_ns=200))
    assert latency_ns_of(both, "write") == 300
    assert latency_ns_of(reads, "write") is None
    cell = Repeats(answers=(both, reads))
    assert cell.times_ns("read") == (100, 200)
    assert cell.times_ns("write") == ()
