"""A forger who leaves no checksum wrong: what he changes, he sums up and digests anew."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from teijo.runfile import rows, schema
from teijo.runfile.content import content_digest
from teijo.terms.histogram import decoded, encoded
from teijo.terms.seed import seed_of
from teijo.terms.step import step_from_json, step_to_json


@dataclass(frozen=True)
class Forger:
    """A hand on the tables of one file."""

    db: sqlite3.Connection

    def one(self, question: str, *values: object) -> Any:
        """Return the first value of the first row."""
        return self.db.execute(question, values).fetchone()[0]

    def steps(self, where: str = "1") -> list[int]:
        """Return the numbers of the steps that `where` picks."""
        found = self.db.execute(f"SELECT seq FROM step WHERE {where} ORDER BY seq")
        return [seq for (seq,) in found]

    def change(self, table: str, where: str, **columns: object) -> None:
        """Set columns; text that stands for SQL begins with =."""
        places, values = [], []
        for name, value in columns.items():
            if isinstance(value, str) and value.startswith("="):
                places.append(f"{name} {value}")
            else:
                places.append(f"{name} = ?")
                values.append(value)
        done = self.db.execute(f"UPDATE {table} SET {', '.join(places)} WHERE {where}", values)
        assert done.rowcount > 0, f"nothing to forge: {table} {where}"

    def edit(self, table: str, column: str, where: str, act: Callable[[Any], Any]) -> None:
        """Put a JSON column through `act`."""
        value = json.loads(self.one(f"SELECT {column} FROM {table} WHERE {where}"))
        text = json.dumps(act(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.change(table, where, **{column: text})

    def rebucket(self, step: int, operation: str, share: float, *, column: str = "latency") -> None:
        """Make every latency of a result shorter by a share: histogram, sum and extremes."""
        where = f"step = {step} AND operation = '{operation}'"
        name = "histogram" if column == "latency" else f"{column}_histogram"
        ((low, counts),) = decoded([self.one(f"SELECT {name} FROM result WHERE {where}")])
        forged: dict[int, int] = {}
        for value, count in zip((low * share).astype(np.int64), counts, strict=True):
            bucket = _bucket(int(value))
            forged[bucket] = forged.get(bucket, 0) + int(count)
        values = np.array(sorted(forged), np.int64)
        tallies = np.array([forged[value] for value in sorted(forged)], np.int64)
        self.change(
            "result",
            where,
            **{
                name: encoded((values, tallies)),
                f"{column}_ns_sum": int((values * tallies).sum()),
                f"{column}_ns_min": int(values[0]),
                f"{column}_ns_max": int(values[-1]),
            },
        )

    def drop(self, first: int, last: int, *, times: bool) -> None:
        """Cut steps out and close the hole in the numbers, and on demand in the times."""
        gone = last - first + 1
        begun, after = (
            self.one("SELECT started_ns FROM step WHERE seq = ?", seq) for seq in (first, last + 1)
        )
        for table, key in (("interval", "step"), ("result", "step"), ("remark", "step")):
            self.db.execute(f"DELETE FROM {table} WHERE {key} BETWEEN ? AND ?", (first, last))
        self.db.execute("DELETE FROM step WHERE seq BETWEEN ? AND ?", (first, last))
        for table, key in (
            ("step", "seq"), ("result", "step"), ("interval", "step"), ("remark", "step")
        ):  # fmt: skip
            later = f"SELECT DISTINCT {key} FROM {table} WHERE {key} > ? ORDER BY {key}"
            for (seq,) in self.db.execute(later, (last,)).fetchall():
                moved = f"UPDATE {table} SET {key} = ? WHERE {key} = ?"
                self.db.execute(moved, (seq - gone, seq))
        if times:
            shift = f"= started_ns - {after - begun}"
            self.change("step", f"seq >= {first}", started_ns=shift)

    def renumber_rounds(self, first: int) -> None:
        """Count the rounds from a step on one lower."""
        for seq in self.steps(f"seq >= {first} AND round IS NOT NULL"):
            number = self.one("SELECT round FROM step WHERE seq = ?", seq) - 1
            self.edit(
                "step", "step", f"seq = {seq}", lambda step, to=number: {**step, "round_number": to}
            )
            self.change("step", f"seq = {seq}", round=number)

    def reseed(self) -> None:
        """Derive all seeds anew, as anybody can."""
        before, run_seed = 0, self.one("SELECT seed FROM run")
        for seq in self.steps():
            step = step_from_json(self.one("SELECT step FROM step WHERE seq = ?", seq))
            before = seed_of(run_seed, seq, step, before=before)
            self.change("step", f"seq = {seq}", seed=before, step=step_to_json(step))


def _bucket(value_ns: int) -> int:
    shift = max(0, value_ns.bit_length() - 11)
    return value_ns >> shift << shift


def forged(whole: Path, path: Path, act: Callable[[Forger], None], *, digest: bool = True) -> Path:
    """Copy a file, let `act` change it; checksums, tally and digest are those of the result."""
    for ending in ("", "-wal"):
        if (part := whole.with_name(whole.name + ending)).exists():
            shutil.copyfile(part, f"{path}{ending}")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        act(Forger(db))
        sum_up(db)
        if digest:
            db.execute("UPDATE run SET digest = ?", (content_digest(db),))
        sum_up(db)
        db.execute("COMMIT")
    return path


def as_version(whole: Path, path: Path, version: int) -> Path:
    """Write a run, sealed or open, as the teijo of an older run file version would have."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if path.name.endswith(".open"):
            db.execute("PRAGMA journal_mode = WAL")
        for migration in schema.MIGRATIONS[:version]:
            migration(db)
        db.execute("ATTACH ? AS new", (str(whole),))
        for table in schema.keyed(version):
            old = schema.columns(table, version)
            new = schema.columns(table)[: len(old)]  # some had another name, and none another place
            # Summed up below: a new table of today asks for a checksum, one that grew does not.
            marked = any(row[1] == "checksum" for row in db.execute(f"PRAGMA table_info({table})"))
            sums = [", checksum", ", 0"] if marked else ["", ""]
            db.execute(
                f"INSERT INTO {table} ({', '.join(old)}{sums[0]})"
                f" SELECT {', '.join(new)}{sums[1]} FROM new.{table}"
            )
        db.execute("DETACH new")
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")
        if version >= schema.CHECKED_SINCE:
            sum_up(db, version)
        (ended,) = db.execute("SELECT ended_at FROM run").fetchone()
        if ended:
            db.execute("UPDATE run SET digest = ?", (content_digest(db, version),))
        if version >= schema.CHECKED_SINCE:
            sum_up(db, version)
    return path


def sum_up(db: sqlite3.Connection, version: int = schema.VERSION) -> None:
    """Give every row, and the tally, the checksum of what it holds now."""
    count = total = 0
    for table in schema.keyed(version):
        names, key = schema.columns(table, version), schema.key_of(table, version)
        places = " AND ".join(f"{part} IS ?" for part in key.split(", "))
        for row in db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall():
            check = _checksum(table, row)
            values: Mapping[str, Any] = dict(zip(names, row, strict=True))
            db.execute(
                f"UPDATE {table} SET checksum = ? WHERE {places}",
                (check, *(values[part] for part in key.split(", "))),
            )
            count, total = count + 1, total + check
    content = (count, rows.wrapped(total))
    db.execute("DELETE FROM tally")
    values = (*content, rows.checksum_of("tally", content))
    db.execute("INSERT INTO tally VALUES (?, ?, ?)", values)


def _checksum(table: str, row: tuple[Any, ...]) -> int:
    if table != "interval":
        return rows.checksum_of(table, row)
    step, stream, operation, *numbers = row
    line = np.array([numbers], np.int64)
    return int(rows.series_checksums(step, stream, operation, line)[0])
