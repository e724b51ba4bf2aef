"""What a step asks a target to do: move blocks, work on files, or carry out SQL statements."""

from dataclasses import dataclass
from typing import Literal

from teijo.terms.workload import Workload

WorkKind = Literal["blocks", "files", "sql"]
FileOperation = Literal["create", "stat", "delete"]
FileOrder = Literal["sequential", "random"]
FileCalls = Literal["write", "rewrite", "read", "random-write", "random-read", "seek"]
FileContent = Literal["random", "zero", "one-block", "cumulative"]
CallStyle = Literal["system-call", "stdio", "mmap"]
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
class FileIo:
    """Calls on large files in a folder made for it, as Bonnie++ and tiotest make them.

    Each of `workers` has a file of its own, unless they `share` one. `rewrite` reads a chunk,
    changes it and writes it back; `seek` does that at a random chunk with a share of
    `rewrite_percent`, and only reads otherwise. A file is opened at the beginning and closed at
    the end, inside the time of the step; `fsync` flushes before the close. A call is timed by
    itself; flush and close are results of their own.

    Ordered operations go over `file_bytes` once, in chunks; random ones, and seeks, make `calls`
    over all workers. `fresh` removes and makes the file before; else it is opened as it is.
    `cumulative` content is Bonnie++'s: zeros, of which chunk k has one more byte changed.
    """

    operation: FileCalls
    file_bytes: int
    chunk_bytes: int
    calls: int = 0
    workers: int = 1
    share: bool = False
    processes: bool = False
    """Workers are processes, as Bonnie++'s seekers; else threads."""
    in_turn: bool = False
    """One worker after the other, not together."""
    fresh: bool = False
    sparse: bool = False
    """The file gets its whole length before it is written, as tiotest's ftruncate does."""
    fsync: bool = True
    timed_fsync: bool = False
    """The flush is part of the latency of the last call: what the originals leave out."""
    direct: bool = False
    synchronous: bool = False
    style: CallStyle = "system-call"
    content: FileContent = "random"
    rewrite_percent: int = 0
    drop_caches: bool = False
    """The page cache is written back and emptied before, outside the time."""
    repeats: str = ""
    """As of a stream: steps of one word have the same offsets."""
    kind: Literal["file-io"] = "file-io"

    def __post_init__(self) -> None:
        assert self.file_bytes > 0, self.file_bytes
        assert self.chunk_bytes > 0, self.chunk_bytes
        assert self.workers > 0, self.workers


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
