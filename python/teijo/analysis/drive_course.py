"""What drive and host counted while a run goes on: temperature over time, and each counter."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from teijo.analysis.amplification import MEDIA_WRITES, Amplification, amplification
from teijo.analysis.drive_changes import celsius_of
from teijo.analysis.measures import HOST_WRITES, errors_of
from teijo.terms.reading import Reading
from teijo.terms.result import StepResult
from teijo.units import NS_PER_S, ZERO_CELSIUS_KELVIN

POINTS_MOST: Final = 1440
LIMITS: Final = ("warning_limit_kelvin", "critical_limit_kelvin")
"""Of a drive's own, among the counters of its readings."""
KERNEL: Final = "kernel_"
"""How the names of the kernel's counters of a block device begin."""
RUN_READS: Final = "run_read_bytes"
RUN_WRITES: Final = "run_write_bytes"
RUN_ERRORS: Final = "run_errors"


@dataclass(frozen=True, kw_only=True)
class Counter:
    """A counter at the first and at the last look at it."""

    name: str
    first: int
    now: int

    @property
    def difference(self) -> int:
        """How much it changed; less than 0 for one that fell."""
        return self.now - self.first


@dataclass(frozen=True, kw_only=True)
class HeatPoint:
    """A drive's temperature: the hottest of the readings up to `at_s` of the run's clock.

    It `begins` a line where nobody watched the drive from the point before on.
    """

    at_s: float
    celsius: int
    begins: bool = False


@dataclass
class DriveCourse:
    """What a drive told of itself in a run that grows, in as much room for a day as for an hour.

    `joined` is how many readings make a point; it doubles when there are more than `points_most`.
    """

    points_most: int = POINTS_MOST
    joined: int = 1
    _points: list[HeatPoint] = field(default_factory=list)
    _in_last: int = 0
    _begins: bool = False
    _gaps: list[int] = field(default_factory=list)
    _piece: int = -1
    _ended_ns: int = 0
    _first: dict[str, int] = field(default_factory=dict)
    _now: dict[str, int] = field(default_factory=dict)
    _written: list[list[Reading]] = field(default_factory=list)

    def gap(self, seq: int) -> None:
        """Take note that a run was interrupted at the step `seq`: nobody watched the drive."""
        self._gaps.append(seq)

    def add(self, readings: Iterable[Reading]) -> None:
        """Take new readings, in the order in which the drive was asked."""
        for reading in readings:
            piece = bisect_left(self._gaps, reading.step)
            if piece != self._piece or reading.at_ns < self._ended_ns:
                self._piece, self._begins = piece, bool(self._points)
                self._written.append([])
            self._ended_ns = reading.ended_ns
            for name, value in reading.counters.items():
                self._first.setdefault(name, value)
                self._now[name] = value
            if {HOST_WRITES, MEDIA_WRITES} <= reading.counters.keys():
                self._written[-1][1:] = [reading]
            self._draw(reading)

    @property
    def points(self) -> tuple[HeatPoint, ...]:
        """The temperature over time; nothing of a drive that does not tell it."""
        return tuple(self._points)

    @property
    def limits_celsius(self) -> Mapping[str, int]:
        """The drive's own limits in °C, by the names of their counters; those that it tells."""
        told = {name: self._now.get(name, 0) for name in LIMITS}
        return {name: kelvin - ZERO_CELSIUS_KELVIN for name, kelvin in told.items() if kelvin}

    @property
    def counters(self) -> tuple[Counter, ...]:
        """Every counter the drive told."""
        first = self._first.items()
        return tuple(Counter(name=name, first=at, now=self._now[name]) for name, at in first)

    @property
    def amplification(self) -> Amplification | None:
        """The write amplification so far; None where the drive does not count both."""
        return amplification(self._written)

    def _draw(self, reading: Reading) -> None:
        celsius = celsius_of(reading)
        if celsius is None:
            return
        point = HeatPoint(at_s=reading.at_ns / NS_PER_S, celsius=celsius, begins=self._begins)
        if self._points and self._in_last < self.joined and not self._begins:
            self._points.append(_joined(self._points.pop(), point))
            self._in_last += 1
        else:
            self._points.append(point)
            self._in_last = 1
        self._begins = False
        if len(self._points) > self.points_most:
            self._join()

    def _join(self) -> None:
        """Make one point of each two neighbours."""
        points, self.joined = self._points, 2 * self.joined
        pairs = [points[at : at + 2] for at in range(0, len(points), 2)]
        self._in_last += self.joined // 2 * (len(pairs[-1]) - 1)
        self._points = [reduce(_joined, pair) for pair in pairs]


def _joined(one: HeatPoint, other: HeatPoint) -> HeatPoint:
    hottest = max(one.celsius, other.celsius)
    return HeatPoint(at_s=other.at_s, celsius=hottest, begins=one.begins or other.begins)


@dataclass
class HostCourse:
    """What this host counted in a run that grows: the run's own I/O, and the kernel's counters.

    The kernel counts for the whole device, whoever asks: it may be more than the run's own.
    """

    _run: dict[str, int] = field(default_factory=dict)
    _first: dict[str, int] = field(default_factory=dict)
    _now: dict[str, int] = field(default_factory=dict)

    def end(self, answer: StepResult) -> None:
        """Take a step that has its answer."""
        for name, direction in ((RUN_READS, "read"), (RUN_WRITES, "write")):
            moved = sum(part.bytes or 0 for part in answer.of(direction))
            self._run[name] = self._run.get(name, 0) + moved
        self._run[RUN_ERRORS] = self._run.get(RUN_ERRORS, 0) + errors_of(answer)
        for name, value in answer.health_before.items():
            if name.startswith(KERNEL):
                self._first.setdefault(name, value)
        self._now |= {
            name: value for name, value in answer.health_after.items() if name.startswith(KERNEL)
        }

    @property
    def counters(self) -> tuple[Counter, ...]:
        """The counters of the steps that have ended."""
        run = (Counter(name=name, first=0, now=now) for name, now in self._run.items())
        both = self._first.keys() & self._now.keys()
        kernel = (
            Counter(name=name, first=first, now=self._now[name])
            for name, first in self._first.items()
            if name in both
        )
        return (*run, *kernel)
