"""What a step asks a target to do: move blocks, work on files, or carry out SQL statements."""

from dataclasses import dataclass
from typing import Literal

from teijo.terms.workload import Workload

WorkKind = Literal["blocks", "files", "sql"]
FileOperation = Literal["create", "stat", "delete"]
FileOrder = Literal["sequential", "random"]
Statement = Literal["insert", "select", "update", "delete"]


@dataclass(frozen=True, kw_only=True)
class Files:
    """One operation on each of `count` small files, one after the other, in a folder made for it.

    `create` writes `size_bytes` of random content and, with `fsync`, flushes the file: that is a
    result of its own. `stat` and `delete` go over the files that were created, in this order.
    """

    operation: FileOperation
    count: int
    size_bytes: int = 0
    fsync: bool = False
    order: FileOrder = "sequential"
    kind: Literal["files"] = "files"

    def __post_init__(self) -> None:
        assert self.count > 0, self.count
        assert self.size_bytes >= 0, self.size_bytes


@dataclass(frozen=True, kw_only=True)
class Sql:
    """One statement, `count` times, on a table of rows with `row_bytes` of random content.

    All but `select` run in transactions of `rows_per_commit` rows; a commit is a result of its own.
    `insert` appends; the others draw a row at random, and `delete` each row once.
    """

    statement: Statement
    count: int
    row_bytes: int = 0
    rows_per_commit: int = 1
    kind: Literal["sql"] = "sql"

    def __post_init__(self) -> None:
        assert self.count > 0, self.count
        assert self.rows_per_commit > 0, self.rows_per_commit


Work = Workload | Files | Sql


def kind_of(work: Work) -> WorkKind:
    """Return the kind of a work, by which a target says whether it can do it."""
    match work:
        case Workload():
            return "blocks"
        case Files(kind=kind) | Sql(kind=kind):
            return kind
