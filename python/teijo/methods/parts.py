"""What was found in a record, by the method it names: of the whole run, or test by test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from teijo.document.model import Document
from teijo.methods.found import Found
from teijo.methods.method import AnyMethod
from teijo.methods.registry import method_named
from teijo.terms.finding import Findings, SteadyState
from teijo.terms.record import Record
from teijo.terms.watch import Watch


@dataclass(frozen=True, kw_only=True)
class Part:
    """One test of a run under its name: of a campaign, or the one that any other run is.

    Its steps keep their numbers in the run file.
    """

    name: str
    method: AnyMethod
    found: Found[Any]

    @property
    def record(self) -> Record:
        """The test's record, as if it had been run alone."""
        return self.found.record

    @property
    def findings(self) -> Findings:
        """What was found, with the ledger."""
        return self.found.reported

    def document(self) -> Document:
        """Return the test's report."""
        return self.method.document(self.found)


@runtime_checkable
class HasParts(Protocol):
    """What was found in a run of several tests."""

    @property
    def tests(self) -> Sequence[Part]:
        """The tests that have begun, in their order."""
        ...


def found_in(record: Record, method: AnyMethod | None = None) -> Found[Any]:
    """Return what a record shows, by the method it names, or by this one."""
    method = method_named(record.run.method) if method is None else method
    found: Found[Any] = method.find(method.settings_from(record.run.settings), record)
    return found


def parts_of(record: Record) -> tuple[Part, ...]:
    """Return each test that has begun, with its record as if it had been run alone."""
    method = method_named(record.run.method)
    found = found_in(record, method)
    if isinstance(found, HasParts):
        return tuple(found.tests)
    return (Part(name=method.id.rpartition(".")[2], method=method, found=found),)


def findings_of(record: Record, method: AnyMethod | None = None) -> Findings:
    """Return the findings of a record, with its ledger."""
    return found_in(record, method).reported


def watch_of(record: Record, method: AnyMethod | None = None) -> Watch:
    """Return how far a growing record has come."""
    return watch_in(found_in(record, method))


def watch_in(found: Found[Any]) -> Watch:
    """Return that of what was found in it."""
    return replace(found.watch, is_steady=found.converged)


def states_of(found: Found[Any]) -> tuple[SteadyState, ...]:
    """Return the determinations of steady state; of a run of several tests, those of the last."""
    if isinstance(found, HasParts):
        tests = found.tests
        return tests[-1].found.states if tests else ()
    return found.states


def document_of(record: Record, method: AnyMethod | None = None) -> Document:
    """Return the report of a record."""
    method = method_named(record.run.method) if method is None else method
    return method.document(found_in(record, method))
