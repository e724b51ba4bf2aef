"""The engine's face: one open target, driven lap by lap. Native, simulated and fio look alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from teijo.engine.plan import Direction, Plan


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
class DirectionLap:
    """One stream and direction of a lap. Histogram buckets ascend; sums and extremes are exact."""

    stream: str
    direction: Direction
    ios: int
    bytes: int
    errors: Mapping[int, int]
    bucket_values_ns: NDArray[np.int64]
    bucket_counts: NDArray[np.int64]
    latency_ns_sum: int
    latency_ns_min: int
    latency_ns_max: int
    intervals: IntervalColumns


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


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A look at a running lap: totals so far, and the intervals finished since the last look."""

    elapsed_ns: int
    ios: int
    bytes: int
    errors: int
    finished: tuple[tuple[str, str, IntervalColumns], ...] = ()
    """(stream, direction, columns) of newly finished intervals."""


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
        """
        ...

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight. Harmless otherwise."""
        ...

    def close(self) -> None:
        """Release threads and buffers. The descriptor stays the caller's."""
        ...
