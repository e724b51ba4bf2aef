"""Numbers that hold each other: depths in flight, Little's law, and tests of one device between
them.

Two figures contradict each other when their quotient leaves the bounds here. The bounds are
this program's, not the standard's.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from teijo.analysis.validity import DEPTH_SHARE_LEAST, LEAST_NS
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult
from teijo.terms.shared import hosts_at, parts_in
from teijo.terms.step import Measure, Precondition

Load = Measure | Precondition

DEPTH_LIMITS = (DEPTH_SHARE_LEAST, 1.03)
"""In flight by threads × queue depth, while I/O is to be issued; counted, or by Little's law."""

LITTLE_BOUNDS = (0.90, 1.03)
"""In the system by latencies against the depth: beyond these, latencies and times contradict
each other. A thread between two I/Os has none in it."""

UNITY_BOUNDS = (0.90, 1.02)
"""Mean latency × IOPS at one outstanding I/O: the rest is the host's, between two I/Os."""

LARGE_READ_BOUNDS = (0.70, 1.10)
"""Random reads of 1024 KiB against sequential ones: never faster, and seldom much slower."""

SATURATION_BOUNDS = (0.75, 1.33)
"""Random 4 KiB writes by two tests: the loops differ, and each window may hold 20 %."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One figure against another that should be about the same, in one unit.

    `bounds` are on `left` / `right`. `reason` says why the two cannot be held together; then
    there is no verdict.
    """

    name: str
    unit: str
    left: float | None
    right: float | None
    bounds: tuple[float, float]
    reason: str = ""

    @property
    def quotient(self) -> float | None:
        """Return `left` by `right`, None where one of them is missing."""
        if self.left is None or not self.right:
            return None
        return self.left / self.right

    @property
    def holds(self) -> bool | None:
        """Return whether the two agree, None where nobody can know."""
        quotient = self.quotient
        if self.reason or quotient is None or not math.isfinite(quotient):
            return None
        return self.bounds[0] <= quotient <= self.bounds[1]


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """Steps with one stimulus that went on from each to the next; most are of one step alone."""

    seq: int
    parts: tuple[tuple[Load, StepResult], ...]


@dataclass(frozen=True, kw_only=True)
class Depth:
    """In flight by threads × queue depth, from `least` to `most`: one number if it was `counted`.

    A count is of the time in which I/O was to be issued; of others the drain is part.
    """

    asked: int
    least: float
    most: float
    counted: bool

    @property
    def kept(self) -> bool | None:
        """Return whether it stayed within the limits, None where it cannot be known."""
        low, high = DEPTH_LIMITS
        if low <= self.least and self.most <= high:
            return True
        return False if self.most < low or self.least > high else None


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """Little's law in a closed loop, which keeps threads × queue depth in the system.

    `by_latency` is Σ latency / time, the arrival rate times the mean latency; `asked` the depth.
    `drain` is the share of the time after the last issue: fewer and fewer are in flight then.
    The sum has at most `extra` of the depth from I/Os that began before, and lacks at most
    `missing` of those that had not ended: only where a stimulus goes on from step to step.
    """

    by_latency: float
    asked: int
    drain: float = 0.0
    extra: float = 0.0
    missing: float = 0.0

    @property
    def quotient(self) -> float:
        """Return the one by the other: 1 where the law holds."""
        return self.by_latency / self.asked

    @property
    def depth(self) -> Depth:
        """Return how deep the loop was, as far as latencies show, its drain included."""
        least, most = max(0.0, self.quotient - self.extra), self.quotient + self.missing
        return Depth(asked=self.asked, least=least, most=most, counted=False)

    @property
    def holds(self) -> bool:
        """Return whether the two agree within the bounds, for as long as I/O was issued."""
        low, high = LITTLE_BOUNDS
        return low * (1 - self.drain) <= self.depth.most and self.depth.least <= high


