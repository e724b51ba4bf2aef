"""The whole content of a run file, row by row: is it what was written, and what is its digest."""

import hashlib
import itertools
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from teijo.runfile import rows, schema
from teijo.runfile.codec import Row

_INTERVAL_BYTES_LEAST: Final = 16
"""No row takes less of a file: more rows than that are the same bytes read again and again."""
_BYTES_MOST: Final = 2
"""Of text and blobs for each byte of the file; UTF-16 may grow by a half when it is read."""

_NUMBER_MOST: Final = 2**63 - 1
"""What SQLite stores at most: no interval has a higher number."""


class _Digest(Protocol):
    def update(self, content: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


Place = tuple[int, str, str]
"""The step, stream and operation of a time series."""
AllSeries = dict[Place, NDArray[np.int64]]
"""The time series of a file: a row an interval, with `number` and what follows it."""


Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """How many rows there are, and the sum of their checksums modulo 2⁶⁴."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        """Take in the rows of another one."""
        return Tally(self.rows + other.rows, rows.wrapped(self.total + other.total))

    def __sub__(self, other: "Tally") -> "Tally":
        """Take out the rows of another one."""
        return Tally(self.rows - other.rows, rows.wrapped(self.total - other.total))


@dataclass(frozen=True, kw_only=True)
class Content:
    """What was looked through: its digest, and the time series that were read on the way.

    `tally` is that of all rows; versions without checksums have none.
    """

    digest: str
    series: AllSeries
    tally: Tally = Tally()


def content_digest(db: sqlite3.Connection, version: int | None = None) -> str:
    """Return the SHA-256 of every value in the file but the digest itself; see `content_of`."""
    return content_of(db, version).digest


def content_of(db: sqlite3.Connection, version: int | None = None) -> Content:
    """Look every value in the file through, but the digest itself.

    SQLite notices a broken page, but not a changed number in a whole one; this does. Indexes are
    left aside, here and in the reader: a value read from one says nothing of the table. From
    version 4 on the checksum of each row and the tally of all are compared on the way. No name
    in a statement is from the file.

    Raises:
        ValueError: a value is of another type than its column; a row is not what was written,
            has vanished, or was not written at all.
    """
    version = schema.VERSION if version is None else version
    digest = hashlib.sha256()
    room = Room(db)
    if version < schema.CHECKED_SINCE:
        _digest_before_checksums(db, version, digest, room)
        return Content(digest=digest.hexdigest(), series=_series_before_checksums(db, version))
    tally = Tally()
    series: AllSeries = {}
    for table in schema.keyed(version):
        parts = _intervals(db, version, digest, room, series) if table == "interval" else _plain(
            db, table, version, digest, room
        )  # fmt: skip
        # By hand: there may be some hundred thousand rows.
        count = total = 0
        for each, check in parts:
            count, total = count + each, total + check
        tally += Tally(count, total)
    check_tally(db, tally)
    return Content(digest=digest.hexdigest(), series=series, tally=tally)


def check_tally(db: sqlite3.Connection, tally: Tally) -> None:
    """Hold the rows that were read against the tally that was written of all.

    Raises:
        ValueError: they are not those.
    """
    expected = (tally.rows, tally.total)
    found = _cursor(db).execute("SELECT row_count, checksum_sum, checksum FROM tally").fetchall()
    if found != [(*expected, rows.checksum_of("tally", expected))]:
        raise ValueError("rows are missing, or were not written by it: the tally differs")


class Room:
    """No more rows and bytes than the file has room for, however its pages point at each other."""

    def __init__(self, db: sqlite3.Connection) -> None:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = db.execute("PRAGMA page_size").fetchone()
        self._rows = pages * page_bytes // _INTERVAL_BYTES_LEAST
        self._bytes = _BYTES_MOST * pages * page_bytes

    def each(self, found: Iterable[Row]) -> Iterator[Row]:
        """Give the rows, as long as there is room for them."""
        for row in found:
            self.count(1)
            yield row

    def count(self, rows: int) -> None:
        """Count rows."""
        self._rows -= rows
        if self._rows < 0:
            raise ValueError("it shows more rows than it has room for")

    def take(self, row: Row) -> None:
        """Count the text and blobs of a row."""
        self._bytes -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if self._bytes < 0:
            raise ValueError("it shows more text than it has room for")


def _cursor(db: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor that gives plain tuples, whatever the connection gives."""
    cursor = db.cursor()
    cursor.row_factory = None
    return cursor


def _plain(
    db: sqlite3.Connection, table: str, version: int, digest: _Digest, room: Room
) -> Iterator[tuple[int, int]]:
    """Check the rows of a table but `interval`, and give (1, checksum) of each."""
    of_the_digest = schema.columns("run", version).index("digest") if table == "run" else None
    for row, content, check in checked_rows(db, table, version, room):
        if of_the_digest is not None:  # which is not of itself
            content = rows.encoded(table, (*row[:of_the_digest], *row[of_the_digest + 1 :]))
        digest.update(content)
        yield 1, check


def checked_rows(
    db: sqlite3.Connection,
    table: str,
    version: int,
    room: Room,
    *,
    behind: tuple[Literal["rowid", "seq", "place"], int] | None = None,
) -> Iterator[tuple[Row, bytes, int]]:
    """Give the rows of a table but `interval`, each as it was written: `encoded` and with checksum.

    `behind` is the name of the row's number in the table and the last that is left out: the
    table is then entered there, and what stands before is not read.

    Raises:
        ValueError: a value is of another type than its column; a row is not what was written.
    """
    columns = schema.layout(version).columns[table]
    names = [column.name for column in columns]
    where, values = ("", ()) if behind is None else (f" WHERE {behind[0]} > ?", behind[1:])
    key = schema.key_of(table, version)
    found = _cursor(db).execute(
        f"SELECT {', '.join(names)}, checksum FROM {table} NOT INDEXED{where} ORDER BY {key}",
        values,
    )
    for *values_of, check in room.each(found):
        row = tuple(values_of)
        room.take(row)
        _check_types(table, columns, row)
        content = rows.encoded(table, row)
        if rows.checksum(content) != check:
            raise ValueError(f"a row of table {table} is not what was written (checksum)")
        yield row, content, check


def _intervals(
    db: sqlite3.Connection, version: int, digest: _Digest, room: Room, series: AllSeries
) -> Iterator[tuple[int, int]]:
    """Check the time series, keep them, and give (intervals, sum of their checksums) of each."""
    for place, table in _tables(db, version, room, "checksum"):
        numbers, tally = _checked(place, table)
        digest.update(rows.encoded("interval", (*place, len(numbers))))
        # The digest is the same on every host, whatever its byte order.
        digest.update(numbers.astype(">i8").tobytes())
        series[place] = numbers
        yield tally.rows, tally.total


def _checked(place: Place, table: Numbers) -> tuple[Numbers, Tally]:
    """Return the numbers of a series, each row as it was written, and their tally."""
    step, stream, operation = place
    if not (type(step) is int and type(stream) is str and type(operation) is str):
        raise ValueError("table interval holds a value of another type than its column")
    numbers = np.ascontiguousarray(table[:, :-1])
    checks = rows.series_checksums(*place, numbers)
    if not np.array_equal(checks, table[:, -1]):
        raise ValueError("a row of table interval is not what was written (checksum)")
    return numbers, _tally(checks)


def tally_of(place: Place, numbers: Numbers) -> Tally:
    """Return the tally of the rows of a time series."""
    return _tally(rows.series_checksums(*place, numbers))


def _tally(checks: Numbers) -> Tally:
    return Tally(len(checks), rows.wrapped(sum(checks.tolist())))


def series_of_step(
    db: sqlite3.Connection,
    version: int,
    step: int,
    room: Room,
    last: Mapping[tuple[str, str], int],
) -> Iterator[tuple[tuple[str, str], Numbers, Tally]]:
    """Give the time series of one step with their (stream, operation), in that order.

    Of those in `last` only what follows the number that stands there is read, and checked as
    `content_of` does. The table is entered at each of these places: its key is the table itself.

    Raises:
        ValueError: a value is of another type than its column; a row is not what was written.
    """
    columns = schema.columns("interval", version)
    place, numbers = ", ".join(columns[1:3]), ", ".join((*columns[3:], rows.CHECKSUM))
    where = f"FROM interval WHERE {columns[0]} = ?"
    cursor = _cursor(db)
    found = cursor.execute(f"SELECT {place} {where} ORDER BY {place} LIMIT 1", (step,)).fetchone()
    while found is not None:
        room.count(1)
        stream, operation = found
        lines = cursor.execute(
            f"SELECT {numbers} {where} AND {columns[1]} = ? AND {columns[2]} = ?"
            f" AND {columns[3]} > ? ORDER BY {columns[3]}",
            (step, stream, operation, last.get((stream, operation), -1)),
        )
        table = _whole_numbers(room.each(lines)).reshape(-1, len(columns) - 2)
        yield (stream, operation), *_checked((step, stream, operation), table)
        found = cursor.execute(
            # With a number behind all: SQLite goes through every row that begins with the others.
            f"SELECT {place} {where} AND ({place}, {columns[3]}) > (?, ?, ?)"
            f" ORDER BY {place} LIMIT 1",
            (step, stream, operation, _NUMBER_MOST),
        ).fetchone()


def _series_before_checksums(db: sqlite3.Connection, version: int) -> AllSeries:
    """Return the time series of versions 1 to 3, whose rows were looked through already."""
    return dict(_tables(db, version, Room(db)))


def _tables(
    db: sqlite3.Connection, version: int, room: Room, *further: str
) -> Iterator[tuple[Place, NDArray[np.int64]]]:
    """Give each time series with its place; its rows are the columns after the place, `further`
    ones behind them.

    Where each series ends is asked first: to make a place of every row costs as much again.
    """
    columns, key = schema.columns("interval", version), schema.key_of("interval", version)
    place, numbers = ", ".join(columns[:3]), (*columns[3:], *further)
    series = _cursor(db).execute(
        f"SELECT {place}, COUNT(*) FROM interval NOT INDEXED GROUP BY {place} ORDER BY {place}"
    )
    # In the order of the series: their counts say where these rows change from one to the next.
    found = _cursor(db).execute(
        f"SELECT {', '.join(numbers)} FROM interval NOT INDEXED ORDER BY {key}"
    )
    for step, stream, operation, count in series:
        room.count(count)
        flat = _whole_numbers(itertools.islice(found, count))
        yield (step, stream, operation), flat.reshape(-1, len(numbers))


def _whole_numbers(found: Iterable[Row]) -> NDArray[np.int64]:
    """Return rows of whole numbers as one after the other.

    Raises:
        ValueError: anything else is among them.
    """
    whole = array("q")  # it refuses what is no whole number
    try:
        whole.extend(itertools.chain.from_iterable(found))  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError("table interval holds a value of another type than its column") from error
    return np.frombuffer(whole, np.int64)


def _check_types(table: str, columns: tuple[schema.Column, ...], row: Row) -> None:
    """STRICT holds where SQLite writes; a file is bytes that anybody wrote."""
    for column, value in zip(columns, row, strict=True):
        if type(value) not in column.types:
            raise ValueError(f"{table}.{column.name} holds {type(value).__name__}")


def _digest_before_checksums(
    db: sqlite3.Connection, version: int, digest: _Digest, room: Room
) -> None:
    """Feed the digest of versions 1 to 3: Python's own text of each row."""
    for table in schema.keyed(version):
        order = schema.key_of(table, version)
        every = schema.layout(version).columns[table]
        columns = tuple(one for one in every if (table, one.name) != ("run", "digest"))
        names = ", ".join(column.name for column in columns)
        digest.update(f"{table}({names})".encode())
        found = _cursor(db).execute(f"SELECT {names} FROM {table} NOT INDEXED ORDER BY {order}")
        for row in room.each(found):
            room.take(row)
            _check_types(table, columns, row)
            digest.update(repr(row).encode())
