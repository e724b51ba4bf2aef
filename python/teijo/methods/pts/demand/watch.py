"""Where a run of DIRTH or the composite workload stands, and how long its stages still take."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.methods.phrases import is_steady
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.demand.stages import (
    POINT_NAMES,
    PRECONDITION,
    PREWRITE,
    cells_per_round,
    check_minutes,
    determination,
    point_runs,
    precondition_determination,
    precondition_is_over,
    preconditioned,
    round_cells,
)
from teijo.methods.rounds import (
    Rounds,
    exchanges_of,
    rounds_left,
    rounds_of,
    rounds_watch,
    steady_words,
)
from teijo.terms.finding import SteadyState
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.step import HISTOGRAM, Purge
from teijo.terms.watch import Watch


def watch(settings: DemandSettings, record: Record) -> Watch:
    """Return the stage under way, with the time of all that is still to come."""
    exchanges = exchanges_of(record)
    minutes = preconditioned(exchanges)
    rounds = rounds_of(exchanges, cells_per_round(settings))
    states = determination(settings, rounds)
    if record.run.ending != "running":
        return Watch(phase=record.run.ending, steady=_steady_words(states))
    if not any(
        isinstance(each.step, Purge) and isinstance(each.answer, StepResult)
        for each in record.steps
    ):
        least, most = _ahead(settings, minutes)
        return Watch(
            phase="purge",
            remaining_ns_least=least * settings.minute_ns,
            remaining_ns_most=most * settings.minute_ns,
        )
    # A gap may leave no cell of the first round: only the minutes tell whether it has begun.
    if not rounds.whole and not precondition_is_over(settings, minutes):
        return _watch_precondition(settings, minutes)
    if not is_steady(states) and len(rounds.unbroken) < settings.rounds_most:
        return _watch_rounds(settings, rounds, states)
    return _watch_points(settings, record, states)


def _watch_precondition(settings: DemandSettings, minutes: Sequence[StepResult]) -> Watch:
    states = precondition_determination(settings, minutes)
    least, most = _ahead(settings, minutes)
    whole = len(minutes) // settings.precondition_minutes
    checked = len(check_minutes(settings, minutes))
    return Watch(
        phase=PRECONDITION,
        round_number=whole + 1,
        rounds_least=_precondition_rounds_least(settings, minutes),
        rounds_most=settings.precondition_rounds_most,
        cell=f"minute {len(minutes) + 1}",
        steady=_steady_words(states),
        remaining_ns_least=least * settings.minute_ns,
        remaining_ns_most=most * settings.minute_ns,
        rounds_left=rounds_left(
            states,
            limit_rounds=settings.precondition_rounds_most,
            counted=lambda checks: checked + checks - whole,
        ),
    )


def _watch_rounds(settings: DemandSettings, rounds: Rounds, states: Sequence[SteadyState]) -> Watch:
    now = rounds_watch(round_cells(settings, 1), rounds, states, settings.rounds_most)
    points_ns = _points_minutes(settings) * settings.minute_ns
    return replace(
        now,
        remaining_ns_least=now.remaining_ns_least + points_ns,
        remaining_ns_most=now.remaining_ns_most + points_ns,
    )


def _watch_points(settings: DemandSettings, record: Record, states: Sequence[SteadyState]) -> Watch:
    runs = point_runs(exchanges_of(record))
    finished = sum(run.histogram is not None for run in runs)
    begun = next((len(run.prewrite) for run in runs if run.histogram is None), 0)
    left = max(0, _points_minutes(settings) - begun - finished * _point_minutes(settings))
    place = min(finished, len(POINT_NAMES) - 1)
    return Watch(
        phase=PREWRITE if begun < settings.point_prewrite_minutes else HISTOGRAM,
        round_number=place + 1,
        rounds_least=len(POINT_NAMES),
        rounds_most=len(POINT_NAMES),
        cell=POINT_NAMES[place],
        steady=_steady_words(states),
        remaining_ns_least=left * settings.minute_ns,
        remaining_ns_most=left * settings.minute_ns,
    )


def _ahead(settings: DemandSettings, minutes: Sequence[StepResult]) -> tuple[int, int]:
    """Return the minutes still to come, at least and at most, of a run not yet in its rounds."""
    after = (WINDOW_ROUNDS, settings.rounds_most)
    rounds = (_precondition_rounds_least(settings, minutes), settings.precondition_rounds_most)
    least, most = (
        _precondition_minutes(settings, before)
        - len(minutes)
        + count * cells_per_round(settings)
        + _points_minutes(settings)
        for before, count in zip(rounds, after, strict=True)
    )
    return least, most


def _precondition_rounds_least(settings: DemandSettings, minutes: Sequence[StepResult]) -> int:
    checks = len(check_minutes(settings, minutes))
    return min(max(WINDOW_ROUNDS, checks + 1), settings.precondition_rounds_most)


def _precondition_minutes(settings: DemandSettings, rounds: int) -> int:
    """Return the minutes of so many rounds: the last one has its check minute only."""
    return (rounds - 1) * settings.precondition_minutes + 1 if rounds else 0


def _point_minutes(settings: DemandSettings) -> int:
    return settings.point_prewrite_minutes + settings.histogram_minutes


def _points_minutes(settings: DemandSettings) -> int:
    return len(POINT_NAMES) * _point_minutes(settings)


def _steady_words(states: Sequence[SteadyState]) -> str:
    return steady_words(states, len(states[0].rounds)) if states else ""
