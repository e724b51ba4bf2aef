"""The stages of DIRTH and the composite workload: their steps, and what a conversation shows of
them. Preconditioning minute by minute, rounds of a pre-write and a sweep, operating points.
"""

from collections.abc import Generator, Mapping, Sequence

from teijo.analysis import measures
from teijo.analysis.demand import DemandPoint, OperatingPoints, SweepCell, operating_points
from teijo.document.phrase import Verbatim, say
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.demand.settings import DemandSettings, stimulus_with
from teijo.methods.pts.loop import checked
from teijo.methods.pts.matrix import determined, minute_of, round_of
from teijo.methods.rounds import Rounds
from teijo.methods.workload import words as workload_words
from teijo.terms.finding import Cell, SteadyState
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, ROUND, Measure, Step
from teijo.terms.workload import Stream, Workload

PRECONDITION = "precondition"
PREWRITE = "pre-write"
POINT_NAMES = (Verbatim("Max"), Verbatim("Mid"), Verbatim("Min"))


def workload_at(settings: DemandSettings, read_percent: int, demand: SweepCell) -> Workload:
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
        threads=demand.threads,
        queue_depth=demand.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))


def precondition(settings: DemandSettings) -> Generator[Step, Answer, None]:
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


def precondition_minute(settings: DemandSettings, minute: int) -> Measure:
    """Return one minute of the preconditioning, counted from 1; its round is in the step."""
    # No `last`, since nobody knows it beforehand: the I/Os of the last minute come back after it,
    # and that counts as a gap before the first round.
    workload, cell = workload_at(settings, 0, greatest(settings)), f"minute {minute}"
    whole = (minute - 1) // settings.precondition_minutes
    return minute_of(settings, workload, minute, cell=cell, phase=PRECONDITION, number=whole + 1)


def precondition_is_over(settings: DemandSettings, answers: Sequence[StepResult]) -> bool:
    """Return whether these minutes are enough: steady, or as many rounds as are allowed."""
    if not settings.precondition_rounds_most:
        return True
    # The check minute is the first of its round; in rounds of one minute (1 % 1 = 0) each is.
    if len(answers) % settings.precondition_minutes != 1 % settings.precondition_minutes:
        return False
    checks = len(check_minutes(settings, answers))
    return checks >= settings.precondition_rounds_most or is_steady(
        precondition_determination(settings, answers)
    )


def check_minutes(settings: DemandSettings, answers: Sequence[StepResult]) -> Sequence[StepResult]:
    """Return the first minute of each round: 1, 31, 61 and so on."""
    return answers[:: settings.precondition_minutes]


def precondition_determination(
    settings: DemandSettings, answers: Sequence[StepResult]
) -> tuple[SteadyState, ...]:
    """Return the determination over the check minutes; none without preconditioning."""
    if not settings.precondition_rounds_most:
        return ()
    variable = say("check minute, {stimulus}", stimulus=stimulus_with(settings, 0))
    return checked(variable, check_minutes(settings, answers))


def round_cells(settings: DemandSettings, number: int) -> tuple[Measure, ...]:
    """Return a round: the pre-write minute by minute, then the sweep from high to low demand."""
    prewrite = _prewrite(
        settings, greatest(settings), settings.prewrite_minutes, phase=ROUND, number=number
    )
    mix = settings.read_percent
    sweep = {key: workload_at(settings, mix, key) for key in sweep_of(settings)}
    return (*prewrite, *round_of(settings, sweep, number))


def cells_per_round(settings: DemandSettings) -> int:
    """Return how many steps a round has."""
    return settings.prewrite_minutes + len(sweep_of(settings))


def sweep_of(settings: DemandSettings) -> tuple[SweepCell, ...]:
    """Return every point of the sweep, in order."""
    # Unverified: that TC is outside and both fall (read in one program of 2.0).
    return tuple(
        SweepCell(threads=threads, queue_depth=queue_depth)
        for threads in settings.thread_counts
        for queue_depth in settings.queue_depths
    )


def greatest(settings: DemandSettings) -> SweepCell:
    """Return the greatest demand: it preconditions, and steady state is determined on it."""
    return SweepCell(threads=settings.threads, queue_depth=settings.queue_depth)


def determination(settings: DemandSettings, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the IOPS at the greatest demand, over the unbroken rounds."""
    key, stimulus = greatest(settings), stimulus_with(settings, settings.read_percent)
    variable = say("{stimulus} {cell}", stimulus=stimulus, cell=key.name)
    return determined(rounds, {variable: key}, "IOPS", measures.exact_iops)


def chosen_points(
    settings: DemandSettings, cells: Mapping[SweepCell, Cell]
) -> OperatingPoints | None:
    """Return the operating points that the sweep shows, None where nothing was answered."""
    return operating_points(demand_points(cells), settings.latency_limit_ns)


def demand_points(cells: Mapping[SweepCell, Cell]) -> tuple[DemandPoint, ...]:
    """Return the sweep as points of demand."""
    return tuple(
        DemandPoint(
            threads=key.threads,
            queue_depth=key.queue_depth,
            iops=cell.iops,
            latency_ns_mean=cell.latency_ns_mean,
        )
        for key, cell in cells.items()
    )


def named_points(points: OperatingPoints | None) -> tuple[tuple[str, DemandPoint], ...]:
    """Return Max, Mid and Min with their names, in the order measured; none of no points."""
    if points is None:
        return ()
    return tuple(zip(POINT_NAMES, (points.maximum, points.middle, points.minimum), strict=True))


def measure_point(
    settings: DemandSettings, number: int, name: str, point: DemandPoint
) -> Generator[Step, Answer, None]:
    """Pre-write at one point's demand, then measure the mix; from the start after a gap.

    `number` is the point's place, from 1.
    """
    prewrite_minutes = settings.point_prewrite_minutes
    histogram = Measure(
        workload=workload_at(settings, settings.read_percent, point),
        duration_ns=settings.histogram_minutes * settings.minute_ns,
        phase=HISTOGRAM,
        round_number=number,
        cell=f"{name}, {point.name}",
    )
    steps = (
        *_prewrite(settings, point, prewrite_minutes, phase=PREWRITE, number=number),
        histogram,
    )
    # From the pre-writes again: in a gap the drive has had time to clear space ahead.
    while True:
        for step in steps:
            if isinstance((yield step), Gap):
                break
        else:
            return


def _prewrite(
    settings: DemandSettings, demand: SweepCell, minutes: int, *, phase: str, number: int
) -> tuple[Measure, ...]:
    """Return the minutes of one continuous pre-write, of the round or the point of this number."""
    workload = workload_at(settings, 0, demand)
    cells = ((minute, f"pre-write minute {minute}") for minute in range(1, minutes + 1))
    return tuple(
        minute_of(settings, workload, minute, cell=cell, phase=phase, number=number, last=minutes)
        for minute, cell in cells
    )
