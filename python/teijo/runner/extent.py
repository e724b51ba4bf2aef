"""What is ahead of a run: how long, how much is written; and the refusal of too much of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.analysis.endurance import Endurance
from teijo.errors import PlanError, UnsafeError
from teijo.units import MEGA, format_capacity, format_duration

DRIVE_WRITES_MOST = MEGA


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How far a run goes: its steps, time on the device's clock, bytes written, intervals.

    `written_bytes` is None of statements: what a database writes for them, nobody knows before.
    """

    steps: int
    duration_ns: int
    written_bytes: int | None
    intervals: int


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a run will take, or what is left of one that has begun.

    `least` and `most` are the smallest and the largest of each figure among a device that is
    steady at once, one that never is, and `expected`: one that settles as drives do. The
    rates are assumed: bytes of a time-bounded step, and the time of a byte-bounded one, depend on
    them. `spent_bytes` were written before.
    """

    least: Extent
    expected: Extent
    most: Extent
    capacity_bytes: int
    assumed: str
    spent_bytes: int = 0
    endurance: Endurance | None = None

    def drive_writes(self, extent: Extent) -> float | None:
        """Return what one end writes, in user capacities; None where one of the two is unknown."""
        if extent.written_bytes is None or not self.capacity_bytes:
            return None
        return extent.written_bytes / self.capacity_bytes

    @property
    def line(self) -> str:
        """All of it in one line: expected, and in brackets least and most."""
        ends = (self.expected, self.least, self.most)
        durations = [format_duration(end.duration_ns) for end in ends]
        sizes = [format_capacity(e.written_bytes) for e in ends if e.written_bytes is not None]
        writes = [_count(each) for each in map(self.drive_writes, ends) if each is not None]
        told = [f"about {_span(durations)}"]
        if sizes:
            told.append(f"{_span(sizes)} written")
        if writes:
            told.append(f"{_span(writes)} drive writes")
        return f"{', '.join(told)}; assumed {self.assumed}"


def _count(drive_writes: float) -> str:
    """Return drive writes to two digits, without a power of ten."""
    return f"{drive_writes:.2g}" if drive_writes < 10 else f"{drive_writes:,.0f}"


def _span(texts: Sequence[str]) -> str:
    middle, low, high = texts
    return middle if low == high else f"{middle} ({low} … {high})"


def _times(drive_writes: float) -> str:
    """Return drive writes to three digits, without a power of ten."""
    return f"{drive_writes:.3g}" if drive_writes < 100 else f"{drive_writes:,.0f}"


def refuse_beyond(drive_writes_most: float, seen: Preview) -> None:
    """Make sure that a run is not expected to write more than this many user capacities.

    Raises:
        UnsafeError: it is.
        PlanError: the limit is none.
    """
    if not 0 < drive_writes_most <= DRIVE_WRITES_MOST:
        raise PlanError(
            f"{drive_writes_most:g} drive writes are no limit.",
            remedy=f"Give a number above 0, up to {DRIVE_WRITES_MOST:,}: --max-drive-writes 3",
        )
    least, expected, most = (
        (seen.spent_bytes + (end.written_bytes or 0)) / seen.capacity_bytes
        for end in (seen.least, seen.expected, seen.most)
    )
    if expected <= drive_writes_most:
        return
    spent = seen.spent_bytes / seen.capacity_bytes
    before = f", {_times(spent)} of them already" if spent else ""
    raise UnsafeError(
        f"The run is expected to write the device {_times(expected)} times over (at least "
        f"{_times(least)}, at most {_times(most)}{before}); the limit is {drive_writes_most:g} "
        "drive writes. Nothing was written.",
        remedy="Ask for less (fewer rounds, a smaller amount or range, a shorter minute; see "
        "`teijo preview`), or raise --max-drive-writes.",
    )
