"""A device on paper: it answers every step at once, at rates that are assumed.

Its speed is one of three ways: always at full speed, never steady, or settling as drives do.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from teijo.analysis.measures import written_by
from teijo.runner.compile import interval_ns
from teijo.terms.histogram import Histogram
from teijo.terms.result import Direction, OperationResult, StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.work import FileIo, Files, Sql, SqlBench, Transactions
from teijo.terms.workload import Access, Stream
from teijo.units import MEGA, NS_PER_S

SETTLED_SHARE: Final = 0.4
"""What random writes leave of a fresh drive's speed in the end: between client and enterprise."""
SETTLING_DRIVE_WRITES: Final = 0.7
"""Random writes, in user capacities, after which 1/e of the way to that is still to go."""
SEQUENTIAL_WEIGHT: Final = 0.5
"""How much a sequential write tires, by a random one: it leaves few fresh blocks, but no holes."""
SETTLED_NOISE: Final = 0.02
_LATENCY_NS: Final = 100_000
"""How long an I/O takes at the full rate; at a share of it, so much longer."""
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What the device on paper can do; a real one may be faster or slower."""

    bytes_per_second: int = 500_000_000
    ios_per_second: int = 100_000
    source: str = ""
    """Where the rates are from, where they are not assumed."""

    def text(self, *, of_blocks: bool) -> str:
        """Return what is assumed, for people: rates of blocks, or of operations."""
        if not of_blocks:
            return f"{NS_PER_S // _LATENCY_NS:,} operations/s"
        rates = f"at most {self.bytes_per_second / MEGA:,.0f} MB/s and {self.ios_per_second:,} IOPS"
        return f"{rates}{self.source and f' ({self.source})'}; purging takes no time"


@dataclass(frozen=True, kw_only=True)
class State:
    """The state of a device on paper: its steps so far, and writes since the purge.

    `drive_writes` are in user capacities, sequential ones by their weight.
    """

    steps: int
    drive_writes: float


Share = Callable[[Measure, State], float]
"""The share of the rates that a device gives in a measurement."""


def always_full(step: Measure, state: State) -> float:
    """Return 1: the drive is steady at once."""
    del step, state
    return 1.0


def restless(step: Measure, state: State) -> float:
    """Return shares of which no five in a row are within a fifth of their average.

    In rounds the place is the round, otherwise the count of steps.
    """
    return 1.0 if (step.round_number or state.steps) % 2 else SETTLED_SHARE


def settling(step: Measure, state: State) -> float:
    """Return the share of a drive that tires of writes, and settles exponentially.

    Reads alone are always at full speed. The noise is evenly spread, ± 2 %, by the golden ratio's
    multiples: the same steps, the same answer.
    """
    if not any(stream.writes for stream in step.workload.streams):
        return 1.0
    tired = math.exp(-state.drive_writes / SETTLING_DRIVE_WRITES)
    noise = SETTLED_NOISE * (2 * (state.steps * _GOLDEN % 1) - 1)
    return (SETTLED_SHARE + (1 - SETTLED_SHARE) * tired) * (1 + noise)


@dataclass(kw_only=True)
class Paper:
    """A device on paper, and how far it was driven: time in ns, bytes written, intervals."""

    capacity_bytes: int
    rates: Rates
    share: Share
    now_ns: int = 0
    written_bytes: int | None = 0
    """None once a step wrote nobody knows how much."""
    intervals: int = 0
    state: State = field(default=State(steps=0, drive_writes=0.0))

    def carry_out(self, step: Step) -> StepResult:
        """Return the answer to a step, and take note of what it did."""
        answer = self._answer(step)
        self.now_ns += answer.elapsed_ns
        written = written_by(step, answer)
        if self.written_bytes is not None:
            self.written_bytes = None if written is None else self.written_bytes + written
        self.intervals += len(answer.results) * (answer.elapsed_ns // interval_ns(step) + 1)
        self.settle(step, answer)
        return answer

    def settle(self, step: Step, answer: StepResult) -> None:
        """Wear as far as a step's answer tells, whoever gave it."""
        fresh = isinstance(step, Purge | Configure)
        tired = 0.0 if fresh else self.state.drive_writes
        if isinstance(step, Measure | Precondition):
            weights = {stream.name: _weight(stream) for stream in step.workload.streams}
            written = sum(part.moved_bytes * weights[part.stream] for part in answer.of("write"))
            tired += written / self.capacity_bytes
        self.state = State(steps=self.state.steps + 1, drive_writes=tired)

    def _answer(self, step: Step) -> StepResult:
        match step:
            case Purge():
                detail = {"method": "on paper"}
                return StepResult(started_ns=self.now_ns, elapsed_ns=0, detail=detail)
            case Configure():
                return StepResult(started_ns=self.now_ns, elapsed_ns=0)
            case Perform():
                return _performed(step, self.now_ns)
            case Idle():
                return StepResult(started_ns=self.now_ns, elapsed_ns=step.duration_ns)
            case Precondition():
                elapsed_ns = step.total_bytes * NS_PER_S // self.rates.bytes_per_second
                streams, part = step.workload.streams, 1.0
            case Measure():
                elapsed_ns = step.duration_ns
                streams, part = step.workload.streams, self.share(step, self.state)
        results = [
            result
            for stream in streams
            for result in _stream_results(stream, elapsed_ns, part / len(streams), self.rates)
        ]
        if isinstance(step, Precondition):
            results = _exactly(results, step.total_bytes)
        return StepResult(started_ns=self.now_ns, elapsed_ns=elapsed_ns, results=tuple(results))


