"""Figures with their batches: known answers on answers that are made here."""

import math
from dataclasses import replace

import numpy as np
import pytest

from teijo.analysis.quantities import (
    FIGURES,
    IOPS,
    LATENCY,
    LATENCY_MAX,
    THROUGHPUT,
    Quantity,
    of_intervals,
    of_rounds,
    of_series,
    of_steps,
)
from teijo.methods.quick.method import Quick
from teijo.methods.quick.settings import QuickSettings
from teijo.terms.record import StepRecord
from teijo.terms.result import Intervals, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload
from teijo.units import NS_PER_S
from tests.methods.canned import flow, latencies, record_of


def answer(ios: int, *, seconds: int = 1, mean_ns: int = 1_000_000, max_ns: int = 0) -> StepResult:
    result = flow("write", ios, 4096, mean_ns=mean_ns, max_ns=max_ns or mean_ns)
    return StepResult(started_ns=0, elapsed_ns=seconds * NS_PER_S, results=(result,))


def test_of_rounds_each_round_is_a_batch_and_the_value_their_mean() -> None:
    answers = [answer(100), answer(300, mean_ns=3_000_000, max_ns=9_000_000)]
    iops, mb_s, mean, longest = of_rounds(
        "cell", answers, (IOPS, THROUGHPUT, LATENCY, LATENCY_MAX), steady=True
    )
    assert (iops.value, iops.batches) == (200.0, (100.0, 300.0))
    assert mb_s.value == pytest.approx(200 * 4096 / 1e6)
    assert longest.batches == pytest.approx((1.0, 9.0))
    assert mean.batches[0] == pytest.approx(1.0)
    assert (iops.by_round, iops.steady, iops.batch_samples) == (True, True, 1)
    assert (iops.resolution, longest.resolution) == (1 / 100, 0.0)


def test_of_a_series_neighbours_go_into_five_batches() -> None:
    answers = [answer(ios) for ios in (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)]
    (iops,) = of_series("minutes", answers, (IOPS,))
    assert iops.batches == (15.0, 35.0, 55.0, 75.0, 95.0)
    assert (iops.batch_samples, iops.by_round, iops.value) == (2, False, 55.0)


def test_nothing_measured_is_no_quantity() -> None:
    assert of_rounds("cell", (), (IOPS,)) == of_series("cell", (), (IOPS,)) == ()
    idle = replace(answer(1), results=())
    assert of_intervals("cell", [idle]) == ()


def test_of_intervals_the_first_and_the_last_second_are_in_the_value_but_in_no_batch() -> None:
    ios = np.array([1, 10, 20, 10, 20, 10, 9])
    zero = ios * 0
    seconds = Intervals(
        length_ns=NS_PER_S,
        index=np.arange(7),
        ios=ios,
        bytes=ios * 4096,
        errors=zero,
        latency_ns_sum=ios * 2_000_000,
        latency_ns_min=zero,
        latency_ns_max=zero,
    )
    total = int(ios.sum())
    timed = latencies(total, 2_000_000)
    result = replace(flow("read", 60, 4096), count=total, latency=timed, intervals=seconds)
    step = StepResult(started_ns=0, elapsed_ns=7 * NS_PER_S, results=(result,))
    iops, mean = of_intervals("QD 1", [step], load="1 x 1")
    assert iops.value == pytest.approx(total / 7)
    assert math.fsum(iops.batches) / 5 == pytest.approx(14.0)
    assert mean.batches == pytest.approx((2.0,) * 5)
    assert iops.load == "1 x 1"


def test_a_method_without_rounds_has_the_figures_of_each_cell() -> None:
    def step(seq: int, cell: str) -> StepRecord:
        measure = Measure(
            workload=Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),)),
            duration_ns=NS_PER_S,
            cell=cell,
        )
        return StepRecord(seq=seq, step=measure, seed=seq, answer=answer(10))

    record = record_of(Quick(), QuickSettings(), (step(1, "QD 1"), step(2, "QD 2")))
    places = [(each.place, each.figure) for each in of_steps(record)]
    assert places == [("QD 1", IOPS), ("QD 1", LATENCY), ("QD 2", IOPS), ("QD 2", LATENCY)]


def test_more_is_faster_of_rates_and_slower_of_times() -> None:
    assert [figure.more_is_faster for figure in (IOPS, THROUGHPUT)] == [True, True]
    assert [figure.more_is_faster for figure in (LATENCY, LATENCY_MAX)] == [False, False]
    assert len({figure.name for figure in FIGURES}) == len(FIGURES) == 4


def test_a_quantity_of_one_run_has_no_error_of_others() -> None:
    quantity = Quantity(place="RND 4 KiB 0/100", figure=IOPS, value=2.0, batches=(1.0, 3.0))
    assert (quantity.runs, quantity.own_error, quantity.steady) == (1, 0.0, None)
