"""Reads a run file: sealed, growing, or left by a kill. Never writes to it."""

import os
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from teijo.errors import RunFileError, host_error
from teijo.runfile import codec, guard, log, program, schema, seal
from teijo.runfile.blame import blame
from teijo.runfile.content import AllSeries, Content, Tally, content_of
from teijo.runfile.names import OPEN_SUFFIX, SEALED_SUFFIX, Names
from teijo.runfile.phrases import recalled
from teijo.runfile.proof.flaw import Flaw
from teijo.runfile.proof.making import self_check_flaws
from teijo.runfile.proof.proving import flaws_of, marked
from teijo.runfile.proof.tables import table_flaws
from teijo.terms.geometry import NO_CAPACITY, DeviceKind, Geometry, Identity
from teijo.terms.provenance import GroupName, Provenance, provenance_of
from teijo.terms.reading import Reading
from teijo.terms.record import Ending, Record, RunInfo, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Intervals, StepResult
from teijo.terms.step import Step, step_from_json

_Rows = dict[str, codec.Value]
_Series = dict[tuple[str, str], NDArray[np.int64]]
_FAULTS = (
    ValueError,
    TypeError,
    LookupError,
    AssertionError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What parsing a value that is not what we wrote can raise."""
_UNCHECKED: Final = Remark(
    kind=RemarkKind.RECORD_UNCHECKED,
    text="Not sealed and of an older version without checksums: a changed number is not noticed.",
)
_UNSEALED: Final = Remark(
    kind=RemarkKind.RECORD_UNSEALED,
    text="The run has ended, and its file was not sealed: no digest holds its rows together.",
)
_REOPENED: Final = Remark(
    kind=RemarkKind.RECORD_UNSEALED,
    text="An open file that no run has left like this: it was sealed once, or made otherwise.",
)
_WAL: Final = 2
"""What SQLite's header says of a file with a write-ahead log, which every growing one has."""
_GOES_ON: Final = ("running", "interrupted")
_NO_RUN = "Name a .teijo file that `teijo run` wrote. If its run was killed as it began, remove it."


@dataclass(frozen=True, kw_only=True)
class RunningStep:
    """The step that has begun and has no answer yet, with its intervals so far."""

    seq: int
    step: Step
    seed: int
    intervals: dict[tuple[str, str], Intervals]
    """By (stream, operation)."""


def locate(path: Path | str) -> Path:
    """Return the file to read for NAME, NAME.teijo or NAME.teijo.open: the sealed one first.

    Raises:
        RunFileError: there is none.
    """
    given = Path(path)
    names = Names.of(given)
    # Both are there where a seal was cut short before it removed the open one.
    for candidate in (given, names.sealed, names.open):
        if os.path.isfile(candidate):  # noqa: PTH113 — False of a name too long
            return candidate
    raise RunFileError(
        f"There is no run file {given}.", remedy="`teijo run … -o NAME.teijo` writes one."
    )


def read(path: Path | str) -> Record:
    """Return the run a file holds, as far as it has come; what cannot be true in it as remarks.

    Raises:
        RunFileError: there is no file, it is no run file, a newer one, or damaged.
    """
    proved = prove(path)
    return marked(proved.record, proved.flaws)


@dataclass(frozen=True, kw_only=True)
class Proved:
    """A run as its file holds it, with what in it cannot be true.

    `unknown` is what this program would have said otherwise, of a record that another one made.
    `version` is that of the file, `sealed` says that a digest holds it together.
    """

    record: Record
    flaws: tuple[Flaw, ...]
    unknown: tuple[Flaw, ...]
    version: int
    sealed: bool


def prove(path: Path | str, *, whole: bool = False) -> Proved:
    """Return the run a file holds, and each number in it that another one contradicts.

    With `whole` the pages, indexes and references of the file are looked at too.

    Raises:
        RunFileError: as `read`.
    """
    with reading(locate(path)) as view:
        if whole:
            seal.check_structure(view.db, locate(path))
        return proved_in(view)


def proved_in(view: "View") -> Proved:
    """Return the run of an open file, as `prove` does."""
    record = _record(view, _by_step(view.series))
    checksummed = view.version >= schema.CHECKED_SINCE
    steps = {each.seq: each.step for each in record.steps}
    flaws = (
        *table_flaws(view.db, view.version, view.series, steps),
        *flaws_of(record, checksummed=checksummed),
    )
    decided = tuple(self_check_flaws(record)) if checksummed else ()
    own = not decided or program.made_here(record)
    return Proved(
        record=record,
        flaws=(*flaws, *decided) if own else flaws,
        unknown=() if own else decided,
        version=view.version,
        sealed=view.sealed,
    )


def flaws_to_mark(record: Record, *, clean: int) -> tuple[Flaw, ...]:
    """Return the flaws that `read` marks in a run of rows with checksums, but those of its tables.

    `clean` as in `flaws_of`: so many steps were without those of each step already.
    """
    flaws = flaws_of(record, checksummed=True, clean=clean)
    if not program.made_here(record):
        return flaws
    return (*flaws, *self_check_flaws(replace(record, steps=record.steps[clean:])))


def read_running(path: Path | str) -> RunningStep | None:
    """Return the step that is being carried out (or was, when the run died), None if none is.

    Raises:
        RunFileError: as `read`.
    """
    with reading(locate(path)) as view:
        return running_in(view)


def running_in(view: "View") -> RunningStep | None:
    """Return the step under way of an open file, as `read_running` does."""
    row = running_row(view.db)
    if row is None:
        return None
    return RunningStep(
        seq=row["seq"],
        step=step_from_json(row["step"]),
        seed=row["seed"],
        intervals={
            place: codec.series_of(rows, row["interval_ns"])
            for place, rows in _by_step(view.series).get(row["seq"], {}).items()
        },
    )


def running_row(db: sqlite3.Connection) -> sqlite3.Row | None:
    """Return the row of the step under way, None for none."""
    question = "SELECT * FROM step WHERE status = 'running' ORDER BY seq DESC"
    row: sqlite3.Row | None = db.execute(question).fetchone()
    return row


@dataclass(frozen=True)
class View:
    """One unchanging view of a file, and what is to be said of the file itself.

    `remarks` stay true when the run goes on, `doubts` do not.
    """

    db: sqlite3.Connection
    version: int
    sealed: bool
    remarks: tuple[Remark, ...]
    doubts: tuple[Remark, ...]
    series: AllSeries
    tally: Tally


@contextmanager
def reading(path: Path) -> Iterator[View]:
    """Open a run file for reading; check its marks, its tables, every row and its digest.

    Whatever is wrong with the file, inside the block too, becomes a `RunFileError`.
    """
    with opened(path) as file:
        db, version = file.db, file.version
        sealed, content = _check_content(db, path, version)
        remarks, doubts = file.said(sealed=sealed)
        yield View(db, version, sealed, remarks, doubts, content.series, content.tally)


@dataclass(frozen=True)
class Opened:
    """One unchanging view of a file whose tables are ours, and none of whose rows were looked at.

    `cut` says that its log was cut short.
    """

    path: Path
    db: sqlite3.Connection
    version: int
    cut: bool

    def said(self, *, sealed: bool) -> tuple[tuple[Remark, ...], tuple[Remark, ...]]:
        """Return what is to be said of the file itself: `remarks` and `doubts` of a `View`."""
        unchecked = not sealed and self.version < schema.CHECKED_SINCE
        said = ((unchecked, _UNCHECKED), (self.cut and not sealed, log.CUT))
        remarks = tuple(remark for holds, remark in said if holds)
        return remarks, () if sealed else _doubts(self.db, self.path)


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """Open a run file for reading; check its marks and its tables.

    Whatever is wrong with the file, inside the block too, becomes a `RunFileError`.
    """
    size_bytes = guard.size_bytes(path)
    cut = not path.name.endswith(SEALED_SUFFIX) and log.check(path)
    try:
        with _view(path) as db:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA query_only = ON")
            # One view for all questions: the run may write between two of them.
            db.execute("BEGIN")
            version = schema.check_marks(db, path)
            guard.allow(db, ticks=guard.SCHEMA_TICKS)
            schema.check_layout(db, path, version)
            guard.allow_reading(db, size_bytes)
            yield Opened(path, db, version, cut)
    except sqlite3.Error as error:
        raise blame(path, error) from error
    except MemoryError as error:  # of a file that may be whole
        raise host_error(error) from error
    except _FAULTS as error:
        raise RunFileError(
            f"{path} is damaged: {_first_line(error)}.",
            remedy="Use a copy that is whole; what was sealed once does not change.",
        ) from error


@contextmanager
def _view(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file read-only, through a copy where SQLite may not even make a log's index."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise guard.unreadable(path, error) from error
    if head != b"SQLite format 3\0":
        raise RunFileError(f"{path} is not a run file, or its beginning is lost.", remedy=_NO_RUN)
    try:
        db = _open(path)
    except sqlite3.OperationalError:
        with tempfile.TemporaryDirectory(prefix="teijo-") as folder:
            copy = Path(folder) / "run"
            for ending in ("", "-wal"):  # SQLite makes the index anew from the log
                if (part := path.with_name(path.name + ending)).exists():
                    shutil.copyfile(part, f"{copy}{ending}")
            with closing(_open(copy)) as db:
                yield db
        return
    with closing(db):
        yield db


def _open(path: Path) -> sqlite3.Connection:
    sealed = path.name.endswith(SEALED_SUFFIX)
    db = sqlite3.connect(guard.address(path, sealed=sealed), uri=True, isolation_level=None)
    try:
        guard.harden(db)
        guard.allow(db, ticks=guard.SCHEMA_TICKS)
        db.execute("PRAGMA application_id").fetchone()  # opens it, and its log
    except BaseException:
        db.close()
        raise
    return db


def _check_content(db: sqlite3.Connection, path: Path, version: int) -> tuple[bool, Content]:
    """Check every row; tell whether the file has a digest, which is then right, and return what
    was read on the way: the time series are most of a file and are read once.
    """
    row = db.execute("SELECT digest, ending FROM run NOT INDEXED").fetchone()
    if row is None:
        raise RunFileError(f"{path} holds no run.", remedy=_NO_RUN)
    growing = row["ending"] in _GOES_ON or path.name.endswith(OPEN_SUFFIX)
    sealed = row["digest"] != "" or not growing
    content = content_of(db, version)
    if content.digest != row["digest"] and sealed:
        raise RunFileError(
            f"{path} is damaged: its content is not what was sealed (the digest differs).",
            remedy="Use a copy that is whole; what was sealed once does not change.",
        )
    return sealed, content


def _doubts(db: sqlite3.Connection, path: Path) -> tuple[Remark, ...]:
    """Return what is to be said of a file without a digest that is not simply growing."""
    ending = db.execute("SELECT ending FROM run NOT INDEXED").fetchone()["ending"]
    if ending not in _GOES_ON:
        return (_UNSEALED,)
    with path.open("rb") as file:
        written = file.read(20)[18:19]  # the write version in SQLite's header
    # A kill between the header and the log mode leaves a file without steps.
    begun = db.execute("SELECT 1 FROM step NOT INDEXED LIMIT 1").fetchone()
    return (_REOPENED,) if begun and written != bytes([_WAL]) else ()


def _record(view: View, intervals: dict[int, _Series]) -> Record:
    db = view.db
    device = db.execute("SELECT * FROM device").fetchone()
    identity = _identity(device)
    run = _run(db.execute("SELECT * FROM run").fetchone(), identity.kind)
    remarks = [remark_of(dict(row)) for row in db.execute("SELECT * FROM remark ORDER BY place")]
    return Record(
        run=run,
        geometry=_geometry(device),
        identity=identity,
        environment={row["name"]: row["value"] for row in db.execute("SELECT * FROM environment")},
        steps=_steps(db, remarks, intervals, untimed=run.provenance == "imported"),
        remarks=(*remarks, *view.doubts, *view.remarks),
        readings=_readings(view),
    )


def _readings(view: View) -> tuple[Reading, ...]:
    if view.version < schema.HEALTH_SINCE:
        return ()
    found = view.db.execute("SELECT * FROM health NOT INDEXED ORDER BY place")
    return tuple(codec.reading_of(dict(row)) for row in found)


def remark_of(row: Mapping[str, Any]) -> Remark:
    """Return the warning that a row holds."""
    text = recalled(row["text"], row.get("phrase"))  # which older versions do not have
    return Remark(kind=RemarkKind(row["kind"]), text=text, step=row["step"])


def _geometry(row: sqlite3.Row) -> Geometry:
    if row["capacity_bytes"] is None:
        return NO_CAPACITY
    return Geometry(**{each.name: row[each.name] for each in fields(Geometry)})


def _run(row: sqlite3.Row, kind: DeviceKind) -> RunInfo:
    provenance, group = provenance_of(kind), {}
    if "provenance" in dict(row):
        provenance = row["provenance"]
        group = {GroupName(name): value for name, value in codec.texts(row["run_group"]).items()}
    if provenance not in get_args(Provenance):
        raise ValueError(f"{provenance!r} is no provenance")
    if row["ending"] not in get_args(Ending):
        raise ValueError(f"{row['ending']!r} is no ending")
    same = (each.name for each in fields(RunInfo) if each.name not in ("provenance", "group"))
    stored = {name: row[name] for name in same} | {"settings": codec.from_json(row["settings"])}
    return RunInfo(**stored, provenance=provenance, group=group)


def _identity(row: sqlite3.Row) -> Identity:
    if row["kind"] not in get_args(DeviceKind):
        raise ValueError(f"{row['kind']!r} is no kind of device")
    stored = {each.name: row[each.name] for each in fields(Identity)}
    return Identity(**stored | {"facts": codec.texts(row["facts"])})


def _steps(
    db: sqlite3.Connection,
    remarks: list[Remark],
    intervals: dict[int, _Series],
    *,
    untimed: bool,
) -> tuple[StepRecord, ...]:
    return step_records(
        map(dict, db.execute("SELECT * FROM step WHERE status <> 'running' ORDER BY seq")),
        db.execute("SELECT * FROM result NOT INDEXED ORDER BY step, place"),
        remarks,
        intervals,
        untimed=untimed,
    )


def step_records(
    steps: Iterable[Mapping[str, Any]],
    results: Iterable[Iterable[codec.Value]],
    remarks: Iterable[Remark],
    intervals: Mapping[int, _Series],
    *,
    untimed: bool,
) -> tuple[StepRecord, ...]:
    """Return the steps of rows of `step` that have an answer, with what else belongs to them.

    `results` are rows of `result` in the order of their steps and places; imported ones may be
    `untimed`. Every histogram is opened.
    """
    results_of: dict[codec.Value, list[_Rows]] = defaultdict(list)
    for row in results:
        # By place: older versions name some columns otherwise, and lack the last.
        named = dict(zip(("step", *codec.RESULT_COLUMNS), row, strict=False))
        results_of[named["step"]].append(named)
    remarks_of: dict[int | None, list[Remark]] = defaultdict(list)
    for remark in remarks:
        remarks_of[remark.step].append(remark)
    found = tuple(
        StepRecord(
            seq=row["seq"],
            step=step_from_json(row["step"]),
            seed=row["seed"],
            answer=codec.answer_of(
                row,
                results_of.get(row["seq"], []),
                intervals.get(row["seq"], {}),
                tuple(remarks_of.get(row["seq"], ())),
                untimed=untimed,
            ),
        )
        for row in steps
    )
    answers = [each.answer for each in found if isinstance(each.answer, StepResult)]
    codec.check_histograms([part for each in answers for part in (*each.results, *each.commands)])
    return found


def _by_step(series: AllSeries) -> dict[int, _Series]:
    found: dict[int, _Series] = {}
    for (step, stream, operation), numbers in series.items():
        found.setdefault(step, {})[stream, operation] = numbers
    return found


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
