"""A device of paper for faults on order: deterministic, in its own time, and as bad as told."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pytest

from teijo.device.device import Configured
from teijo.device.health.drive_log import LogReader
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.document.model import Document, Header
from teijo.engine.plan import Plan, StreamPlan
from teijo.engine.session import (
    Ceilings,
    Lap,
    Observer,
    Progress,
    StuckIo,
)
from teijo.methods.found import Found
from teijo.methods.method import Method, Steps
from teijo.methods.settings import Settings
from teijo.runner import health_watch
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.histogram import Histogram
from teijo.terms.purge import PurgeResult
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, Intervals, OperationResult, StepResult
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge
from teijo.terms.watch import Watch
from teijo.terms.workload import Access, Stream, Workload

SECOND = 1_000_000_000
MIB = 1024 * 1024


@dataclass(kw_only=True)
class Faults:
    """What goes wrong, by the number of the lap (from 1) in which it does."""

    failure: Mapping[int, str] = field(default_factory=dict)
    errors: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    raises: Mapping[int, Exception] = field(default_factory=dict)
    during: Mapping[int, Callable[[], None]] = field(default_factory=dict)


class FakeSession:
    """Answers every plan from its seed alone; a lap of time takes that time, of bytes 1 s."""

    backend = "paper"

    def __init__(self, faults: Faults) -> None:
        self.clock_ns = 5 * SECOND
        self.faults = faults
        self.plans: list[Plan] = []
        self.finished = 0

    def now_ns(self) -> int:
        return self.clock_ns

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        self.plans.append(plan)
        number = len(self.plans)
        if error := self.faults.raises.get(number):
            raise error
        started_ns = self.clock_ns
        elapsed_ns = plan.duration_ns or SECOND
        errors = self.faults.errors.get(number, {})
        parts = [part for stream in plan.streams for part in answers(stream, elapsed_ns, errors)]
        seconds = -(-elapsed_ns // SECOND)
        for second in range(seconds):
            self.clock_ns = started_ns + min(elapsed_ns, (second + 1) * SECOND)
            if action := self.faults.during.get(number):
                action()
            finished = tuple(
                (part.stream, part.operation, one_of(part.intervals, second)) for part in parts
            )
            look = Progress(
                elapsed_ns=min(elapsed_ns, (second + 1) * SECOND),
                ios=sum(part.count for part in parts) * (second + 1) // seconds,
                bytes=sum(part.bytes for part in parts) * (second + 1) // seconds,
                errors=0,
                finished=finished,
            )
            if observer is not None and not observer(look):
                break
        self.clock_ns = started_ns + elapsed_ns
        result = StepResult(
            started_ns=started_ns,
            elapsed_ns=elapsed_ns,
            results=tuple(parts),
            cursors={
                placed.stream.name: placed.cursor_bytes + 3 * placed.stream.block_size_bytes
                for placed in plan.streams
                if placed.stream.access is Access.SEQUENTIAL
            },
        )
        return Lap(result=result, failure=self.faults.failure.get(number, ""))

    def choices(self) -> dict[str, str]:
        return {}

    def ceilings(self) -> Ceilings | None:
        return None

    def limit_io(self, io_timeout_ns: int) -> None:
        self.io_timeout_ns = io_timeout_ns

    def pin(self, cpus: Sequence[int]) -> None:
        self.cpus = tuple(cpus)

    def stuck(self) -> tuple[StuckIo, ...]:
        return ()

    def finish(self) -> None:
        self.finished += 1

    def close(self) -> None:
        pass


def answers(
    placed: StreamPlan, elapsed_ns: int, errors: Mapping[int, int]
) -> list[OperationResult]:
    """Return both directions of one stream: a few I/Os a second, drawn from its seed."""
    stream, draw = placed.stream, random.Random(placed.seed)
    seconds = -(-elapsed_ns // SECOND)
    parts = []
    for direction, share in (("read", stream.read_percent), ("write", 100 - stream.read_percent)):
        if share == 0:
            continue
        counts = np.array([draw.randint(8, 12) for _ in range(seconds)], np.int64)
        buckets = np.array([10_000, 20_000, 40_000], np.int64)
        spread = np.array([int(counts.sum()) - 2, 1, 1], np.int64)
        total = int((buckets * spread).sum())
        zeros = np.zeros(seconds, np.int64)
        parts.append(
            OperationResult(
                stream=stream.name,
                operation=direction,
                count=int(counts.sum()),
                bytes=int(counts.sum()) * stream.block_size_bytes,
                errors=dict(errors),
                latency=Histogram((buckets, spread), total, 10_001, 40_003),
                intervals=Intervals(
                    length_ns=SECOND,
                    index=np.arange(seconds, dtype=np.int64),
                    ios=counts,
                    bytes=counts * stream.block_size_bytes,
                    errors=zeros,
                    latency_ns_sum=counts * 10_500,
                    latency_ns_min=zeros + 10_001,
                    latency_ns_max=zeros + 40_003,
                ),
            )
        )
    return parts


def one_of(series: Intervals, place: int) -> Intervals:
    """Return one interval of a series."""
    columns = {
        name: column[place : place + 1]
        for name, column in vars(series).items()
        if isinstance(column, np.ndarray)
    }
    return replace(series, **columns)


class FakeDevice:
    """A device of paper. `purge_method` None: it cannot be purged."""

    def __init__(
        self,
        *,
        replayable: bool = True,
        faults: Faults | None = None,
        serial: str = "PAPER-1",
        purge_method: str | None = "paper shredder",
    ) -> None:
        self.identity = Identity(
            kind="simulated" if replayable else "file", target="paper", serial=serial
        )
        self.geometry = Geometry(capacity_bytes=64 * MIB, nominal_capacity_bytes=64 * MIB)
        self.session = FakeSession(faults or Faults())
        self.replayable = replayable
        self.purge_method = purge_method
        self.checks = 0
        self.lost: Exception | None = None
        self.rest: Callable[[], None] = lambda: None
        self.smart_ns = 0
        """How long the drive takes to tell its own counters; 0: it has none."""
        self.smart: dict[str, int] = {"power_on_hours": 3}
        self.log: LogReader | None = None
        """What reads its log while it is driven."""
        self.looks: list[tuple[int, int]] = []
        """When the drive was asked for them, and after how many laps."""

    def remarks(self) -> tuple[Remark, ...]:
        return (Remark(kind=RemarkKind.SIMULATED, text="It is of paper."),)

    def free_counters(self) -> FreeCounters:
        self.session.clock_ns += 7  # looking at the counters takes time, and is a rest
        return FreeCounters({"laps": len(self.session.plans)})

    def asked_counters(self) -> AskedCounters:
        if not self.smart_ns:
            return AskedCounters()
        self.looks.append((self.session.clock_ns, len(self.session.plans)))
        self.session.clock_ns += self.smart_ns
        return AskedCounters(self.smart)

    def log_reader(self) -> LogReader | None:
        return self.log

    def counts(self) -> dict[str, int]:
        return {"laps": len(self.session.plans), "faults": 0}

    def unwritten_bytes(self) -> int | None:
        return None

    def purge(
        self, method: str = "auto", silence_ns: int = 0, *, progress: object = None
    ) -> PurgeResult | None:
        del progress
        self.session.clock_ns += SECOND
        return (
            None
            if self.purge_method is None
            else PurgeResult(method="simulated", words=self.purge_method)
        )

    def idle(self, duration_ns: int, look: Callable[[], None]) -> None:
        look()
        self.rest()
        self.session.clock_ns += duration_ns

    def configure(self, step: Configure) -> Configured:
        self.session = FakeSession(self.session.faults)
        return Configured(detail={"target": step.text}, elapsed_ns=2 * SECOND)

    def check(self) -> None:
        self.checks += 1
        if self.lost is not None:
            raise self.lost

    def close(self) -> None:
        pass


class PaperSettings(Settings):
    rounds: int = 3
    seconds: int = 2


class PaperFound(Found[PaperSettings]):
    """How many rounds were begun."""

    @property
    def rounds(self) -> int:
        return len({step.round_number for step, _ in self.record.measured()})

    @cached_property
    def watch(self) -> Watch:
        return Watch(phase=f"after {len(self.record.steps)}")


class PaperMethod(Method[PaperSettings, PaperFound]):
    """Purges, preconditions, rests, and measures rounds of two cells; a gap restarts a round."""

    id = "paper"
    title = "Paper"
    summary = "for tests"
    settings_type = PaperSettings
    found_type = PaperFound

    def __init__(self, ending: str = "steady", first_block: int = 4096, fills: int = 1) -> None:
        self.ending = ending
        self.fills = fills
        self.first_block = first_block

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> PaperSettings:
        return PaperSettings()

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        assert isinstance(settings, PaperSettings)
        yield Purge()
        fill = workload(0, 128 * 1024, Access.SEQUENTIAL)
        for _ in range(self.fills):
            while isinstance((yield Precondition(workload=fill, total_bytes=MIB)), Gap):
                pass
        yield Idle(duration_ns=SECOND)
        number = 1
        while number <= settings.rounds:
            for cell, reads in (("mixed", 50), ("writes", 0)):
                step = Measure(
                    workload=workload(reads, self.first_block),
                    duration_ns=settings.seconds * SECOND,
                    round_number=number,
                    cell=cell,
                )
                if isinstance((yield step), Gap):
                    break
            else:
                number += 1
        return self.ending  # type: ignore[return-value]

    def document(self, found: PaperFound) -> Document:
        header = Header(title="", subtitle="", organisation="", revision="", top=(), groups=())
        return Document(name="paper", header=header, sections=())


def workload(read_percent: int, block: int, access: Access = Access.RANDOM) -> Workload:
    """Return one stream."""
    return Workload(
        streams=(Stream(read_percent=read_percent, block_size_bytes=block, access=access),)
    )


STEPS = 9
"""How many steps the paper method has when nothing goes wrong."""


def results_of(record: Record) -> list[StepResult]:
    """Return the answers that are results."""
    return [each.answer for each in record.steps if isinstance(each.answer, StepResult)]


def answer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a watch's questions be answered before the clock of paper goes on."""
    order = health_watch._Thread.order

    def ordered(self: health_watch._Thread, step: int, origin_ns: int) -> None:
        order(self, step, origin_ns)
        self.over.wait()

    monkeypatch.setattr(health_watch._Thread, "order", ordered)
