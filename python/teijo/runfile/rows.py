"""The checksum of a row: 64 bits over its table's name and all its other values, kept apart."""

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.errors import RunFileError
from teijo.runfile.codec import Value

CHECKSUM: Final = "checksum"
"""The column that holds it, in every table."""

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT: Final = np.uint64(31)


def encoded(table: str, values: Sequence[Value]) -> bytes:
    """Return a row as bytes: no two rows of any tables have the same ones.

    The name and each value begin with a letter of their kind; text and blobs then tell their
    length in bytes, whole numbers have eight bytes, all of them big-endian. `values` stand in the
    order of the columns in docs/run-file.md, which is not always that of the file.
    """
    parts = [_part(table), struct.pack(">H", len(values))]
    parts += [_part(value) for value in values]
    return b"".join(parts)


def _part(value: Value) -> bytes:
    match value:
        case None:
            return b"n"
        case int():
            return b"i" + value.to_bytes(8, "big", signed=True)
        case str():
            text = value.encode()
            return b"t" + struct.pack(">Q", len(text)) + text
        case bytes():
            return b"b" + struct.pack(">Q", len(value)) + value
        case _:
            raise ValueError(f"{value!r} stands where no such value is ever written")


def checksum(row: bytes) -> int:
    """Return the checksum of a row that was `encoded`: BLAKE2b of 64 bits, as SQLite's integer."""
    return int.from_bytes(hashlib.blake2b(row, digest_size=8).digest(), "big", signed=True)


def checksum_of(table: str, values: Sequence[Value]) -> int:
    """Return the checksum of a row."""
    return checksum(encoded(table, values))


def series_checksums(
    step: int, stream: str, operation: str, numbers: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the checksums of rows of `interval`, whose whole `numbers` stand one row a line.

    A day of a time series has some hundred thousand rows, so all are computed at once: the state
    begins as the checksum of (step, stream, operation), and takes in the columns from `number`
    on, each by exclusive or followed by the mixing of SplitMix64. Mixing loses nothing, so a
    change of any one number changes the result for certain.

    Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """
    begin = checksum_of("interval", (step, stream, operation))
    state = np.full(len(numbers), begin, np.int64).view(np.uint64)
    # Unsigned, because the mixing shifts in zeros and multiplies modulo 2⁶⁴.
    for column in np.ascontiguousarray(numbers.T).view(np.uint64):
        state = (state ^ column) + _GOLDEN
        for shift, factor in _FACTORS:
            state = (state ^ (state >> shift)) * factor
        state ^= state >> _LAST_SHIFT
    return state.view(np.int64)


def wrapped(total: int) -> int:
    """Return a sum of checksums modulo 2⁶⁴, as SQLite's integer."""
    return (total + 2**63) % 2**64 - 2**63


def changed(table: str) -> RunFileError:
    """Return the error for a row that is not the one that was written."""
    return RunFileError(
        f"A row of table {table} is not what was written: its checksum differs.",
        remedy="Check the disk and the memory of this machine; use a copy that is whole.",
    )
