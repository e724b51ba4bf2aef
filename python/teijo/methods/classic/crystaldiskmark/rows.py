"""The rows of CrystalDiskMark's window, by version and profile, and the order they are run in."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo import units
from teijo.terms.workload import Access

Like = Literal["3", "5", "8"]
Profile = Literal["default", "nvme", "peak", "real-world", "demo"]
Column = Literal["read", "write", "mix"]
"""A column of the window; a mix reads and writes at once."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the window: its load in either direction."""

    access: Access
    block_size_bytes: int
    queue_depth: int
    threads: int = 1

    @property
    def name(self) -> str:
        """The load as version 8 names it: "RND 4 KiB Q32T1"."""
        size = units.format_size(self.block_size_bytes)
        return f"{self.order} {size} Q{self.queue_depth}T{self.threads}"

    @property
    def order(self) -> str:
        """The order of its offsets, SEQ or RND."""
        return "SEQ" if self.access is Access.SEQUENTIAL else "RND"


@dataclass(frozen=True, kw_only=True)
class Place:
    """One row in one column: what has a score."""

    row: Row
    column: Column

    @property
    def name(self) -> str:
        """The name of the cell: "RND 4 KiB Q32T1 read"."""
        return f"{self.row.name} {self.column}"


def _row(access: Access, size: int, depth: int, threads: int = 1) -> Row:
    return Row(access=access, block_size_bytes=size, queue_depth=depth, threads=threads)


_SEQ, _RND = Access.SEQUENTIAL, Access.RANDOM
_SEQ_1M_Q8: Final = _row(_SEQ, units.MIB, 8)
_SEQ_1M: Final = _row(_SEQ, units.MIB, 1)
_RND_4K_Q32: Final = _row(_RND, 4 * units.KIB, 32)
_RND_4K: Final = _row(_RND, 4 * units.KIB, 1)
_RND_4K_T16: Final = _row(_RND, 4 * units.KIB, 32, 16)

_VERSION_3: Final = (_SEQ_1M, _row(_RND, 512 * units.KIB, 1), _RND_4K, _RND_4K_Q32)
_VERSION_8: Final[dict[Profile, tuple[Row, ...]]] = {
    "default": (_SEQ_1M_Q8, _SEQ_1M, _RND_4K_Q32, _RND_4K),
    "nvme": (_SEQ_1M_Q8, _row(_SEQ, 128 * units.KIB, 32), _RND_4K_T16, _RND_4K),
    "peak": (_SEQ_1M_Q8, _RND_4K_Q32),
    "real-world": (_SEQ_1M, _RND_4K),
    "demo": (_SEQ_1M_Q8,),
}


def rows_of(like: Like, profile: Profile, *, queues: int, threads: int) -> tuple[Row, ...]:
    """Return the rows of the window, from above; `queues` and `threads` are version 5's."""
    match like:
        case "3":
            return _VERSION_3
        case "5":
            return (
                _row(_SEQ, 128 * units.KIB, queues, threads),
                _row(_RND, 4 * units.KIB, queues, threads),
                _SEQ_1M,
                _RND_4K,
            )
        case "8":
            return _VERSION_8[profile]


def places_of(like: Like, rows: Sequence[Row], *, mixes: bool) -> tuple[Place, ...]:
    """Return every place in the order of its measuring.

    Versions 5 and 8 do all reads, then all writes, then all mixes; version 3 reads and writes row
    by row.
    """
    columns: tuple[Column, ...] = ("read", "write", "mix") if mixes else ("read", "write")
    if like == "3":
        return tuple(Place(row=row, column=column) for row in rows for column in columns)
    return tuple(Place(row=row, column=column) for column in columns for row in rows)


def shuffled(places: Sequence[Place], number: int) -> tuple[Place, ...]:
    """Return the places in an order drawn from a number; the same number, the same order."""

    def lot(place: Place) -> bytes:
        text = f"{number}/{place.name}"
        return hashlib.blake2b(text.encode(), digest_size=16, person=b"teijo order").digest()

    return tuple(sorted(places, key=lot))
