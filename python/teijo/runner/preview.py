"""Preview: a method talks to a device that exists on paper, steady at once or never."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from teijo.errors import PlanError
from teijo.methods.method import Method, Settings
from teijo.runner.drive import Talk
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import Histogram
from teijo.terms.result import Direction, StepResult, StreamResult
from teijo.terms.step import Idle, Measure, Precondition, Purge, Step
from teijo.terms.workload import Stream
from teijo.units import NS_PER_S, format_size

_MOST_STEPS: Final = 200_000
_LATENCY_NS: Final = 100_000
"""How long an I/O takes at the full rate; at a share of it, so much longer."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What the device on paper can do; a real one may be faster or slower."""

    bytes_per_second: int = 500_000_000
    ios_per_second: int = 100_000

    @property
    def text(self) -> str:
        """What is assumed, for people."""
        return (
            f"at most {self.bytes_per_second / 1e6:,.0f} MB/s and {self.ios_per_second:,} IOPS; "
            "purging takes no time"
        )


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How far a run goes: its steps, time on the device's clock, bytes written, intervals."""

    steps: int
    duration_ns: int
    written_bytes: int
    intervals: int


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a run will take: the least if the device is steady at once, the most if it never is.

    `drive_writes_*` are the bytes written in user capacities. The rates are assumed: bytes of a
    time-bounded step, and the time of a byte-bounded one, depend on them.
    """

    least: Extent
    most: Extent
    capacity_bytes: int
    assumed: str

    @property
    def drive_writes_least(self) -> float:
        """Bytes written at least, in user capacities."""
        return self.least.written_bytes / self.capacity_bytes

    @property
    def drive_writes_most(self) -> float:
        """Bytes written at most, in user capacities."""
        return self.most.written_bytes / self.capacity_bytes


def preview(
    method: Method, settings: Settings, geometry: Geometry, rates: Rates | None = None
) -> Preview:
    """Return how far a run goes at least and at most, without touching a device."""
    rates = rates or Rates()
    ends = [
        _extent(method, settings, geometry, rates, share) for share in (_always_full, _restless)
    ]
    return Preview(
        least=min(ends, key=lambda extent: extent.duration_ns),
        most=Extent(
            steps=max(end.steps for end in ends),
            duration_ns=max(end.duration_ns for end in ends),
            written_bytes=max(end.written_bytes for end in ends),
            intervals=max(end.intervals for end in ends),
        ),
        capacity_bytes=geometry.capacity_bytes,
        assumed=rates.text,
    )


_Share = Callable[[int], float]
"""The share of the rates a device gives in its measurement at this place (round, or count)."""


def _always_full(place: int) -> float:
    del place
    return 1.0


def _restless(place: int) -> float:
    """No five places in a row are within a fifth of their average, nor any five samples."""
    return 1.0 if place % 2 else 0.4


def _extent(
    method: Method, settings: Settings, geometry: Geometry, rates: Rates, share: _Share
) -> Extent:
    talk = Talk(method.steps(settings, geometry))
    steps = now_ns = written = intervals = 0
    while talk.step is not None:
        if steps == _MOST_STEPS:
            raise PlanError(
                f"The plan has more than {_MOST_STEPS:,} steps on a device of "
                f"{format_size(geometry.capacity_bytes)}.",
                remedy="Measure less: fewer rounds, a longer minute, or a smaller range.",
            )
        answer = _answer(talk.step, now_ns, rates, share, steps)
        now_ns += answer.elapsed_ns
        written += sum(part.bytes for part in answer.of("write"))
        intervals += len(answer.results) * (answer.elapsed_ns // NS_PER_S + 1)
        steps += 1
        talk.answer(answer)
    return Extent(steps=steps, duration_ns=now_ns, written_bytes=written, intervals=intervals)


def _answer(step: Step, now_ns: int, rates: Rates, share: _Share, count: int) -> StepResult:
    match step:
        case Purge():
            return StepResult(started_ns=now_ns, elapsed_ns=0, detail={"method": "on paper"})
        case Idle():
            return StepResult(started_ns=now_ns, elapsed_ns=step.duration_ns)
        case Precondition():
            elapsed_ns = step.total_bytes * NS_PER_S // rates.bytes_per_second
            streams, part = step.workload.streams, 1.0
        case Measure():
            elapsed_ns = step.duration_ns
            streams, part = step.workload.streams, share(step.round_number or count)
    results = [
        result
        for stream in streams
        for result in _stream_results(stream, elapsed_ns, part / len(streams), rates)
    ]
    if isinstance(step, Precondition):
        results = _exactly(results, step.total_bytes)
    return StepResult(started_ns=now_ns, elapsed_ns=elapsed_ns, results=tuple(results))


def _stream_results(
    stream: Stream, elapsed_ns: int, share: float, rates: Rates
) -> list[StreamResult]:
    block = stream.block_bytes_mean
    rate = min(rates.ios_per_second, rates.bytes_per_second / block) * share
    if stream.rate is not None:
        rate = min(rate, stream.rate.ios_per_second)
    ios = max(1, round(rate * elapsed_ns / NS_PER_S))
    ios -= ios * stream.discard_percent // 100
    reads = ios * stream.read_percent // 100
    parts: list[tuple[Direction, int]] = [("read", reads), ("write", ios - reads)]
    return [
        _result(stream.name, direction, count, round(count * block), round(_LATENCY_NS / share))
        for direction, count in parts
        if count
    ]


def _exactly(results: list[StreamResult], total_bytes: int) -> list[StreamResult]:
    """Give a byte-bounded step the bytes it asks for."""
    have = sum(result.bytes for result in results) or 1
    return [replace(result, bytes=result.bytes * total_bytes // have) for result in results]


def _result(
    stream: str, direction: Direction, ios: int, size_bytes: int, latency_ns: int
) -> StreamResult:
    latency = Histogram(
        np.array([latency_ns]), np.array([ios]), ios * latency_ns, latency_ns, latency_ns
    )
    return StreamResult(
        stream=stream, direction=direction, ios=ios, bytes=size_bytes, errors={}, latency=latency
    )
