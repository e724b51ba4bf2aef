"""A drive and a program that keep to everything, as canned answers: what a ledger must let pass."""

from dataclasses import dataclass, field, replace

from teijo.conformance.versions import version_of
from teijo.methods.method import AnyMethod
from teijo.methods.parts import findings_of
from teijo.terms.conformance import LedgerLine
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Measure, Precondition, Purge, Step
from teijo.terms.workload import Access
from tests.methods.canned import DRIVE, IDENTITY, Canned, Played, play


def steady_rate(step: Step) -> float:
    """IOPS of a drive that is always steady; the demand grows with what is outstanding."""
    assert isinstance(step, Measure)
    stream = step.workload.streams[0]
    return min(2_000.0 * stream.outstanding_ios, 8e9 / stream.block_size_bytes, 400_000.0)


@dataclass
class Exemplary(Canned):
    """Canned answers with what a real record has besides: cursors, counters, latencies."""

    geometry: Geometry = DRIVE
    cursors: dict[str, int] = field(default_factory=dict)
    kernel: int = 0

    def __call__(self, step: Step) -> Answer:
        answer = super().__call__(step)
        if isinstance(step, Purge):
            self.cursors.clear()
        if not isinstance(answer, StepResult) or not isinstance(step, Measure | Precondition):
            return answer
        before, self.kernel = self.kernel, self.kernel + answer.bytes
        for stream in step.workload.streams:
            if stream.access is Access.SEQUENTIAL:
                share = stream.active_range.share_percent
                whole = self.geometry.capacity_bytes * share // 100 // 4096 * 4096
                if (amount := stream.active_range.amount_bytes) is not None:
                    whole = min(whole, amount)
                self.cursors[stream.name] = (
                    self.cursors.get(stream.name, 0) + answer.bytes
                ) % whole
        (stream,) = step.workload.streams
        return replace(
            answer,
            results=tuple(replace(part, stream=stream.name) for part in answer.results),
            cursors=dict(self.cursors),
            health_before={**answer.health_before, **_kernel(before)},
            health_after={**answer.health_after, **_kernel(self.kernel)},
        )


def _kernel(moved: int) -> dict[str, int]:
    return {
        "kernel_read_bytes": 0,
        "kernel_reads": 0,
        "kernel_write_bytes": moved,
        "kernel_writes": moved // 4096,
    }


def little(step: Step, direction: str) -> int:
    """Return the mean latency that keeps Little's law at the step's depth."""
    del direction
    assert isinstance(step, Measure | Precondition)
    stream = step.workload.streams[0]
    if isinstance(step, Precondition):
        return (
            stream.outstanding_ios * 1_000_000_000 // (step.total_bytes // stream.block_size_bytes)
        )
    return round(stream.outstanding_ios / steady_rate(step) * 1e9)


def drive_of(spec: str) -> Identity:
    """Return a drive whose cache is as the version asks, read back from itself."""
    return replace(
        IDENTITY,
        write_cache=version_of(spec).write_cache,
        facts={"write cache read by": "NVMe Get Features 06h"},
    )


def kept(method: AnyMethod, spec: str, overrides: dict[str, str] | None = None) -> Played:
    """Return a run that keeps to its version in everything but the overrides."""
    device = Exemplary(rate=steady_rate, latency_ns=little, purge="NVMe Format, user data erase")
    return play(method, device, spec=spec, overrides=overrides, identity=drive_of(spec))


def lines_of(method: AnyMethod, record: Record) -> dict[str, LedgerLine]:
    """Return the ledger of a record by requirement."""
    return {line.requirement: line for line in findings_of(record).ledger}
