"""What a step asks a target to do: move blocks, work on files, or carry out SQL statements."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from teijo import units
from teijo.terms.workload import Workload

WorkKind = Literal["blocks", "files", "sql", "databases"]
FileOperation = Literal["create", "stat", "delete"]
FileOrder = Literal["sequential", "random"]
FilePlaces = Literal["sequential", "random", "listed"]
FileNames = Literal["numbers", "number-first", "number-last"]
FileLinks = Literal["none", "hard", "symbolic"]
FileCalls = Literal["write", "rewrite", "read", "random-write", "random-read", "seek"]
FileContent = Literal["random", "zero", "one-block", "cumulative"]
CallStyle = Literal["system-call", "stdio", "mmap"]
Statement = Literal["insert", "select", "update", "delete"]
TransactionKind = Literal["tpcb", "key-value"]

RANDOM_CALLS: Final = ("random-write", "random-read", "seek")
"""The calls of `FileIo` whose offsets are drawn."""
STDIO_BYTES: Final = 4096
"""The buffer of the style "stdio": each time it is full, or empty, is one operation."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """One operation on each of `count` small files, one after the other, in a folder made for it.

    `create` is open, write and close; with `fsync` it flushes the file before it closes it: that
    is a result of its own, and the close is then in no time. `stat` and `delete` go over the files
    that were created, in this order: "listed" is as their directories list them.
    """

    operation: FileOperation
    count: int
    size_bytes: int = 0
    fsync: bool = False
    order: FilePlaces = "sequential"
    size_least_bytes: int | None = None
    """Sizes are drawn from there to `size_bytes`; None: all have the same."""
    chunk_bytes: int = 0
    """The most that one call writes or reads; 0: all of a file."""
    directories: int = 0
    """In the folder, each with as many of the files; 0: they lie in the folder itself."""
    names: FileNames = "numbers"
    """Ten digits; or ten hexadecimal digits, and 0 to 12 random letters and digits behind or before
    them, as Bonnie++ has them for its two orders."""
    links: FileLinks = "none"
    """All files but the first are links to it."""
    content: FileContent = "random"
    fsync_directory: bool = False
    """The directory is flushed too, after each file that is created or deleted."""
    timed_fsync: bool = False
    """The flushes are part of the time of the operation as well."""
    sync_at_end: bool = False
    """All that is dirty on the host is written back at the end, in the time of the step."""
    read: bool = False
    """A stat opens, reads and closes the file as well, in its time."""
    kind: Literal["files"] = "files"

    def __post_init__(self) -> None:
        assert self.count > 0, self.count
        assert self.size_bytes >= 0, self.size_bytes
        assert 0 <= (self.size_least_bytes or 0) <= self.size_bytes, self.size_least_bytes


@dataclass(frozen=True, kw_only=True)
class FileIo:
    """Calls on large files in a folder made for it, as Bonnie++ and tiotest make them.

    Each of `workers` has a file of its own, unless they `share` one: then they share what is to do
    as well. A file is opened before the time of the step begins, and closed at its end, within it;
    `fsync` flushes before the close, of what was only read as well. Each operation is timed by
    itself, and flush and close are results of their own.

    `rewrite` reads a chunk, changes a byte, goes back and writes it: one operation. `seek` goes to
    a random chunk and reads it, and does as `rewrite` with a share of `rewrite_percent`. Ordered
    operations go over the whole chunks of `file_bytes` once; random ones, and seeks, make `calls`
    over all workers. Bytes are those of the file that were gone over, each once.

    `fresh` removes and makes the file before; else it is opened as it is, as an earlier step of the
    run left it. `cumulative` content is Bonnie++'s: zeros, of which chunk k has one more byte
    changed; bytes that are written one at a time count from 0 to 127.
    """

    operation: FileCalls
    file_bytes: int
    chunk_bytes: int
    calls: int = 0
    workers: int = 1
    share: bool = False
    processes: bool = False
    """Who shares a file draws its tickets from a pipe, as Bonnie++'s seekers; else from memory.
    Workers are threads all the same, as those of Bonnie++ 2.00."""
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
    positioned: bool = False
    """Ordered calls name their offset (pwrite, as tiotest), and do not go by the file's position
    (write, as Bonnie++). Random ones always do, and seeks never."""
    timed_calls: int = 1
    """So many ordered calls are one operation, timed together: 8,192 of a byte in Bonnie++."""
    style: CallStyle = "system-call"
    content: FileContent = "random"
    rewrite_percent: int = 0
    fsync_rewrites: bool = False
    """Each chunk that a seek rewrote is flushed at once, in its time."""
    drop_caches: bool = False
    """The page cache is written back and emptied before, outside the time."""
    repeats: str = ""
    """As of a stream: steps of one word have the same offsets."""
    each_once: bool = False
    """Random calls go over all chunks of a file before one is met again."""
    census: bool = False
    """Which chunks were touched is counted, and what was written sampled: `StepResult.census`."""
    kind: Literal["file-io"] = "file-io"

    def __post_init__(self) -> None:
        assert self.file_bytes > 0, self.file_bytes
        assert self.chunk_bytes > 0, self.chunk_bytes
        assert self.workers > 0, self.workers
        assert self.timed_calls > 0, self.timed_calls

    @property
    def count(self) -> int:
        """How many operations there are, over all workers."""
        if self.operation in RANDOM_CALLS:
            return self.calls
        each_bytes = STDIO_BYTES if self.style == "stdio" else self.chunk_bytes * self.timed_calls
        return (1 if self.share else self.workers) * -(-self._whole_bytes // each_bytes)

    @property
    def size_bytes(self) -> int:
        """How many bytes of the files are gone over, over all workers."""
        if self.operation in RANDOM_CALLS:
            return self.calls * self.chunk_bytes
        return (1 if self.share else self.workers) * self._whole_bytes

    @property
    def _whole_bytes(self) -> int:
        return self.file_bytes - self.file_bytes % self.chunk_bytes


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


@dataclass(frozen=True, kw_only=True)
class Database:
    """Where statements run: a private server on the target directory, or one that runs elsewhere.

    `server` is "sqlite", "mariadb", "postgresql", or a URL without its password. One that is not
    `durable` flushes nothing. `options` stand behind every CREATE TABLE.
    """

    server: str = "sqlite"
    durable: bool = True
    options: str = ""
    epoch: str = ""
    """Work of another word has a database that is made anew."""

    def fresh(self, epoch: str) -> "Database":
        """Return one that is made anew where the word is another than before."""
        return replace(self, epoch=epoch)


@dataclass(frozen=True, kw_only=True)
class SqlBench:
    """One operation of a test of sql-bench, as the suite times it: "create+drop" of "create".

    `place` is its place in the test, and `count` how many statements it has in all. Each of
    `clients` carries out all of them, on tables of its own. An operation that may be extrapolated
    stops after `time_limit_ns`.
    """

    test: str
    operation: str
    place: int
    count: int
    small: bool = False
    clients: int = 1
    time_limit_ns: int = 600 * units.NS_PER_S
    database: Database = Database()
    kind: Literal["sql-bench"] = "sql-bench"

    def __post_init__(self) -> None:
        assert self.count > 0, self.count
        assert self.clients > 0, self.clients


@dataclass(frozen=True, kw_only=True)
class Transactions:
    """Transactions for a time, by `clients` that share one schedule; or the table they need.

    With `rate_per_second` they arrive at random times at that mean rate, whether the earlier ones
    have ended or not; without (0) each client begins one when its last has ended. `read_percent`
    of a key-value load only read. Keys are drawn from the first `working_set_percent` of `rows`.
    `fills` makes the table and measures nothing else.
    """

    load: TransactionKind
    duration_ns: int
    rows: int
    row_bytes: int = 100
    clients: int = 1
    rate_per_second: int = 0
    read_percent: int = 0
    working_set_percent: int = 100
    fills: bool = False
    database: Database = Database()
    kind: Literal["transactions"] = "transactions"

    @property
    def count(self) -> int:
        """How many there are to be: of a rate, its mean."""
        if self.fills:
            return self.rows
        return max(1, self.rate_per_second * self.duration_ns // units.NS_PER_S)

    def __post_init__(self) -> None:
        assert self.rows > 0, self.rows
        assert self.clients > 0, self.clients


PerformedWork = Files | FileIo | Sql | SqlBench | Transactions
"""What ends when it is done, and is no stream of blocks."""
Work = Workload | PerformedWork


def kind_of(work: Work) -> WorkKind:
    """Return the kind of a work, by which a target says whether it can do it."""
    match work:
        case Workload():
            return "blocks"
        case Files(kind=kind) | Sql(kind=kind):
            return kind
        case FileIo():
            return "files"
        case SqlBench() | Transactions():
            return "databases"
