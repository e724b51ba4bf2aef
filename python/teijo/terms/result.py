"""What came of a step: the other half of the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.terms.census import Census
from teijo.terms.histogram import Histogram
from teijo.terms.remark import Remark
from teijo.terms.verification import Verification, Written
from teijo.units import per_second

Direction = Literal["read", "write"]
COMMANDS: Final = ("flush", "discard")
"""Operations of block work that move no data: they are no I/Os and stand beside them."""

IN_FLIGHT = "in_flight_mean"
"""In a step's detail: as of a witness, where there is none (virtual time)."""
PAGE_CACHE = "page_cache"
"""In a step's detail: the memory that may hold pages, where it is not the host's; "" unknown."""
DRAIN = "drain_ns"
"""In a step's detail: how long, before it, the last I/Os of an open-ended stimulus took to end."""
WRITE_CACHE_ENABLED = "write_cache_enabled"
"""A state among a device's own counters: 1 where the drive says that its write cache is on, 0."""
UNWRITTEN = "unwritten_bytes"
"""In a step's detail: how much of the file had never been written, where that is known."""
UNWRITTEN_READS = "unwritten_read_bytes"
"""The end of a name in a step's detail: what a simulated drive counted of that in reads."""
READS = "host_reads_bytes"
"""Among a device's own counters: what the host has read of it."""
STOPPED = "stopped"
"""In a step's detail: who ended it before its time, where the step allowed that."""
RESUMED: Final = "resumed"
"""The reason of a gap of which no more is known than that the run was gone on with."""
_DIGITS_MOST = 20  # as many as 64 bits have; a run file may hold more than int() takes
Health = Mapping[str, int]
"""A device's own counters by name, as SMART has them: bytes in `_bytes`, temperature in
`_kelvin`. What a device does not count is absent, never zero."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """A time series: column arrays of one length, one entry per interval.

    `length_ns` is the length of an interval; entry i covers [index[i]·length, …+length) from
    the start of the step. Latencies are of the I/Os completed in it, 0 where there were none.
    """

    length_ns: int
    index: NDArray[np.int64]
    ios: NDArray[np.int64]
    bytes: NDArray[np.int64]
    errors: NDArray[np.int64]
    latency_ns_sum: NDArray[np.int64]
    latency_ns_min: NDArray[np.int64]
    latency_ns_max: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        """Two series are equal when every entry is."""
        return isinstance(other, Intervals) and all(
            np.array_equal(getattr(self, column.name), getattr(other, column.name))
            for column in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class OperationResult:
    """What came of one operation of one stream: how often it was completed, and how long it took.

    `operation` is its name: "read" or "write" of blocks, "flush" or "discard" beside them, one of
    files ("create", "stat", "delete", "fsync"), or of a database (a statement's name). `bytes` are
    None of an operation that moves no data. `latency` is service time, from the issue of an
    operation, and None where only a count is known, as of an imported result. Errors are counted
    by errno (0: short I/O), never timed.

    `response` counts from the intended start: of an open loop only, and None where the engine does
    not measure it; in a closed loop the two are one. `backlog_max` and `backlog_end` are of the
    whole open-loop stream: most arrivals that waited at one time, and arrivals due but not issued
    at the end.
    """

    stream: str
    operation: str
    count: int
    bytes: int | None = None
    errors: Mapping[int, int] = field(default_factory=dict)
    latency: Histogram | None = None
    intervals: Intervals | None = None
    response: Histogram | None = None
    backlog_max: int | None = None
    backlog_end: int | None = None

    @property
    def moved_bytes(self) -> int:
        """Bytes moved: 0 of an operation that moves no data."""
        return self.bytes or 0

    @property
    def timed(self) -> Histogram:
        """The latencies, of an operation that was timed, as every one is that was not imported."""
        assert self.latency is not None, f"{self.operation} was not timed"
        return self.latency


@dataclass(frozen=True, kw_only=True)
class Witness:
    """How a step was made, by the accounts of the process that made it.

    Times in ns over the whole step. `busiest_worker` is CPU by wall time of the busiest thread;
    `worker_delay_ns` the time threads were ready but had no CPU, all together. `in_flight_mean`
    is of all threads together, over the time in which I/O was to be issued; `in_flight_asked`
    threads × queue depth; the tuples have both for each stream, in the order of the workload, and
    are empty in runs that were recorded without. `backend` is what carried the I/O, "" if that was
    not told. `look_gap_ns_max` is the longest that the program did not look at the running step,
    `turn_gap_ns_max` the longest between two readings of a thread's clock, its waits included;
    `slept_ns` is how long the whole host slept. `min_complete` is the
    most completions a wait asked for; `io_wq_workers` threads of the kernel that carried out
    I/Os which the target would not queue. `ceiling_iops` is what the host could do with these
    streams and no device at all, None where that was not measured. `drift_ppm` is the
    processor's counter against the kernel's clock, None where that was not told. `made_ns` and
    `judged_ns` are what threads took to make what was written and to judge what was read, all
    together: time of the host, in no latency of those I/Os; None in runs recorded without. `places`
    are the (processor, NUMA node) of the first threads, where each was kept on one, in their
    order; the others follow over again.
    """

    wall_ns: int
    cpu_ns: int
    worker_cpu_ns: int
    worker_delay_ns: int
    busiest_worker: float
    workers: int
    in_flight_mean: float
    in_flight_asked: int
    look_gap_ns_max: int
    turn_gap_ns_max: int
    turns: int
    submit_calls: int
    min_complete: int
    io_wq_workers: int
    techniques: tuple[str, ...]
    backend: str = ""
    stream_in_flight_mean: tuple[float, ...] = ()
    stream_in_flight_asked: tuple[int, ...] = ()
    slept_ns: int = 0
    ceiling_iops: float | None = None
    drift_ppm: float | None = None
    made_ns: int | None = None
    judged_ns: int | None = None
    places: tuple[tuple[int, int], ...] = ()

    @property
    def clock(self) -> str:
        """Where the time was read: the processor's counter, or the kernel's clock."""
        return "tsc" if "tsc-clock" in self.techniques else "clock_gettime"


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """The device's answer to one step. Times in ns since the run's clock began.

    `gap_ns` is the time between the end of the step before and this one's start: a drive
    rests in it (`rest_ns`), but for the drain of a stimulus that had been left running.
    `cursors` says where each sequential stream goes on, in bytes from the start
    of its active range. `detail` carries facts of the step's kind (the purge method used).
    `witness` is None where nobody could give an account (virtual time, fio). `results` are the
    operations that were asked for. `commands` are the flushes and discards of block work: they
    have a count and a latency of their own, and are in none of the figures of the step.
    `verification` is None where no read was held to anything; `written` is what later steps may
    hold reads to. `census` has a line for each direction of each stream that was counted.
    """

    started_ns: int
    elapsed_ns: int
    gap_ns: int = 0
    results: tuple[OperationResult, ...] = ()
    cursors: Mapping[str, int] = field(default_factory=dict)
    health_before: Health = field(default_factory=dict)
    health_after: Health = field(default_factory=dict)
    detail: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    witness: Witness | None = None
    commands: tuple[OperationResult, ...] = ()
    verification: Verification | None = None
    written: tuple[Written, ...] = ()
    census: tuple[Census, ...] = ()

    def of(self, operation: str) -> tuple[OperationResult, ...]:
        """Return the results of one operation, over all streams."""
        return tuple(result for result in self.results if result.operation == operation)

    @property
    def ios(self) -> int:
        """Operations completed, all of all streams: of block work, reads and writes."""
        return sum(result.count for result in self.results)

    @property
    def bytes(self) -> int:
        """Bytes moved, by all operations of all streams."""
        return sum(result.moved_bytes for result in self.results)

    @property
    def rest_ns(self) -> int:
        """How long the device rested before: what was still in flight was no rest."""
        text = self.detail.get(DRAIN, "")[:_DIGITS_MOST]
        # Not isdigit: it holds of "²" too, which int() refuses.
        return max(0, self.gap_ns - (int(text) if text.isdecimal() else 0))

    @property
    def in_flight_mean(self) -> float | None:
        """I/Os in flight on average while I/O was to be issued; None where nobody counted."""
        if self.witness is not None:
            return self.witness.in_flight_mean
        text = self.detail.get(IN_FLIGHT, "")[:_DIGITS_MOST]
        whole, _, part = text.partition(".")
        return float(text) if whole.isdecimal() and part.isdecimal() else None

    @property
    def iops(self) -> float:
        """I/Os per second, reads plus writes (PTS: ave IOPS)."""
        return per_second(self.ios, self.elapsed_ns)


@dataclass(frozen=True, kw_only=True)
class Performed:
    """What came of a work on files or of statements, by what carried it out.

    `elapsed_ns` is the time of the operations, without what was made ready before; None where
    that is the time of the whole work. `cleared_ns` is how long it took afterwards to remove what
    they needed, which is no part of it either. `detail` are facts of it, `failure` why it ended
    early on a failing device. `census` is of the chunks of files, where they were counted.
    """

    results: tuple[OperationResult, ...]
    elapsed_ns: int | None = None
    cleared_ns: int = 0
    detail: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    census: tuple[Census, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The answer to a step that did not take place: the run was interrupted before it.

    The device was left alone for an unknown time. A method answers a gap by asking again from
    the last point its standard allows.
    """

    reason: str = RESUMED


Answer = StepResult | Gap
