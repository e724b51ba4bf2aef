"""Phases of work on files, one after the other, all of them once a pass: what a record has of them.

A phase is one test of the original (a row or a column it prints); a turn is one doing of it.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

from teijo.analysis import measures
from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT, Quantity, of_rounds
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.methods.classic.statistic import Statistic
from teijo.methods.found import Found, Pick
from teijo.methods.settings import Settings
from teijo.terms.finding import Cell
from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.record import Record
from teijo.terms.result import Answer, Gap, OperationResult, StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.watch import Watch
from teijo.terms.work import FileIo, Files
from teijo.units import NS_PER_MS

S = TypeVar("S", bound=Settings)
USER: Final = "cpu_user_ns"
SYSTEM: Final = "cpu_system_ns"
"""In a step's detail: processor time of those who did the work, in it and in the kernel for it."""
_DIGITS_MOST: Final = 20
FLUSHES: Final = ("fsync", "close")
"""Results of a phase beside that of its calls."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One phase as it was done in one pass."""

    step: Perform
    answer: StepResult

    @property
    def main(self) -> OperationResult | None:
        """The calls themselves; None where the answer has none, as of a forged record."""
        return next((each for each in self.answer.results if each.operation not in FLUSHES), None)

    @property
    def flush(self) -> OperationResult | None:
        """The flushes at the end of it."""
        return next((each for each in self.answer.results if each.operation == "fsync"), None)

    @property
    def flushed_ns(self) -> int | None:
        """Time in flushes, over all workers; None where none was timed by itself."""
        return None if self.flush is None or self.flush.latency is None else self.flush.timed.sum_ns

    @cached_property
    def alone(self) -> StepResult:
        """The answer with nothing in it but the calls, so that its rate is of them."""
        return replace(self.answer, results=() if self.main is None else (self.main,))

    @property
    def latency(self) -> Histogram:
        """The times of its calls."""
        return EMPTY if self.main is None or self.main.latency is None else self.main.latency

    @property
    def user_ns(self) -> int | None:
        """Processor time in the program; None where nobody counted."""
        return _counted(self.answer, USER)

    @property
    def system_ns(self) -> int | None:
        """Processor time in the kernel for it; None where nobody counted."""
        return _counted(self.answer, SYSTEM)

    @property
    def cpu_ns(self) -> int:
        """Processor time, all; 0 where nobody counted."""
        return (self.user_ns or 0) + (self.system_ns or 0)

    @property
    def cpu_percent(self) -> float | None:
        """Processor time by the time of the phase."""
        if self.user_ns is None or not self.answer.elapsed_ns:
            return None
        return 100 * self.cpu_ns / self.answer.elapsed_ns


def _counted(answer: StepResult, name: str) -> int | None:
    text = answer.detail.get(name, "")[:_DIGITS_MOST]
    return int(text) if text.isascii() and text.isdecimal() else None


def turns_of(record: Record) -> dict[str, list[Turn]]:
    """Return the turns of each phase by its cell, in order of the passes.

    Of a pass that was begun anew, and of a phase that was asked for again, the last one counts.
    """
    last: dict[tuple[Verbatim, int | None], Turn] = {}
    for step, answer in record.taken(Perform):
        if isinstance(step.work, Files | FileIo):
            last[Verbatim(step.cell or step.phase), step.round_number] = Turn(
                step=step, answer=answer
            )
    # Names of the originals: no word of a report, and never translated.
    found: dict[str, list[Turn]] = {}
    for (name, _), turn in last.items():
        found.setdefault(name, []).append(turn)
    return found


@dataclass(frozen=True, kw_only=True)
class PhasesFound(Found[S]):
    """What the passes of a record show: each phase over all of them."""

    @property
    def pick(self) -> Pick:
        """An original prints each pass by itself, so its numbers are those of the last one."""
        return "last"

    @cached_property
    def turns(self) -> dict[str, list[Turn]]:
        """The turns of each phase by its name, in the order they were done."""
        return turns_of(self.record)

    @property
    def course(self) -> Sequence[tuple[int, str]]:
        """The pass and the name of each phase that is planned, in their order."""
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """How many passes there are."""
        return max(map(len, self.turns.values()), default=0)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """A cell for each phase: its rate and times are means over the passes."""
        return tuple(
            measures.cell_over((("test", name),), [turn.alone for turn in turns])
            for name, turns in self.turns.items()
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The rate and the mean time of each phase; a pass is a batch."""
        return tuple(
            each
            for name, turns in self.turns.items()
            for each in of_rounds(
                name, [turn.alone for turn in turns], (rate_of(turns[0]), LATENCY)
            )
        )

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """What the original prints of each phase, beside the mean of the same passes."""
        return (
            *(_rate_statistic(name, turns) for name, turns in self.turns.items()),
            *(_latency_statistic(name, turns) for name, turns in self.turns.items()),
        )

    @property
    def watch_running(self) -> Watch:
        """The pass and the phase that are under way; nobody knows how long they take."""
        course = self.course
        at = 0
        step, answer = self.exchanges[-1] if self.exchanges else (None, None)
        if isinstance(step, Perform):
            asked = (step.round_number or 1, step.cell or "")
            at = course.index(asked) + 1 if asked in course else 0
            if isinstance(answer, Gap):
                # The pass begins anew, of tiobench with its combination.
                at = max(0, at - 1)
        number, name = course[min(at, len(course) - 1)]
        most = max(number for number, _ in course)
        return Watch(
            phase="measure", round_number=number, rounds_least=most, rounds_most=most, cell=name
        )


def rate_of(turn: Turn) -> Figure:
    """Return the figure of a phase's rate: MB/s of what moves data, else how many a second."""
    work = turn.step.work
    if isinstance(work, FileIo) and work.operation != "seek":
        return THROUGHPUT
    return IOPS


def _rate(turn: Turn) -> float:
    """Return the rate of a turn in its figure's unit."""
    if rate_of(turn) is THROUGHPUT:
        return measures.throughput_mb_s(turn.alone)
    return turn.alone.iops


def _rate_statistic(name: str, turns: Sequence[Turn]) -> Statistic:
    values = tuple(map(_rate, turns))
    return Statistic(
        test=name,
        figure=rate_of(turns[0]),
        rule="the last pass",
        told=values[-1],
        values=values,
        resolution=1 / max(1, min(turn.alone.ios for turn in turns)),
    )


def _latency_statistic(name: str, turns: Sequence[Turn]) -> Statistic:
    means = tuple(turn.latency.mean_ns / NS_PER_MS for turn in turns if turn.latency.count)
    return Statistic(
        test=name,
        figure=LATENCY,
        rule="the longest call of the last pass",
        told=turns[-1].latency.max_ns / NS_PER_MS if turns[-1].latency.count else None,
        values=means,
        alike=False,
    )


def pass_of(
    works: Sequence[tuple[str, FileIo | Files]],
    number: int,
    *,
    memory_bytes: int | None = None,
    again: Callable[[str, FileIo | Files, StepResult], FileIo | Files | None] | None = None,
) -> Generator[Step, Answer, bool]:
    """Ask for the phases of one pass; return whether it came to its end without a gap.

    `again` may ask for a phase once more, larger: it is given the work and its answer.
    """
    for name, work in works:
        asked: FileIo | Files | None = work
        while asked is not None:
            answer = yield Perform(
                work=asked, round_number=number, cell=name, memory_bytes=memory_bytes
            )
            if not isinstance(answer, StepResult):
                return False
            asked = None if again is None else again(name, asked, answer)
    return True
