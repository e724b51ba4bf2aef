"""Passes of named operations, on files or by statements: what the methods of both are made of."""

from collections.abc import Generator
from dataclasses import replace
from functools import cached_property
from typing import Annotated

from teijo import units
from teijo.analysis import measures, percentile
from teijo.analysis.quantities import IOPS, LATENCY, Quantity, of_rounds
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.model import Column, Document, Section, Verdict
from teijo.document.phrase import Verbatim, listed, say
from teijo.methods.forms import SIZE, Form, or_unset, whole
from teijo.methods.found import Found
from teijo.methods.knobs import Knob, describe, meaning
from teijo.methods.method import Method, Steps
from teijo.methods.report import study_report
from teijo.methods.settings import Settings
from teijo.terms.finding import Cell
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import merged
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.watch import Watch
from teijo.terms.work import FileIo, Files, PerformedWork, Sql, SqlBench, Transactions, WorkKind

Timed = StepResult
"""The answer of one pass with nothing in it but one operation, so that its rate is of that."""


def _content_size(text: str) -> int:
    value = SIZE.parse(text)
    if value > units.GIB:
        raise ValueError("it must be at most 1 GiB")
    return value


CONTENT_SIZE = Form(_content_size, SIZE.show)
"""How much one file or row holds: it is made in memory."""


def _memory(text: str) -> int:
    value = SIZE.parse(text)
    if value < MEMORY_LEAST_BYTES:
        raise ValueError("it must be at least 128 MiB, for this program itself")
    return value


MEMORY_LEAST_BYTES = 128 * units.MIB
MEMORY = Knob(or_unset(Form(_memory, SIZE.show)), "memory=512MiB")
"""The setting of every method whose work is held to a limit of memory: `Perform.memory_bytes`."""


class PassSettings(Settings, frozen=True):
    """Settings of a method that does the same work in every pass."""

    passes: Annotated[int, Knob(whole(1, 100), "passes=5")] = meaning(
        "how often all of it is done", 3
    )

    memory_bytes: Annotated[int | None, MEMORY] = meaning(
        "the memory that this program and its page cache are held to", None
    )

    def works(self) -> tuple[Files | Sql, ...]:
        """Return the work of one pass, in its order."""
        raise NotImplementedError


