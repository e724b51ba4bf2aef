"""What makes an SQLite file a run file: its marks, its tables, and how old ones become new."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

from teijo.errors import RunFileError
from teijo.runfile import rows
from teijo.runfile.codec import Row
from teijo.terms.provenance import provenance_of

APPLICATION_ID: Final = int.from_bytes(b"Tjo1")
TABLES: Final = (
    "run", "environment", "device", "step", "result", "interval", "remark", "health", "tally",
)  # fmt: skip
KEYS: Final = {
    "run": "id",
    "environment": "name",
    "device": "target",
    "step": "seq",
    "result": "step, place",
    "interval": "step, stream, operation, number",
    "remark": "place",
    "health": "place",
}
"""The tables with what was measured, in the order of the digest, and the order of their rows."""

CHECKED_SINCE: Final = 4
"""The version from which on every row has a checksum."""
NAMED_SINCE: Final = 5
"""The version from which on results are of named operations, and a run has a provenance."""
HEALTH_SINCE: Final = 7
"""The version from which on there is a table of what the drive told while the run went on."""

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


def _row_checksums(connection: sqlite3.Connection) -> None:
    """Version 4: a checksum in every row, and the tally of them all."""
    for table in keyed(CHECKED_SINCE):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "CREATE TABLE tally (row_count INTEGER NOT NULL, checksum_sum INTEGER NOT NULL,"
        " checksum INTEGER NOT NULL) STRICT"
    )
    count = total = 0
    for table in keyed(CHECKED_SINCE):
        key = key_of(table, CHECKED_SINCE)
        names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")][:-1]
        places = " AND ".join(f"{part} IS ?" for part in key.split(", "))
        # All at once: SQLite leaves open what a query sees of rows that are changed meanwhile.
        found = connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
        for row in found:
            check = _checksum_at_4(table, row)
            values = dict(zip(names, row, strict=True))
            connection.execute(
                f"UPDATE {table} SET checksum = ? WHERE {places}",
                (check, *(values[part] for part in key.split(", "))),
            )
            count, total = count + 1, total + check
    content = (count, rows.wrapped(total))
    connection.execute(
        "INSERT INTO tally VALUES (?, ?, ?)", (*content, rows.checksum_of("tally", content))
    )


def _checksum_at_4(table: str, row: Row) -> int:
    if table != "interval":
        return rows.checksum_of(table, row)
    step, stream, direction, *numbers = row
    assert isinstance(step, int)
    line = np.array([numbers], dtype=np.int64)
    return int(rows.series_checksums(step, str(stream), str(direction), line)[0])


_NAMED_TABLES: Final = (
    """CREATE TABLE device (
    kind                    TEXT NOT NULL CHECK (
        kind IN ('simulated', 'file', 'block', 'directory', 'database', 'none')
    ),
    target                  TEXT NOT NULL,
    model                   TEXT NOT NULL,
    serial                  TEXT NOT NULL,
    firmware                TEXT NOT NULL,
    interface               TEXT NOT NULL,
    wwid                    TEXT NOT NULL,
    write_cache             TEXT NOT NULL,
    facts                   TEXT NOT NULL CHECK (json_valid(facts)),
    capacity_bytes          INTEGER CHECK (capacity_bytes > 0),
    nominal_capacity_bytes  INTEGER CHECK (nominal_capacity_bytes > 0),
    logical_block_bytes     INTEGER CHECK (logical_block_bytes > 0),
    physical_block_bytes    INTEGER CHECK (physical_block_bytes > 0),
    checksum                INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE result (
    step                INTEGER NOT NULL REFERENCES step (seq),
    place               INTEGER NOT NULL,
    stream              TEXT NOT NULL,
    operation           TEXT NOT NULL CHECK (operation <> ''),
    count               INTEGER NOT NULL CHECK (count >= 0),
    bytes               INTEGER CHECK (bytes >= 0),
    errors              TEXT NOT NULL CHECK (json_valid(errors)),
    latency_ns_sum      INTEGER,
    latency_ns_min      INTEGER,
    latency_ns_max      INTEGER,
    histogram           BLOB,
    intervals           INTEGER CHECK (intervals >= 0),
    backlog_max         INTEGER CHECK (backlog_max >= 0),
    backlog_end         INTEGER CHECK (backlog_end >= 0),
    response_ns_sum     INTEGER,
    response_ns_min     INTEGER,
    response_ns_max     INTEGER,
    response_histogram  BLOB,
    checksum            INTEGER NOT NULL,
    PRIMARY KEY (step, stream, operation)
) STRICT""",
    """CREATE TABLE interval (
    step            INTEGER NOT NULL REFERENCES step (seq),
    stream          TEXT NOT NULL,
    operation       TEXT NOT NULL CHECK (operation <> ''),
    number          INTEGER NOT NULL CHECK (number >= 0),
    ios             INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    latency_ns_sum  INTEGER NOT NULL,
    latency_ns_min  INTEGER NOT NULL,
    latency_ns_max  INTEGER NOT NULL,
    checksum        INTEGER NOT NULL,
    PRIMARY KEY (step, stream, operation, number)
) STRICT, WITHOUT ROWID""",
)


def _named_operations(connection: sqlite3.Connection) -> None:
    """Version 5: named operations, targets without a capacity, provenance, phrases of remarks.

    What SQLite cannot change in place is made anew with its rows as they were, so that their
    checksums stay; a row of `run` or `remark` has more values, and so another one.
    """
    for made in _NAMED_TABLES:
        table = made.split()[2]
        connection.execute(f"ALTER TABLE {table} RENAME TO {table}_before")
        connection.execute(made)
        connection.execute(f"INSERT INTO {table} SELECT * FROM {table}_before")
        connection.execute(f"DROP TABLE {table}_before")
    connection.execute(
        "ALTER TABLE run ADD COLUMN provenance TEXT NOT NULL DEFAULT 'measured'"
        " CHECK (provenance IN ('measured', 'simulated', 'imported'))"
    )
    connection.execute(
        "ALTER TABLE run ADD COLUMN run_group TEXT NOT NULL DEFAULT '{}'"
        " CHECK (json_valid(run_group))"
    )
    for (kind,) in connection.execute("SELECT kind FROM device").fetchall():
        connection.execute("UPDATE run SET provenance = ?", (provenance_of(kind),))
    connection.execute(
        "ALTER TABLE remark ADD COLUMN phrase TEXT CHECK (phrase IS NULL OR json_valid(phrase))"
    )
    for table in ("run", "remark"):
        _checksums_anew(connection, table)


def _checksums_anew(connection: sqlite3.Connection, table: str) -> None:
    """Give each row of a table the checksum of its values, in itself and in the tally."""
    info = connection.execute(f"PRAGMA table_info({table})").fetchall()
    names = ", ".join(name for _, name, *_ in info if name != rows.CHECKSUM)
    grown = 0
    found = connection.execute(f"SELECT rowid, checksum, {names} FROM {table}").fetchall()
    for row_id, before, *row in found:
        after = rows.checksum_of(table, row)
        connection.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (after, row_id))
        grown += after - before
    if not found:
        return
    count, total = connection.execute("SELECT row_count, checksum_sum FROM tally").fetchone()
    content = (count, rows.wrapped(total + grown))
    connection.execute(
        "UPDATE tally SET checksum_sum = ?, checksum = ?",
        (content[1], rows.checksum_of("tally", content)),
    )


def _census(connection: sqlite3.Connection) -> None:
    """Version 6: which blocks a step touched, and what its writes were like."""
    check = "CHECK (census IS NULL OR json_valid(census))"
    connection.execute(f"ALTER TABLE step ADD COLUMN census TEXT {check}")
    _checksums_anew(connection, "step")


def _health(connection: sqlite3.Connection) -> None:
    """Version 7: what the drive told of itself while the run went on."""
    connection.execute(
        """CREATE TABLE health (
    place     INTEGER PRIMARY KEY,
    step      INTEGER NOT NULL CHECK (step >= 1),
    at_ns     INTEGER NOT NULL CHECK (at_ns >= 0),
    cost_ns   INTEGER NOT NULL CHECK (cost_ns >= 0),
    counters  TEXT NOT NULL CHECK (json_valid(counters)),
    error     TEXT NOT NULL,
    checksum  INTEGER NOT NULL
) STRICT"""
    )


MIGRATIONS: Final[tuple[Migration, ...]] = (
    _create,
    _second_latency,
    _verified_data,
    _row_checksums,
    _named_operations,
    _census,
    _health,
)
"""In order: the function at place n takes a file from version n to n + 1."""

VERSION: Final = len(MIGRATIONS)


@dataclass(frozen=True)
class Column:
    """A column as a version has it: its name, and the Python types its values may have."""

    name: str
    types: tuple[type, ...]


@dataclass(frozen=True)
class Layout:
    """The tables of one version, as the migrations make them."""

    entries: tuple[tuple[str | None, ...], ...]
    """What sqlite_schema holds: type, name, table and text, sorted."""
    columns: dict[str, tuple[Column, ...]]
    """The columns of each table that is `keyed`, without the checksum."""


@cache
def layout(version: int) -> Layout:
    """Return what a file of this version must consist of, no more and no less."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        for migration in MIGRATIONS[:version]:
            migration(made)
        kinds: dict[str, type] = {"INTEGER": int, "TEXT": str, "BLOB": bytes}
        columns = {
            table: tuple(
                Column(name, (kinds[kind],) if strict or key else (kinds[kind], type(None)))
                for _, name, kind, strict, _, key in made.execute(f"PRAGMA table_info({table})")
                if name != rows.CHECKSUM
            )
            for table in keyed(version)
        }
        return Layout(_entries(made), columns)


def columns(table: str, version: int | None = None) -> tuple[str, ...]:
    """Return the names of a table's columns but the checksum, from this program, never a file."""
    found = layout(len(MIGRATIONS) if version is None else version).columns[table]
    return tuple(column.name for column in found)


def keyed(version: int) -> tuple[str, ...]:
    """Return the tables of `KEYS` that a version has, in the order of the digest."""
    return tuple(table for table in KEYS if table != "health" or version >= HEALTH_SINCE)


def key_of(table: str, version: int) -> str:
    """Return the order of a table's rows, by the names that a version has for its columns."""
    key = KEYS[table]
    return key if version >= NAMED_SINCE else key.replace("operation", "direction")


def check_layout(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Make sure that a file has the very tables of its version, and nothing that could run.

    A view, a trigger, an index, a generated column or a CHECK of somebody else's is code. None is
    looked at before this is asked.

    Raises:
        RunFileError: it has others, more or fewer.
    """
    if _entries(connection) != layout(version).entries:
        raise RunFileError(
            f"{path} has other tables than a run file of version {version}.",
            remedy="Use a copy that is whole: no program of ours adds or changes tables.",
        )


def _entries(connection: sqlite3.Connection) -> tuple[tuple[str | None, ...], ...]:
    """Return what the schema consists of, its text without the breaks of its lines."""
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    entries = [
        (kind, name, table, None if text is None else " ".join(text.split()))
        for kind, name, table, text in found
    ]
    return tuple(sorted(entries, key=lambda entry: tuple(map(str, entry))))


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
            if connection.in_transaction:  # SQLite rolls back by itself on some errors
                connection.execute("ROLLBACK")
            raise


def check_marks(connection: sqlite3.Connection, path: Path) -> int:
    """Make sure the file is a run file of a version this program knows; return that.

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
    return version


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
