"""The engine's face: one open target, driven lap by lap. Native, simulated and fio look alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from teijo.engine.plan import Command, Direction, Plan, Written
from teijo.units import NS_PER_S

DEEP: Final = 8
"""Depth from which the cost of a system call is shared."""


@dataclass(frozen=True, kw_only=True)
class IntervalColumns:
    """A time series as int64 columns of one length (see terms.result.Intervals).

    fio logs no extremes per interval: with it, `latency_ns_min` and `latency_ns_max` are 0.
    """

    index: NDArray[np.int64]
    ios: NDArray[np.int64]
    bytes: NDArray[np.int64]
    errors: NDArray[np.int64]
    latency_ns_sum: NDArray[np.int64]
    latency_ns_min: NDArray[np.int64]
    latency_ns_max: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """A histogram in ns: lowest values of ascending buckets, counts; sum and extremes exact."""

    values_ns: NDArray[np.int64]
    counts: NDArray[np.int64]
    sum_ns: int
    min_ns: int
    max_ns: int


@dataclass(frozen=True, kw_only=True)
class DirectionLap:
    """One stream and direction of a lap. Histogram buckets ascend; sums and extremes are exact.

    `response` is the same I/Os from their intended start: of an open loop only, and only where
    the engine measures it. `backlog_max` and `backlog_end` are of the whole stream: arrivals
    that waited for a free slot at one time, and those due but not issued at the end.
    """

    stream: str
    direction: Direction | Command
    ios: int
    bytes: int
    errors: Mapping[int, int]
    bucket_values_ns: NDArray[np.int64]
    bucket_counts: NDArray[np.int64]
    latency_ns_sum: int
    latency_ns_min: int
    latency_ns_max: int
    intervals: IntervalColumns
    response: Buckets | None = None
    backlog_max: int | None = None
    backlog_end: int | None = None


@dataclass(frozen=True, kw_only=True)
class Witness:
    """How a lap was made, by this process's own accounts; field by field the Rust `witness.rs`.

    `busiest_worker` is CPU by wall time of the busiest thread; `worker_delay_ns` the time that
    threads were ready but had no CPU, all together. `in_flight_mean` counts all threads, over the
    time in which I/O was to be issued (not over the wait for the last ones); `in_flight_asked` is
    threads × depth; the tuples have both for each stream of the plan, in its order. `backend` may
    be another than the session's, by the plan.
    `made_ns` and `judged_ns` are what making and judging data took, all threads together: in no
    latency of what was made or judged. `io_wq_workers` are threads of the kernel that carried out
    I/Os which the target would not queue. `techniques` are names from technique.rs. `places` are
    the (processor, NUMA node) of the first workers, where they were pinned; the others follow over
    again.
    """

    backend: str
    wall_ns: int
    cpu_ns: int
    worker_cpu_ns: int
    worker_delay_ns: int
    busiest_worker: float
    workers: int
    in_flight_mean: float
    in_flight_asked: int
    stream_in_flight_mean: tuple[float, ...]
    stream_in_flight_asked: tuple[int, ...]
    turn_gap_ns_max: int
    turns: int
    submit_calls: int
    min_complete: int
    io_wq_workers: int
    techniques: tuple[str, ...]
    drift_ppm: float | None
    made_ns: int = 0
    judged_ns: int = 0
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What the verified reads of a lap were found to hold; sectors are of 512 B.

    `faults` are (class, sectors, a few of their places in bytes), by a word of verified.rs.
    """

    sectors: int
    sectors_unjudged: int
    faults: tuple[tuple[str, int, tuple[int, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Lap:
    """What came of one plan. Times are on the session's clock (virtual for a simulated one)."""

    started_ns: int
    elapsed_ns: int
    directions: tuple[DirectionLap, ...]
    cursors: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())
    """What the engine had to do differently (io_uring refused …), for remarks."""
    failure: str = ""
    """Why the lap ended early on a failing device; what was measured before is in the lap."""
    witness: Witness | None = None
    """None where there is nothing to account for (virtual time), or nobody to do it (fio)."""
    in_flight_mean: float | None = None
    """As of a `Witness`, where there is none and it is known all the same: in virtual time."""
    commands: tuple[DirectionLap, ...] = ()
    """Flushes and discards, of streams that have any; in no count of the directions."""
    verification: Verification | None = None
    """None where nothing was verified."""
    written: tuple[Written, ...] = ()
    """What ordered verified writes left behind, for the plans after this one."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A look at a running lap: totals so far, and the intervals finished since the last look."""

    elapsed_ns: int
    ios: int
    bytes: int
    errors: int
    finished: tuple[tuple[str, str, IntervalColumns], ...] = ()
    """(stream, direction, columns) of newly finished intervals."""


@dataclass(frozen=True, kw_only=True)
class StuckIo:
    """An I/O that the device does not answer, and for how long it has not."""

    direction: Direction | Command
    offset_bytes: int
    length_bytes: int
    age_ns: int


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """What this host does at best, one thread, 4 KiB, with no device at all; 0: not to be had.

    `nop_ns` is a no-operation through a ring of the kernel, one at a time; `loop_ns` an I/O of
    the engine's whole loop with nothing behind it. `…_deep` is the same, 32 at a time.
    """

    nop_ns: float
    nop_ns_deep: float
    loop_ns: float
    loop_ns_deep: float
    copy_bytes_per_second: float

    def ios_per_second(self, queue_depth: int) -> float:
        """Return the IOPS of one thread at a queue depth that nothing on this host exceeds."""
        deep = queue_depth >= DEEP
        slowest_ns = max(
            self.nop_ns_deep if deep else self.nop_ns, self.loop_ns_deep if deep else self.loop_ns
        )
        return NS_PER_S / slowest_ns if slowest_ns else 0.0


Observer = Callable[[Progress], bool]
"""Called a few times a second while a lap runs; returning False stops the lap early."""


class Session(Protocol):
    """One open target."""

    @property
    def backend(self) -> str:
        """Which engine and backend serve: "io_uring", "sync", "simulated", "fio 3.33 …"."""
        ...

    def now_ns(self) -> int:
        """Return the session's clock: CLOCK_MONOTONIC, or virtual time."""
        ...

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap to its bound (or until the observer stops it).

        Raises:
            teijo.errors.DeviceError: the device cannot be driven at all (direct I/O refused).
            teijo.errors.StuckDevice: an I/O is older than `limit_io` allows.
            KeyboardInterrupt: a signal's handler raised it; I/Os may still be in flight.
        """
        ...

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a lap from now on when an I/O is older than that."""
        ...

    def pin(self, cpus: Sequence[int]) -> None:
        """Keep each worker on one of these processors, in their order and over again; none: any.

        Raises:
            teijo.errors.StuckDevice: a stimulus that had to be ended for that does not end.
        """
        ...

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return what did not come back when a lap was left, the oldest first."""
        ...

    def choices(self) -> Mapping[str, str]:
        """Return what a run file says of the choices that this session made by itself."""
        ...

    def ceilings(self) -> Ceilings | None:
        """Return what the host does at best; None where the host does not set the pace."""
        ...

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight. Harmless otherwise."""
        ...

    def close(self) -> None:
        """Release threads and buffers. The descriptor stays the caller's."""
        ...
