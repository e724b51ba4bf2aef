"""Statements on a fresh SQLite database, one at a time from one connection; it is removed after.

The database appears whole, with the run's token in the text of its table: its first page is known
to the last byte but for the header, and a run that goes on knows by it what its killed self left.
"""

import os
import random
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal

from teijo import creating
from teijo.errors import DeviceError, HostError, PlanError, TargetError
from teijo.stopwatch import Stopwatch
from teijo.terms.geometry import Identity
from teijo.terms.result import Performed
from teijo.terms.work import PerformedWork, Sql, Statement

STREAM: Final = "sql"
Journal = Literal["wal", "delete"]
Synchronous = Literal["full", "normal", "off"]
_BESIDE: Final = ("-wal", "-shm", "-journal")
_HEADER_BYTES: Final = 100
"""Of the first page: its counters change with every commit, the rest of the page never does."""
_TEXTS: Final[dict[Statement, str]] = {
    "insert": "INSERT INTO piece (id, content) VALUES (:id, :content)",
    "select": "SELECT content FROM piece WHERE id = :id",
    "update": "UPDATE piece SET content = :content WHERE id = :id",
    "delete": "DELETE FROM piece WHERE id = :id",
}


class SqlWorker:
    """A database of one table: rows with a number and random content."""

    def __init__(
        self, target: str, path: Path, *, journal: Journal, synchronous: Synchronous, token: str
    ) -> None:
        """Remove the database that a killed run of this token left; the name must be free then.

        The database is made with the first row. `token` is letters and digits.

        Raises:
            TargetError: there is something of this name, or of a name that SQLite uses beside it.
            HostError: it cannot be made there.
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
        self._settings = (f"journal_mode = {journal}", f"synchronous = {synchronous}")
        self._image = _image(token)
        self._made: os.stat_result | None = None
        # In place of the real one until the first row: `close` always has something to close.
        self._db = sqlite3.connect(":memory:")
        self._made = _left(self._path, self._image)
        self._remove()
        self._check_free()
        # Otherwise it would be noticed only with the first row, after the run has begun.
        if not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise _not_made(self._path, "its folder cannot be written")

    def perform(self, work: PerformedWork, seed: int, look: Callable[[int], bool]) -> Performed:
        """Carry out the statements; `look` is told how many were done, and may stop them.

        Raises:
            PlanError: the work is no statements, or on more rows than there are.
            TargetError: somebody took the name of the database.
            HostError: the database cannot be made, or its disk is full.
            DeviceError: SQLite can go no further.
        """
        if not isinstance(work, Sql) or (work.statement != "insert" and not self._rows):
            raise PlanError("There are no rows to work on", remedy="Insert them first.")
        moved = work.row_bytes if work.statement in ("insert", "update") else None
        timer, commits = Stopwatch(STREAM, work.statement, moved), Stopwatch(STREAM, "commit")
        if self._made is None:
            self._make()
        writes = work.statement != "select"
        try:
            self._carry_out(work, random.Random(seed), timer, commits if writes else None, look)
        except sqlite3.Error as error:
            # SQLite's extended codes have the primary one in their low byte.
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
                raise HostError(
                    f"The disk of {self.identity.target} is full.",
                    remedy="Free space there, and resume the run.",
                ) from error
            raise DeviceError(
                f"SQLite failed: {error}.", remedy="Look at the disk of the database."
            ) from error
        return Performed(results=(timer.result, commits.result) if writes else (timer.result,))

    def _check_free(self) -> None:
        # A log of a database that somebody lost counts as taken: SQLite would replay it into ours
        # and remove it.
        for name in (self._path, *self._beside):
            if os.path.lexists(name):
                raise _taken(name)

    def _make(self) -> None:
        self._check_free()
        try:
            self._made = creating.create_whole(self._path, self._image)
            # Without None, Python begins transactions by itself, where no stopwatch sees it.
            self._db = sqlite3.connect(self._path, isolation_level=None)
            for setting in self._settings:
                self._db.execute(f"PRAGMA {setting}")
        except FileExistsError as error:
            raise _taken(self._path) from error
        except OSError as error:
            raise _not_made(self._path, error.strerror or str(error)) from error
        except sqlite3.Error as error:
            raise _not_made(self._path, str(error)) from error

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
        # SQLite finds rows as they are fetched: a select has ended with its last one.
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

    def limit_io(self, io_timeout_ns: int) -> None:
        """Wait for as long as SQLite does: it cannot be left in a call."""

    def close(self) -> None:
        """Remove the database."""
        self._db.close()
        self._remove()

    @property
    def _beside(self) -> tuple[Path, ...]:
        return tuple(self._path.with_name(self._path.name + ending) for ending in _BESIDE)

    def _remove(self) -> None:
        """Remove the database if it is the one that was made; what says so goes last."""
        with suppress(OSError):
            if self._made is not None and os.path.samestat(self._made, self._path.lstat()):
                for name in (*self._beside, self._path):
                    name.unlink(missing_ok=True)
        self._made = None


def _image(token: str) -> bytes:
    """Return an empty database of one table, with a token in its text."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(
            "CREATE TABLE piece (id INTEGER PRIMARY KEY, content BLOB NOT NULL "
            f"/* made by teijo for {token} */)"
        )
        return db.serialize()


def _left(path: Path, image: bytes) -> os.stat_result | None:
    """Return what a database is that was made from this image, None where there is nothing.

    Raises:
        TargetError: something else is there.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _taken(path) from error
    try:
        status = os.fstat(descriptor)
        # A second name may belong to a file of somebody else that was linked to here.
        plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        if not plain or status.st_uid != os.geteuid():
            raise _taken(path)
        page = int.from_bytes(image[16:18], "big")  # where the format has the size of a page
        if os.pread(descriptor, page, 0)[_HEADER_BYTES:] != image[_HEADER_BYTES:page]:
            raise _taken(path)
        return status
    finally:
        os.close(descriptor)


def _taken(path: Path) -> TargetError:
    return TargetError(
        f"{path} is there already, and the statements run on a database of their own",
        remedy="Name a file that does not exist.",
    )


def _not_made(path: Path, why: str) -> HostError:
    return HostError(
        f"The database {path} cannot be made: {why}.", remedy="Name a place that can be written."
    )
