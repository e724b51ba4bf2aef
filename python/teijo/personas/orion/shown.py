"""What ORION's texts are made of: the numbers of each point, taken from what was found."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from teijo import units
from teijo.analysis import measures
from teijo.methods.classic.orion.found import OrionFound
from teijo.methods.classic.orion.points import Point
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import StepResult

FIRST_EDGE_US: Final = 32
LAST_EDGE_US: Final = 2**28
"""Ends of the first bucket of a histogram, and of the last, which catches all."""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """The latencies of one direction in µs; `counts` are of each bucket, 32 µs and its doubles."""

    count: int
    mean_us: float
    least_us: float
    most_us: float
    deviation_us: float
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Load:
    """The small or the large I/Os of one point. `by` has their latencies: "read", "write"."""

    iops: float
    mbps: float
    mean_us: float
    seconds: float = 0.0
    by: Mapping[str, Latency] = field(default_factory=dict)

    def count(self, direction: str) -> int:
        """Return how many I/Os of a direction there were."""
        return self.by[direction].count if direction in self.by else 0


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the original shows of a run: the small and the large I/Os of each point of one pass."""

    points: tuple[Point, ...]
    small: Mapping[Point, Load]
    large: Mapping[Point, Load]

    @property
    def smalls(self) -> Sequence[int]:
        """The loads of small I/Os, 0 among them where a point has none."""
        return sorted({point.small for point in self.points})

    @property
    def larges(self) -> Sequence[int]:
        """The loads of large I/Os."""
        return sorted({point.large for point in self.points})

    @property
    def most_large(self) -> Point | None:
        """The point of the most MBPS."""
        return max(self.large, key=lambda point: self.large[point].mbps, default=None)

    @property
    def most_small(self) -> Point | None:
        """The point of the most IOPS."""
        return max(self.small, key=lambda point: self.small[point].iops, default=None)

    @property
    def quickest(self) -> Point | None:
        """The point of the least latency."""
        return min(self.small, key=lambda point: self.small[point].mean_us, default=None)


def shown_of(found: OrionFound) -> Shown:
    """Return what the original shows of a record: its first pass, as it makes no other."""
    return Shown(
        points=tuple(found.passes),
        small={p: load_of(s.first) for p, s in found.small.items() if s.first.ios},
        large={p: load_of(s.first) for p, s in found.large.items() if s.first.ios},
    )


def load_of(answer: StepResult) -> Load:
    """Return the numbers of one stream's answer."""
    by = {}
    for direction in ("read", "write"):
        latency = merged(part.timed for part in answer.of(direction))
        if latency.count:
            by[direction] = latency_of(latency)
    return Load(
        iops=answer.iops,
        mbps=units.per_second(answer.bytes, answer.elapsed_ns) / units.MIB,
        mean_us=measures.latency_ns_mean(answer) / units.NS_PER_US,
        seconds=answer.elapsed_ns / units.NS_PER_S,
        by=by,
    )


def latency_of(histogram: Histogram) -> Latency:
    """Return the latencies of a histogram; the deviation is that of its buckets' middles."""
    values, counts = histogram.values_ns, histogram.counts
    middles = values + (histogram.upper_edges_ns() - values) // 2
    # No I/O lies beyond the exact ends, though the middle of its bucket may.
    middles = middles.clip(histogram.min_ns, histogram.max_ns)
    squares = float((counts * (middles - histogram.mean_ns) ** 2).sum())
    return Latency(
        count=histogram.count,
        mean_us=histogram.mean_ns / units.NS_PER_US,
        least_us=histogram.min_ns / units.NS_PER_US,
        most_us=histogram.max_ns / units.NS_PER_US,
        deviation_us=math.sqrt(squares / histogram.count) / units.NS_PER_US,
        counts=_buckets(histogram),
    )


def _buckets(histogram: Histogram) -> tuple[int, ...]:
    """Return the I/Os below 32 µs, then of each doubling, to the last that has any."""
    found: dict[int, int] = {}
    for value_ns, count in zip(
        histogram.values_ns.tolist(), histogram.counts.tolist(), strict=True
    ):
        place = max(0, (value_ns // units.NS_PER_US // FIRST_EDGE_US).bit_length())
        found[place] = found.get(place, 0) + count
    return tuple(found.get(place, 0) for place in range(max(found, default=-1) + 1))
