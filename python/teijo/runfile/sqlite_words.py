"""What SQLite's or the disk's refusal means for the person whose run file it is.

SQLite's own words stand behind it in brackets: they help who looks for the cause.
"""

import sqlite3
from typing import Final

_MEANINGS: Final = {
    sqlite3.SQLITE_FULL: "its disk is full",
    sqlite3.SQLITE_IOERR: "its disk failed",
    sqlite3.SQLITE_READONLY: "its disk takes no writes",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "nobody may write it here",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_CORRUPT: "its content is damaged",
    sqlite3.SQLITE_NOTADB: "it is no database",
    sqlite3.SQLITE_TOOBIG: "a value in it is too large",
}


def why(error: Exception) -> str:
    """Return what went wrong in our words, and what the library said in brackets."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # extended codes have more above
    return f"{_MEANINGS.get(code, 'its database failed')} ({' '.join(str(error).split())})"
