"""A latency histogram of every I/O: counts by value, with its exact sum, minimum and maximum."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Histogram:
    """Latencies in ns of `count` I/Os.

    `values_ns` (ascending, int64) are the lowest values of the occupied buckets, `counts`
    (int64) how many fell in each; buckets are HdrHistogram's with 3 significant digits, so a
    quantile is within 0.05 % of the truth. `sum_ns`, `min_ns`, `max_ns` are exact, 0 if empty.
    """

    values_ns: NDArray[np.int64]
    counts: NDArray[np.int64]
    sum_ns: int
    min_ns: int
    max_ns: int

    def __post_init__(self) -> None:
        assert self.values_ns.shape == self.counts.shape
        assert bool((self.values_ns[1:] > self.values_ns[:-1]).all()), "buckets ascend"

    def __eq__(self, other: object) -> bool:
        """Two histograms are equal when every bucket and every exact figure is."""
        return (
            isinstance(other, Histogram)
            and np.array_equal(self.values_ns, other.values_ns)
            and np.array_equal(self.counts, other.counts)
            and (self.sum_ns, self.min_ns, self.max_ns)
            == (other.sum_ns, other.min_ns, other.max_ns)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def count(self) -> int:
        """How many latencies there are."""
        return int(self.counts.sum())

    @property
    def mean_ns(self) -> float:
        """Arithmetic mean from the exact sum; 0 if empty."""
        return self.sum_ns / self.count if self.count else 0.0

    def quantile_ns(self, share: float) -> int:
        """Return the latency that `share` (0 to 1) of the I/Os did not exceed, 0 if empty.

        The middle of the bucket that holds the I/O of rank ceil(share·count), clamped to
        [min, max], so that no quantile exceeds the maximum.
        """
        assert 0.0 <= share <= 1.0, share
        if not self.count:
            return 0
        rank = max(1, int(np.ceil(share * self.count - 1e-9)))
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        low = int(self.values_ns[place])
        middle = low + bucket_width_ns(low) // 2
        return min(max(middle, self.min_ns), self.max_ns)

    def upper_edges_ns(self) -> NDArray[np.int64]:
        """Return the exclusive upper edge of each occupied bucket (for drawing)."""
        widths = np.array([bucket_width_ns(int(v)) for v in self.values_ns], np.int64)
        edges: NDArray[np.int64] = self.values_ns + widths
        return edges


EMPTY = Histogram(np.empty(0, np.int64), np.empty(0, np.int64), 0, 0, 0)


def bucket_width_ns(value_ns: int) -> int:
    """Return the width of the HdrHistogram bucket (3 digits, unit 1 ns) that holds a value."""
    return 1 << max(0, value_ns.bit_length() - 11)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of all the I/Os of the parts: exact, unlike averaged percentiles."""
    parts = [part for part in histograms if part.count]
    if not parts:
        return EMPTY
    values, inverse = np.unique(
        np.concatenate([part.values_ns for part in parts]), return_inverse=True
    )
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, inverse, np.concatenate([part.counts for part in parts]))
    return Histogram(
        values,
        counts,
        sum(part.sum_ns for part in parts),
        min(part.min_ns for part in parts),
        max(part.max_ns for part in parts),
    )