class OperationsFound(Found[PassSettings]):
    """What the passes of a record show: each operation over all of them."""

    @cached_property
    def timed(self) -> dict[str, list[Timed]]:
        """Each operation's results by pass; of a pass that was begun anew, the last attempt."""
        last: dict[tuple[str, int | None], Timed] = {}
        for step, answer in self.record.taken(Perform):
            own = name_of(step.work)
            for part in answer.results:
                # Commits of inserts are not those of deletes, and a create's fsync is no create.
                other = say("{operation} of {step}", operation=part.operation, step=own)
                name = own if part.operation == own else other
                last[name, step.round_number] = replace(answer, results=(part,))
        found: dict[str, list[Timed]] = {}
        for (name, _), timed in last.items():
            found.setdefault(name, []).append(timed)
        return found

    @property
    def rounds(self) -> int:
        """How many passes there are."""
        return max((len(passes) for passes in self.timed.values()), default=0)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """A cell for each operation: its rate and times are means over the passes."""
        return tuple(
            measures.cell_over((("operation", name),), passes)
            for name, passes in self.timed.items()
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The rate and the mean time of each operation; a pass is a batch."""
        return tuple(
            each
            for name, passes in self.timed.items()
            for each in of_rounds(name, passes, (IOPS, LATENCY))
        )

    @property
    def watch_running(self) -> Watch:
        """The pass and the operation that are under way; nobody knows how long they take."""
        done, whole, works = 0, 0, self.settings.works()
        for _, answer in self.exchanges:
            done = 0 if isinstance(answer, Gap) else done + 1  # a pass begins anew after a gap
            if done == len(works):
                done, whole = 0, whole + 1
        return Watch(
            phase="measure",
            round_number=min(whole + 1, self.settings.passes),
            rounds_least=self.settings.passes,
            rounds_most=self.settings.passes,
            cell=name_of(works[done]),
        )


class Operations(Method[PassSettings, OperationsFound]):
    """A method: every pass does the same work from its beginning, and each operation is timed."""

    found_type = OperationsFound

    def __init__(self, work: WorkKind, title: str, model: type[PassSettings]) -> None:
        """Take the work, which names the method, the title of its report, and its settings."""
        self.id = self.work = work
        self.title = title
        self.settings_type = model

    def steps(self, settings: PassSettings, geometry: Geometry) -> Steps:  # noqa: ARG002
        """Return the passes; one that was interrupted begins anew, for what it had made is gone."""
        for number in range(1, settings.passes + 1):
            while not (yield from _one_pass(number, settings)):
                pass
        return "done"

    def document(self, found: OperationsFound) -> Document:
        """Return the report: a table and two charts over the operations."""
        sections = (_section(found),) if found.timed else ()
        return study_report(
            found,
            title=self.title,
            subtitle=found.record.identity.target,
            group="Workload",
            test=_asked(found.settings),
            sections=sections,
            empty="Nothing was measured yet.",
        )


def _one_pass(number: int, settings: PassSettings) -> Generator[Step, Answer, bool]:
    for work in settings.works():
        answer = yield Perform(
            work=work,
            round_number=number,
            cell=name_of(work),
            memory_bytes=settings.memory_bytes,
        )
        if not isinstance(answer, StepResult):
            return False
    return True


def name_of(work: PerformedWork) -> str:
    """Return the name of the operation that a work consists of."""
    match work:
        case Files(operation=name) | FileIo(operation=name):
            return name
        case Sql(statement=name):
            return name
        case SqlBench(operation=name) | Transactions(load=name):
            return name


def _asked(settings: PassSettings) -> list[tuple[str, str]]:
    return [(Verbatim(each.key), Verbatim(each.value)) for each in describe(settings)]


def _section(found: OperationsFound) -> Section:
    parts = [[answer.results[0] for answer in passes] for passes in found.timed.values()]
    times = [merged(part.timed for part in passes) for passes in parts]

    rate = Figure(name="Rate", unit="1/s", digits=1)
    rates = Line(figure=rate, values=tuple(cell.iops for cell in found.cells), style="bars")
    counts = tuple(sum(part.count for part in passes) for passes in parts)
    failed = tuple(sum(sum(part.errors.values()) for part in passes) for passes in parts)
    lines = tuple(
        Line(
            figure=Figure(name=name, unit="µs", digits=1),
            values=values,
            style="points",
        )
        for name, values in (
            ("mean", tuple(one.mean_ns / units.NS_PER_US for one in times)),
            ("p50", tuple(percentile.level(one, 50, units.NS_PER_US) for one in times)),
            ("p99", tuple(percentile.level(one, 99, units.NS_PER_US) for one in times)),
            ("max", tuple(one.max_ns / units.NS_PER_US for one in times)),
        )
    )
    edge = Edge(name="Operation", places=tuple(found.timed), scale="category")
    count = Beside(column=Column(name="Count", digits=0), values=counts)
    errors = Beside(column=Column(name="Failed", digits=0), values=failed)
    table = Grid(rows=edge, columns=(count, rates, *lines, errors)).table("Result")
    rates_listed = listed(
        say("{name} {rate:,.0f}", name=name, rate=cell.iops)
        for name, cell in zip(found.timed, found.cells, strict=True)
    )
    return Section(
        title="Result",
        blocks=(
            Verdict(text=say("Operations per second: {rates}", rates=rates_listed), good=None),
            table,
            Grid(rows=edge, columns=(rates,)).chart("Rate by operation", rate),
            Grid(rows=edge, columns=lines).chart(
                "Time of one operation", Figure(name="Time", unit="µs"), log=True
            ),
        ),
    )
