"""Demand: a sweep of threads × queue depth, and the operating points it has (PTS DIRTH, CBW).

Works on one IOPS and one mean latency per point, reads and writes together.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.terms.result import StepResult

STATE_SHARE: Final = 0.2
"""The range that steady state allows: what differs by more is another state of the drive."""


@dataclass(frozen=True, kw_only=True)
class SweepCell:
    """A demand of the sweep, which is a cell of its rounds."""

    threads: int
    queue_depth: int

    @property
    def outstanding_ios(self) -> int:
        """Total OIO: threads × queue depth."""
        return self.threads * self.queue_depth

    @property
    def name(self) -> str:
        """The name that the record has for it: "TC 32 QD 8"."""
        return f"TC {self.threads} QD {self.queue_depth}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on the axes of the sweep."""
        return (("threads", str(self.threads)), ("queue depth", str(self.queue_depth)))


@dataclass(frozen=True, kw_only=True)
class DemandPoint(SweepCell):
    """What a device gave at one demand: all I/Os per second, and their mean latency (ART).

    `latency_ns_mean` counts every I/O once, read or write.
    """

    iops: float
    latency_ns_mean: float


@dataclass(frozen=True, kw_only=True)
class RestedPoint:
    """A point that a drive met rested: its IOPS are `share` times those of the greatest demand.

    `after` is the lighter point that was measured right before it.
    """

    point: DemandPoint
    after: DemandPoint
    share: float


@dataclass(frozen=True, kw_only=True)
class OperatingPoints:
    """The points of a sweep that are measured closely (PTS: MaxIOPS, MidIOPS, MinIOPS).

    `target_iops` is halfway between the maximum's and the minimum's IOPS, where the middle is
    looked for. `within_limit` is whether the maximum keeps the latency limit: if no point
    does, the maximum is the point of the lowest mean latency instead.
    """

    maximum: DemandPoint
    middle: DemandPoint
    minimum: DemandPoint
    target_iops: float
    within_limit: bool


def operating_points(points: Sequence[DemandPoint], limit_ns: float) -> OperatingPoints | None:
    """Return a sweep's operating points, None where no point completed an I/O.

    The maximum has the highest IOPS of the points whose mean latency is below `limit_ns`; the
    minimum is TC1 QD1, or the least demand there is; the middle has the IOPS nearest to the mean
    of the two, of all points. Of equal points the one of lower latency counts, then that of less
    demand.
    """
    served = [point for point in points if point.iops > 0]
    if not served:
        return None
    minimum = min(served, key=lambda point: (point.outstanding_ios, point.threads))
    quick = [point for point in served if point.latency_ns_mean < limit_ns]
    maximum = (
        min(quick, key=lambda point: (-point.iops, *_ease(point))) if quick else _quickest(served)
    )
    target = (maximum.iops + minimum.iops) / 2
    return OperatingPoints(
        maximum=maximum,
        middle=min(served, key=lambda point: (abs(point.iops - target), *_ease(point))),
        minimum=minimum,
        target_iops=target,
        within_limit=bool(quick),
    )


def greatest_demand(points: Sequence[DemandPoint]) -> DemandPoint:
    """Return the point with the most I/Os outstanding, the first of several."""
    return max(points, key=lambda point: point.outstanding_ios)


def rested_points(points: Sequence[DemandPoint]) -> tuple[RestedPoint, ...]:
    """Return the points that gave more than the greatest demand because of what came before them.

    `points` are in the order of their measurement. Such a point has fewer I/Os outstanding than
    the greatest demand, gave more IOPS by more than steady state lets a round differ (20 %), and
    was measured right after a point of less demand than its own, in which a drive has time to
    clear space ahead.
    """
    full = greatest_demand(points) if points else None
    if full is None or full.iops <= 0:
        return ()
    return tuple(
        RestedPoint(point=point, after=after, share=point.iops / full.iops)
        for after, point in itertools.pairwise(points)
        if after.outstanding_ios < point.outstanding_ios < full.outstanding_ios
        and point.iops > (1 + STATE_SHARE) * full.iops
    )


def in_flight_share(answers: Sequence[StepResult], outstanding_ios: int) -> float:
    """Return the I/Os in flight over these steps by those demanded, by Little's law.

    That is the time all I/Os took together, by the time that went by: 1 where the demand was
    kept up from the first moment to the last, 0 where nothing was answered.
    """
    taken_ns = sum(part.timed.sum_ns for answer in answers for part in answer.results)
    gone_ns = sum(answer.elapsed_ns for answer in answers)
    return taken_ns / gone_ns / outstanding_ios if gone_ns else 0.0


def _quickest(points: Sequence[DemandPoint]) -> DemandPoint:
    return min(points, key=_ease)


def _ease(point: DemandPoint) -> tuple[float, int, int]:
    return point.latency_ns_mean, point.outstanding_ios, point.threads
