"""What methods that work on databases share: how a server is written, and what the disk did."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teijo.document.grid import Edge, Figure, Grid, Line
from teijo.document.model import Facts, Section
from teijo.document.phrase import Verbatim
from teijo.errors import PlanError
from teijo.methods.forms import Form
from teijo.outside.address import UNREADABLE, URL_FORM, is_readable
from teijo.outside.secret import hidden
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.work import Database
from teijo.units import NS_PER_S

SERVERS = ("sqlite", "mariadb", "postgresql")
DISK = "disk"
"""The stream of what the block device below the directory did."""
FACT = "setting "
SERVER_FORMS = "Write sqlite, mariadb, postgresql, or a URL: postgresql://user@host/database."
_NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
SCATTER = (
    "± is the half-width of the 95 % interval of a mean, by Student's t from the scatter between "
    "the passes. One pass shows no scatter, so nothing can be said of it."
)
PER_SECOND = Figure(name="Rate", unit="1/s", digits=1)


def _server(text: str) -> str:
    word = text.strip()
    if word.lower() in SERVERS:
        return word.lower()
    scheme, colon, rest = word.partition("://")
    shown = hidden(f"{scheme.lower()}{colon}{rest}")
    if is_readable(shown):
        return shown
    # Not a ValueError: its message would repeat the text, with a password that may be in it.
    if _NAME.fullmatch(word):
        raise PlanError(f"server={word} is no server", remedy=SERVER_FORMS)
    raise PlanError(UNREADABLE, remedy=URL_FORM)


SERVER = Form(_server)
"""A server by its name, or by a URL whose password is kept out of everything that is recorded."""


def _options(text: str) -> str:
    if any(mark in text for mark in ";'\"`\\") or not text.isascii():
        raise ValueError("it holds more than words and numbers")
    return text.strip()


CREATE_OPTIONS = Form(_options)
"""What stands behind a CREATE TABLE: it is put into statements as it is."""


def database_of(server: str, durable: str, options: str = "") -> Database:
    """Return the term for where statements run."""
    return Database(server=server, durable=durable == "on", options=options)


@dataclass(frozen=True, kw_only=True)
class DiskCounts:
    """What the block device did during some steps; `flushes` is None where nobody counts them."""

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    flushes: int | None


def disk_of(answers: Iterable[StepResult]) -> DiskCounts | None:
    """Return what the disk did meanwhile, None where there is no device to be seen."""
    parts = [part for answer in answers for part in answer.results if part.stream == DISK]
    if not parts:
        return None
    flushes = [part.count for part in parts if part.operation == "disk-flush"]
    return DiskCounts(
        reads=sum(part.count for part in parts if part.operation == "disk-read"),
        read_bytes=sum(part.moved_bytes for part in parts if part.operation == "disk-read"),
        writes=sum(part.count for part in parts if part.operation == "disk-write"),
        written_bytes=sum(part.moved_bytes for part in parts if part.operation == "disk-write"),
        flushes=sum(flushes) if flushes else None,
    )


def own_parts(answer: StepResult) -> list[OperationResult]:
    """Return the results of a step without the disk's."""
    return [part for part in answer.results if part.stream != DISK]


def per_second(answers: Sequence[StepResult]) -> dict[str, dict[int, int]]:
    """Return, for statements and each kind of the disk's I/O, the count in each second of the run.

    Steps are shorter than seconds, so what ended in one second of several is added up.
    """
    found: dict[str, dict[int, int]] = {}
    for answer in answers:
        for part in answer.results:
            if part.intervals is None:
                continue
            name = part.operation if part.stream == DISK else "statements"
            seconds = found.setdefault(name, {})
            began = answer.started_ns + part.intervals.index * part.intervals.length_ns
            for second, count in zip(
                (began // NS_PER_S).tolist(), part.intervals.ios.tolist(), strict=True
            ):
                seconds[second] = seconds.get(second, 0) + count
    return found


_SHOWN = {"disk-read": "reads", "disk-write": "writes", "disk-flush": "flushes"}


def time_section(
    answers: Sequence[StepResult], *, title: str = "Statements in each second"
) -> Section:
    """Return what was done in each second, and below it what the disk did in the same ones."""
    found = per_second(answers)
    seconds = sorted({second for each in found.values() for second in each})
    edge = Edge(name="Time", unit="s", digits=0, places=tuple(seconds), from_zero=True)

    def line(name: str, key: str) -> Line:
        values = tuple(float(found.get(key, {}).get(second, 0)) for second in seconds)
        return Line(figure=Figure(name=name, unit="1/s", digits=0), values=values, style="line")

    own = Grid(rows=edge, columns=(line("statements", "statements"),))
    disk = Grid(rows=edge, columns=tuple(line(n, key) for key, n in _SHOWN.items() if key in found))
    charts = [own.chart(title, PER_SECOND)]
    if disk.columns:
        charts.append(disk.chart("What the disk did in each second", PER_SECOND))
    return Section(title="Over time", blocks=tuple(charts))


def settings_section(answers: Sequence[StepResult]) -> list[Section]:
    """Return what the server told of its settings, nothing where it was not asked."""
    told = {
        name.removeprefix(FACT): value
        for answer in answers
        for name, value in answer.detail.items()
        if name.startswith(FACT)
    }
    if not told:
        return []
    rows = tuple((Verbatim(name), Verbatim(value)) for name, value in told.items())
    return [Section(title="Settings of the database", blocks=(Facts(rows=rows),))]
