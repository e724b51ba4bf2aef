"""What SQLIO prints of its I/Os, in whole milliseconds and percents, from what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from teijo import units
from teijo.document.phrase import Verbatim
from teijo.methods.classic.sqlio.settings import SqlioSettings, load_of
from teijo.methods.classic.timed import TimedFound, TimedLoad
from teijo.terms.finding import Scalar
from teijo.terms.histogram import Histogram

BUCKETS: Final = 25
"""0 to 23 ms, and all that took longer."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """The figures of SQLIO's text: MiB under the name MB, times cut to whole milliseconds."""

    ios_per_s: float
    mbs_per_s: float
    min_ms: int
    avg_ms: int
    max_ms: int
    percents: tuple[int, ...]
    """Of each bucket, cut to whole percents: together they may be less than 100."""


def printed(*, ios: int, moved_bytes: int, elapsed_ns: int, latency: Histogram) -> Printed:
    """Return what SQLIO prints of so many I/Os in so much time."""
    return Printed(
        ios_per_s=units.per_second(ios, elapsed_ns),
        mbs_per_s=mib_per_s_cut(moved_bytes, elapsed_ns),
        min_ms=latency.min_ns // units.NS_PER_MS,
        avg_ms=int(latency.mean_ns) // units.NS_PER_MS,
        max_ms=latency.max_ns // units.NS_PER_MS,
        percents=whole_percents(latency),
    )


def mib_per_s_cut(moved_bytes: int, elapsed_ns: int) -> float:
    """Return MiB/s cut after the second digit, as SQLIO's MBs/sec is."""
    if not elapsed_ns:
        return 0.0
    return moved_bytes * units.NS_PER_S * 100 // (elapsed_ns * units.MIB) / 100


def whole_percents(latency: Histogram) -> tuple[int, ...]:
    """Return the share of each millisecond among all I/Os, cut to whole percents.

    An I/O counts where the middle of its histogram's bucket lies, which is 0.05 % wide.
    """
    if not latency.count:
        return (0,) * BUCKETS
    middles = (latency.values_ns + latency.upper_edges_ns()) // 2
    places = np.minimum(middles // units.NS_PER_MS, BUCKETS - 1)
    counts = np.zeros(BUCKETS, np.int64)
    np.add.at(counts, places, latency.counts)
    return tuple(int(count) * 100 // latency.count for count in counts)


class SqlioFound(TimedFound[SqlioSettings]):
    """What a record of SQLIO's run shows."""

    @cached_property
    def load(self) -> TimedLoad:
        """The load that was asked for."""
        return load_of(self.settings, self.record.geometry)

    @cached_property
    def printed(self) -> Printed:
        """What SQLIO prints of all passes together."""
        return printed(
            ios=self.ios,
            moved_bytes=self.moved_bytes,
            elapsed_ns=self.elapsed_ns,
            latency=self.latency,
        )

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """SQLIO's own figures, then those of all I/Os."""
        if not self.passes:
            return ()
        own = self.printed
        return (
            Scalar(name=Verbatim("IOs/sec"), value=own.ios_per_s, unit="IOPS"),
            Scalar(name=Verbatim("MBs/sec"), value=own.mbs_per_s, unit="MiB/s"),
            Scalar(name=Verbatim("Min_Latency"), value=float(own.min_ms), unit="ms"),
            Scalar(name=Verbatim("Avg_Latency"), value=float(own.avg_ms), unit="ms"),
            Scalar(name=Verbatim("Max_Latency"), value=float(own.max_ms), unit="ms"),
            *super().scalars,
        )
