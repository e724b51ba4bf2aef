"""Which blocks a step touched, and what it wrote: samples that tell one pass from another.

A block is known by where it begins. Its hash is the engine's (crates/engine/src/census.rs), the
same in every run; a census keeps the blocks with the smallest hashes (bottom-k: Beyer et al., "On
synopses for distinct-value estimation under multiset operations", SIGMOD 2007).
"""

from dataclasses import dataclass
from typing import Final

SAMPLE_MOST: Final = 512
"""Blocks that a census keeps at most; with fewer different ones it is exact."""
HASH_BITS: Final = 53


@dataclass(frozen=True, kw_only=True)
class ContentSample:
    """What a sample of a stream's writes is like, made by the engine's own generator.

    Of `writes` writes the first bytes, cut in `pieces` of up to 4 KiB. `repeated_within` are equal
    to an earlier piece of the same write, `repeated_between` to one of an earlier write.
    `deflated_bytes` is what zlib leaves of `sampled_bytes`, each piece by itself. `prints` tell
    the first pieces apart.
    """

    writes: int
    pieces: int
    repeated_within: int
    repeated_between: int
    sampled_bytes: int
    deflated_bytes: int
    prints: tuple[int, ...]

    @property
    def repeated_share(self) -> float:
        """Share of the pieces that another one of the sample was before."""
        return (self.repeated_within + self.repeated_between) / self.pieces if self.pieces else 0.0

    @property
    def compressible_share(self) -> float:
        """Share of the bytes that a compressor takes away, piece by piece."""
        if not self.sampled_bytes:
            return 0.0
        return max(0.0, 1 - self.deflated_bytes / self.sampled_bytes)


@dataclass(frozen=True, kw_only=True)
class Census:
    """Blocks that one direction of a stream touched: a sample, each with its I/Os.

    Of work on large files a block is a chunk of a file, and `operation` what was done.
    `hashes` are in order, `counts` beside them. `content` is of writes, None of reads.
    """

    stream: str
    operation: str
    ios: int
    hashes: tuple[int, ...]
    counts: tuple[int, ...]
    content: ContentSample | None = None

    def __post_init__(self) -> None:
        """Refuse what no engine counts.

        Raises:
            ValueError: hashes out of order, more than there may be, or counts of other I/Os.
        """
        numbers = (self.ios, *self.hashes, *self.counts)
        if not all(type(number) is int and 0 <= number < 1 << 63 for number in numbers):
            raise ValueError("a census holds what is no count")
        pairs = zip(self.hashes, self.hashes[1:], strict=False)
        in_order = all(first < second for first, second in pairs)
        fits = len(self.hashes) == len(self.counts) <= SAMPLE_MOST
        if not (in_order and fits and all(self.counts) and sum(self.counts) <= self.ios):
            raise ValueError("a census of other I/Os than it says")

    @property
    def is_exact(self) -> bool:
        """Whether every block is in the sample."""
        return len(self.hashes) < SAMPLE_MOST

    @property
    def distinct(self) -> float:
        """How many different blocks were touched.

        The sampled blocks are drawn without a look at their counts, so their mean count is that
        of all: exact where no block was touched twice, whatever their number.
        """
        return self.ios * len(self.hashes) / sum(self.counts) if self.hashes else 0.0

    @property
    def revisit_share(self) -> float:
        """Share of the I/Os that went to a block which an earlier one of the step had touched."""
        return 1 - self.distinct / self.ios if self.ios else 0.0

    def overlap(self, other: "Census") -> float | None:
        """Return which share of these blocks another census touched too; None where none is known.

        Both are complete below the smaller of their highest hashes.
        """
        ends = [max(each.hashes) for each in (self, other) if not each.is_exact]
        limit = min(ends, default=1 << HASH_BITS)
        mine = [each for each in self.hashes if each <= limit]
        theirs = set(other.hashes)
        return sum(each in theirs for each in mine) / len(mine) if mine else None
