"""What is held against each other: the figures of a test, each with the batches it is a mean of.

In tests of rounds a batch is a round of the measurement window; in a series (minutes, bursts,
intervals) it is a fifth of the series. What is printed is what is compared.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from teijo.analysis import measures
from teijo.analysis.difference import BATCHES, five_batches, level_of
from teijo.analysis.saturation import saturation_of
from teijo.document.phrase import Verbatim, say
from teijo.methods.knobs import show_mix
from teijo.methods.method import Settings
from teijo.methods.pages import ms
from teijo.methods.parts import Part
from teijo.methods.pts.demand import stages
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.hir.bursts import HirSettings, log_of, state_name
from teijo.methods.pts.iops.matrix import IopsSettings
from teijo.methods.pts.iops.matrix import cell_name as iops_cell
from teijo.methods.pts.lat.matrix import LatSettings
from teijo.methods.pts.lat.matrix import cell_name as lat_cell
from teijo.methods.pts.loop import window_rounds_of
from teijo.methods.pts.tp import parts as tp
from teijo.methods.pts.versions import THROUGHPUT_READ_PERCENTS
from teijo.methods.pts.wsat.minutes import WsatSettings, samples_of
from teijo.methods.pts.xsr.groups import LEVEL_MINUTES, XsrSettings, answers_of, groups_of
from teijo.methods.quick.figures import passes_of
from teijo.methods.quick.settings import QuickSettings, cell_name
from teijo.methods.rounds import Round, exchanges_of, minutes_of, rounds_of
from teijo.terms.result import StepResult
from teijo.units import format_block_size


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is measured: its name, its unit, and whether more of it is faster."""

    name: str
    unit: str = ""
    digits: int = 1
    more_is_faster: bool = True


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
    what its uncertainty is told from, each of `batch_samples` neighbours. `by_round` holds of the
    window's rounds, in order. `resolution` is the share that one I/O is of those behind a batch.

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


_Measure = Callable[[StepResult], float]
_MEASURES: dict[str, _Measure] = {
    IOPS.name: lambda answer: answer.iops,
    THROUGHPUT.name: measures.throughput_mb_s,
    LATENCY.name: lambda answer: ms(measures.latency_ns_mean(answer)),
    LATENCY_MAX.name: lambda answer: ms(measures.latency_ns_max(answer)),
}


def quantities_of(part: Part) -> tuple[Quantity, ...]:
    """Return what a test has to be compared, in the order of its report; nothing unmeasured."""
    match part.settings:
        case IopsSettings() as settings:
            found = _of_window(part, _of_iops(part, settings))
        case LatSettings() as settings:
            found = _of_window(part, _of_lat(part, settings))
        case tp.TpSettings() as settings:
            found = _of_window(part, _of_tp(part, settings))
        case DemandSettings() as settings:
            found = _of_window(part, _of_demand(part, settings))
        case WsatSettings():
            found = _of_wsat(part)
        case HirSettings() as settings:
            found = _of_window(part, _of_hir(part, settings))
        case XsrSettings() as settings:
            found = _of_xsr(part, settings)
        case QuickSettings() as settings:
            found = _of_quick(part, settings)
        case Settings():
            found = _of_steps(part)
    return tuple(found)


def repeated(several: Sequence[Sequence[Quantity]]) -> tuple[Quantity, ...]:
    """Return the quantities of runs that repeat each other: each run's value is a batch then.

    What one of them has not measured is left out.
    """
    by_run = [{(each.place, each.figure): each for each in run} for run in several]
    found = []
    for key, first in by_run[0].items():
        same = [run[key] for run in by_run if key in run]
        if len(same) < len(by_run):
            continue
        values = tuple(each.value for each in same)
        found.append(
            Quantity(
                place=first.place,
                figure=first.figure,
                value=math.fsum(values) / len(values),
                batches=values,
                by_round=first.by_round,
                resolution=max(each.resolution for each in same),
                steady=first.steady,
                runs=len(same),
                own_error=math.fsum(_own_error(each) for each in same) / len(same),
            )
        )
    return tuple(found)


def _own_error(run: Quantity) -> float:
    level = level_of(run.batches)
    return 0.0 if level is None else level.squared_error


def cells_of_window(part: Part, cells_per_round: int) -> tuple[Round, ...]:
    """Return the rounds that a test of one determination is reported over."""
    rounds = rounds_of(exchanges_of(part.record), cells_per_round)
    return window_rounds_of(part.findings.steady_states, rounds)


def _of_iops(part: Part, settings: IopsSettings) -> list[Quantity]:
    mixes, blocks = settings.mixes_read_percent, settings.block_sizes_bytes
    window = cells_of_window(part, len(mixes) * len(blocks))
    return [
        each
        for mix in mixes
        for block in blocks
        for each in _over(window, iops_cell(mix, block), cell_place(mix, block), (IOPS,))
    ]


def _of_lat(part: Part, settings: LatSettings) -> list[Quantity]:
    mixes, blocks = settings.mixes_read_percent, settings.block_sizes_bytes
    window = cells_of_window(part, len(mixes) * len(blocks))
    figures = (LATENCY, LATENCY_MAX)
    return [
        each
        for mix in mixes
        for block in blocks
        for each in _over(window, lat_cell(mix, block), cell_place(mix, block), figures)
    ]


def _of_tp(part: Part, settings: tp.TpSettings) -> list[Quantity]:
    found = []
    for one in tp.parts_of(settings, exchanges_of(part.record)):
        states = tp.determination(one.block_size_bytes, one.rounds)
        window = window_rounds_of(states, one.rounds)
        for mix in THROUGHPUT_READ_PERCENTS:
            cell = tp.cell_name(mix, one.block_size_bytes)
            found += _over(window, cell, Verbatim(cell), (THROUGHPUT,))
    return found


