"""What a method found in a record: the one source of all that speaks of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Literal, TypeVar

from teijo.analysis.quantities import Quantity, of_rounds, of_steps
from teijo.document.curve import Curve
from teijo.document.grid import Figure
from teijo.methods.phrases import is_steady
from teijo.methods.rounds import (
    Exchange,
    Round,
    Rounds,
    exchanges_of,
    over,
    rounds_of,
    steady_words,
    window_rounds_of,
)
from teijo.methods.settings import Settings
from teijo.terms.cell import CellKey, MatrixCell
from teijo.terms.conformance import LedgerLine
from teijo.terms.finding import Cell, Findings, PartFindings, Scalar, SteadyState
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch

S = TypeVar("S", bound=Settings)
K = TypeVar("K", bound=CellKey)
Pick = Literal["mean", "best", "first", "last"]
"""Which of several passes a figure is of: one of them, or the mean of all."""


@dataclass(frozen=True, kw_only=True)
class Found(Generic[S]):
    """What a record of a method's steps shows. Each method has its own, with more in it.

    Pages, comparison, limits and the live screen read this and never the steps. Each property is
    computed once, when it is first asked for: a live screen pays for no report.
    """

    settings: S
    record: Record

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """The conversation: each step with its answer."""
        return exchanges_of(self.record)

    @property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination of each tracking variable; none where none is looked for."""
        return ()

    @property
    def converged(self) -> bool | None:
        """Whether steady state was reached; None where it is not looked for."""
        return None

    @property
    def pick(self) -> Pick:
        """Which of several passes the first number of a figure is of."""
        return "mean"

    @property
    def rounds(self) -> int:
        """How many rounds were measured whole."""
        return 0

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last round that the figures are over."""
        return None

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Numbers by themselves, in the order of the report."""
        return ()

    @property
    def headlines(self) -> Sequence[Scalar]:
        """The few numbers that a summary of several tests has of this one."""
        return ()

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells of the matrix, as they are exported."""
        return ()

    @cached_property
    def parts(self) -> tuple[PartFindings, ...]:
        """What each test of several found."""
        return ()

    @cached_property
    def ledger(self) -> tuple[LedgerLine, ...]:
        """How the run kept to its standard; empty where it follows none."""
        return ()

    @cached_property
    def watch(self) -> Watch:
        """How far a record has come: phase, round, steadiness, time still needed."""
        if self.record.run.ending != "running":
            return Watch(phase=self.record.run.ending, steady=self.steady_words)
        return self.watch_running

    @property
    def watch_running(self) -> Watch:
        """How far the record of a run has come that is still running."""
        return Watch(phase="running")

    @property
    def steady_words(self) -> str:
        """How far steady state is, in a few words; empty where it is not looked for."""
        return ""

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """What is compared with another run, in the order of the report; nothing unmeasured."""
        return of_steps(self.record)

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """What a comparison draws over the curves of other runs, in the order of the report."""
        return ()

    @property
    def matrix(self) -> tuple[MatrixCell, ...]:
        """The cells whose differences are printed as a matrix too; empty where it is none."""
        return ()

    @cached_property
    def findings(self) -> Findings:
        """What was found, as plain values, without the ledger."""
        return Findings(
            method=self.record.run.method,
            spec=self.settings.spec,
            converged=self.converged,
            rounds=self.rounds,
            window_rounds=self.window_rounds,
            steady_states=self.states,
            scalars=tuple(self.scalars),
            cells=tuple(self.cells),
            parts=self.parts,
        )

    @cached_property
    def reported(self) -> Findings:
        """What was found, as plain values, with the ledger."""
        return replace(self.findings, ledger=self.ledger)


@dataclass(frozen=True, kw_only=True)
class RoundsFound(Found[S], Generic[S, K]):
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

    @property
    def steady_words(self) -> str:
        """How far steady state is, in a few words."""
        return steady_words(self.states, len(self.course.unbroken))

    def at(self, key: K) -> list[StepResult]:
        """Return a cell's answers, one for each round of the window."""
        return [each.at(key) for each in self.window]

    @cached_property
    def over_window(self) -> Mapping[K, Cell]:
        """Each cell over the window, in the mandated order; empty before there is a round."""
        return over(self.window, self.keys)

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
