"""The stages of DIRTH and the composite workload: their steps, and what a conversation shows of
them. Preconditioning minute by minute, rounds of a pre-write and a sweep, operating points.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from teijo.analysis import measures
from teijo.analysis.demand import DemandPoint, OperatingPoints, in_flight_share, operating_points
from teijo.analysis.steady_state import Tracked, determine
from teijo.document.phrase import Verbatim, say
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.demand.settings import DemandSettings, stimulus_with
from teijo.methods.rounds import Exchange, Measured, Round, Rounds, window_rounds_of
from teijo.methods.workload import words as workload_words
from teijo.terms.finding import Cell, SteadyState
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, ROUND, Measure, Step
from teijo.terms.workload import Stream, Workload

PRECONDITION = "precondition"
PREWRITE = "pre-write"
POINT_NAMES = (Verbatim("Max"), Verbatim("Mid"), Verbatim("Min"))


@dataclass(frozen=True, kw_only=True)
class PointRun:
    """What was measured at one operating point: the minutes of its pre-write, its histogram."""

    name: str
    threads: int
    queue_depth: int
    prewrite: tuple[StepResult, ...]
    histogram: StepResult | None


def workload_at(
    settings: DemandSettings, read_percent: int, threads: int, queue_depth: int
) -> Workload:
    """Return the stimulus at a mix and a demand."""
    access, skew, zones = workload_words.parse_access(settings.access)
    several = len(settings.blocks) > 1
    stream = Stream(
        read_percent=read_percent,
        block_size_bytes=max(settings.block_sizes_bytes),
        block_mix=settings.blocks if several else (),
        access=access,
        skew=skew,
        zones=zones,
        threads=threads,
        queue_depth=queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))


# --- preconditioning --------------------------------------------------------------------------


def precondition(settings: DemandSettings) -> Generator[Step, Answer, tuple[SteadyState, ...]]:
    """Write at the greatest demand until the check minutes are steady; from the start after a gap.

    It stops at a check minute: the first of each round is one, and the last round has no others.
    """
    answers: list[StepResult] = []
    while not precondition_is_over(settings, answers):
        answer = yield precondition_minute(settings, len(answers) + 1)
        if isinstance(answer, Gap):
            answers.clear()
        else:
            answers.append(answer)
    return precondition_determination(settings, answers)


def precondition_minute(settings: DemandSettings, number: int) -> Measure:
    """Return one minute of the preconditioning, counted from 1; its round is in the step."""
    return Measure(
        workload=workload_at(settings, 0, settings.threads, settings.queue_depth),
        duration_ns=settings.minute_ns,
        phase=PRECONDITION,
        round_number=(number - 1) // settings.precondition_minutes + 1,
        cell=f"minute {number}",
        continues=number > 1,
        open_ended=True,
    )


def precondition_is_over(settings: DemandSettings, answers: Sequence[StepResult]) -> bool:
    """Return whether these minutes are enough: steady, or as many rounds as are allowed."""
    if not settings.precondition_rounds_most:
        return True
    if len(answers) % settings.precondition_minutes != 1 % settings.precondition_minutes:
        return False
    checks = len(check_minutes(settings, answers))
    return checks >= settings.precondition_rounds_most or is_steady(
        precondition_determination(settings, answers)
    )


def check_minutes(settings: DemandSettings, answers: Sequence[StepResult]) -> list[StepResult]:
    """Return the first minute of each round: 1, 31, 61 and so on."""
    return list(answers[:: settings.precondition_minutes])


def precondition_determination(
    settings: DemandSettings, answers: Sequence[StepResult]
) -> tuple[SteadyState, ...]:
    """Return the determination over the check minutes; none without preconditioning."""
    if not settings.precondition_rounds_most:
        return ()
    checks = check_minutes(settings, answers)
    tracked = Tracked(
        variable=say("check minute, {stimulus}", stimulus=stimulus_with(settings, 0)),
        unit="IOPS",
        values=tuple(measures.exact_iops(answer) for answer in checks),
    )
    return determine(range(1, len(checks) + 1), [tracked])


def preconditioned(exchanges: Iterable[Exchange]) -> list[StepResult]:
    """Return the minutes of the preconditioning since its last gap."""
    answers: list[StepResult] = []
    for step, answer in exchanges:
        if isinstance(step, Measure) and step.phase == PRECONDITION:
            if isinstance(answer, Gap):
                answers.clear()
            else:
                answers.append(answer)
    return answers


# --- rounds -----------------------------------------------------------------------------------


def cell_name(threads: int, queue_depth: int) -> str:
    """Return the name of a point of the sweep: "TC 32 QD 8"."""
    return f"TC {threads} QD {queue_depth}"


def round_cells(settings: DemandSettings, round_number: int) -> tuple[Measure, ...]:
    """Return a round: the pre-write minute by minute, then the sweep from high to low demand."""
    sweep = tuple(
        Measure(
            workload=workload_at(settings, settings.read_percent, threads, queue_depth),
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=round_number,
            cell=cell_name(threads, queue_depth),
        )
        for threads, queue_depth in sweep_of(settings)
    )
    prewrite = _prewrite(
        settings,
        minutes=settings.prewrite_minutes,
        phase=ROUND,
        round_number=round_number,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
    )
    return (*prewrite, *sweep)


def cells_per_round(settings: DemandSettings) -> int:
    """Return how many steps a round has."""
    sweep = len(settings.thread_counts) * len(settings.queue_depths)
    return settings.prewrite_minutes + sweep


def sweep_of(settings: DemandSettings) -> tuple[tuple[int, int], ...]:
    """Return (threads, queue depth) of every point of the sweep, in order."""
    return tuple(
        (threads, queue_depth)
        for threads in settings.thread_counts
        for queue_depth in settings.queue_depths
    )


def prewrites_of(settings: DemandSettings, measured: Round) -> tuple[StepResult, ...]:
    """Return the minutes of the pre-write that began a round."""
    return tuple(answer for _, answer in measured.cells[: settings.prewrite_minutes])


def tracking_name(settings: DemandSettings) -> str:
    """Return the tracking variable's name: "RND 8 KiB 65/35 TC 32 QD 32"."""
    return say(
        "{stimulus} {cell}",
        stimulus=stimulus_with(settings, settings.read_percent),
        cell=cell_name(settings.threads, settings.queue_depth),
    )


