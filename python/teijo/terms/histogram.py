"""A latency histogram of every I/O: counts by value, with its exact sum, minimum and maximum.

It comes from the engine and lies in run files as HdrHistogram's V2 encoding, and is opened when
somebody looks into it.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEADER: Final = struct.Struct(">IIiIQQd")
"""Cookie, bytes of counts, offset, digits, lowest, highest, ratio."""
_COOKIE: Final = 0x1C849313
_DIGITS: Final = 3
_HIGHEST_NS: Final = (1 << 48) - 1
# 3 digits take 2048 buckets of width 1, and then 1024 for each doubling.
_OCTAVE_BITS: Final = 10
_BUCKETS: Final = 39 << _OCTAVE_BITS
"""As many as there are up to the highest value."""
_NUMBER_BYTES: Final = 9
"""The most that one number takes, 7 bits in each."""
_GOES_ON: Final = 0x80
"""The bit of a byte that is not its number's last."""

Buckets = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The lowest values of the occupied buckets, ascending, and how many values fell in each."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Latencies in ns of `count` I/Os. `sum_ns`, `min_ns`, `max_ns` are exact, 0 if empty.

    `made_of` is the V2 encoding, or the buckets; each is derived from the other when it is wanted.
    Buckets are HdrHistogram's with 3 significant digits, so a quantile is within 0.05 % of the
    truth.
    """

    made_of: bytes | Buckets
    sum_ns: int
    min_ns: int
    max_ns: int

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
    def _buckets(self) -> Buckets:
        if isinstance(self.made_of, bytes):
            return decoded([self.made_of])[0]
        values_ns, counts = self.made_of
        assert values_ns.shape == counts.shape
        assert bool((values_ns[1:] > values_ns[:-1]).all()), "buckets ascend"
        return self.made_of

    @property
    def values_ns(self) -> NDArray[np.int64]:
        """The lowest values of the occupied buckets, ascending."""
        return self._buckets[0]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many latencies fell in each occupied bucket."""
        return self._buckets[1]

    @property
    def v2(self) -> bytes:
        """The HdrHistogram V2 encoding, uncompressed, with 3 significant digits."""
        return self.made_of if isinstance(self.made_of, bytes) else encoded(self._buckets)

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
        # 0.07 · 100 comes out a hair above 7, and is rank 7.
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


EMPTY = Histogram((np.empty(0, np.int64), np.empty(0, np.int64)), 0, 0, 0)


def histogram_of(times_ns: NDArray[np.int64]) -> Histogram:
    """Return the histogram of single latencies, in any order."""
    if not len(times_ns):
        return EMPTY
    # A double has 53 bits, so that frexp tells the length of a latency of up to 104 days exactly.
    bits = np.frexp(times_ns.astype(np.float64))[1].astype(np.int64)
    shifts = np.maximum(0, bits - _OCTAVE_BITS - 1)
    values, counts = np.unique(times_ns >> shifts << shifts, return_counts=True)
    return Histogram(
        (values, counts.astype(np.int64)),
        int(times_ns.sum()),
        int(times_ns.min()),
        int(times_ns.max()),
    )


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
        (values, counts),
        sum(part.sum_ns for part in parts),
        min(part.min_ns for part in parts),
        max(part.max_ns for part in parts),
    )


def encoded(buckets: Buckets) -> bytes:
    """Return the V2 encoding of buckets: what the engine writes for the same I/Os, byte for byte.

    Each bucket in order is the ZigZag LEB128 of its count; a run of empty ones is one negative
    number. Source: HdrHistogram's V2 format (hdrhistogram.org).
    """
    numbers = [] if len(buckets[0]) else [0]
    reached = 0
    for value_ns, count in zip(*(column.tolist() for column in buckets), strict=True):
        octave = max(0, value_ns.bit_length() - 1 - _OCTAVE_BITS)
        index = (octave << _OCTAVE_BITS) + (value_ns >> octave)
        if empty := index - reached:
            # ZigZag of −empty is 2 · empty − 1; a single empty bucket is written as a count of 0.
            numbers.append(0 if empty == 1 else 2 * empty - 1)
        numbers.append(2 * count)
        reached = index + 1
    counts = b"".join(map(_leb128, numbers))
    return _HEADER.pack(_COOKIE, len(counts), 0, _DIGITS, 1, _HIGHEST_NS, 1.0) + counts


