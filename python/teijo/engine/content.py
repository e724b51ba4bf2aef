"""What is written, to blocks or files: a sample that the engine's own generator makes."""

import zlib
from hashlib import blake2b
from typing import Final

from teijo.engine import _native
from teijo.engine.plan import StreamPlan
from teijo.terms.census import HASH_BITS, ContentSample
from teijo.terms.work import STDIO_BYTES, FileIo
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
    return sample_of(_native.content_sample(placed, _writes_of(most), most))


def content_of_files(work: FileIo, seed: int) -> ContentSample | None:
    """Return what a sample of the first writes to large files is like; None of what writes none.

    What is rewritten was read before, and no generator makes it.
    """
    if work.operation not in ("write", "random-write"):
        return None
    # Calls of less than a piece are put together to one.
    unit = STDIO_BYTES if work.style == "stdio" else work.chunk_bytes * work.timed_calls
    most = max(PIECE_BYTES, min(unit, _WRITE_MOST))
    return sample_of(_native.file_content_sample(work, seed, _writes_of(most), most))


def _writes_of(most_bytes: int) -> int:
    return max(_WRITES_LEAST, min(_WRITES_MOST, _SAMPLE_BYTES // most_bytes))


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
