"""What makes an SQLite file a run file: its marks, its tables, and how old ones become new."""

import sqlite3
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Final

from teijo.errors import RunFileError

APPLICATION_ID: Final = int.from_bytes(b"Tjo1")
TABLES: Final = ("run", "environment", "device", "step", "result", "interval", "remark")

Migration = Callable[[sqlite3.Connection], None]


def schema_text() -> str:
    """Return the text of schema.sql."""
    return resources.files("teijo.runfile").joinpath("schema.sql").read_text(encoding="utf-8")


def _create(connection: sqlite3.Connection) -> None:
    for statement in _statements(schema_text()):
        connection.execute(statement)


def _second_latency(connection: sqlite3.Connection) -> None:
    """Version 2: response beside service latency, the backlog, and how a step was made."""
    connection.execute(
        "ALTER TABLE step ADD COLUMN witness TEXT CHECK (witness IS NULL OR json_valid(witness))"
    )
    for column in (
        "backlog_max INTEGER CHECK (backlog_max >= 0)",
        "backlog_end INTEGER CHECK (backlog_end >= 0)",
        "response_ns_sum INTEGER",
        "response_ns_min INTEGER",
        "response_ns_max INTEGER",
        "response_histogram BLOB",
    ):
        connection.execute(f"ALTER TABLE result ADD COLUMN {column}")


def _verified_data(connection: sqlite3.Connection) -> None:
    """Version 3: what verified reads held, what was written; rows of flushes and discards.

    SQLite cannot widen a CHECK, so `result` is made anew, its columns as they were.
    """
    for column in ("verification", "written"):
        check = f"CHECK ({column} IS NULL OR json_valid({column}))"
        connection.execute(f"ALTER TABLE step ADD COLUMN {column} TEXT {check}")
    (made,) = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'result'"
    ).fetchone()
    old = "direction IN ('read', 'write')"
    new = "direction IN ('read', 'write', 'flush', 'discard')"
    assert made.count(old) == 1, made
    connection.execute("ALTER TABLE result RENAME TO result_before")
    connection.execute(made.replace(old, new))
    connection.execute("INSERT INTO result SELECT * FROM result_before")
    connection.execute("DROP TABLE result_before")


MIGRATIONS: Final[tuple[Migration, ...]] = (_create, _second_latency, _verified_data)
"""In order: the function at place n takes a file from version n to n + 1."""

VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to this version; each step and the record of it are one transaction.

    `connection` must be in autocommit mode (isolation_level=None).
    """
    done = user_version(connection)
    for version, migration in enumerate(MIGRATIONS[done:], start=done + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migration(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def check_marks(connection: sqlite3.Connection, path: Path) -> None:
    """Make sure the file is a run file of a version this program knows.

    Raises:
        RunFileError: it is another program's database, or from a newer teijo.
    """
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    if mark != APPLICATION_ID:
        raise RunFileError(
            f"{path} is a database, but not a run file (application id {mark:#010x}).",
            remedy="Name a .teijo file that `teijo run` wrote.",
        )
    version = user_version(connection)
    if not 1 <= version <= VERSION:
        raise RunFileError(
            f"{path} has run file version {version}; this teijo knows 1 to {VERSION}.",
            remedy="Open it with the teijo that wrote it, or a newer one.",
        )


def user_version(connection: sqlite3.Connection) -> int:
    """Return the version a file says it has; 0 for an empty one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _statements(script: str) -> list[str]:
    """Split a script into statements, so that they can run inside one transaction.

    `executescript` would commit first.
    """
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
