"""Numbers of answers: weighted latencies, means over rounds, write amplification."""

from dataclasses import replace

import pytest

from teijo.analysis import measures
from teijo.terms.result import StepResult
from tests.methods.canned import flow, latencies


def answer(*results, elapsed_ns: int = 1_000_000_000, **named) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=results, **named)


def test_iops_of_a_mixed_cell_is_reads_plus_writes():
    mixed = answer(flow("read", 650, 4096), flow("write", 350, 4096))
    assert mixed.iops == 1000
    assert measures.throughput_mb_s(mixed) == pytest.approx(4.096)


def test_mixed_latency_counts_every_io_once():
    mixed = answer(flow("read", 900, 4096, mean_ns=100), flow("write", 100, 4096, mean_ns=1_100))
    assert measures.latency_ns_mean(mixed) == 200  # not (100 + 1,100) / 2
    assert measures.latency_of(mixed).mean_ns == 200


def test_the_maximum_of_a_window_is_the_maximum_of_the_maxima():
    rounds = [
        answer(flow("write", 10, 4096, mean_ns=100, max_ns=longest))
        for longest in (500, 90_000, 700)
    ]
    cell = measures.cell_over((), rounds)
    assert cell.latency_ns_max == 90_000
    assert cell.iops == 10


def test_a_cell_is_the_arithmetic_mean_over_the_rounds():
    # Whitepaper, figure 13: 144.5 MB/s is the mean of the window's five rounds.
    rounds = [answer(flow("write", ios, 1_000_000)) for ios in (140, 150, 145)]
    cell = measures.cell_over((), rounds)
    assert cell.iops == pytest.approx(145)
    assert cell.throughput_mb_s == pytest.approx(145)


def test_write_amplification_needs_both_counters():
    both = answer(
        health_before={"host_writes_bytes": 100, "nand_writes_bytes": 1_000},
        health_after={"host_writes_bytes": 200, "nand_writes_bytes": 1_350},
    )
    host = answer(health_before={"host_writes_bytes": 0}, health_after={"host_writes_bytes": 9})
    assert measures.write_amplification([both, both]) == 3.5
    assert measures.write_amplification([both, host]) is None
    assert measures.write_amplification([]) is None
    assert measures.counter_change(both.health_before, both.health_after) == {
        "host_writes_bytes": (100, 200),
        "nand_writes_bytes": (1_000, 1_350),
    }


def test_nothing_measured_is_zero_and_not_a_number():
    nothing = answer()
    assert measures.latency_ns_mean(nothing) == 0
    assert measures.latency_ns_max(nothing) == 0
    assert measures.throughput_mb_s(answer(elapsed_ns=0)) == 0


def test_the_response_of_a_step_is_that_of_its_open_loops_alone():
    closed = flow("read", 3, 4096)
    late = replace(flow("write", 2, 4096), response=latencies(2, 70_000))
    answer = StepResult(started_ns=0, elapsed_ns=1, results=(closed, late))
    response = measures.response_of(answer)
    assert response is not None
    assert (response.count, response.mean_ns) == (2, 70_000)
    assert measures.response_of(replace(answer, results=(closed,))) is None
