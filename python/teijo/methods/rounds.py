"""Rounds read off a conversation, gaps and all: the live method and its findings both use this.

A round counts once every cell of it was measured without a gap; after a gap the determination
of steady state starts anew.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from teijo.analysis import forecast, measures
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.phrase import say
from teijo.terms.cell import CellKey
from teijo.terms.finding import Cell, SteadyState
from teijo.terms.record import Record
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, MINUTE, ROUND, Measure, Purge, Step
from teijo.terms.watch import RoundsLeft, Watch

Exchange = tuple[Step, Answer]
Measured = tuple[Measure, StepResult]
K = TypeVar("K", bound=CellKey)


@dataclass(frozen=True, kw_only=True)
class Round:
    """One whole round: its number, counted from 1, and its cells in the order measured."""

    number: int
    cells: tuple[Measured, ...]

    def at(self, cell: CellKey | str) -> StepResult:
        """Return the answer of one cell of this round."""
        name = cell if isinstance(cell, str) else cell.name
        return next(answer for step, answer in self.cells if step.cell == name)


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """All whole rounds in order, and the cells of the one under way.

    `broken_after` is how many rounds were whole at the last gap: none of them may be in a
    window with a later one.
    """

    whole: tuple[Round, ...] = ()
    broken_after: int = 0
    under_way: tuple[Measured, ...] = ()

    @property
    def unbroken(self) -> tuple[Round, ...]:
        """The rounds since the last gap."""
        return self.whole[self.broken_after :]


def exchanges_of(record: Record) -> list[Exchange]:
    """Return a record's conversation."""
    return [(each.step, each.answer) for each in record.steps]


def rounds_of(exchanges: Iterable[Exchange], cells_per_round: int) -> Rounds:
    """Return the rounds of a conversation.

    A gap among a round's cells drops what was measured of it: the round is measured again from
    its first cell, under the same number.
    """
    whole: list[Round] = []
    under_way: list[Measured] = []
    broken_after = 0
    for step, answer in exchanges:
        if not isinstance(step, Measure) or step.phase != ROUND:
            continue
        if isinstance(answer, Gap):
            under_way.clear()
            broken_after = len(whole)
            continue
        under_way.append((step, answer))
        if len(under_way) == cells_per_round:
            whole.append(Round(number=len(whole) + 1, cells=tuple(under_way)))
            under_way.clear()
    return Rounds(whole=tuple(whole), broken_after=broken_after, under_way=tuple(under_way))


def minutes_of(exchanges: Iterable[Exchange], phase: str = MINUTE) -> list[Measured]:
    """Return the minutes of a continuous stimulus since the last purge, unbroken by a gap.

    The stimulus is over when the histogram's run begins: a gap in that breaks no minute.
    """
    minutes: list[Measured] = []
    for step, answer in exchanges:
        if isinstance(step, Purge) or (isinstance(answer, Gap) and step.phase != HISTOGRAM):
            minutes.clear()
        elif isinstance(step, Measure) and step.phase == phase and isinstance(answer, StepResult):
            minutes.append((step, answer))
    return minutes


def histogram_run_of(exchanges: Iterable[Exchange]) -> StepResult | None:
    """Return the answer of the histogram run since the last purge; None if there is none yet."""
    found: StepResult | None = None
    for step, answer in exchanges:
        if isinstance(step, Purge):
            found = None
        elif isinstance(step, Measure) and step.phase == HISTOGRAM:
            found = answer if isinstance(answer, StepResult) else None
    return found


def rounds_left(
    states: Sequence[SteadyState],
    *,
    limit_rounds: int,
    counted: Callable[[int], int] = lambda rounds: rounds,
) -> RoundsLeft | None:
    """Return how many more rounds there will be by the forecast, None where it says nothing.

    `counted` turns a number of determined values into one of the watch's own rounds: where
    only check minutes are judged, a value takes many minutes.
    """
    left = forecast.rounds_left(states, limit_rounds=limit_rounds)
    if left is None:
        return None
    low, median, high = (counted(rounds) for rounds in (left.low, left.median, left.high))
    return replace(left, low=low, median=median, high=high)


def window_rounds_of(states: Sequence[SteadyState], rounds: Rounds) -> tuple[Round, ...]:
    """Return the rounds of the measurement window; without one yet, the last unbroken ones."""
    # All tracking variables must be steady in one window, so the first one has it.
    window = states[0].window if states else None
    if window is None:
        return rounds.unbroken[-WINDOW_ROUNDS:]
    return tuple(
        each for each in rounds.unbroken if window.first_round <= each.number <= window.last_round
    )


def rounds_watch(
    cells: Sequence[Measure], rounds: Rounds, states: Sequence[SteadyState], limit_rounds: int
) -> Watch:
    """Return how far the rounds have come: `cells` are those of one round, each of one length."""
    whole, in_round = len(rounds.whole), len(rounds.under_way)
    # A window lies wholly behind the last gap, and the limit counts from there too.
    least = max(rounds.broken_after + WINDOW_ROUNDS, whole + 1)
    most = max(rounds.broken_after + limit_rounds, least)
    minute_ns = cells[in_round].duration_ns
    return Watch(
        phase=ROUND,
        round_number=whole + 1,
        rounds_least=least,
        rounds_most=most,
        cell=cells[in_round].cell,
        steady=steady_words(states, len(rounds.unbroken)),
        remaining_ns_least=((least - whole) * len(cells) - in_round) * minute_ns,
        remaining_ns_most=((most - whole) * len(cells) - in_round) * minute_ns,
        rounds_left=rounds_left(states, limit_rounds=limit_rounds),
    )


def steady_words(states: Sequence[SteadyState], rounds: int) -> str:
    """Return how far steady state is, in a few words."""
    if rounds < WINDOW_ROUNDS:
        return say("{rounds} of the first {window} rounds", rounds=rounds, window=WINDOW_ROUNDS)
    steady = sum(state.windows[-1].steady for state in states)
    return say("{steady} of {all} tracking variables steady", steady=steady, all=len(states))


def over(window: Sequence[Round], keys: Sequence[K]) -> dict[K, Cell]:
    """Return each cell over the rounds of a window; none without a round."""
    if not window:
        return {}
    return {key: measures.cell_over(key.labels, [each.at(key) for each in window]) for key in keys}
