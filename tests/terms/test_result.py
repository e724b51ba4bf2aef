"""Answers: totals over streams and directions."""

import pytest

from teijo.terms.result import Gap, StepResult
from tests.methods.canned import flow


def test_totals_are_over_all_streams_and_directions():
    answer = StepResult(
        started_ns=0,
        elapsed_ns=2_000_000_000,
        results=(flow("read", 30, 4096), flow("write", 10, 4096), flow("write", 5, 512)),
    )
    assert answer.ios == 45
    assert answer.bytes == 40 * 4096 + 5 * 512
    assert answer.iops == pytest.approx(22.5)
    assert [part.count for part in answer.of("write")] == [10, 5]
    assert [part.count for part in answer.of("read")] == [30]


def test_no_time_is_no_iops():
    assert StepResult(started_ns=0, elapsed_ns=0, results=(flow("read", 1, 512),)).iops == 0


def test_a_gap_says_why():
    assert Gap().reason == "resumed"
