"""Writes a run file: open it, record each answer, seal it. One writer, one transaction a step."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from teijo.errors import HostError, RunFileError
from teijo.runfile import guard, log, schema, seal
from teijo.runfile.codec import STEP_COLUMNS, numbers_of, reading_row, rows_of, to_json
from teijo.runfile.content import content_digest
from teijo.runfile.creation import create_locked, give_name, lock_existing, remove_new
from teijo.runfile.header import insert_header, insert_remarks
from teijo.runfile.ledger import Ledger
from teijo.runfile.names import Names
from teijo.runfile.reader import reading
from teijo.runfile.space import LEAST_BYTES, Ballast
from teijo.runfile.sqlite_words import why
from teijo.terms.reading import Reading
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, Health, Intervals, StepResult
from teijo.terms.step import Configure, Step, step_from_json, step_to_json

_FULL: Final = ("database or disk is full", "disk I/O error")
"""What SQLite says when the disk has no room (the second when a log or its index cannot grow)."""

_FLUSHES_MORE: Final = 2
"""How often a transaction is tried again whose flush failed, as one does that a signal breaks."""
_SQUEEZED: Final = Remark(
    kind=RemarkKind.RESULTS_DISK,
    text="The disk of the run file was full during the run; its reserve was used.",
)

Finished = Iterable[tuple[str, str, Intervals]]
"""(stream, operation, series) of newly finished intervals, as the engine reports them."""


class Recorder:
    """The one writer of a growing run file.

    Every verb is one transaction that is on the disk when it returns, but for `begin`: a step
    without an answer is worth nothing, so it comes to the disk with what is recorded next. When
    the disk is full the reserve is given back piece by piece; when that is used up, `HostError`
    says so and the file stays as the last transaction left it.
    """

    def __init__(self, names: Names, lock: int, db: sqlite3.Connection, ballast: Ballast) -> None:
        """Take over a file that is open, locked and of this version: use `create` or `reopen`."""
        self.names = names
        self._lock: int | None = lock
        self._db = db
        self._ballast = ballast
        self._squeezed = False

    @classmethod
    def create(
        cls,
        path: Path | str,
        header: Record,
        *,
        reserve_bytes: int = LEAST_BYTES,
        lies_on_device: Callable[[Path], bool] | None = None,
    ) -> Self:
        """Begin the run file NAME.teijo.open with what `header` says; its steps are not looked at.

        `lies_on_device` tells whether a folder is on the device under test.

        Raises:
            RunFileError: the name is taken, or would lie on the device under test.
            HostError: the folder cannot be written, or has no room.
        """
        names = Names.of(path)
        folder = names.sealed.parent
        if lies_on_device is not None and lies_on_device(folder):
            raise RunFileError(
                f"{folder} lies on the device under test.",
                remedy="Name a place on another disk with -o: the record must not load the device.",
            )
        names.check_free()
        names.clear_beside()  # SQLite would write to what is planted under its names
        with ExitStack() as undo:
            lock = create_locked(names)
            undo.callback(seal.release, lock)
            undo.callback(remove_new, names)
            try:
                # Under its own name it appears with the header in it, or not at all.
                seal.once_more(lambda: _make(names, lock, header))
                give_name(names)
                undo.callback(_remove, names)
                ballast = Ballast(names.reserve, reserve_bytes)
                db = seal.once_more(lambda: _connect(names.open))
                undo.callback(db.close)
            except (sqlite3.Error, OSError) as error:
                raise HostError(
                    f"The run file {names.open} cannot be made: {why(error)}.",
                    remedy="Nothing was measured. Free space there, or name another place with -o.",
                ) from error
            undo.pop_all()
        return cls(names, lock, db, ballast)

    @classmethod
    def reopen(cls, path: Path | str, *, reserve_bytes: int = LEAST_BYTES) -> Self:
        """Go on with a run that was killed or interrupted.

        Raises:
            UnsafeError: somebody else can have written it.
            RunFileError: there is no such file, it is no run file, it is damaged, or another
                process writes it.
            HostError: the folder cannot be written, or has no room.
        """
        names = Names.of(path)
        with ExitStack() as undo:
            lock = lock_existing(names)
            undo.callback(seal.release, lock)
            # Nothing is written before all of it was found to be what was recorded.
            guard.size_bytes(names.open)
            cut = log.check(names.open, locked=True)
            with reading(names.open) as view:
                seal.check_structure(view.db, names.open)
                remarks = (*view.remarks, *([log.CUT] if cut else ()))
            ballast = Ballast(names.reserve, reserve_bytes)
            try:
                for part in (names.open, names.logs[0]):
                    seal.write_again(part)  # the run before may have ended as a flush failed
                db = seal.once_more(lambda: _connect(names.open))
                undo.callback(db.close)
                if _prepare(db, names, remarks):
                    remarks = ()
            except (sqlite3.Error, OSError) as error:
                raise _unwritable(names, error) from error
            undo.pop_all()
        recorder = cls(names, lock, db, ballast)
        if remarks:
            recorder.remark(*remarks)
        return recorder

    def reserve(self, size_bytes: int) -> None:
        """Take this much room on the disk for what is still to come.

        Raises:
            HostError: there is less.
        """
        self._ballast.remove()  # its blocks would count against the new one
        self._ballast = Ballast(self.names.reserve, size_bytes)

    def begin(self, seq: int, step: Step, seed: int, *, interval_ns: int) -> None:
        """Write down that a step begins; what a killed run left of it is begun anew."""
        place = (getattr(step, "round_number", None), getattr(step, "cell", None))
        begun = {
            "seq": seq,
            "status": "running",
            "kind": step.kind,
            "phase": step.phase,
            "round": place[0],
            "cell": place[1],
            "step": step_to_json(step),
            "seed": seed,
            "interval_ns": interval_ns,
        }

        def write(ledger: Ledger) -> None:
            ledger.delete("interval", "step = ?", (seq,))  # first: they refer to the step
            ledger.delete("step", "seq = ? AND status = 'running'", (seq,))
            ledger.insert("step", [begun.get(name) for name in schema.columns("step")])

        # Waiting for the disk once a step instead of twice: HIR has four thousand short ones.
        # But before a hook may change the device it is written down that it began.
        self._commit(write, waits=isinstance(step, Configure))

    def record_gap(self, seq: int, step: Step, seed: int, gap: Gap, *, interval_ns: int) -> None:
        """Keep that a step did not take place, with the intervals a killed run left of it."""
        if not self._asked("SELECT 1 FROM step WHERE seq = ?", seq):
            self.begin(seq, step, seed, interval_ns=interval_ns)
        columns = dict(zip(STEP_COLUMNS, rows_of(gap).step, strict=True))
        changes = {name: columns[name] for name in ("status", "gap_reason")}
        self._commit(lambda ledger: ledger.amend("step", changes, seq=seq))

    def append(self, seq: int, finished: Finished) -> None:
        """Add the newly finished intervals of the running step."""
        series = [
            (stream, operation, numbers_of(columns)) for stream, operation, columns in finished
        ]
        if any(len(numbers) for _, _, numbers in series):
            self._commit(lambda ledger: ledger.insert_series(seq, series))

    def record(self, seq: int, answer: StepResult) -> None:
        """Keep the answer to the step that was begun: its results and intervals, at once."""
        rows = rows_of(answer, intervals=False)
        changes = dict(zip(STEP_COLUMNS, rows.step, strict=True))
        series = [
            (result.stream, result.operation, numbers_of(result.intervals))
            for result in answer.results
            if result.intervals is not None
        ]

        def write(ledger: Ledger) -> None:
            assert ledger.amend("step", changes, seq=seq, status="running"), (
                f"step {seq} was not begun"
            )
            ledger.delete("interval", "step = ?", (seq,))  # the answer has all of them
            for row in rows.results:
                ledger.insert("result", (seq, *row))
            ledger.insert_series(seq, series)
            insert_remarks(ledger, (replace(remark, step=seq) for remark in answer.remarks))

        self._commit(write)

    def look_again(self, seq: int, health_after: Health, remarks: Sequence[Remark]) -> None:
        """Keep what a device counted at the end of a run with its last step, which is recorded."""

        def write(ledger: Ledger) -> None:
            changes = {"health_after": to_json(health_after)}
            assert ledger.amend("step", changes, seq=seq, status="done"), f"step {seq} is not done"
            insert_remarks(ledger, remarks)

        self._commit(write)

    def keep_readings(self, *readings: Reading) -> None:
        """Keep what the drive told of itself, in this order."""
        self._commit(lambda ledger: ledger.append("health", map(reading_row, readings)))

    def remark(self, *remarks: Remark) -> None:
        """Keep warnings, in this order."""
        self._commit(lambda ledger: insert_remarks(ledger, remarks))

    def note(self, name: str, value: str) -> None:
        """Keep a fact among those of the environment, in place of an older one of this name."""

        def write(ledger: Ledger) -> None:
            ledger.delete("environment", "name = ?", (name,))
            ledger.insert("environment", (name, value))

        self._commit(write)

    def under_way(self) -> Step | None:
        """Return the step that has begun and has no answer, None for none."""
        found = self._asked(
            "SELECT step FROM step WHERE status = 'running' ORDER BY seq DESC LIMIT 1"
        )
        return None if found is None else step_from_json(found[0])

    def abandoned_bytes(self) -> int:
        """Return what steps without an answer wrote, as far as their finished intervals tell."""
        found = self._asked(
            "SELECT coalesce(sum(bytes), 0) FROM interval JOIN step ON seq = interval.step"
            " WHERE operation = 'write' AND status <> 'done'"
        )
        return int(found[0])

    def _asked(self, question: str, *values: object) -> Any:
        """Return an answer's first row, or None. All was read before: only its disk can fail."""
        try:
            return self._db.execute(question, values).fetchone()
        except sqlite3.Error as error:
            raise HostError(
                f"The run file {self.names.open} could not be read: {why(error)}.",
                remedy="All that was recorded is kept. Look at its disk, then `teijo resume` it.",
            ) from error

    def go_on(self, remark: Remark) -> None:
        """Mark the run as running again, with `remark` in place of that of the interruption."""
        begun = self._asked("SELECT 1 FROM step WHERE status <> 'running'")

        def write(ledger: Ledger) -> None:
            ledger.amend("run", {"ending": "running", "ended_at": "", "error": "", "digest": ""})
            ledger.delete("remark", "kind = ?", (RemarkKind.INTERRUPTED.value,))
            if not begun:  # its clock begins again, too
                ledger.delete("health", "place >= ?", (0,))
            insert_remarks(ledger, [remark])

        self._commit(write)

    def end(self, ending: Ending, error: str = "") -> None:
        """Write down how the run ended. An interrupted one can go on later."""
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def write(ledger: Ledger) -> None:
            ledger.amend("run", {"ending": ending, "ended_at": now, "error": error})
            if self._squeezed:
                insert_remarks(ledger, [_SQUEEZED])

        self._commit(write)

    def seal(self) -> Path:
        """Turn NAME.teijo.open into NAME.teijo, whole and checked, and return its path.

        Raises:
            HostError: the disk has no room for the sealed copy; the open file stays.
            RunFileError: NAME.teijo has appeared meanwhile; the open file stays.
        """
        self._ballast.remove()  # its room is for the sealed copy
        try:
            self._commit(lambda ledger: ledger.amend("run", {"digest": content_digest(self._db)}))
        except ValueError as error:
            raise RunFileError(
                f"{self.names.open} is damaged: {error}; it was not sealed.",
                remedy="The open file is kept. Check the disk and the memory of this machine.",
            ) from error
        try:
            seal.copy_and_name(self._db, self.names)
        except (sqlite3.Error, OSError) as error:
            raise HostError(
                f"The run file could not be sealed: {why(error)}.",
                remedy=f"All is kept in {self.names.open}; free space, then `teijo resume` it.",
            ) from error
        self.close()
        _remove(self.names)
        with suppress(OSError):  # the sealed file is safe; at worst the open one comes back
            seal.sync_folder(self.names.sealed.parent)
        return self.names.sealed

    def discard(self) -> None:
        """Remove the run file of a run that measured nothing."""
        self.close()
        _remove(self.names)

    def close(self) -> None:
        """Stop writing. What was recorded stays, the reserve goes; harmless when done twice."""
        self._db.close()
        if self._lock is not None:
            self._ballast.remove()
            # Only now: closing any descriptor of the file would drop SQLite's own locks on it.
            seal.release(self._lock)
            self._lock = None

    def _commit(self, write: Callable[[Ledger], object], *, waits: bool = True) -> None:
        """Run `write` as one transaction; on a full disk give reserve back and try again.

        One that does not wait for the disk is flushed with the next that does. It may be written
        twice, so it must come to the same.
        """
        reserve = self._ballast.give_way()
        flushes = iter(range(_FLUSHES_MORE))
        while True:
            try:
                with _flushing(self._db, waits=waits), _transaction(self._db):
                    ledger = Ledger(self._db)
                    write(ledger)
                    ledger.settle()
                return
            except sqlite3.IntegrityError:  # a mistake of ours, not of the disk
                raise
            except sqlite3.Error as error:
                # Errors of the module itself have no code.
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_FSYNC:
                    self._start_log_anew(error, left=next(flushes, None) is not None)
                elif str(error).startswith(_FULL) and next(reserve, None) is not None:
                    self._squeezed = True
                else:
                    raise _unwritable(self.names, error) from error

    def _start_log_anew(self, error: sqlite3.Error, *, left: bool) -> None:
        """Move all that the log holds into the file after a flush of the log failed.

        Linux forgets what it could not write: a later flush says yes, and a gap in the log would
        hide every step after it. So the log's content is written once more, elsewhere.
        """
        try:
            row = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as again:
            raise _unwritable(self.names, again) from again
        if not left or row[0] != 0:  # 1: another process kept the log from being emptied
            raise _unwritable(self.names, error) from error


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite rolls back by itself on some errors
            db.execute("ROLLBACK")
        raise


