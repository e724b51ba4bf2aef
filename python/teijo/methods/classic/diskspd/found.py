"""What DiskSpd prints of its I/Os: a row for each thread and target, percentiles, deviations."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from teijo import units
from teijo.methods.classic.diskspd.load import Row, load_of, rows_of
from teijo.methods.classic.diskspd.settings import DiskspdSettings
from teijo.methods.classic.timed import TimedFound, TimedLoad
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import OperationResult, StepResult

READ, WRITE = "read", "write"


@dataclass(frozen=True, kw_only=True)
class Counted:
    """I/Os of one operation, with their latencies and how many there were in each interval.

    `buckets` are I/Os, and the shortest, longest and summed latency in ns, of each interval that
    the test was measured for; None where no time series was kept.
    """

    ios: int
    bytes: int
    latency: Histogram
    buckets: tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of DiskSpd's tables: a thread on a target."""

    row: Row
    read: Counted
    write: Counted

    @property
    def both(self) -> tuple[Counted, Counted]:
        """Reads and writes."""
        return (self.read, self.write)


def counted(parts: Iterable[OperationResult], interval_ns: int, elapsed_ns: int) -> Counted:
    """Return what of one operation was done in a step."""
    kept = [part for part in parts if part.count]
    whole = elapsed_ns // interval_ns if interval_ns else 0
    return Counted(
        ios=sum(part.count for part in kept),
        bytes=sum(part.moved_bytes for part in kept),
        latency=merged(part.timed for part in kept),
        buckets=joined_buckets(_buckets(part, whole) for part in kept),
    )


def _buckets(part: OperationResult, whole: int) -> tuple[tuple[int, int, int, int], ...]:
    """Return the whole intervals of a series; those after the last I/O are left out."""
    series = part.intervals
    if series is None:
        return ()
    found = [(0, 0, 0, 0)] * min(whole, int(series.index.max(initial=-1)) + 1)
    columns = zip(
        series.index.tolist(),
        series.ios.tolist(),
        series.latency_ns_min.tolist(),
        series.latency_ns_max.tolist(),
        series.latency_ns_sum.tolist(),
        strict=True,
    )
    for place, *row in columns:
        if place < len(found):
            ios, low, high, total = row
            found[place] = (ios, low, high, total)
    return tuple(found)


def joined_buckets(
    parts: Iterable[tuple[tuple[int, int, int, int], ...]],
) -> tuple[tuple[int, int, int, int], ...]:
    """Return the buckets of several streams as those of one."""
    found: list[tuple[int, int, int, int]] = []
    for part in parts:
        found += [(0, 0, 0, 0)] * (len(part) - len(found))
        for place, (ios, low, high, total) in enumerate(part):
            had, had_low, had_high, had_total = found[place]
            lows = [each for count, each in ((had, had_low), (ios, low)) if count]
            found[place] = (
                had + ios,
                min(lows, default=0),
                max(had_high, high),
                had_total + total,
            )
    return tuple(found)


def together(parts: Sequence[Counted]) -> Counted:
    """Return several counts as one."""
    return Counted(
        ios=sum(part.ios for part in parts),
        bytes=sum(part.bytes for part in parts),
        latency=merged(part.latency for part in parts),
        buckets=joined_buckets(part.buckets for part in parts),
    )


def iops_deviation(buckets: Sequence[tuple[int, int, int, int]], interval_ns: int) -> float:
    """Return the standard deviation of the buckets' rates, over all of them (n, not n − 1)."""
    if not buckets:
        return 0.0
    counts = [bucket[0] for bucket in buckets]
    mean = math.fsum(counts) / len(counts)
    variance = math.fsum((count - mean) ** 2 for count in counts) / len(counts)
    return math.sqrt(variance) / (interval_ns / units.NS_PER_S)


def latency_deviation_ns(latency: Histogram) -> float:
    """Return the standard deviation of latencies, over all of them (n, not n − 1)."""
    if not latency.count:
        return 0.0
    widths = latency.upper_edges_ns() - latency.values_ns
    middles = latency.values_ns + widths // 2
    apart = middles - latency.mean_ns
    return math.sqrt(float(np.sum(latency.counts * apart * apart)) / latency.count)


class DiskspdFound(TimedFound[DiskspdSettings]):
    """What a record of DiskSpd's run shows."""

    @cached_property
    def load(self) -> TimedLoad:
        """The load that was asked for."""
        return load_of(self.settings, self.record.geometry)

    def lines(self, answer: StepResult) -> tuple[Line, ...]:
        """Return the rows of one pass."""
        interval_ns = self.settings.interval_ns

        def part(row: Row, operation: str) -> Counted:
            own = [each for each in answer.of(operation) if each.stream == row.name]
            return counted(own, interval_ns, answer.elapsed_ns)

        return tuple(
            Line(row=row, read=part(row, READ), write=part(row, WRITE))
            for row in rows_of(self.settings)
        )
