"""Whose fault it is that a run file cannot be read: that of its content, or of this machine.

SQLite calls a file malformed when the disk refused one read of it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from teijo.errors import HostError, RunFileError, TeijoError
from teijo.runfile import guard, schema

_READ_FAULTS: Final = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN}
_PIECE_BYTES: Final = 1 << 20


def blame(path: Path, error: sqlite3.Error) -> TeijoError:
    """Return what a user reads when SQLite could not read a run file."""
    if str(error) == "interrupted":  # by the limit of `guard.allow`
        return RunFileError(
            f"{path} is damaged: it takes more work to read than a file of its size can.",
            remedy="Use a copy that is whole; do not trust who gave you this one.",
        )
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _READ_FAULTS:
        try:
            _read_through(path)
            whole = _is_whole(path)
        except OSError as refused:
            return guard.unreadable(path, refused)
        if whole:
            return HostError(
                f"{path} could not be read for a moment ({error}); it is whole.",
                remedy="Try again. If it happens again, look at the kernel log for its disk.",
            )
    return RunFileError(
        f"{path} is no run file, or a damaged one ({error}).",
        remedy="Use a copy that is whole; what was sealed once does not change.",
    )


def _read_through(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(_PIECE_BYTES):
            pass


def _is_whole(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(guard.address(path, sealed=False), uri=True)) as db:
            guard.harden(db)
            guard.allow_reading(db, guard.size_bytes(path))
            schema.check_layout(db, path, schema.check_marks(db, path))
            return [row[0] for row in db.execute("PRAGMA integrity_check(1)")] == ["ok"]
    except (sqlite3.Error, TeijoError):
        return False