@contextmanager
def _flushing(db: sqlite3.Connection, *, waits: bool) -> Iterator[None]:
    if waits:
        yield
        return
    db.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        db.execute("PRAGMA synchronous = FULL")


def _connect(path: Path) -> sqlite3.Connection:
    db = _open_database(path)
    try:
        db.execute("PRAGMA journal_mode = WAL")  # lets others read while the run writes
        db.execute("PRAGMA foreign_keys = ON")  # off unless each connection asks
        # A small log: it is part of the room that must be reserved.
        db.execute("PRAGMA wal_autocheckpoint = 128")
        # SQLite makes the log at the first look, and does not mind if its name cannot be flushed.
        db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        seal.sync_folder(path.absolute().parent)
    except BaseException:
        db.close()
        raise
    return db


def _make(names: Names, lock: int, header: Record) -> None:
    """Put the header into the new file, all of it and on the disk."""
    os.ftruncate(lock, 0)  # a first attempt may have failed half-way
    with closing(_open_database(names.new)) as db:
        schema.migrate(db)
        with _transaction(db):
            ledger = Ledger(db)
            insert_header(ledger, header)
            ledger.settle()


def _prepare(db: sqlite3.Connection, names: Names, remarks: tuple[Remark, ...]) -> bool:
    """Bring an old file to this version; tell whether it took `remarks` in on the way."""
    version = schema.check_marks(db, names.open)
    schema.check_layout(db, names.open, version)
    unchecked = version < schema.CHECKED_SINCE
    if unchecked:
        with _transaction(db):
            _remark_before_checksums(db, remarks)
    schema.migrate(db)
    return unchecked


def _open_database(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        guard.harden(db, writes=True)
        db.execute("PRAGMA synchronous = FULL")  # NORMAL flushes a log at checkpoints alone
    except BaseException:
        db.close()
        raise
    return db


def _unwritable(names: Names, error: Exception) -> HostError:
    return HostError(
        f"The run file {names.open} cannot be written: {why(error)}.",
        remedy="All that was recorded is kept. Free space there, then `teijo resume` it.",
    )


def _remark_before_checksums(db: sqlite3.Connection, remarks: Iterable[Remark]) -> None:
    """Keep warnings in a file of versions 1 to 3, for its migration to take over."""
    db.executemany(
        "INSERT INTO remark (kind, text, step) VALUES (?,?,?)",
        [(remark.kind.value, remark.text, remark.step) for remark in remarks],
    )


def _remove(names: Names) -> None:
    """Remove all but the sealed file; what cannot be removed is in nobody's way."""
    for path in (*names.logs, names.open, names.reserve, names.new):
        with suppress(OSError):
            path.unlink(missing_ok=True)
