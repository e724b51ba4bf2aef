"""One load for a time, pass after pass: what SQLIO and DiskSpd are alike in.

Its steps, and what their answers show; each tool's own figures are in its room.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Generic, TypeVar

from teijo import units
from teijo.analysis import measures, percentile
from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT, Quantity, of_intervals, of_rounds
from teijo.document.phrase import Verbatim, say
from teijo.methods.found import Found
from teijo.methods.method import Steps
from teijo.methods.phrases import insist
from teijo.methods.settings import Settings
from teijo.terms.finding import Cell, Scalar
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import STOPPED, Answer, StepResult
from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.watch import Watch
from teijo.terms.workload import Workload

PASS: Final = "pass"
PREPARE: Final = "prepare"
WARM_UP: Final = "warm-up"
COOL_DOWN: Final = "cool-down"

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, kw_only=True)
class TimedLoad:
    """One load, driven `passes` times: with a warm-up before and a cool-down behind each.

    `prepare` is written first, one after the other. A run of a single pass may be ended early by
    who runs it, and what was measured until then counts.
    """

    name: str
    workload: Workload
    duration_ns: int
    warm_up_ns: int = 0
    cool_down_ns: int = 0
    interval_ns: int = units.NS_PER_S
    passes: int = 1
    prepare: tuple[Precondition, ...] = ()

    def steps_of(self, number: int) -> tuple[Measure, ...]:
        """Return the steps of a pass: its I/O goes on from one to the next."""
        parts = (
            (WARM_UP, self.warm_up_ns),
            (PASS, self.duration_ns),
            (COOL_DOWN, self.cool_down_ns),
        )
        asked = [(phase, length) for phase, length in parts if length]
        return tuple(
            Measure(
                workload=self.workload,
                duration_ns=length,
                phase=phase,
                round_number=number,
                cell=self.name,
                continues=place > 0,
                open_ended=place < len(asked) - 1,
                interval_ns=self.interval_ns,
                ends_early=phase != WARM_UP and self.passes == 1,
            )
            for place, (phase, length) in enumerate(asked)
        )

    def conversation(self) -> Steps:
        """Ask for what is written first, then for each pass; after a gap the pass begins anew."""
        for step in self.prepare:
            yield from insist(step)
        for number in range(1, self.passes + 1):
            while not (yield from _whole(self.steps_of(number))):
                pass
        return "done"


def _whole(steps: Sequence[Measure]) -> Generator[Step, Answer, bool]:
    for step in steps:
        answer = yield step
        if not isinstance(answer, StepResult):
            return False
        if STOPPED in answer.detail:
            return True  # without the cool-down: whoever ended it does not want to wait for more
    return True


class TimedFound(Found[S], Generic[S]):
    """What a record of such a load shows: its passes, and all their I/Os together."""

    @cached_property
    def load(self) -> TimedLoad:
        """The load that was asked for."""
        raise NotImplementedError

    @cached_property
    def passes(self) -> tuple[StepResult, ...]:
        """The answer of each pass; of one that began anew, the last."""
        measured = self.record.measured(PASS)
        return tuple({step.round_number: answer for step, answer in measured}.values())

    @property
    def rounds(self) -> int:
        """How many passes there are."""
        return len(self.passes)

    @cached_property
    def latency(self) -> Histogram:
        """The latencies of all I/Os of all passes."""
        return merged(measures.latency_of(answer) for answer in self.passes)

    @property
    def elapsed_ns(self) -> int:
        """How long all passes lasted together."""
        return sum(answer.elapsed_ns for answer in self.passes)

    @property
    def ios(self) -> int:
        """I/Os of all passes."""
        return sum(answer.ios for answer in self.passes)

    @property
    def moved_bytes(self) -> int:
        """Bytes of all passes."""
        return sum(answer.bytes for answer in self.passes)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Rates and times of all passes together."""
        if not self.passes:
            return ()
        times = [
            Scalar(
                name=say("latency {percentile}", percentile=percentile.percentile_name(percent)),
                value=None if value is None else float(value),
                unit="ns",
            )
            for percent, value in percentile.percentiles_ns(self.latency)
        ]
        mb_s = units.megabytes_per_second(self.moved_bytes, self.elapsed_ns)
        return (
            Scalar(name="IOPS", value=units.per_second(self.ios, self.elapsed_ns), unit="IOPS"),
            Scalar(name="throughput", value=mb_s, unit="MB/s"),
            Scalar(name="latency mean", value=self.latency.mean_ns, unit="ns"),
            *times,
            Scalar(name="latency max", value=float(self.latency.max_ns), unit="ns"),
        )

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The one cell."""
        if not self.passes:
            return ()
        return (measures.cell_over((("test", self.load.name),), self.passes),)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Rates and mean latency: over the passes, of a single one over stretches of it."""
        place = Verbatim(self.load.name)
        if len(self.passes) == 1:
            return of_intervals(place, self.passes)
        return of_rounds(place, self.passes, (IOPS, THROUGHPUT, LATENCY))

    @property
    def watch_running(self) -> Watch:
        """Which pass is under way, and what is left."""
        load, done = self.load, len(self.passes)
        written = len(self.record.taken(Precondition))
        ahead = load.prepare[written:]
        each_ns = load.warm_up_ns + load.duration_ns + load.cool_down_ns
        left_ns = each_ns * max(0, load.passes - done)
        watch = Watch(phase=PASS, remaining_ns_least=left_ns, remaining_ns_most=left_ns)
        if ahead:
            left_bytes = sum(step.total_bytes for step in ahead)
            return replace(watch, phase=PREPARE, remaining_bytes=left_bytes)
        if done >= load.passes:
            return watch
        return replace(
            watch,
            round_number=done + 1,
            rounds_least=load.passes,
            rounds_most=load.passes,
            cell=load.name,
        )