def stimuli(steps: Iterable[StepRecord]) -> tuple[Stimulus, ...]:
    """Return the stimuli of the steps that moved data, each with every step it went on in."""
    found: list[tuple[int, list[tuple[Load, StepResult]]]] = []
    runs_on = False
    for each in steps:
        step, answer = each.step, each.answer
        if not isinstance(step, Load) or not isinstance(answer, StepResult):
            runs_on = False
            continue
        if not (runs_on and isinstance(step, Measure) and step.continues):
            found.append((each.seq, []))
        found[-1][1].append((step, answer))
        runs_on = isinstance(step, Measure) and step.open_ended
    return tuple(Stimulus(seq=seq, parts=tuple(parts)) for seq, parts in found)


def occupancy_of(stimulus: Stimulus) -> Occupancy | None:
    """Return Little's law for a stimulus, over all its steps; None where it cannot be known.

    That is where nothing was done, where some I/Os are in no latency (they failed, flushed or
    discarded), and where arrivals have a rate of their own.
    Source: J. D. C. Little, "A Proof for the Queuing Formula: L = λW", 1961.
    """
    (first, _), (last, ended) = stimulus.parts[0], stimulus.parts[-1]
    answers = [answer for _, answer in stimulus.parts]
    elapsed_ns = sum(answer.elapsed_ns for answer in answers)
    results = [result for answer in answers for result in answer.results]
    untimed = any(answer.commands for answer in answers) or any(each.errors for each in results)
    asked = _asked(first, ended)
    if not elapsed_ns or not any(result.count for result in results) or untimed or not asked:
        return None
    # Each place of the depth has at most one I/O across an edge, no longer than the longest.
    edge = max(result.timed.max_ns for result in results) / elapsed_ns
    drain_ns = 0
    if isinstance(last, Measure) and not last.open_ended:
        drain_ns = max(0, ended.elapsed_ns - last.duration_ns)
    return Occupancy(
        by_latency=sum(result.timed.sum_ns for result in results) / elapsed_ns,
        asked=asked,
        drain=min(1.0, drain_ns / elapsed_ns + _alone(answers, elapsed_ns)),
        extra=edge if isinstance(first, Measure) and first.continues else 0.0,
        missing=edge if isinstance(last, Measure) and last.open_ended else 0.0,
    )


def _alone(answers: Iterable[StepResult], elapsed_ns: int) -> float:
    """Return the share of the hosts' time in which one was through, or had not begun, and others
    were at work: 0 of a step from one host.
    """
    idle_ns = 0.0
    for answer in answers:
        parts = parts_in(answer.detail)
        at_work_ns = sum(min(part.elapsed_ns, answer.elapsed_ns) for part in parts)
        idle_ns += answer.elapsed_ns - at_work_ns / len(parts) if parts else 0.0
    return idle_ns / elapsed_ns


def depths_of(stimulus: Stimulus) -> tuple[Depth, ...]:
    """Return how deep a stimulus was: by step where it was counted, else over all of it.

    Nothing for an open loop, for what is too short to say, and where no latency says.
    """
    asked = _asked(*stimulus.parts[0])
    if not asked:
        return ()
    counts = [answer.in_flight_mean for _, answer in stimulus.parts]
    if any(count is None for count in counts):
        told = occupancy_of(stimulus)
        return () if told is None else (told.depth,)
    return tuple(
        Depth(asked=asked, least=count / asked, most=count / asked, counted=True)
        for (_, answer), count in zip(stimulus.parts, counts, strict=True)
        if count is not None and not _too_short(answer)
    )


def _too_short(answer: StepResult) -> bool:
    """Return whether threads that begin one after the other are all there is of a step."""
    return answer.witness is not None and answer.witness.wall_ns < LEAST_NS


def _asked(step: Load, answer: StepResult) -> int:
    """Return the threads × queue depth of a closed loop, on all its hosts; 0 for an open one."""
    streams = step.workload.streams
    if any(stream.rate is not None for stream in streams):
        return 0
    return hosts_at(answer.detail) * sum(stream.outstanding_ios for stream in streams)
