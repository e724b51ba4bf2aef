"""The write budget of a run: how much it may write, and whether the next step fits in.

A run is stopped before the write that would exceed it; preview.py refuses one that is expected to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from teijo.analysis.measures import written_by
from teijo.engine.session import Progress
from teijo.errors import Interrupted, RunFileError
from teijo.terms.result import StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.workload import Workload
from teijo.units import format_capacity

FACT: Final = "write limit"
"""The row of the run file's environment that holds a run's limit."""

OPTION: Final = "--max-drive-writes"


@dataclass(kw_only=True)
class Budget:
    """What a run may write, and what it has written. A drive write is its user capacity.

    `spent_bytes` are all bytes written so far but those of the running step.
    """

    drive_writes: float
    capacity_bytes: int
    spent_bytes: int = 0
    stopped: bool = False
    _rates: dict[Workload, float] = field(default_factory=dict)
    _step: "_Running | None" = None

    @property
    def limit_bytes(self) -> int:
        """The most bytes that may be written."""
        return int(self.drive_writes * self.capacity_bytes)

    @property
    def fact(self) -> str:
        """The limit as the run file has it."""
        return f"{self.drive_writes:g} drive writes ({format_capacity(self.limit_bytes)})"

    @property
    def reason(self) -> str:
        """What stops a run that reaches it."""
        spent = self.spent_bytes + (self._step.written_bytes if self._step else 0)
        return f"the limit of {self.fact} with {format_capacity(spent)} written"

    def check(self, step: Step) -> None:
        """Make sure that a step fits in, before its first write.

        A byte-bounded step writes what it asks for, a timed one what the last of its workload
        wrote in that time; of a workload not seen before only the looks can tell.

        Raises:
            Interrupted: it does not.
        """
        ahead = self._ahead_bytes(step)
        self._step = None
        if self.spent_bytes + ahead > self.limit_bytes:
            self.stopped = True
            raise Interrupted(
                f"Stopped by {self.reason}: the next step ({step.phase}) would write about "
                f"{format_capacity(ahead)} more."
            )
        if isinstance(step, Measure | Precondition):
            self._step = _Running(step=step, write_share=_write_share(step.workload))

    def fits(self, now: Progress) -> bool:
        """Take note of a look at the running step; return whether it may go on to the next."""
        running = self._step
        if running is None:
            return True
        ahead = running.look(now)
        self.stopped = self.spent_bytes + running.written_bytes + ahead > self.limit_bytes
        return not self.stopped

    def settle(self, step: Step, result: StepResult) -> None:
        """Count what a finished step wrote, and how fast."""
        written = written_by(step, result) or 0
        self.spent_bytes += written
        self._step = None
        if isinstance(step, Measure) and result.elapsed_ns:
            self._rates[step.workload] = written / result.elapsed_ns

    def _ahead_bytes(self, step: Step) -> int:
        match step:
            case Precondition():
                return round(step.total_bytes * _write_share(step.workload))
            case Measure():
                return round(self._rates.get(step.workload, 0.0) * step.duration_ns)
            case Idle() | Purge() | Configure() | Perform():
                return 0

    @classmethod
    def of(cls, environment: Mapping[str, str], capacity_bytes: int) -> Self | None:
        """Return the limit a record holds, None if it has none.

        Raises:
            RunFileError: it holds something else.
        """
        fact = environment.get(FACT)
        if fact is None:
            return None
        try:
            drive_writes = float((fact.split() or [""])[0])
        except ValueError:
            drive_writes = 0.0
        if not 0 < drive_writes < float("inf"):  # a file can say NaN as well
            raise RunFileError(
                f"The run file's {FACT} is {fact!r}, and no limit.",
                remedy=f"Set one: {OPTION} 3",
            )
        return cls(drive_writes=drive_writes, capacity_bytes=capacity_bytes)


@dataclass(kw_only=True)
class _Running:
    """The step under way, as far as its looks tell."""

    step: Measure | Precondition
    write_share: float
    written_bytes: int = 0
    _finished_writes: int = 0
    _finished_bytes: int = 0
    _elapsed_ns: int = 0
    _bytes: int = 0

    def look(self, now: Progress) -> int:
        """Take note of a look; return the bytes that may be written until the next one.

        Finished intervals tell reads from writes; of what came after them the workload's share
        is writes.
        """
        for _, direction, columns in now.finished:
            size = int(columns.bytes.sum())
            self._finished_bytes += size
            self._finished_writes += size if direction == "write" else 0
        loose = max(0, now.bytes - self._finished_bytes)
        before = self.written_bytes
        self.written_bytes = self._finished_writes + round(loose * self.write_share)
        ahead = max(0, self.written_bytes - before)
        left = self._share_left(now)
        self._elapsed_ns, self._bytes = now.elapsed_ns, now.bytes
        return round(ahead * left)

    def _share_left(self, now: Progress) -> float:
        """Return how much of a stretch as long as the last is still to come, 0 to 1."""
        match self.step:
            case Precondition(total_bytes=total):
                left, since = total - now.bytes, now.bytes - self._bytes
            case Measure(duration_ns=duration):
                left, since = duration - now.elapsed_ns, now.elapsed_ns - self._elapsed_ns
        return min(1.0, max(0.0, left / since)) if since > 0 else 1.0


def _write_share(workload: Workload) -> float:
    """Return the largest share of writes of any stream: never too little."""
    return max((100 - stream.read_percent) / 100 for stream in workload.streams)
