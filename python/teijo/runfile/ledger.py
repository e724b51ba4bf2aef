"""Writes rows with their checksums, and keeps the tally of all rows, in one transaction."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.runfile import rows, schema
from teijo.runfile.codec import Row, Value

_WHOLE: Final = 1 << 32


class Ledger:
    """What one transaction writes. `settle` must be its last call.

    A checksum guards the values of a row; the tally (how many rows there are in all tables, and
    the sum of their checksums) guards against rows that vanish, appear, or return as they were.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        """Begin with nothing written; the transaction has begun."""
        self._db = db
        self._rows = 0
        self._sum = 0

    def insert(self, table: str, values: Sequence[Value]) -> None:
        """Add a row; `values` are those of all its columns but the checksum, in our order."""
        columns = schema.columns(table)
        check = rows.checksum_of(table, values)
        places = ", ".join("?" * (len(columns) + 1))
        self._db.execute(
            f"INSERT INTO {table} ({', '.join(columns)}, checksum) VALUES ({places})",
            (*values, check),
        )
        self._count(1, check)

    def insert_series(
        self, step: int, series: Iterable[tuple[str, str, NDArray[np.int64]]]
    ) -> None:
        """Add intervals: (stream, operation, their numbers), in place of any that are there."""
        for stream, operation, numbers in series:
            if not len(numbers):
                continue
            self.delete(
                "interval",
                "step = ? AND stream = ? AND operation = ? AND number BETWEEN ? AND ?",
                (step, stream, operation, int(numbers[:, 0].min()), int(numbers[:, 0].max())),
            )
            checks = rows.series_checksums(step, stream, operation, numbers).tolist()
            self._db.executemany(
                "INSERT INTO interval VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                [
                    (step, stream, operation, *values, check)
                    for values, check in zip(numbers.tolist(), checks, strict=True)
                ],
            )
            self._count(len(checks), sum(checks))

    def append(self, table: Literal["remark", "health"], found: Iterable[Row]) -> None:
        """Add rows of a table that counts them, without their place, behind those that are there.

        A warning is (kind, text, step, phrase), a reading as `codec.reading_row` has it.
        """
        (last,) = self._db.execute(f"SELECT coalesce(max(place), 0) FROM {table}").fetchone()
        for place, row in enumerate(found, start=last + 1):
            self.insert(table, (place, *row))

    def amend(
        self,
        table: str,
        changes: Mapping[str, Value],
        *,
        seq: int | None = None,
        status: str | None = None,
    ) -> bool:
        """Change columns of the table's one row, or of step `seq`; tell whether it is there.

        With `status` the step is only there when it has that.

        Raises:
            RunFileError: the row is not what was written.
        """
        columns = schema.columns(table)
        place, key = ("", ()) if seq is None else (" WHERE seq = ?", (seq,))
        # NOT INDEXED: an index holds copies, and would hide a damaged table behind it.
        found = self._db.execute(
            f"SELECT {', '.join(columns)}, checksum FROM {table} NOT INDEXED{place}", key
        ).fetchone()
        if found is None:
            return False
        *old, before = found
        if rows.checksum_of(table, old) != before:
            raise rows.changed(table)
        new = dict(zip(columns, old, strict=True))
        if status is not None and new["status"] != status:
            return False
        new.update(changes)
        assert len(new) == len(columns), f"{table} has no such column: {changes.keys()}"
        after = rows.checksum_of(table, tuple(new.values()))
        assignments = ", ".join(f"{column} = ?" for column in (*changes, rows.CHECKSUM))
        self._db.execute(
            f"UPDATE {table} SET {assignments}{place}", (*changes.values(), after, *key)
        )
        self._count(0, after - before)
        return True

    def delete(self, table: str, where: str, values: Row) -> None:
        """Remove the rows of a table that `where` picks."""
        # SQLite's sum() must not overflow, so the halves of the checksums are added apart.
        count, high, low = self._db.execute(
            f"SELECT count(*), sum(checksum >> 32), sum(checksum & {_WHOLE - 1})"
            f" FROM {table} WHERE {where}",
            values,
        ).fetchone()
        if count:
            self._db.execute(f"DELETE FROM {table} WHERE {where}", values)
            self._count(-count, -(high * _WHOLE + low))

    def settle(self) -> None:
        """Bring the tally up to what was written.

        Raises:
            RunFileError: the tally is not what was written.
        """
        count, total, check = self._db.execute(
            "SELECT row_count, checksum_sum, checksum FROM tally"
        ).fetchone()
        if rows.checksum_of("tally", (count, total)) != check:
            raise rows.changed("tally")
        new = (count + self._rows, rows.wrapped(total + self._sum))
        self._db.execute(
            "UPDATE tally SET row_count = ?, checksum_sum = ?, checksum = ?",
            (*new, rows.checksum_of("tally", new)),
        )

    def _count(self, count: int, total: int) -> None:
        self._rows += count
        self._sum += total
