"""What a stream writes, looked at in a sample that the engine's own generator makes."""

import zlib
from hashlib import blake2b
from typing import Final

from teijo.engine import _native
from teijo.engine.plan import StreamPlan
from teijo.terms.census import HASH_BITS, ContentSample
from teijo.units import KIB

PIECE_BYTES: Final = 4 * KIB
"""Duplicates are looked for on a grid of this: what storage that removes them does."""
_SAMPLE_BYTES: Final = 256 * KIB
_WRITE_MOST: Final = 32 * KIB
_WRITES_LEAST, _WRITES_MOST = 8, 64
_PRINTS: Final = 16
_LEVEL: Final = 1
"""As little effort as a drive's controller has time for."""


def content_of(placed: StreamPlan) -> ContentSample:
    """Return what a sample of a stream's first writes is like."""
    most = min(placed.stream.block_size_bytes, _WRITE_MOST)
    writes = max(_WRITES_LEAST, min(_WRITES_MOST, _SAMPLE_BYTES // most))
    return sample_of(_native.content_sample(placed, writes, most))


def sample_of(written: tuple[bytes, ...]) -> ContentSample:
    """Return what these writes are like."""
    seen: set[int] = set()
    prints: list[int] = []
    within = between = pieces = size = deflated = 0
    for data in written:
        own: set[int] = set()
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES]
            mark = _print(piece)
            within += mark in own
            between += mark in seen and mark not in own
            own.add(mark)
            pieces, size = pieces + 1, size + len(piece)
            deflated += min(len(piece), len(zlib.compress(piece, _LEVEL)))
            if mark not in prints and len(prints) < _PRINTS:
                prints.append(mark)
        seen |= own
    return ContentSample(
        writes=len(written),
        pieces=pieces,
        repeated_within=within,
        repeated_between=between,
        sampled_bytes=size,
        deflated_bytes=deflated,
        prints=tuple(prints),
    )


def _print(piece: bytes) -> int:
    return int.from_bytes(blake2b(piece, digest_size=8).digest()) >> (64 - HASH_BITS)
