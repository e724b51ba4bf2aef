"""Numbers that hold each other: Little's law within a step, and tests of one device between them.

Two figures contradict each other when their quotient leaves the bounds here. The bounds are
this program's, not the standard's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition

LITTLE_BOUNDS = (0.90, 1.03)
"""In the system by latencies against the depth: a thread between two I/Os has none in it."""

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
        """Return whether the two agree, None where that cannot be told."""
        quotient = self.quotient
        if self.reason or quotient is None or not math.isfinite(quotient):
            return None
        return self.bounds[0] <= quotient <= self.bounds[1]


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """Little's law in one step of a closed loop, which keeps threads × queue depth in the system.

    `by_latency` is Σ latency / time, the arrival rate times the mean latency; `asked` the depth.
    `edge` is the longest latency by the step's length: at most so much of the sum belongs to I/Os
    that the step did not begin or did not end, where a stimulus goes on from step to step.
    """

    by_latency: float
    asked: int
    edge: float

    @property
    def quotient(self) -> float:
        """Return the one by the other: 1 where the law holds."""
        return self.by_latency / self.asked

    @property
    def holds(self) -> bool:
        """Return whether the two agree within the bounds."""
        low, high = LITTLE_BOUNDS
        return low - self.edge <= self.quotient <= high + self.edge


def occupancy(step: Measure | Precondition, answer: StepResult) -> Occupancy | None:
    """Return Little's law for a step, None where it cannot be told.

    That is where nothing was done, where some I/Os are in no latency (they failed, flushed or
    discarded), and where arrivals have a rate of their own.
    Source: J. D. C. Little, "A Proof for the Queuing Formula: L = λW", 1961.
    """
    streams = step.workload.streams
    untimed = answer.commands or any(result.errors for result in answer.results)
    if not answer.elapsed_ns or not answer.ios or untimed:
        return None
    if any(stream.rate is not None for stream in streams):
        return None
    latency_ns = sum(result.latency.sum_ns for result in answer.results)
    return Occupancy(
        by_latency=latency_ns / answer.elapsed_ns,
        asked=sum(stream.outstanding_ios for stream in streams),
        edge=max(result.latency.max_ns for result in answer.results) / answer.elapsed_ns,
    )


def contradictions(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks whose figures contradict each other."""
    return tuple(check for check in checks if check.holds is False)
