"""Latencies in buckets of which each is wider than the one before by the same ratio.

The bounds are those of Prometheus' native histograms: bucket i holds what took longer than
2^((i-1)/2^schema) s and at most 2^(i/2^schema) s. Source: prometheus.io, "Native Histograms".
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.terms.histogram import Histogram
from teijo.units import NS_PER_S

SCHEMA: Final = 3
"""Each doubling has 2^3 buckets, of which one is 9 % wider than the one before."""
PER_DOUBLING: Final = 1 << SCHEMA
_FIRST: Final = -239
_LAST: Final = 145
"""The buckets of 1 ns, and of the longest latency that an HdrHistogram has, 2^48 ns."""


def bound_ns(number: int) -> int:
    """Return the upper bound of a bucket in whole ns, what is less than 1 ns left off."""
    # 2^(number/8) · 10^9 is the eighth root of 2^number · 10^72, and a floor of floors the floor.
    power: int = NS_PER_S**PER_DOUBLING
    found = power << number if number >= 0 else power >> -number
    for _ in range(SCHEMA):
        found = isqrt(found)
    return found


_BOUNDS_NS: Final[NDArray[np.int64]] = np.array(
    [bound_ns(number) for number in range(_FIRST, _LAST + 1)], np.int64
)


@dataclass(frozen=True, kw_only=True)
class Exponential:
    """So many I/Os by latency: `counts` by the number of the bucket, ascending, without empty ones.

    `zero` are those of 0 ns, which no bucket holds; `sum_ns` is the exact sum of all latencies.

    A bucket of the HdrHistogram falls in as a whole, where its longest latency belongs. It is at
    most 0.1 % wide: an I/O that took less than that below a bound, or just as long as the bound,
    may be counted above it, and none is ever counted as faster than it was. Below 2,048 ns an
    HdrHistogram has each ns, and an I/O as long as the bound is below it.
    """

    counts: Mapping[int, int] = field(default_factory=dict)
    zero: int = 0
    sum_ns: int = 0

    @property
    def count(self) -> int:
        """How many I/Os there are."""
        return self.zero + sum(self.counts.values())

    def plus(self, latency: Histogram) -> "Exponential":
        """Return this with the I/Os of a histogram added."""
        longest_ns = latency.upper_edges_ns() - 1
        places = np.searchsorted(_BOUNDS_NS, longest_ns)
        counts, zero = dict(self.counts), self.zero
        # Integers of any size: what a forged file counts may have more than 64 bits together.
        for place, most_ns, count in zip(
            places.tolist(), longest_ns.tolist(), latency.counts.tolist(), strict=True
        ):
            if most_ns:
                number = _FIRST + place
                counts[number] = counts.get(number, 0) + count
            else:
                zero += count
        return Exponential(
            counts=dict(sorted(counts.items())), zero=zero, sum_ns=self.sum_ns + latency.sum_ns
        )

    def up_to(self, powers: Iterable[int]) -> list[int]:
        """Return for each power how many I/Os took at most 2^power s, the bound of a bucket."""
        numbers = list(self.counts)
        sums = list(accumulate(self.counts.values(), initial=self.zero))
        return [sums[bisect_right(numbers, power * PER_DOUBLING)] for power in powers]
