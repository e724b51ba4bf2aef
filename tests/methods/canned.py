"""Canned answers: whole conversations without a device, and the records they leave."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from teijo.methods.method import AnyMethod
from teijo.methods.operations import name_of
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.record import Ending, Record, RunInfo, StepRecord
from teijo.terms.remark import Remark
from teijo.terms.result import Answer, Gap, Intervals, OperationResult, StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step

GIB = 1024**3
DRIVE = Geometry(capacity_bytes=256 * GIB, nominal_capacity_bytes=256 * GIB)
"""A drive at full size, with full minutes."""

IDENTITY = Identity(
    kind="block",
    target="/dev/disk/by-id/example",
    model="Example Drive",
    serial="S1",
    firmware="F1",
    interface="NVMe",
    write_cache="write back",
)

Rate = Callable[[Step], float]
"""IOPS of a step."""

Latency = Callable[[Step, str], int]
"""Mean latency in ns of a step's reads or writes."""


def latencies(count: int, mean_ns: int, max_ns: int | None = None) -> Histogram:
    """Return `count` latencies of `mean_ns`, the last of them of `max_ns`."""
    if not count:
        return EMPTY
    longest = mean_ns if max_ns is None else max_ns
    if longest == mean_ns or count == 1:
        values, counts = [longest], [count]
    else:
        values, counts = [mean_ns, longest], [count - 1, 1]
    total = sum(v * c for v, c in zip(values, counts, strict=True))
    return Histogram((np.array(values), np.array(counts)), total, min(values), max(values))


def flow(
    direction: str,
    ios: int,
    block_size_bytes: int,
    *,
    mean_ns: int = 1_000,
    max_ns: int | None = None,
) -> OperationResult:
    """Return the result of one direction; one interval holds it all."""
    one = np.array([ios], np.int64)
    return OperationResult(
        stream="main",
        operation=direction,
        count=ios,
        bytes=ios * block_size_bytes,
        errors={},
        latency=latencies(ios, mean_ns, max_ns),
        intervals=Intervals(
            length_ns=1_000_000_000,
            index=np.array([0], np.int64),
            ios=one,
            bytes=one * block_size_bytes,
            errors=one * 0,
            latency_ns_sum=one * mean_ns,
            latency_ns_min=one * 0 + mean_ns,
            latency_ns_max=one * 0 + mean_ns,
        ),
    )


@dataclass
class Canned:
    """A device of canned answers on its own clock. `gaps` are the sequence numbers it misses."""

    rate: Rate
    latency_ns: Latency | None = None
    """By default that of a closed loop that is always full (Little's law)."""
    gaps: frozenset[int] = frozenset()
    purge: str = "format"
    now_ns: int = 0
    written: int = 0
    asked: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> Answer:
        self.asked.append(step)
        if len(self.asked) in self.gaps:
            return Gap()
        started, before = self.now_ns, self.written
        match step:
            case Purge():
                return StepResult(started_ns=started, elapsed_ns=0, detail={"method": self.purge})
            case Configure():
                return StepResult(started_ns=started, elapsed_ns=0, detail={"target": step.text})
            case Idle():
                self.now_ns += step.duration_ns
                return StepResult(started_ns=started, elapsed_ns=step.duration_ns)
            case Perform():
                return self._performed(step)
            case Precondition():
                elapsed, ios = 1_000_000_000, step.total_bytes // self.block(step)
            case Measure():
                elapsed = step.duration_ns
                ios = round(self.rate(step) * elapsed / 1e9)
        stream = step.workload.streams[0]
        reads = ios * stream.read_percent // 100
        self.now_ns += elapsed
        self.written += (ios - reads) * stream.block_size_bytes
        results = [
            flow(
                direction,
                part,
                stream.block_size_bytes,
                mean_ns=self.mean_ns(step, direction, ios, elapsed),
            )
            for direction, part in (("read", reads), ("write", ios - reads))
            if part
        ]
        return StepResult(
            started_ns=started,
            elapsed_ns=elapsed,
            results=tuple(results),
            health_before={"host_writes_bytes": before, "nand_writes_bytes": 2 * before},
            health_after={
                "host_writes_bytes": self.written,
                "nand_writes_bytes": 2 * self.written,
            },
        )

    def _performed(self, step: Perform) -> StepResult:
        started, self.now_ns = self.now_ns, self.now_ns + 1_000_000 * step.work.count
        part = OperationResult(
            stream="canned",
            operation=name_of(step.work),
            count=step.work.count,
            latency=latencies(step.work.count, 1_000),
        )
        return StepResult(
            started_ns=started, elapsed_ns=1_000_000 * step.work.count, results=(part,)
        )

    def mean_ns(self, step: Precondition | Measure, direction: str, ios: int, elapsed: int) -> int:
        if self.latency_ns is not None:
            return self.latency_ns(step, direction)
        depth = sum(stream.outstanding_ios for stream in step.workload.streams)
        return max(1, round(depth * elapsed / ios))

    @staticmethod
    def block(step: Precondition) -> int:
        return step.workload.streams[0].block_size_bytes


@dataclass(frozen=True, kw_only=True)
class Played:
    """A conversation that came to its end."""

    steps: tuple[StepRecord, ...]
    ending: Ending
    settings: Settings
    record: Record

    @property
    def asked(self) -> list[Step]:
        """The steps in the order asked."""
        return [each.step for each in self.steps]

    @property
    def measured(self) -> list[Measure]:
        """The measurements asked, gaps included."""
        return [step for step in self.asked if isinstance(step, Measure)]


def play(
    method: AnyMethod,
    device: Canned,
    *,
    spec: str = "",
    geometry: Geometry = DRIVE,
    overrides: Mapping[str, str] | None = None,
    identity: Identity = IDENTITY,
) -> Played:
    """Hold the whole conversation with a canned device."""
    settings = method.settings(spec, overrides or {}, geometry)
    conversation = method.steps(settings, geometry)
    steps: list[StepRecord] = []
    try:
        step = next(conversation)
        while True:
            answer = device(step)
            steps.append(StepRecord(seq=len(steps) + 1, step=step, seed=len(steps), answer=answer))
            step = conversation.send(answer)
    except StopIteration as end:
        ending: Ending = end.value
    remarks = method.deviations(settings, geometry)
    record = record_of(
        method,
        settings,
        tuple(steps),
        ending,
        geometry=geometry,
        identity=identity,
        remarks=remarks,
    )
    return Played(steps=tuple(steps), ending=ending, settings=settings, record=record)


def record_of(
    method: AnyMethod,
    settings: Settings,
    steps: tuple[StepRecord, ...],
    ending: Ending = "running",
    *,
    geometry: Geometry = DRIVE,
    identity: Identity = IDENTITY,
    remarks: tuple[Remark, ...] = (),
) -> Record:
    """Return a record of these exchanges."""
    return Record(
        run=RunInfo(
            id="00000000",
            method=method.id,
            spec=settings.spec,
            settings=settings.model_dump(mode="json"),
            seed=1,
            engine="canned",
            version="0.1.0",
            started_at="2026-11-20T09:14:00+00:00",
            ended_at="" if ending == "running" else "2026-11-20T15:14:00+00:00",
            ending=ending,
        ),
        geometry=geometry,
        identity=identity,
        environment={"os": "Debian", "cpu": "two cores"},
        steps=steps,
        remarks=remarks,
    )
