"""What came of a step: the other half of the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from teijo.terms.histogram import Histogram
from teijo.terms.remark import Remark

Direction = Literal["read", "write"]
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
class StreamResult:
    """One stream and direction. Errors are counted by errno (0: short I/O), never timed."""

    stream: str
    direction: Direction
    ios: int
    bytes: int
    errors: Mapping[int, int]
    latency: Histogram
    intervals: Intervals | None = None


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """The device's answer to one step. Times in ns since the run's clock began.

    `gap_ns` is the time between the end of the step before and this one's start: a drive
    rests in it. `cursors` says where each sequential stream goes on, in bytes from the start
    of its active range. `detail` carries facts of the step's kind (the purge method used).
    """

    started_ns: int
    elapsed_ns: int
    gap_ns: int = 0
    results: tuple[StreamResult, ...] = ()
    cursors: Mapping[str, int] = field(default_factory=dict)
    health_before: Health = field(default_factory=dict)
    health_after: Health = field(default_factory=dict)
    detail: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def of(self, direction: Direction) -> tuple[StreamResult, ...]:
        """Return the results of one direction, over all streams."""
        return tuple(result for result in self.results if result.direction == direction)

    @property
    def ios(self) -> int:
        """I/Os completed, reads and writes of all streams."""
        return sum(result.ios for result in self.results)

    @property
    def bytes(self) -> int:
        """Bytes moved, reads and writes of all streams."""
        return sum(result.bytes for result in self.results)

    @property
    def iops(self) -> float:
        """I/Os per second, reads plus writes (PTS: ave IOPS)."""
        return self.ios * 1e9 / self.elapsed_ns if self.elapsed_ns else 0.0


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The answer to a step that did not take place: the run was interrupted before it.

    The device was left alone for an unknown time. A method answers a gap by asking again from
    the last point its standard allows.
    """

    reason: str = "resumed"


Answer = StepResult | Gap