def determination(settings: DemandSettings, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the IOPS at the greatest demand, over the unbroken rounds."""
    cell = cell_name(settings.threads, settings.queue_depth)
    tracked = Tracked(
        variable=tracking_name(settings),
        unit="IOPS",
        values=tuple(measures.exact_iops(each.at(cell)) for each in rounds.unbroken),
    )
    return determine([each.number for each in rounds.unbroken], [tracked])


def window_of(settings: DemandSettings, rounds: Rounds) -> tuple[Round, ...]:
    """Return the rounds to report: the window, or the last five unbroken ones."""
    return window_rounds_of(determination(settings, rounds), rounds)


def sweep_cells(settings: DemandSettings, window: Sequence[Round]) -> tuple[Cell, ...]:
    """Return every point of the sweep over the window's rounds, none without a round."""
    if not window:
        return ()
    return tuple(
        measures.cell_over(
            (("threads", str(threads)), ("queue depth", str(queue_depth))),
            [each.at(cell_name(threads, queue_depth)) for each in window],
        )
        for threads, queue_depth in sweep_of(settings)
    )


def demand_points(settings: DemandSettings, window: Sequence[Round]) -> tuple[DemandPoint, ...]:
    """Return the sweep as points of demand, over the window's rounds."""
    return tuple(
        DemandPoint(
            threads=threads,
            queue_depth=queue_depth,
            iops=cell.iops,
            latency_ns_mean=cell.latency_ns_mean,
        )
        for (threads, queue_depth), cell in zip(
            sweep_of(settings), sweep_cells(settings, window), strict=False
        )
    )


def in_flight_shares(
    settings: DemandSettings, window: Sequence[Round]
) -> dict[tuple[int, int], float]:
    """Return the I/Os in flight by those asked for, by (threads, queue depth), over the window."""
    return {
        (threads, queue_depth): in_flight_share(
            [each.at(cell_name(threads, queue_depth)) for each in window], threads * queue_depth
        )
        for threads, queue_depth in sweep_of(settings)
    }


# --- operating points -------------------------------------------------------------------------


def chosen_points(settings: DemandSettings, window: Sequence[Round]) -> OperatingPoints | None:
    """Return the operating points that the window shows, None where nothing was answered."""
    return operating_points(demand_points(settings, window), settings.latency_limit_ns)


def named_points(points: OperatingPoints) -> tuple[tuple[str, DemandPoint], ...]:
    """Return Max, Mid and Min with their names, in the order measured."""
    return tuple(zip(POINT_NAMES, (points.maximum, points.middle, points.minimum), strict=True))


def measure_point(
    settings: DemandSettings, number: int, name: str, point: DemandPoint
) -> Generator[Step, Answer, None]:
    """Pre-write at one point's demand, then measure the mix; from the start after a gap."""
    steps = point_steps(settings, number, name, point)
    while True:
        for step in steps:
            if isinstance((yield step), Gap):
                break
        else:
            return


def point_steps(
    settings: DemandSettings, number: int, name: str, point: DemandPoint
) -> tuple[Measure, ...]:
    """Return one operating point's steps; `number` is its place, from 1."""
    threads, queue_depth = point.threads, point.queue_depth
    prewrite = _prewrite(
        settings,
        minutes=settings.point_prewrite_minutes,
        phase=PREWRITE,
        round_number=number,
        threads=threads,
        queue_depth=queue_depth,
    )
    histogram = Measure(
        workload=workload_at(settings, settings.read_percent, threads, queue_depth),
        duration_ns=settings.histogram_minutes * settings.minute_ns,
        phase=HISTOGRAM,
        round_number=number,
        cell=f"{name}, {cell_name(threads, queue_depth)}",
    )
    return (*prewrite, histogram)


def point_runs(exchanges: Iterable[Exchange]) -> tuple[PointRun, ...]:
    """Return what was measured at the operating points, as far as it goes, in order."""
    measured: dict[int, list[Measured]] = {}
    for step, answer in exchanges:
        if not isinstance(step, Measure) or step.phase not in (PREWRITE, HISTOGRAM):
            continue
        assert step.round_number is not None, "an operating point has its number"
        if isinstance(answer, Gap):
            measured.pop(step.round_number, None)
        else:
            measured.setdefault(step.round_number, []).append((step, answer))
    return tuple(_point_run(number, parts) for number, parts in sorted(measured.items()))


def _point_run(number: int, parts: Sequence[Measured]) -> PointRun:
    (stream,) = parts[0][0].workload.streams
    return PointRun(
        name=POINT_NAMES[number - 1],
        threads=stream.threads,
        queue_depth=stream.queue_depth,
        prewrite=tuple(answer for step, answer in parts if step.phase == PREWRITE),
        histogram=next((answer for step, answer in parts if step.phase == HISTOGRAM), None),
    )


def _prewrite(
    settings: DemandSettings,
    *,
    minutes: int,
    phase: str,
    round_number: int,
    threads: int,
    queue_depth: int,
) -> tuple[Measure, ...]:
    """Return the minutes of one continuous pre-write."""
    workload = workload_at(settings, 0, threads, queue_depth)
    return tuple(
        Measure(
            workload=workload,
            duration_ns=settings.minute_ns,
            phase=phase,
            round_number=round_number,
            cell=f"pre-write minute {number}",
            continues=number > 1,
            open_ended=number < minutes,
        )
        for number in range(1, minutes + 1)
    )
