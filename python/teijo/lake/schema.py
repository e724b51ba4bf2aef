"""What a lake holds: its tables, their columns and its version. docs/lake.md says the same.

A test keeps the two together, and one holds this version to these very columns.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow

from teijo.errors import UsageError
from teijo.terms.provenance import GROUP_MEANINGS, GroupName

SCHEMA: Final = 1
"""Raised with every change of a table or of what a column means."""
MARKER: Final = "teijo-lake.json"
"""The file that makes a folder a lake."""
_FORMAT: Final = "teijo.lake"
METADATA: Final = "teijo.lake.schema"
"""The key of the version in the metadata of each Parquet file."""

Kind = Literal["text", "integer", "number", "truth", "moment"]
TableName = Literal["runs", "figures", "histograms", "remarks"]
_TYPES: Final[dict[Kind, Any]] = {
    "text": pyarrow.string(),
    "integer": pyarrow.int64(),
    "number": pyarrow.float64(),
    "truth": pyarrow.bool_(),
    "moment": pyarrow.timestamp("us"),
}
PARTITIONS: Final = ("method", "month")
"""Columns that are in the names of the folders and not in the files."""


@dataclass(frozen=True)
class Column:
    """One column: its name, what its values are, and what they mean."""

    name: str
    kind: Kind
    meaning: str


LEADING: Final = (
    Column("run_id", "text", "the run"),
    Column("started_at", "moment", "when it began, in UTC"),
    Column("model", "text", "the device's model; the target where it has none"),
    Column("serial", "text", "the device's serial number"),
    Column("firmware", "text", "the device's firmware"),
    Column("host", "text", "the host that measured"),
    *(
        Column(f"group_{name.value}", "text", GROUP_MEANINGS[name])
        for name in (GroupName.CAMPAIGN, GroupName.FLEET, GroupName.HOST, GroupName.DRIVE)
    ),
    Column("batch", "text", "the batch that the row was written with"),
)
"""What every row of every table begins with."""

_PLACE: Final = (
    Column("part", "text", "the test of a campaign; empty in a run of one test"),
    Column("cell", "text", "where in the test: the cell of its matrix, or its phase"),
)

TABLES: Final[dict[TableName, tuple[Column, ...]]] = {
    "runs": (
        Column("digest", "text", "SHA-256 of the run file"),
        Column("file", "text", "the name that the run file had"),
        Column("spec", "text", "the version of the standard; empty where none applies"),
        Column("verdict", "text", "how the run ended: done, steady, not steady, failed …"),
        Column("steady", "truth", "whether steady state was reached; null where it is not asked"),
        Column("limits", "text", "what became of its limits: met, not met, not known, or empty"),
        Column("ended_at", "moment", "when it ended, in UTC"),
        Column("provenance", "text", "where its numbers are from: measured, simulated, imported"),
        Column("target", "text", "the target as it was named"),
        Column("kind", "text", "what the target is: block, file, simulated …"),
        Column("interface", "text", "how the device is attached"),
        Column("wwid", "text", "the device's world-wide name"),
        Column("write_cache", "text", "the device's write cache, by its own word"),
        Column("capacity_bytes", "integer", "the device's capacity; null without blocks"),
        Column("nominal_capacity_bytes", "integer", "that of the full drive, where it is scaled"),
        Column("cpu", "text", "the host's processor"),
        Column("kernel", "text", "the host's kernel"),
        Column("engine", "text", "who made the I/O"),
        Column("teijo", "text", "the version of Teijo that measured"),
        Column("seed", "integer", "the run's seed"),
        Column("settings", "text", "the method's settings, as JSON"),
        Column("rounds", "integer", "how many rounds were measured whole"),
        Column("throttled", "truth", "whether a step of it was throttled"),
        Column("remarks", "integer", "how many remarks it has"),
    ),
    "figures": (
        *_PLACE,
        Column("figure", "text", "what the number is, as `--limit` names it"),
        Column("value", "number", "the number"),
        Column("unit", "text", "its unit"),
        Column("low", "number", "where its interval at 95 % begins; null without one"),
        Column("high", "number", "where it ends"),
        Column("more_is_faster", "truth", "which way is better; null where neither is"),
        Column("steady", "truth", "whether it stands for a steady state, where that is asked"),
    ),
    "histograms": (
        *_PLACE,
        Column("operation", "text", "read, write, or another operation"),
        Column("bucket_ns", "integer", "the lowest latency of the bucket"),
        Column("count", "integer", "how many operations fell in it: these may be summed"),
        Column("min_ns", "integer", "the shortest latency of the whole histogram"),
        Column("max_ns", "integer", "the longest"),
    ),
    "remarks": (
        Column("remark", "text", "the kind of remark"),
        Column("text", "text", "its words"),
        Column("step", "integer", "the step that it touches; null for the whole run"),
    ),
}


def columns_of(table: TableName) -> tuple[Column, ...]:
    """Return the columns of a table in the files, in their order."""
    return (*LEADING, *TABLES[table])


def names_of(table: TableName) -> tuple[str, ...]:
    """Return the names of all columns of a table, those of the folders last."""
    return (*(column.name for column in columns_of(table)), *PARTITIONS)


def arrow_schema(table: TableName) -> Any:
    """Return the schema of a table's files."""
    fields = [pyarrow.field(column.name, _TYPES[column.kind]) for column in columns_of(table)]
    return pyarrow.schema(fields)


def arrow_type(column: Column) -> Any:
    """Return what the values of a column are in Arrow."""
    return _TYPES[column.kind]


def marker(version: str) -> bytes:
    """Return the marker of a new lake, made by this version of Teijo."""
    content = {"format": _FORMAT, "schema": SCHEMA, "teijo": version}
    return (json.dumps(content, indent=2) + "\n").encode()


def check_marker(data: bytes, place: str) -> None:
    """Make sure that a lake is of this version.

    Raises:
        UsageError: it is of another one, or the marker is none.
    """
    try:
        found = json.loads(data)
        schema = found["schema"] if found["format"] == _FORMAT else None
    except (ValueError, TypeError, LookupError, RecursionError):
        schema = None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise UsageError(
            f"{place} is no lake: its {MARKER} is damaged or of another program",
            remedy="Name another place for the lake: --lake DIR",
        )
    if schema > SCHEMA:
        raise UsageError(
            f"The lake {place} has schema {schema}, and this version of Teijo knows {SCHEMA}",
            remedy="Install a newer Teijo, or make another lake from the run files: --lake DIR",
        )
    if schema < SCHEMA:
        raise UsageError(
            f"The lake {place} has schema {schema}, and this version of Teijo writes {SCHEMA}",
            remedy="Make another lake from the run files: teijo lake add DIR --lake NEW",
        )
