"""The figures of a test as they are compared: each with the batches it is a mean of.

In tests of rounds a batch is a round of the measurement window; in a series (minutes, bursts,
intervals) it is a fifth of the series. What is printed is what is compared.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.difference import BATCHES, five_batches
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.terms.record import Record
from teijo.terms.result import StepResult

IOPS = Figure(name="IOPS")
THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=2)
LATENCY = Figure(name="Mean latency", unit="ms", digits=4, more_is_faster=False)
LATENCY_MAX = Figure(
    name="Maximum latency, mean of rounds", unit="ms", digits=3, more_is_faster=False
)
"""A single long I/O in one round does not decide it, as it decides the longest of the window."""
FIGURES = (IOPS, THROUGHPUT, LATENCY, LATENCY_MAX)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One figure at one place of a test. `value` is what the test's report says; `batches` are
    what its uncertainty is estimated from, each of `batch_samples` neighbours. `by_round`: they
    are the window's rounds, in order. `resolution` is the share that one I/O
    is of those behind a batch.

    `steady` is what was determined of the window that it is measured in, None where nothing was.
    Of several `runs` each one's value is a batch, and `own_error` the squared relative error
    that one of them has by its rounds. `load` is the demand that a run chose by itself.
    """

    place: str
    figure: Figure
    value: float
    batches: tuple[float, ...]
    by_round: bool = False
    resolution: float = 0.0
    batch_samples: int = 1
    steady: bool | None = None
    runs: int = 1
    own_error: float = 0.0
    load: str = ""


_MEASURES: Mapping[Figure, Callable[[StepResult], float]] = {
    IOPS: lambda answer: answer.iops,
    THROUGHPUT: measures.throughput_mb_s,
    LATENCY: measures.latency_ms_mean,
    LATENCY_MAX: measures.latency_ms_max,
}


def of_rounds(
    place: str,
    answers: Sequence[StepResult],
    figures: Iterable[Figure],
    *,
    steady: bool | None = None,
) -> tuple[Quantity, ...]:
    """Return a cell's figures over the rounds of a window: each round is one batch."""
    return tuple(
        _quantity(place, figure, answers, by_round=True, steady=steady)
        for figure in figures
        if answers
    )


def of_series(
    place: str,
    answers: Sequence[StepResult],
    figures: Iterable[Figure],
    *,
    steady: bool | None = None,
) -> tuple[Quantity, ...]:
    """Return the figures of consecutive answers: neighbours go into one batch."""
    return tuple(_quantity(place, figure, answers, steady=steady) for figure in figures if answers)


def of_steps(record: Record) -> tuple[Quantity, ...]:
    """Return the figures of a run without rounds: each measurement over its own seconds."""
    by_name: dict[str, list[StepResult]] = {}
    for step, answer in record.measured():
        by_name.setdefault(step.cell or step.phase, []).append(answer)
    return tuple(
        each for name, answers in by_name.items() for each in of_intervals(Verbatim(name), answers)
    )


def of_intervals(
    place: str, answers: Sequence[StepResult], *, steady: bool | None = None, load: str = ""
) -> tuple[Quantity, ...]:
    """Return IOPS and mean latency, their batches from the measurement's one-second intervals.

    The first and the last interval of a step are left out of the batches: they may be cut.
    """
    rates: list[float] = []
    latencies: list[float] = []
    for answer in answers:
        ios, latency_ns, length_ns = _intervals(answer)
        rates += (ios[1:-1] * (units.NS_PER_S / length_ns)).tolist()
        served = ios[1:-1] > 0
        latencies += (latency_ns[1:-1][served] / ios[1:-1][served] / units.NS_PER_MS).tolist()
    count, elapsed_ns = sum(a.ios for a in answers), sum(a.elapsed_ns for a in answers)
    if not count:
        return ()
    total_ns = sum(part.timed.sum_ns for answer in answers for part in answer.results)
    rate = count * units.NS_PER_S / elapsed_ns
    found = ((IOPS, rate, rates), (LATENCY, total_ns / count / units.NS_PER_MS, latencies))
    return tuple(
        Quantity(
            place=place,
            figure=figure,
            value=value,
            batches=five_batches(samples),
            batch_samples=_batch_samples(samples),
            steady=steady,
            load=load,
        )
        for figure, value, samples in found
    )


def _quantity(
    place: str,
    figure: Figure,
    answers: Sequence[StepResult],
    *,
    by_round: bool = False,
    steady: bool | None,
) -> Quantity:
    samples = tuple(_MEASURES[figure](answer) for answer in answers)
    is_maximum = figure is LATENCY_MAX
    return Quantity(
        place=place,
        figure=figure,
        value=math.fsum(samples) / len(samples),
        batches=samples if by_round else five_batches(samples),
        by_round=by_round,
        # A maximum is no mean over I/Os, of which one more or less has a share.
        resolution=0.0 if is_maximum else 1 / max(1, min(answer.ios for answer in answers)),
        batch_samples=1 if by_round else _batch_samples(samples),
        steady=steady,
    )


def _batch_samples(samples: Sequence[float]) -> int:
    """Return how many neighbours a fifth of a series has."""
    return max(1, len(samples) // BATCHES)


def _intervals(answer: StepResult) -> tuple[np.ndarray, np.ndarray, int]:
    """Return I/Os and summed latency of each interval, all streams together, and its length."""
    series = [part.intervals for part in answer.results if part.intervals is not None]
    if not series:
        return np.zeros(0), np.zeros(0), 1
    last = max((int(each.index.max()) for each in series if len(each.index)), default=-1)
    ios, latency_ns = np.zeros(last + 1), np.zeros(last + 1)
    for each in series:
        np.add.at(ios, each.index, each.ios)
        np.add.at(latency_ns, each.index, each.latency_ns_sum)
    return ios, latency_ns, series[0].length_ns
