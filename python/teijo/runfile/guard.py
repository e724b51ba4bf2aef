"""Connections to a file that anybody may have made: nothing of it runs, nothing has no end."""

import sqlite3
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Final

from teijo.errors import HostError, RunFileError
from teijo.runfile.names import check_beside, database_files
from teijo.units import GIB, KIB, MIB, format_size

MOST_BYTES: Final = 2 * GIB
"""Of a run file with its log. A day of intervals of one second takes some 20 MiB."""
_ROW_BYTES: Final = 64 * MIB
"""Of one row; a histogram has some KiB."""

_STEPS_PER_TICK: Final = 1000
_TICKS_LEAST: Final = 2_000
_TICKS_PER_PAGE: Final = 50
"""Steps of SQLite's machine, in thousands, for each 4 KiB: all that reading does takes a tenth."""
SCHEMA_TICKS: Final = 20
"""For the schema, which is parsed before the first question; ours has ten entries."""

_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 16 * KIB,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 64,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_CONFIG: Final = {
    "SQLITE_DBCONFIG_DEFENSIVE": True,
    "SQLITE_DBCONFIG_ENABLE_VIEW": False,
    "SQLITE_DBCONFIG_ENABLE_TRIGGER": False,
}
"""Where Python can say so, from 3.12 on."""


def harden(db: sqlite3.Connection, *, writes: bool = False) -> None:
    """Take from a connection all that a run file never needs.

    One that writes may do so because a reading one has compared the tables with ours. It lets
    their CHECKs call json_valid, which older SQLites let only a trusted schema do, and attaches
    one database, which VACUUM INTO takes.
    """
    for limit, value in _LIMITS.items():
        db.setlimit(limit, value)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _ROW_BYTES)
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, int(writes))
    for name, value in _CONFIG.items():
        if (option := getattr(sqlite3, name, None)) is not None:
            db.setconfig(option, value)  # type: ignore[attr-defined]
    trusted = "ON" if writes else "OFF"
    # What SQLite advises for files of strangers: https://sqlite.org/security.html.
    for setting in (f"trusted_schema = {trusted}", "cell_size_check = ON", "mmap_size = 0"):
        db.execute(f"PRAGMA {setting}")


def address(path: Path, *, sealed: bool) -> str:
    """Return the URI that opens a file for reading only.

    A sealed one is all in itself: what lies beside it under the names of a log is none of it.
    """
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if sealed else ''}"


def allow(db: sqlite3.Connection, *, ticks: int) -> None:
    """Let SQLite do so many thousand steps from now on, then fail with "interrupted"."""
    # No function of Python's: a signal would be heard within it, and SQLite would take the
    # KeyboardInterrupt for a wish to stop, and say of a Ctrl-C what it says of a hostile file.
    db.set_progress_handler(chain(repeat(0, ticks), repeat(1)).__next__, _STEPS_PER_TICK)


def allow_reading(db: sqlite3.Connection, size_bytes: int) -> None:
    """Let SQLite do ten times what reading a whole file of this size takes."""
    allow(db, ticks=_TICKS_LEAST + _TICKS_PER_PAGE * (size_bytes // (4 * KIB)))


def size_bytes(path: Path) -> int:
    """Return how large a file and what SQLite finds beside it are, which are plain files.

    Raises:
        RunFileError: they are not, or all are too large.
        HostError: one cannot be looked at.
    """
    check_beside(path)
    try:
        total = path.stat().st_size
        for beside in database_files(path):
            with suppress(FileNotFoundError):
                total += beside.lstat().st_size
    except OSError as error:
        raise unreadable(path, error) from error
    if total > MOST_BYTES:
        raise RunFileError(
            f"{path} and its log take {format_size(total)}; no run file takes more than "
            f"{format_size(MOST_BYTES)}.",
            remedy="Name a .teijo file that `teijo run` wrote.",
        )
    return total


def unreadable(path: Path, error: OSError) -> HostError:
    """Return what a user reads when the disk refuses to give a file."""
    return HostError(
        f"{path} cannot be read: {error.strerror or error}.",
        remedy="Look at the kernel log for its disk, and at who may read it.",
    )
