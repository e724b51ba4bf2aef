"""Flows of several steps: their series follow each other, their times are one distribution."""

import numpy as np
import pytest

from teijo.document.model import XYChart
from teijo.methods.series_pages import flows_of, latency_section, time_section, times_table
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.units import NS_PER_MS, NS_PER_S
from tests.methods.canned import latencies


def series(*ios: int) -> Intervals:
    count = np.array(ios, np.int64)
    zero = np.zeros_like(count)
    return Intervals(
        length_ns=NS_PER_S, index=np.arange(count.size), ios=count, bytes=count * 4096,
        errors=zero, latency_ns_sum=count * NS_PER_MS, latency_ns_min=zero, latency_ns_max=zero,
    )  # fmt: skip


def answer(*ios: int) -> StepResult:
    times = latencies(sum(ios), NS_PER_MS)
    part = OperationResult(
        stream="main", operation="read", count=sum(ios), bytes=4096 * sum(ios),
        latency=times, errors={}, intervals=series(*ios),
    )  # fmt: skip
    return StepResult(started_ns=0, elapsed_ns=len(ios) * NS_PER_S, results=(part,))


def test_the_second_pass_begins_where_the_first_has_ended():
    section = time_section(flows_of("4 KiB", [answer(10, 20), answer(30)], ("read",)))
    chart = section.blocks[0]
    assert isinstance(chart, XYChart)
    assert chart.series[0].x == (1.0, 2.0, 3.0)
    assert chart.series[0].y == (10.0, 20.0, 30.0)


def test_the_times_of_all_passes_are_one_row():
    flows = flows_of("4 KiB", [answer(10), answer(30)], ("read", "write"))
    assert [flow.name for flow in flows] == ["4 KiB read"]
    (row,) = times_table(flows).rows
    assert row[1] == 40
    assert row[3] == pytest.approx(1.0, rel=0.01)
    assert latency_section(flows).blocks


def test_without_a_series_that_is_said():
    (only,) = time_section([]).blocks
    assert "no time series" in str(only)
