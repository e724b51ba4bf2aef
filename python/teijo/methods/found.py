"""What a method found in a record: the one source of all that speaks of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from teijo.analysis.quantities import of_steps
from teijo.methods.rounds import Exchange, exchanges_of
from teijo.methods.settings import Settings
from teijo.terms.conformance import LedgerLine
from teijo.terms.finding import Cell, Findings, PartFindings, Scalar, SteadyState
from teijo.terms.quantity import Quantity
from teijo.terms.record import Record
from teijo.terms.watch import Watch

S = TypeVar("S", bound=Settings)


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
        """The determination of each tracking variable; none where steady state is not asked."""
        return ()

    @property
    def converged(self) -> bool | None:
        """Whether steady state was reached; None where it is not asked."""
        return None

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
        """Where a growing record stands: phase, round, steadiness, time still needed."""
        return Watch(phase=self.record.run.ending)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """What is compared with another run, in the order of the report; nothing unmeasured."""
        return of_steps(self.record)

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


class FlatFound(Found[S]):
    """What a method says as plain values at once, where none of them costs much."""

    @property
    def states(self) -> tuple[SteadyState, ...]:
        """As the findings have it."""
        return self.findings.steady_states

    @property
    def converged(self) -> bool | None:
        """As the findings have it."""
        return self.findings.converged

    @property
    def rounds(self) -> int:
        """As the findings have it."""
        return self.findings.rounds

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """As the findings have it."""
        return self.findings.window_rounds

    @property
    def scalars(self) -> Sequence[Scalar]:
        """As the findings have it."""
        return self.findings.scalars

    @property
    def cells(self) -> Sequence[Cell]:
        """As the findings have it."""
        return self.findings.cells
