"""What can be done with a run file alone: open, analyse, judge anew, present, export."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from teijo.api.signed import doubted, signature_text, signed
from teijo.compare.limit import FACT, Judged, limits_from, recorded_limits, spelt
from teijo.compare.limit_pages import with_limits
from teijo.document.model import Document
from teijo.errors import RunFileError, TeijoError, host_error
from teijo.methods import parts as apart
from teijo.methods.found import Found
from teijo.methods.parts import findings_of, found_in
from teijo.methods.registry import method_named
from teijo.runfile import columns, reader
from teijo.runfile import export as writing
from teijo.runfile.columns import Columns, Table
from teijo.runfile.export import Format
from teijo.terms.finding import Findings
from teijo.terms.record import Record
from teijo.terms.remark import Remark


@dataclass(frozen=True)
class Run:
    """A run as its file holds it: `record` is all that was recorded, the rest follows from it.

    `asked` are limits that are asked of it beside those it was begun with.
    `signers` is the file that says whose keys the file may be signed with, None for nobody's.
    """

    path: Path
    record: Record
    asked: tuple[str, ...] = ()
    signers: Path | None = None

    @cached_property
    def found(self) -> Found[Any]:
        """All that the run's method finds in it, computed as it is asked for."""
        with of_a_file(self.record):
            return found_in(self.record)

    @cached_property
    def findings(self) -> Findings:
        """What the run's method finds in it, as plain values."""
        with of_a_file(self.record):
            return self.found.reported

    @property
    def limits(self) -> tuple[str, ...]:
        """Every limit that is asked of it: those it was begun with, then the others."""
        return tuple(dict.fromkeys((*recorded_limits(self.record), *self.asked)))

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """What became of each limit; empty where none is asked."""
        if not self.limits:
            return ()
        from teijo.compare.limits import judged

        with of_a_file(self.record):
            return judged(self.record, self.limits)

    def within(self, limits: Iterable[str]) -> "Run":
        """Return the run with more limits asked of it.

        Raises:
            PlanError: one of them is no limit.
        """
        return replace(self, asked=limits_from((*self.asked, *limits)))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Every warning that goes with the numbers."""
        return self.record.remarks

    @cached_property
    def columns(self) -> dict[Table, Columns]:
        """The tables "steps", "results", "intervals" and "health", as NumPy arrays by name."""
        return columns.tables(self.record)

    def document(self) -> Document:
        """Return what the report says."""
        text = signature_text(self.path, self.signers)
        found = signed(presented(self.found), text)
        return with_limits(found, self.judged)

    def _repr_html_(self) -> str:
        """Show the report where a notebook asks for it."""
        from teijo.report import cell

        return cell.render(self.document())


def open(path: Path | str, *, signers: Path | None = None) -> Run:  # noqa: A001
    """Return a run from its file, sealed or not; a RunFileError says what is wrong with it.

    Where its numbers contradict each other, its remarks say so (*record inconsistent*).
    """
    place = reader.locate(path)
    return Run(place, reader.read(place), signers=signers)


def rescore(run: Run, spec: str) -> Run:
    """Return a run judged by another version of its standard; see conformance/rescoring.py."""
    with of_a_file(run.record):
        record = method_named(run.record.run.method).rescored(run.record, spec)
        return replace(run, record=record)


def parts(run: Run) -> dict[str, Run]:
    """Return the tests a run is made of by their names, each as a run of its own."""
    with of_a_file(run.record):
        several = apart.parts_of(run.record)
        return {part.name: _part(run, part.name, part.record, len(several)) for part in several}


def _part(run: Run, name: str, record: Record, count: int) -> Run:
    """Return one test of a run, with the limits that name it."""
    if count < 2:
        return replace(run, record=record)
    # `limits` would take from FACT those that are asked of the other tests too.
    environment = {key: text for key, text in record.environment.items() if key != FACT}
    prefix = f"{spelt(name)}/"
    own = (text.strip() for text in run.limits if spelt(text).startswith(prefix))
    asked = tuple(text.partition("/")[2] for text in own)
    record = replace(record, environment=environment)
    return replace(run, record=record, asked=asked)


def analyse(record: Record) -> Findings:
    """Return what the method of a record finds in it."""
    with of_a_file(record):
        return findings_of(record)


def present(record: Record) -> Document:
    """Return the report of a record, by its method."""
    with of_a_file(record):
        return presented(found_in(record))


def presented(found: Found[Any]) -> Document:
    """Return the report of what was found in a record, by its method."""
    with of_a_file(found.record):
        document = method_named(found.record.run.method).document(found)
        return doubted(document, found.record)


def export(path: Path | str, *, to: Format, table: Table = "results") -> bytes:
    """Return a run as JSON with everything in it, or one table of it as CSV or Parquet."""
    found = open(path)
    findings = found.findings
    limits = [asdict(each) for each in found.judged]
    with of_a_file(found.record):
        return writing.export(found.record, findings, to=to, table=table, limits=limits)


_STRANGE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip
"""What a method that reads a record runs into where it holds what no run records."""


@contextmanager
def of_a_file(record: Record) -> Iterator[None]:
    """Say of the run file what a record that no run makes leads to.

    A method asserts and looks up what its own steps record. A file may hold anything else, each
    value of it in order, and what then fails is the file's fault and no reason for a traceback.
    """
    try:
        yield
    except TeijoError:
        raise
    except MemoryError as error:
        raise host_error(error) from error
    except _STRANGE as error:
        what = f"{type(error).__name__} {error}"[:200]
        raise RunFileError(
            f"The record is none that {record.run.method or 'a method'} makes ({what})",
            remedy="If Teijo itself made this file, please report it; TEIJO_DEBUG=1 shows more.",
        ) from error
