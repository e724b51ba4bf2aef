"""Statements on a fresh SQLite database, one at a time from one connection; it is removed after."""

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal

from teijo import creating
from teijo.errors import DeviceError, HostError, PlanError, TargetError
from teijo.stopwatch import Stopwatch
from teijo.terms.geometry import Identity
from teijo.terms.result import OperationResult
from teijo.terms.work import Files, Sql, Statement

STREAM: Final = "sql"
Journal = Literal["wal", "delete"]
Synchronous = Literal["full", "normal", "off"]
_BESIDE: Final = ("", "-wal", "-shm", "-journal")
_TEXTS: Final[dict[Statement, str]] = {
    "insert": "INSERT INTO piece (id, content) VALUES (:id, :content)",
    "select": "SELECT content FROM piece WHERE id = :id",
    "update": "UPDATE piece SET content = :content WHERE id = :id",
    "delete": "DELETE FROM piece WHERE id = :id",
}


class SqlWorker:
    """A database of one table: rows with a number and random content."""

    def __init__(
        self, target: str, path: Path, *, journal: Journal, synchronous: Synchronous
    ) -> None:
        """Make the database under a name that must be free.

        Raises:
            TargetError: there is something of this name.
            HostError: it cannot be made.
        """
        self.backend = f"SQLite {sqlite3.sqlite_version}"
        self.identity = Identity(
            kind="database",
            target=target,
            model=self.backend,
            facts={"journal": journal, "synchronous": synchronous},
        )
        self._path = path.absolute()
        self._rows: list[int] = []
        self._last = 0
        try:
            os.close(creating.create(self._path, 0o600))
        except FileExistsError as error:
            raise TargetError(
                f"{path} is there already, and the statements run on a database of their own",
                remedy="Name a file that does not exist.",
            ) from error
        except OSError as error:
            raise _not_made(path, error.strerror or str(error)) from error
        try:
            self._db = sqlite3.connect(self._path, isolation_level=None)
            self._db.execute(f"PRAGMA journal_mode = {journal}")
            self._db.execute(f"PRAGMA synchronous = {synchronous}")
            self._db.execute("CREATE TABLE piece (id INTEGER PRIMARY KEY, content BLOB NOT NULL)")
        except sqlite3.Error as error:
            self._remove()
            raise _not_made(path, str(error)) from error

    def perform(
        self, work: Files | Sql, seed: int, look: Callable[[int], bool]
    ) -> tuple[OperationResult, ...]:
        """Carry out the statements; `look` is told how many were done, and may stop them.

        Raises:
            PlanError: the work is no statements, or on more rows than there are.
            DeviceError: SQLite can go no further.
        """
        if not isinstance(work, Sql) or (work.statement != "insert" and not self._rows):
            raise PlanError("There are no rows to work on", remedy="Insert them first.")
        moved = work.row_bytes if work.statement in ("insert", "update") else None
        timer, commits = Stopwatch(STREAM, work.statement, moved), Stopwatch(STREAM, "commit")
        writes = work.statement != "select"
        try:
            self._carry_out(work, random.Random(seed), timer, commits if writes else None, look)
        except sqlite3.Error as error:
            raise DeviceError(
                f"SQLite failed: {error}.", remedy="Look at the disk of the database."
            ) from error
        return (timer.result, commits.result) if writes else (timer.result,)

    def _carry_out(
        self,
        work: Sql,
        drawn: random.Random,
        timer: Stopwatch,
        commits: Stopwatch | None,
        look: Callable[[int], bool],
    ) -> None:
        text, numbers = _TEXTS[work.statement], self._numbers(work, drawn)
        open_rows, stopped = 0, False
        for done, number in enumerate(numbers, start=1):
            if commits is not None and not open_rows:
                self._db.execute("BEGIN IMMEDIATE")
            values: dict[str, object] = {"id": number, "content": drawn.randbytes(work.row_bytes)}
            timer.time(partial(self._answered, text, values))
            open_rows += 1
            stopped = not look(done)
            full = open_rows == work.rows_per_commit or done == len(numbers) or stopped
            if commits is not None and full:
                commits.time(lambda: self._db.execute("COMMIT"))
                open_rows = 0
            if stopped:
                return

    def _answered(self, text: str, values: dict[str, object]) -> list[object]:
        return self._db.execute(text, values).fetchall()

    def _numbers(self, work: Sql, drawn: random.Random) -> list[int]:
        match work.statement:
            case "insert":
                numbers = list(range(self._last + 1, self._last + 1 + work.count))
                self._last += work.count
                self._rows += numbers
                return numbers
            case "select" | "update":
                return drawn.choices(self._rows, k=work.count)
            case "delete":
                drawn.shuffle(self._rows)
                numbers, self._rows = self._rows[: work.count], self._rows[work.count :]
                return numbers

    def close(self) -> None:
        """Remove the database."""
        self._db.close()
        self._remove()

    def _remove(self) -> None:
        for ending in _BESIDE:
            with suppress(OSError):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


def _not_made(path: Path, why: str) -> HostError:
    return HostError(
        f"The database {path} cannot be made: {why}.", remedy="Name a place that can be written."
    )
