"""What verified reads were found to hold, by class; and what ordered writes leave to hold them to.

A sector is 512 B. How each class is distinguished: crates/engine/src/verify.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Fault(StrEnum):
    """What is wrong with a sector that was read."""

    FLIPPED = "flipped"
    """The stamp is the right one or nearly so, and the checksum is wrong."""
    MISPLACED = "misplaced"
    """A sector of another address."""
    STALE = "stale"
    """Older than the last write that was acknowledged: that write was lost."""
    TORN = "torn"
    """Older than its neighbours of one write: that write was carried out in part."""
    FOREIGN = "foreign"
    """Of another run, or never stamped."""
    ZERO = "zero"
    """Zeros where something was written."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """The sectors of one class; `first_bytes` are a few of their places on the device, in order."""

    fault: Fault
    sectors: int
    first_bytes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What all verified reads of a step were found to hold.

    `sectors` were judged; `sectors_unjudged` were not, because nothing says what must be there
    (never written by this run), or a write was under way. A sector read twice counts twice.
    """

    sectors: int
    sectors_unjudged: int
    faults: tuple[Faults, ...] = ()

    @property
    def sectors_faulty(self) -> int:
        """Sectors with a fault, of all classes."""
        return sum(each.sectors for each in self.faults)

    @property
    def text(self) -> str:
        """What was found, in one line: counts by class, each with its first place."""
        parts = [
            f"{each.sectors} {each.fault} (first at byte {each.first_bytes[0]})"
            for each in self.faults
        ]
        found = f"{self.sectors_faulty} of {self.sectors} sectors read are not what was written"
        return f"{found}: {', '.join(parts)}" if parts else found


@dataclass(frozen=True, kw_only=True)
class Written:
    """What ordered writes left behind: which generation is where follows from the order alone.

    A formula and no map, whatever the size of the device. From `from_bytes` to `to_bytes` over all
    passes through the range; the first pass has `generation`. `key` and `block_bytes` are those
    of a shuffle, 0 of a sequential order.
    """

    order: Literal["sequential", "shuffled"]
    key: int
    block_bytes: int
    start_bytes: int
    segments: int
    segment_bytes: int
    stride_bytes: int
    from_bytes: int
    to_bytes: int
    generation: int

    @property
    def length_bytes(self) -> int:
        """Bytes written, over all passes."""
        return self.to_bytes - self.from_bytes


def joined(found: Iterable[Verification]) -> Verification:
    """Return what several steps found, as one; the places of each class in order, at most 32."""
    parts = list(found)
    faults = []
    for fault in Fault:
        same = [each for part in parts for each in part.faults if each.fault is fault]
        if same:
            places = sorted({place for each in same for place in each.first_bytes})
            sectors = sum(each.sectors for each in same)
            faults.append(Faults(fault=fault, sectors=sectors, first_bytes=tuple(places[:32])))
    return Verification(
        sectors=sum(part.sectors for part in parts),
        sectors_unjudged=sum(part.sectors_unjudged for part in parts),
        faults=tuple(faults),
    )
