"""Many small files become few large ones, in an order in which questions skip most of them.

What is read is removed only once all of it stands elsewhere; until then readers see each run once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow

from teijo.lake.looking import Look
from teijo.lake.schema import TableName, arrow_schema
from teijo.lake.store import Batch, Partition
from teijo.lake.writing import WRITTEN, batch_id, write_table
from teijo.units import NS_PER_S

RUNS_A_FILE: Final = 100_000
"""So many runs are one file of each table."""
_LEFT_NS: Final = 24 * 3600 * NS_PER_S
"""What is not whole belongs to a writer at work, unless it is a day older than the latest."""
_ROWS_AT_ONCE: Final = 1 << 17
ORDER: Final[dict[TableName, str]] = {
    "runs": "started_at, run_id",
    "figures": "low IS NULL, model, part, cell, figure, started_at, run_id",
    "histograms": "model, part, cell, operation, started_at, run_id, bucket_ns",
    "remarks": "remark, started_at, run_id, step, text",
}


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """How many files and bytes a lake had before and has now, and how many runs it holds."""

    files_before: int
    files: int
    bytes_before: int
    bytes: int
    runs: int


def compact(look: Look) -> Compacted:
    """Write each partition of several batches as one for every 100,000 runs.

    Raises:
        HostError: it cannot be read or written.
    """
    before = look.store.batches()
    _remove_left(look, before)
    for partition in dict.fromkeys(batch.partition for batch in before if batch.is_whole):
        look.tried(partial(_compact_partition, look, partition), of=partition)
    now = look.store.batches()
    runs = look.answer(lambda db: int(db.execute("SELECT count(*) FROM runs").fetchone()[0]))
    return Compacted(
        files_before=sum(len(each.tables) for each in before),
        files=sum(len(each.tables) for each in now),
        bytes_before=sum(each.size_bytes for each in before),
        bytes=sum(each.size_bytes for each in now),
        runs=runs,
    )


def _remove_left(look: Look, batches: Sequence[Batch]) -> None:
    """Remove batches that a writer left unfinished long ago."""
    latest_ns = max((batch.changed_ns for batch in batches), default=0)
    for batch in batches:
        if not batch.is_whole and latest_ns - batch.changed_ns > _LEFT_NS:
            look.store.remove(batch)
    look.store.remove_unfinished(latest_ns - _LEFT_NS)


def _compact_partition(look: Look, partition: Partition, batches: Sequence[Batch]) -> None:
    if len(batches) < 2:
        return
    with look.session(batches) as db:
        found = db.execute("SELECT digest, run_id FROM runs ORDER BY started_at, run_id").fetchall()
        slices = [found[at : at + RUNS_A_FILE] for at in range(0, len(found), RUNS_A_FILE)]
        written = {batch_id(partition, (digest for digest, _ in own)): own for own in slices}
        there = {batch.id for batch in batches}
        for name, own in written.items():
            if name not in there:
                _write(look, db, partition, name, [run for _, run in own])
    for batch in batches:
        if batch.id not in written:
            look.store.remove(batch)


def _write(look: Look, db: Any, partition: Partition, batch: str, runs: Sequence[str]) -> None:
    """Write a batch of some of the runs that a session sees."""
    for table in WRITTEN:
        question = (
            f"SELECT * REPLACE (? AS batch) FROM {table} "
            f"WHERE run_id IN (SELECT unnest(?)) ORDER BY {ORDER[table]}"
        )
        answer = db.sql(question, params=[batch, list(runs)])
        with look.store.writing(partition.name_of(table, batch)) as file:
            write_table(file, table, _tables(answer, table))


def _tables(answer: Any, table: TableName) -> Iterator[Any]:
    """Yield an answer piece by piece, as the table's files have it."""
    schema = arrow_schema(table)
    for part in answer.to_arrow_reader(_ROWS_AT_ONCE):
        yield pyarrow.Table.from_batches([part]).select(schema.names).cast(schema)