def _leb128(number: int) -> bytes:
    parts = bytearray()
    while number >= _GOES_ON:
        parts.append(number & _GOES_ON - 1 | _GOES_ON)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def open_together(histograms: Iterable[Histogram]) -> None:
    """Decode histograms at once, which takes a fraction of the time of one after the other.

    Raises:
        ValueError: the bytes of one are no histogram of 3 digits.
    """
    shut = [each for each in histograms if isinstance(each.made_of, bytes)]
    for each, buckets in zip(shut, decoded([each.v2 for each in shut]), strict=True):
        # Where a cached property looks first; to set an attribute the class is too frozen.
        vars(each)["_buckets"] = buckets


def decoded(blobs: Sequence[bytes]) -> list[Buckets]:
    """Return the buckets of each V2 encoding, of this program or another.

    Raises:
        ValueError: one is no histogram of 3 digits.
    """
    if not blobs:
        return []
    parts = [_counts_in(blob) for blob in blobs]
    raw = np.frombuffer(b"".join(parts), np.uint8)
    ends = np.flatnonzero(raw < _GOES_ON)
    borders = np.cumsum([len(part) for part in parts])
    firsts = np.searchsorted(ends, borders)  # the number after the last of each
    if not len(ends) or not np.array_equal(ends[firsts - 1], borders - 1):
        raise _refusal("it ends within a count")
    lengths = np.diff(ends, prepend=-1)
    if lengths.max() > _NUMBER_BYTES:
        raise _refusal("a count has more than 63 bits")
    starts = ends - lengths + 1
    words = (raw[starts] & _GOES_ON - 1).astype(np.int64)
    for place in range(1, _NUMBER_BYTES):
        longer = np.flatnonzero(lengths > place)
        if not len(longer):
            break
        septets = (raw[starts[longer] + place] & _GOES_ON - 1).astype(np.int64)
        words[longer] |= septets << 7 * place
    numbers = words >> 1 ^ -(words & 1)  # ZigZag has the sign in the lowest bit
    # A forged run of empty buckets could be long enough to overflow the sum.
    reached = np.cumsum(np.where(numbers < 0, np.minimum(-numbers, _BUCKETS + 1), 1))
    begins = np.concatenate(([0], reached[firsts - 1]))
    if np.diff(begins).max() > _BUCKETS:
        raise _refusal("it has more buckets than there are")
    used = numbers > 0
    index = (reached - np.repeat(begins[:-1], np.diff(firsts, prepend=0)))[used] - 1
    # The first 2048 buckets, two times 1024, are all of width 1.
    octaves = np.maximum((index >> _OCTAVE_BITS) - 1, 0)
    borders = np.cumsum(used)[firsts - 1][:-1]
    values_ns = np.split(index - (octaves << _OCTAVE_BITS) << octaves, borders)
    return list(zip(values_ns, np.split(numbers[used], borders), strict=True))


def _counts_in(v2: bytes) -> bytes:
    """Return the counts behind a header that announces what is decoded here."""
    if len(v2) < _HEADER.size:
        raise _refusal(f"{len(v2)} bytes are no header")
    cookie, length, _, digits, lowest, _, _ = _HEADER.unpack_from(v2)
    counts = v2[_HEADER.size : _HEADER.size + length]
    if cookie != _COOKIE:
        raise _refusal(f"it begins with {cookie:#x}")
    if len(counts) < length:
        raise _refusal(f"it announces {length} bytes of counts and has {len(counts)}")
    if (digits, lowest) != (_DIGITS, 1):
        raise _refusal(f"{digits} digits from {lowest}")
    # No counts at all: a zero keeps one number for each histogram.
    return counts or b"\0"


def _refusal(reason: str) -> ValueError:
    return ValueError(f"Not an HdrHistogram V2 of 3 digits: {reason}")
