"""Pieces of a target that threads of their own work on: several files in one address space."""

import re
from dataclasses import dataclass
from typing import Final

from teijo import units
from teijo.errors import PlanError
from teijo.methods.classic.timed import PREPARE
from teijo.methods.forms import LIST_MOST, SIZE, Form, optional
from teijo.methods.load import THREADS_MOST
from teijo.terms.geometry import Geometry
from teijo.terms.step import Precondition
from teijo.terms.workload import WHOLE_RANGE, Access, ActiveRange, Content, Stream, Workload

_WRITTEN_IN: Final = units.MIB
_WRITTEN_DEPTH: Final = 8
_POOL: Final = re.compile(r"([0-9]{1,4})@([^@+]+)\+([^@+]+)")


@dataclass(frozen=True, kw_only=True)
class Pool:
    """So many threads on a piece of the target. `length_bytes` None: up to its end."""

    threads: int
    first_byte: int = 0
    length_bytes: int | None = None

    def piece(self, skipped_bytes: int = 0, most_bytes: int | None = None) -> ActiveRange:
        """Return the piece without what is skipped at its front, and no longer than `most_bytes`.

        What is skipped is shorter than the piece (`check_pools`).
        """
        length = None if self.length_bytes is None else self.length_bytes - skipped_bytes
        if most_bytes is not None:
            length = most_bytes if length is None else min(length, most_bytes)
        first = self.first_byte + skipped_bytes
        if not first and length is None:
            return WHOLE_RANGE
        return ActiveRange(first_byte=first, length_bytes=length)


def _parse(text: str) -> tuple[Pool, ...]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > LIST_MOST:
        raise ValueError(f"it names {len(parts):,}, and {LIST_MOST} are the most")
    pools = []
    for part in parts:
        match = _POOL.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is not THREADS@FIRST+LENGTH")
        threads = int(match[1])
        if not 1 <= threads <= THREADS_MOST:
            raise ValueError(f"threads must lie between 1 and {THREADS_MOST}")
        first = units.parse_size(match[2])
        pools.append(Pool(threads=threads, first_byte=first, length_bytes=SIZE.parse(match[3])))
    return tuple(pools)


def show_pools(pools: tuple[Pool, ...]) -> str:
    """Show pools as `POOLS` reads them back."""
    return ",".join(
        f"{each.threads}@{SIZE.show(each.first_byte)}+{SIZE.show(each.length_bytes or 0)}"
        for each in pools
    )


POOLS: Final[Form[tuple[Pool, ...]]] = optional(Form(_parse, show_pools), ())
"""Pools one after the other, as in "2@0+100MiB,4@100MiB+1GiB", or none."""


def check_pools(
    pools: tuple[Pool, ...], geometry: Geometry, *, block_size_bytes: int, skipped_bytes: int
) -> None:
    """Make sure that every pool has a block to work on, and that none has a piece of another.

    Raises:
        PlanError: one has not, or lies beyond the target, or in another.
    """
    capacity, reached = geometry.capacity_bytes, 0
    for pool in pools:
        end = capacity if pool.length_bytes is None else pool.first_byte + pool.length_bytes
        if pool.first_byte < reached or end > capacity:
            raise PlanError(
                f"The piece from {units.format_size(pool.first_byte)} to {units.format_size(end)} "
                "lies beyond the target, or in the piece before it",
                remedy="Write the pools in the order of their pieces, each behind the one before.",
            )
        if end - pool.first_byte - skipped_bytes < block_size_bytes:
            raise PlanError(
                f"A block of {units.format_block_size(block_size_bytes)} does not fit behind the "
                f"start of a piece of {units.format_size(end - pool.first_byte)}",
                remedy="Set a smaller block or start offset, or take a larger target.",
            )
        reached = end


def written_once(
    piece: ActiveRange, geometry: Geometry, content: Content, *, block_size_bytes: int
) -> Precondition:
    """Return the writing of a piece before the test, in order, in blocks of 1 MiB.

    A piece that is shorter is written in blocks of `block_size_bytes`.
    """
    room = geometry.capacity_bytes - piece.first_byte
    length = room if piece.length_bytes is None else min(room, piece.length_bytes)
    block = _WRITTEN_IN if length >= _WRITTEN_IN else block_size_bytes
    stream = Stream(
        name=PREPARE,
        read_percent=0,
        block_size_bytes=block,
        access=Access.SEQUENTIAL,
        queue_depth=_WRITTEN_DEPTH,
        active_range=piece,
        content=content,
    )
    total = length // block * block
    return Precondition(workload=Workload(streams=(stream,)), total_bytes=total, phase=PREPARE)