def _of_demand(part: Part, settings: DemandSettings) -> list[Quantity]:
    window = cells_of_window(part, stages.cells_per_round(settings))
    names = [stages.cell_name(*place) for place in stages.sweep_of(settings)]
    found = [each for name in names for each in _over(window, name, Verbatim(name), (IOPS,))]
    for run in stages.point_runs(exchanges_of(part.record)):
        if run.histogram is not None:
            load = stages.cell_name(run.threads, run.queue_depth)
            point = _by_interval(say("{point}IOPS", point=run.name), [run.histogram])
            found += [replace(each, load=load) for each in point]
    return found


def _of_wsat(part: Part) -> list[Quantity]:
    answers = [answer for _, answer in minutes_of(exchanges_of(part.record))]
    curve = saturation_of(samples_of(answers))
    if curve is None:
        return []
    fresh = answers[: curve.plateau_samples]
    last = answers[-max(5, math.ceil(len(answers) / 5)) :]
    return [
        *_series("FOB plateau", fresh, (IOPS,)),
        *_of_window(part, _series("last fifth of the minutes", last, (IOPS, LATENCY))),
    ]


def _of_hir(part: Part, settings: HirSettings) -> list[Quantity]:
    found = []
    for state in log_of(settings, exchanges_of(part.record)).states:
        name = Verbatim(state_name(state.idle_s))
        half = state.baseline[len(state.baseline) // 2 :]
        found += _series(say("{state}, bursts", state=name), state.bursts, (IOPS,))
        found += _series(say("{state}, without a rest", state=name), half, (IOPS,))
    return found


def _of_xsr(part: Part, settings: XsrSettings) -> list[Quantity]:
    answers = answers_of(part.record)
    found = []
    for group in groups_of(settings):
        name = say("group {number}, its last two hours", number=group.number)
        found += _series(name, group.of(answers)[-LEVEL_MINUTES:], (THROUGHPUT,))
    return found


def _of_quick(part: Part, settings: QuickSettings) -> list[Quantity]:
    """Return the figures of a quick look: each pass of a test is a batch of its own."""
    return [
        _quantity(Verbatim(cell_name(*place)), figure, answers, by_round=True)
        for place, answers in passes_of(settings, part.record).items()
        for figure in (IOPS, LATENCY)
    ]


def _of_steps(part: Part) -> list[Quantity]:
    """Return the figures of a method without rounds: each measurement over its own seconds."""
    by_name: dict[str, list[StepResult]] = {}
    for step, answer in part.record.measured():
        by_name.setdefault(step.cell or step.phase, []).append(answer)
    return [
        each for name, answers in by_name.items() for each in _by_interval(Verbatim(name), answers)
    ]


def cell_place(read_percent: int, block_size_bytes: int) -> str:
    """Return the name of a cell of a matrix: "RND 4 KiB 0/100"."""
    return Verbatim(f"RND {format_block_size(block_size_bytes)} {show_mix(read_percent)}")


def _of_window(part: Part, quantities: Iterable[Quantity]) -> list[Quantity]:
    """Return figures of the state that the test came to, with whether that is a steady one."""
    return [replace(each, steady=part.findings.converged) for each in quantities]


def _over(
    window: Sequence[Round], cell: str, place: str, figures: Iterable[Figure]
) -> list[Quantity]:
    """Return a cell's figures over the window: each round is a batch of its own."""
    answers = [each.at(cell) for each in window]
    return [_quantity(place, figure, answers, by_round=True) for figure in figures if answers]


def _series(place: str, answers: Sequence[StepResult], figures: Iterable[Figure]) -> list[Quantity]:
    """Return the figures of consecutive answers: neighbours go into one batch."""
    return [_quantity(place, figure, answers) for figure in figures if answers]


def _quantity(
    place: str, figure: Figure, answers: Sequence[StepResult], *, by_round: bool = False
) -> Quantity:
    samples = tuple(_MEASURES[figure.name](answer) for answer in answers)
    is_maximum = figure is LATENCY_MAX
    return Quantity(
        place=place,
        figure=figure,
        value=math.fsum(samples) / len(samples),
        batches=samples if by_round else five_batches(samples),
        by_round=by_round,
        resolution=0.0 if is_maximum else 1 / max(1, min(answer.ios for answer in answers)),
        batch_samples=1 if by_round else _batch_samples(samples),
    )


def _by_interval(place: str, answers: Sequence[StepResult]) -> list[Quantity]:
    """Return IOPS and mean latency, their batches from the measurement's one-second intervals.

    The first and the last interval of a step are left out of the batches: they may be cut.
    """
    rates: list[float] = []
    latencies: list[float] = []
    for answer in answers:
        ios, latency_ns, length_ns = _intervals(answer)
        rates += (ios[1:-1] * (1e9 / length_ns)).tolist()
        served = ios[1:-1] > 0
        latencies += (latency_ns[1:-1][served] / ios[1:-1][served] / 1e6).tolist()
    count, elapsed_ns = sum(a.ios for a in answers), sum(a.elapsed_ns for a in answers)
    if not count:
        return []
    total_ns = sum(part.timed.sum_ns for answer in answers for part in answer.results)
    found = ((IOPS, count * 1e9 / elapsed_ns, rates), (LATENCY, ms(total_ns / count), latencies))
    return [
        Quantity(
            place=place,
            figure=figure,
            value=value,
            batches=five_batches(samples),
            batch_samples=_batch_samples(samples),
        )
        for figure, value, samples in found
    ]


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
