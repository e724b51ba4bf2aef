"""What a record of a PTS test shows: how it kept to its standard, and the rounds it is made of."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from teijo import units
from teijo.analysis.measures import written_bytes
from teijo.conformance.ledger import ledger
from teijo.methods.found import Found, RoundsFound
from teijo.methods.phrases import is_steady
from teijo.methods.pts.settings import PtsSettings
from teijo.methods.rounds import histogram_run_of, minutes_of
from teijo.terms.cell import CellKey
from teijo.terms.conformance import LedgerLine
from teijo.terms.finding import Window
from teijo.terms.result import StepResult
from teijo.terms.step import HISTOGRAM, Precondition, Purge
from teijo.terms.watch import Watch

S = TypeVar("S", bound=PtsSettings)
K = TypeVar("K", bound=CellKey)


@dataclass(frozen=True, kw_only=True)
class PtsFound(Found[S]):
    """What a record of a test of the standard shows: it has a ledger."""

    @cached_property
    def ledger(self) -> tuple[LedgerLine, ...]:
        """How the run kept to its standard, requirement by requirement."""
        return ledger(self.record, self.findings)

    def has_done(self, kind: type[Purge | Precondition]) -> bool:
        """Return whether a step of this kind has taken place."""
        return bool(self.record.taken(kind))

    @property
    def left_bytes(self) -> int:
        """What is still to be written before the measurement, where that is counted in bytes."""
        return 0

    @property
    def watch_running(self) -> Watch:
        """How far the record has come: purge, preconditioning, and what is measured after it."""
        purged = self.has_done(Purge)
        if purged and not self.left_bytes:
            return self.watch_measuring
        return replace(
            self.watch_measuring,
            phase="precondition" if purged else "purge",
            round_number=None,
            cell=None,
            steady="",
            remaining_bytes=self.left_bytes,
            rounds_left=None,
        )

    @property
    def watch_measuring(self) -> Watch:
        """How far the measurement has come, and what is left of it; before it has begun, all."""
        raise NotImplementedError

    @cached_property
    def histogram_run(self) -> StepResult | None:
        """The answer of the run for the histogram; None without one, or before it ended."""
        return histogram_run_of(self.exchanges)

    def watch_of_histogram(self, cell: str, minutes: int | None) -> Watch:
        """Return that the run for the histogram is due, of so many of the standard's minutes."""
        run_ns = (minutes or 0) * self.settings.minute_ns
        return Watch(
            phase=HISTOGRAM,
            cell=cell,
            steady=self.steady_words,
            remaining_ns_least=run_ns,
            remaining_ns_most=run_ns,
        )

    @property
    def steady_window(self) -> Window | None:
        """The window of the first tracking variable, once all of them are steady."""
        return self.states[0].window if is_steady(self.states) else None


class PtsRoundsFound(PtsFound[S], RoundsFound[S, K]):
    """A test of rounds of the same cells."""


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


class MinutesFound(PtsFound[S]):
    """What the minutes of continuous stimuli show, since the purge and unbroken by a gap."""

    @cached_property
    def answers(self) -> Sequence[StepResult]:
        """The minutes."""
        return tuple(answer for _, answer in minutes_of(self.exchanges))

    @cached_property
    def written_until(self) -> tuple[int, ...]:
        """The bytes that were written until the end of each minute."""
        return tuple(itertools.accumulate(map(written_bytes, self.answers)))

    @property
    def written_bytes(self) -> int:
        """What was written in all minutes."""
        return self.written_until[-1] if self.answers else 0

    @property
    def written_rows(self) -> tuple[tuple[str, float, str], ...]:
        """What was written, in GB and by the capacity."""
        written = self.written_bytes
        return (
            ("total written (TGBW)", written / units.GIGA, "GB"),
            ("drive fills", written / self.record.geometry.capacity_bytes, "user capacities"),
        )
