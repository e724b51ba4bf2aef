"""What a host is and does at best, cell by cell, with no device: measured before a run, recorded.

A cell is what the host is asked for: block size, mix, order, threads and depth. Where on the device
that is, how fast, and with which seed is no part of it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Final

from pydantic import TypeAdapter, ValidationError

from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.workload import WHOLE_RANGE, Access, Stream
from teijo.units import MEGA, TERA, format_block_size

FACT: Final = "platform"
"""The name of a platform among the facts of a run's environment."""
LONGEST: Final = MEGA
"""Characters of a platform in a run file; one of 57 cells has some 20,000."""
IOPS_MOST: Final = TERA
_ORDERS: Final = {Access.RANDOM: "RND", Access.SEQUENTIAL: "SEQ"}

HostCell = tuple[Stream, ...]
"""What a cell asks of the host: streams without a place, a rate, or a name of their own."""


@dataclass(frozen=True, kw_only=True)
class CellCeiling:
    """What the host does at most in one cell: IOPS of each repeat, empty where not to be had.

    `loop_iops` is the engine's loop with the null back end, which makes no content; `nop_iops` the
    whole way to the kernel and back, content included, with nothing at its end. `why_not` says why
    there is no such figure.
    """

    cell: HostCell
    loop_iops: tuple[float, ...] = ()
    nop_iops: tuple[float, ...] = ()
    why_not: str = ""

    @property
    def low(self) -> float | None:
        """The least of the repeats, in IOPS: the host did at least this."""
        return min(self.nop_iops, default=None)

    @property
    def middle(self) -> float | None:
        """The median of the repeats, in IOPS."""
        return median(self.nop_iops) if self.nop_iops else None

    @property
    def high(self) -> float | None:
        """The greatest of the repeats, in IOPS: nothing makes a host faster than it is."""
        return max(self.nop_iops, default=None)


@dataclass(frozen=True, kw_only=True)
class HostLink:
    """The narrowest link between the host and a drive, and the drive's own end of its link.

    Bytes a second: `raw` after the encoding of the line, `usable` after what packets take as well,
    about. `drive_raw` is what the drive's end could do in a faster slot, 0 where it does not tell.
    """

    kind: str
    text: str
    raw: int
    usable: int
    drive_raw: int = 0

    @property
    def is_held_back(self) -> bool:
        """Whether the host's side makes the link slower than the drive's end is."""
        return self.raw < self.drive_raw


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A host as it was at one moment: its ceilings, and the link to the drive.

    `each_ns` is how long a cell was measured in each repeat, `cost_ns` how long all of it took.
    """

    cells: tuple[CellCeiling, ...] = ()
    link: HostLink | None = None
    each_ns: int = 0
    cost_ns: int = 0

    @cached_property
    def by_cell(self) -> Mapping[HostCell, CellCeiling]:
        """The ceilings by their cells, of a cell that is there twice the first one."""
        return {each.cell: each for each in reversed(self.cells)}

    def ceiling_of(self, step: Step) -> CellCeiling | None:
        """Return the ceiling of a step's cell, None where it was not measured."""
        cell = cell_of(step)
        return None if cell is None else self.by_cell.get(cell)


_ADAPTER: TypeAdapter[Platform] = TypeAdapter(Platform)


def cell_of(step: Step) -> HostCell | None:
    """Return the cell of a step that drives streams, None of any other."""
    if not isinstance(step, Measure | Precondition):
        return None
    return tuple(
        replace(
            stream,
            name=f"{place}",
            active_range=WHOLE_RANGE,
            rate=None,
            repeats="",
            census=False,
        )
        for place, stream in enumerate(step.workload.streams)
    )


def cell_name(cell: HostCell) -> str:
    """Return a cell in the standard's short words: "RND 4 KiB 65/35 TC 2 QD 16"."""
    return " + ".join(map(_stream_name, cell))


def _stream_name(stream: Stream) -> str:
    order = _ORDERS.get(stream.access, stream.access.value)
    sizes = stream.sizes_bytes
    block = format_block_size(max(sizes))
    if len(sizes) > 1:
        block = f"{format_block_size(min(sizes))}–{block}"
    mix = f"{stream.read_percent}/{100 - stream.read_percent}"
    return f"{order} {block} {mix} TC {stream.threads} QD {stream.queue_depth}"


def platform_to_json(platform: Platform) -> str:
    """Return a platform as a run file keeps it."""
    return _ADAPTER.dump_json(platform, exclude_defaults=True).decode()


def platform_in(environment: Mapping[str, str]) -> Platform | None:
    """Return the platform among the facts of a run; None where there is none that can be read."""
    text = environment.get(FACT, "")
    if not text or len(text) > LONGEST:
        return None
    try:
        found = _ADAPTER.validate_json(text)
    except (ValidationError, AssertionError):  # a stream of a strange file asserts its own sense
        return None
    return found if all(map(_is_sound, found.cells)) else None


def _is_sound(ceiling: CellCeiling) -> bool:
    rates = (*ceiling.loop_iops, *ceiling.nop_iops)
    return all(math.isfinite(rate) and 0 < rate < IOPS_MOST for rate in rates)
