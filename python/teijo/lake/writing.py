"""Rows of runs become a batch: one Parquet file in each table, named by what is in it."""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any, Final

import numpy as np
import pyarrow
from pyarrow import parquet

from teijo.lake.rows import Counted, RunRows, Values
from teijo.lake.schema import LEADING, METADATA, SCHEMA, TABLES, TableName, arrow_schema, arrow_type
from teijo.lake.store import Partition, Store

_COMPRESSION: Final = "zstd"
_ID_BYTES: Final = 16
_ROWS_A_GROUP: Final = 1 << 17
WRITTEN: Final[tuple[TableName, ...]] = ("figures", "histograms", "remarks", "runs")
"""The runs last: a batch counts once all of it is there."""


def batch_id(partition: Partition, digests: Iterable[str]) -> str:
    """Return the name of the batch of these run files: whoever writes them, it is the same."""
    digest = hashlib.blake2b(digest_size=_ID_BYTES)
    for part in (str(SCHEMA), partition.method, partition.month, *sorted(digests)):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def write_batches(store: Store, runs: Sequence[RunRows]) -> list[tuple[Partition, str]]:
    """Write runs as one batch for each partition that they belong to; return which.

    Raises:
        HostError: it cannot be written.
    """
    by_partition: dict[Partition, list[RunRows]] = {}
    for run in runs:
        by_partition.setdefault(Partition(run.method, run.month), []).append(run)
    written = []
    for partition, own in by_partition.items():
        own.sort(key=lambda run: run.leading)
        batch = batch_id(partition, (run.digest for run in own))
        for table in WRITTEN:
            with store.writing(partition.name_of(table, batch)) as file:
                write_table(file, table, [_arrow(table, own, batch)])
        written.append((partition, batch))
    return written


def write_table(file: Any, table: TableName, parts: Iterable[Any]) -> int:
    """Write Arrow tables of one table as one Parquet file; return how many rows."""
    rows = 0
    schema = arrow_schema(table)
    with parquet.ParquetWriter(
        file, schema, compression=_COMPRESSION, store_schema=False
    ) as writer:
        writer.add_key_value_metadata({METADATA: str(SCHEMA)})
        for part in parts:
            rows += len(part)
            writer.write_table(part, row_group_size=_ROWS_A_GROUP)
    return rows


# --- columns ----------------------------------------------------------------------------------


def _arrow(table: TableName, runs: Sequence[RunRows], batch: str) -> Any:
    """Return the rows of runs in one table."""
    match table:
        case "runs":
            places: Any = np.arange(len(runs))
            columns = _columns(table, [run.run for run in runs])
        case "figures":
            places = _places([len(run.figures) for run in runs])
            columns = _columns(table, list(chain.from_iterable(run.figures for run in runs)))
        case "remarks":
            places = _places([len(run.remarks) for run in runs])
            columns = _columns(table, list(chain.from_iterable(run.remarks for run in runs)))
        case "histograms":
            lengths = [sum(len(one.latency.counts) for one in run.counted) for run in runs]
            places = _places(lengths)
            columns = _histograms([one for run in runs for one in run.counted])
    leading = [_repeated([run.leading[at] for run in runs], column, places)
               for at, column in enumerate(LEADING[:-1])]  # fmt: skip
    written_with = _repeated([batch] * len(runs), LEADING[-1], places)
    return pyarrow.Table.from_arrays([*leading, written_with, *columns], schema=arrow_schema(table))


def _places(lengths: Sequence[int]) -> Any:
    """Return for each row which run it belongs to, where each has so many rows."""
    return np.repeat(np.arange(len(lengths)), lengths)


def _repeated(values: Sequence[Any], column: Any, places: Any) -> Any:
    """Return a column that has the value of its run in each row."""
    return pyarrow.array(values, arrow_type(column)).take(pyarrow.array(places))


def _columns(table: TableName, rows: Sequence[Values]) -> list[Any]:
    turned = zip(*rows, strict=True) if rows else repeat((), len(TABLES[table]))
    return [
        pyarrow.array(list(values), arrow_type(column))
        for column, values in zip(TABLES[table], turned, strict=True)
    ]


def _histograms(counted: Sequence[Counted]) -> list[Any]:
    """Return a row for each bucket that something fell in."""
    places = _places([len(one.latency.counts) for one in counted])
    empty = np.empty(0, np.int64)
    texts = [
        _repeated([getattr(one, column.name) for one in counted], column, places)
        for column in TABLES["histograms"][:3]
    ]
    return [
        *texts,
        pyarrow.array(np.concatenate([empty, *(one.latency.values_ns for one in counted)])),
        pyarrow.array(np.concatenate([empty, *(one.latency.counts for one in counted)])),
        *(
            _repeated([getattr(one.latency, name) for one in counted], column, places)
            for name, column in zip(("min_ns", "max_ns"), TABLES["histograms"][5:], strict=True)
        ),
    ]