def _performed(step: Perform, now_ns: int) -> StepResult:
    work = step.work
    match work:
        case Files():
            size = work.count * work.size_bytes if work.operation == "create" else None
            done = _result("files", work.operation, work.count, size, _LATENCY_NS)
        case FileIo():
            size = work.size_bytes
            done = _result("files", work.operation, work.count, size, _LATENCY_NS)
        case Sql():
            size = None if work.statement in ("select", "delete") else work.count * work.row_bytes
            done = _result("sql", work.statement, work.count, size, _LATENCY_NS)
        case SqlBench():
            done = _result("sql", work.operation, work.count, None, _LATENCY_NS)
        case Transactions(fills=True):
            size = work.count * work.row_bytes
            done = _result("sql", "insert", work.count, size, _LATENCY_NS)
        case Transactions():
            # In a closed loop a client begins the next as the last ends.
            most = work.duration_ns * work.clients // _LATENCY_NS
            count = min(work.count, most) if work.rate_per_second else most
            done = _result("sql", "transaction", max(1, count), None, _LATENCY_NS)
            if work.rate_per_second:  # only what was due has a response time
                done = replace(done, response=done.latency)
            return StepResult(started_ns=now_ns, elapsed_ns=work.duration_ns, results=(done,))
    return StepResult(started_ns=now_ns, elapsed_ns=work.count * _LATENCY_NS, results=(done,))


def _weight(stream: Stream) -> float:
    return SEQUENTIAL_WEIGHT if stream.access is Access.SEQUENTIAL else 1.0


def _stream_results(
    stream: Stream, elapsed_ns: int, share: float, rates: Rates
) -> list[OperationResult]:
    block = stream.block_bytes_mean
    rate = min(rates.ios_per_second, rates.bytes_per_second / block) * share
    if stream.rate is not None:
        rate = min(rate, stream.rate.ios_per_second)
    ios = max(1, round(rate * elapsed_ns / NS_PER_S))
    ios -= ios * stream.discard_percent // 100
    reads = ios * stream.read_percent // 100
    parts: list[tuple[Direction, int]] = [("read", reads), ("write", ios - reads)]
    return [
        # Latency follows the rate, so that methods that judge it have a least and a most as well.
        _result(stream.name, direction, count, round(count * block), round(_LATENCY_NS / share))
        for direction, count in parts
        if count
    ]


def _exactly(results: list[OperationResult], total_bytes: int) -> list[OperationResult]:
    """Give a byte-bounded step the bytes it asks for."""
    have = sum(result.moved_bytes for result in results) or 1
    return [replace(result, bytes=result.moved_bytes * total_bytes // have) for result in results]


def _result(
    stream: str, operation: str, count: int, size_bytes: int | None, latency_ns: int
) -> OperationResult:
    latency = Histogram(
        (np.array([latency_ns]), np.array([count])), count * latency_ns, latency_ns, latency_ns
    )
    return OperationResult(
        stream=stream, operation=operation, count=count, bytes=size_bytes, latency=latency
    )
