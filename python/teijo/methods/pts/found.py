"""What a record of a PTS test shows: how it kept to its standard, and the rounds it is made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from teijo.analysis import measures
from teijo.analysis.quantities import of_rounds
from teijo.conformance.ledger import ledger
from teijo.methods.found import FlatFound, Found
from teijo.methods.phrases import is_steady
from teijo.methods.pts.loop import window_rounds_of
from teijo.methods.pts.settings import PtsSettings
from teijo.methods.rounds import Round, Rounds, rounds_of
from teijo.terms.cell import CellKey
from teijo.terms.conformance import LedgerLine
from teijo.terms.finding import Cell, Window
from teijo.terms.quantity import Figure, Quantity
from teijo.terms.result import StepResult
from teijo.terms.step import Precondition

S = TypeVar("S", bound=PtsSettings)
K = TypeVar("K", bound=CellKey)


@dataclass(frozen=True, kw_only=True)
class PtsFound(Found[S]):
    """What a record of a test of the standard shows: it has a ledger."""

    @cached_property
    def ledger(self) -> tuple[LedgerLine, ...]:
        """How the run kept to its standard, requirement by requirement."""
        return ledger(self.record, self.findings)

    @property
    def is_preconditioned(self) -> bool:
        """Whether the preconditioning has been written."""
        return any(
            isinstance(each.step, Precondition) and isinstance(each.answer, StepResult)
            for each in self.record.steps
        )

    @property
    def steady_window(self) -> Window | None:
        """The window of the first tracking variable, once all of them are steady."""
        return self.states[0].window if is_steady(self.states) else None


class FlatPtsFound(PtsFound[S], FlatFound[S]):
    """A test that says what it found as plain values at once."""


@dataclass(frozen=True, kw_only=True)
class RoundsFound(PtsFound[S], Generic[S, K]):
    """What rounds of the same cells show, with the window that their figures are means over.

    Without a window yet, the figures are over the unbroken rounds there are, at most five.
    """

    @cached_property
    def keys(self) -> tuple[K, ...]:
        """The cells of a round, in their mandated order."""
        raise NotImplementedError

    @cached_property
    def course(self) -> Rounds:
        """The rounds, whole and under way."""
        return rounds_of(self.exchanges, len(self.keys))

    @cached_property
    def window(self) -> tuple[Round, ...]:
        """The rounds of the measurement window."""
        return window_rounds_of(self.states, self.course)

    @property
    def converged(self) -> bool:
        """Whether every tracking variable is steady in one window."""
        return is_steady(self.states)

    @property
    def rounds(self) -> int:
        """How many rounds were measured whole."""
        return len(self.course.whole)

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last round of the window."""
        return (self.window[0].number, self.window[-1].number) if self.window else None

    def at(self, key: K) -> list[StepResult]:
        """Return a cell's answers, one for each round of the window."""
        return [each.at(key) for each in self.window]

    @cached_property
    def over_window(self) -> Mapping[K, Cell]:
        """Each cell over the window, in the mandated order; empty before there is a round."""
        if not self.window:
            return {}
        return {key: measures.cell_over(key.labels, self.at(key)) for key in self.keys}

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells of the matrix, as they are exported."""
        return tuple(self.over_window.values())

    def compared(
        self, places: Iterable[tuple[K, str]], figures: Iterable[Figure]
    ) -> tuple[Quantity, ...]:
        """Return figures of cells over the window, under the names of their places."""
        wanted = tuple(figures)
        return tuple(
            each
            for key, place in places
            for each in of_rounds(place, self.at(key), wanted, steady=self.converged)
        )


@dataclass(frozen=True, kw_only=True)
class ChecksFound(PtsFound[S]):
    """What is determined on a minute now and then of a continuous stimulus: its check minutes."""

    @cached_property
    def checks(self) -> Sequence[StepResult]:
        """The check minutes."""
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """How many check minutes there are."""
        return len(self.checks)

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last check minute of the window."""
        window = self.states[0].window if self.states else None
        return (window.first_round, window.last_round) if window else None
