"""What a requirement is, what a check of it is shown (a case), and what it answers (found)."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Literal, TypeVar

from teijo.conformance.offsets import Course, courses
from teijo.conformance.versions import MINUTE_NS, Version
from teijo.terms.conformance import Conformance
from teijo.terms.finding import Findings
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Precondition, Purge, Step

Measured = tuple[StepRecord, Measure, StepResult]
Preconditioned = tuple[StepRecord, Precondition, StepResult]
Loaded = tuple[StepRecord, Measure | Precondition, StepResult]
K = TypeVar("K", bound=Step)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a check found; `short` names a deviation in a word or two, where that says enough."""

    verdict: Conformance
    evidence: str
    short: str = ""


@dataclass(frozen=True)
class Stretch:
    """A run's steps from one purge on, up to the next."""

    steps: tuple[StepRecord, ...]

    def of_kind(self, kind: type[K]) -> tuple[tuple[StepRecord, K, StepResult], ...]:
        """Return every step of a kind that took place, in order."""
        return tuple(
            (each, each.step, each.answer)
            for each in self.steps
            if isinstance(each.step, kind) and isinstance(each.answer, StepResult)
        )

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every measurement that took place, in order."""
        return self.of_kind(Measure)

    @cached_property
    def preconditioned(self) -> tuple[Preconditioned, ...]:
        """Every preconditioning that took place."""
        return self.of_kind(Precondition)

    @cached_property
    def gaps(self) -> tuple[StepRecord, ...]:
        """The steps that an interruption came before."""
        return tuple(each for each in self.steps if isinstance(each.answer, Gap))


@dataclass(frozen=True)
class Case:
    """A record under a version, as the checks look at it.

    `stretches` begin with a purge each; one that was broken off and begun again is left out.
    """

    record: Record
    findings: Findings
    version: Version

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The parts of the run that count."""
        found: list[list[StepRecord]] = [[]]
        for each in self.record.steps:
            if isinstance(each.step, Purge) and isinstance(each.answer, StepResult) and found[-1]:
                found.append([])
            found[-1].append(each)
        last = len(found) - 1
        return tuple(
            Stretch(tuple(steps))
            for place, steps in enumerate(found)
            if steps and (place == last or not isinstance(steps[-1].answer, Gap))
        )

    def of_kind(self, kind: type[K]) -> tuple[tuple[StepRecord, K, StepResult], ...]:
        """Return every step of a kind that counts, in order."""
        return tuple(each for stretch in self.stretches for each in stretch.of_kind(kind))

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every measurement that counts."""
        return self.of_kind(Measure)

    @cached_property
    def preconditioned(self) -> tuple[Preconditioned, ...]:
        """Every preconditioning that counts."""
        return self.of_kind(Precondition)

    def of_phase(self, phase: str) -> tuple[Measured, ...]:
        """Return every measurement of a phase that counts."""
        return tuple(each for each in self.measured if each[1].phase == phase)

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """The course of every sequential stream, step by step."""
        return courses(self.record.steps, self.record.geometry)

    @property
    def is_simulated(self) -> bool:
        """Whether the whole device is a model."""
        return any(remark.kind is RemarkKind.SIMULATED for remark in self.record.remarks)

    @property
    def is_over(self) -> bool:
        """Whether the method came to its own end: what is missing now was never done."""
        return self.record.run.is_whole

    @property
    def rest_ns_most(self) -> float:
        """How long a device may rest where the standard says "no delay" and gives no figure.

        It is this program's: a 60th of the test's minute, 1 s of the standard's.
        """
        minute_ns = self.record.run.settings.get("minute_ns")
        length_ns = minute_ns if isinstance(minute_ns, int) else MINUTE_NS
        return min(length_ns, MINUTE_NS) / 60

    def loaded(self) -> Iterator[Loaded]:
        """Yield every step that moved data, in order."""
        for stretch in self.stretches:
            for each in stretch.steps:
                step, answer = each.step, each.answer
                if isinstance(step, Measure | Precondition) and isinstance(answer, StepResult):
                    yield each, step, answer


Check = Callable[[Case], Found]


Known = Literal["text", "code", "own"]
"""Where a requirement is known from: the standard's text, or other programs' code, not
checked against the text; "own" is what this program asks beyond it."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Some tests under some versions; None is all of them."""

    tests: frozenset[str] | None = None
    versions: frozenset[str] | None = None

    def holds(self, method: str, version: str) -> bool:
        """Return whether a test under a version is among them."""
        return (self.tests is None or method in self.tests) and (
            self.versions is None or version in self.versions
        )


@dataclass(frozen=True)
class Requirement:
    """One requirement as data: of which tests and versions (None: of all), and how it is checked.

    `asked` says what is required, where it differs by version as a function of the case. `known`
    is where it is known from, but for the scopes that are `unread`: there it is from code alone.
    """

    id: str
    name: str
    asked: str | Callable[[Case], str]
    check: Check
    _: KW_ONLY
    known: Known = "text"
    unread: tuple[Scope, ...] = ()
    tests: frozenset[str] | None = None
    versions: frozenset[str] | None = None
    optional: bool = False
    decisive: bool = False
    advisory: bool = False

    def applies(self, method: str, version: Version) -> bool:
        """Return whether this is required of a test under a version."""
        return Scope(tests=self.tests, versions=self.versions).holds(method, version.id)

    def known_of(self, method: str, version: Version) -> Known:
        """Return where it is known from for a test under a version."""
        if any(scope.holds(method, version.id) for scope in self.unread):
            return "code"
        return self.known
