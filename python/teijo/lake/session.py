"""DuckDB over the files of a lake: it reads them and nothing else, and writes nothing.

No file but those of the lake is opened by it, no extension is loaded, and the settings are locked
before a question is asked.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import duckdb
import pyarrow
from pyarrow import dataset

from teijo.errors import HostError, UsageError
from teijo.lake import views
from teijo.lake.schema import PARTITIONS, TABLES, TableName, arrow_schema, names_of
from teijo.lake.store import Batch, Store
from teijo.units import GIB, MIB

MEMORY_BYTES: Final = 4 * GIB
_MEMORY_LEAST: Final = 64 * MIB
_SPILLED: Final = 8
"""How many times the memory a question may put on the disk meanwhile."""
_HIVE: Final = "hive_partitioning=true, hive_types={" + ", ".join(
    f"'{name}': VARCHAR" for name in PARTITIONS
) + "}"  # fmt: skip
_UNHIDDEN: Final = (
    "WHERE NOT EXISTS (FROM hidden AS h WHERE h.run_id = t.run_id AND h.batch = t.batch)"
)
_CONFIG: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a question may take of this machine: memory, and threads (None for all of them)."""

    memory_bytes: int = MEMORY_BYTES
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.memory_bytes < _MEMORY_LEAST:
            raise UsageError(
                f"{self.memory_bytes:,} bytes of memory are too few",
                remedy="Give at least 64 MiB: --memory 1GiB",
            )
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"{self.threads} threads are too few", remedy="Give at least 1.")


@contextmanager
def session(store: Store, batches: Sequence[Batch], limits: Limits) -> Iterator[Any]:
    """Yield a connection with the tables, views and macros of a lake, which is locked.

    `batches` are those that it sees, all of them whole.
    """
    config: dict[str, Any] = _CONFIG | {"memory_limit": f"{limits.memory_bytes}B"}
    if limits.threads is not None:
        config |= {"threads": str(limits.threads)}
    with tempfile.TemporaryDirectory(prefix="teijo-lake-") as spill:
        config |= {
            "temp_directory": spill,
            "max_temp_directory_size": f"{_SPILLED * limits.memory_bytes}B",
        }
        db = duckdb.connect(":memory:", config=config)
        try:
            _lay(db, store, batches)
            db.execute("SET lock_configuration=true")
            yield db
        finally:
            db.close()


def _lay(db: Any, store: Store, batches: Sequence[Batch]) -> None:
    """Make the tables of a lake, and shut everything else."""
    paths = {table: _paths(store, batches, table) for table in TABLES}
    if store.is_local and batches:
        allowed = ", ".join(_quoted(path) for each in paths.values() for path in each)
        db.execute(f"SET allowed_paths=[{allowed}]")
    db.execute("SET enable_external_access=false")
    for table, own in paths.items():
        _lay_table(db, store, table, own)
    _hide_repeated(db, batches)
    hides = db.execute("SELECT count(*) FROM hidden").fetchone()[0] > 0
    for table in TABLES:
        names = ", ".join(f'"{name}"' for name in names_of(table))
        db.execute(
            f"CREATE VIEW {table} AS SELECT {names} FROM stored_{table} AS t "
            f"{_UNHIDDEN if hides else ''}"
        )
    for macro in views.MACROS:
        db.execute(macro)
    for name, question in views.VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {question}")


def _lay_table(db: Any, store: Store, table: TableName, paths: Sequence[str]) -> None:
    """Make a table of its files, with the columns of the folders, under the name stored_TABLE."""
    name = f"stored_{table}"
    schema = arrow_schema(table)
    for column in PARTITIONS:
        schema = schema.append(pyarrow.field(column, pyarrow.string()))
    if not paths:
        db.register(name, schema.empty_table())
    elif store.is_local:
        # The list stands in the view: it is parsed once, and no question can change it.
        files = ", ".join(_quoted(path) for path in paths)
        db.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet([{files}], {_HIVE})")
    else:
        found = dataset.dataset(
            list(paths),
            schema=schema,
            format="parquet",
            filesystem=store.files,
            partitioning="hive",
            partition_base_dir=store.path(table),
        )
        db.register(name, found)


def _hide_repeated(db: Any, batches: Sequence[Batch]) -> None:
    """Find runs that several batches hold: all but the first of each is hidden.

    A batch has a run once, so only partitions of several batches are looked at.
    """
    db.execute("CREATE TABLE hidden (run_id VARCHAR, batch VARCHAR)")
    counts: dict[Any, int] = {}
    for batch in batches:
        counts[batch.partition] = counts.get(batch.partition, 0) + 1
    crowded = [partition for partition, count in counts.items() if count > 1]
    if not crowded:
        return
    places = ", ".join(f"({_quoted(one.method)}, {_quoted(one.month)})" for one in crowded)
    where = f"FROM stored_runs WHERE (method, month) IN ({places})"
    whole, different = db.execute(f"SELECT count(*), count(DISTINCT run_id) {where}").fetchone()
    if whole > different:
        db.execute(
            "INSERT INTO hidden SELECT run_id, batch FROM (SELECT run_id, batch, row_number() "
            f"OVER (PARTITION BY run_id ORDER BY digest, batch) AS place {where}) WHERE place > 1"
        )


def asked(db: Any, question: str) -> Any:
    """Return the answer to one question as an Arrow table.

    Raises:
        UsageError: it is no question of SQL, or more than one. HostError: it takes too much.
    """
    try:
        statements = duckdb.extract_statements(question)
    except duckdb.Error as error:
        raise _refused(error) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError(
            "A lake is only read, and answers one SELECT at a time",
            remedy='Ask one question: teijo lake sql "FROM runs"',
        )
    try:
        return db.sql(question).to_arrow_table()
    except duckdb.OutOfMemoryException as error:
        raise HostError(
            f"The question takes too much memory: {_words(error)}",
            remedy="Ask for less of it (WHERE, LIMIT), or give more: --memory 16GiB",
        ) from error
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise _refused(error) from error


def _refused(error: Exception) -> UsageError:
    return UsageError(
        f"The lake cannot answer this: {_words(error)}",
        remedy='The tables and views and their columns: teijo lake sql "SHOW ALL TABLES"',
    )


def _words(error: Exception) -> str:
    """Return what DuckDB says, in one line."""
    lines = (line.strip() for line in str(error).splitlines())
    return " ".join(line for line in lines if line and not set(line) <= {"^", " "})[:400].rstrip(
        "."
    )


def _paths(store: Store, batches: Sequence[Batch], table: TableName) -> list[str]:
    return [store.path(batch.partition.name_of(table, batch.id)) for batch in batches]


def _quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"
