"""How busy each processor of the host was meanwhile: the tables of tools that print it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.outside.file import Unreadable, read_text

STAT: Final = Path("/proc/stat")
_MOST_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Busy:
    """One processor: percent of the time in user mode, in the kernel, and idle."""

    number: int
    user: float
    kernel: float
    idle: float

    @property
    def used(self) -> float:
        """What was not idle."""
        return self.user + self.kernel


Ticks = tuple[int, int, int]
"""Ticks in user mode, in the kernel, and idle or waiting for I/O."""


def ticks_in(text: str) -> dict[int, Ticks]:
    """Return the ticks of each processor in /proc/stat (proc(5))."""
    found = {}
    for line in text.splitlines():
        name, *rest = line.split()
        if not name.startswith("cpu") or not name[3:].isdecimal():
            continue
        counts = [int(each) for each in rest[:8] if each.isdecimal()]
        if len(counts) < 8:
            continue
        user, nice, system, idle, waiting, irq, soft, stolen = counts
        found[int(name[3:])] = (user + nice, system + irq + soft + stolen, idle + waiting)
    return found


def busy_between(before: dict[int, Ticks], after: dict[int, Ticks]) -> tuple[Busy, ...]:
    """Return how busy each processor was; idle where the two are one moment."""
    found = []
    for number in sorted(before.keys() & after.keys()):
        grown = [max(0, b - a) for a, b in zip(before[number], after[number], strict=True)]
        total = sum(grown)
        user, kernel, idle = (100 * each / total if total else 0.0 for each in grown)
        found.append(Busy(number=number, user=user, kernel=kernel, idle=idle if total else 100.0))
    return tuple(found)


class Processors:
    """Looks at the host's processors when the measurement begins and when it ends."""

    def __init__(self) -> None:
        """Have seen nothing yet."""
        self._before: dict[int, Ticks] = {}
        self._after: dict[int, Ticks] = {}

    def begin(self) -> None:
        """Look for the first time."""
        self._before = self._after = _now()

    def end(self) -> None:
        """Look for the last time."""
        self._after = _now()

    @property
    def busy(self) -> tuple[Busy, ...]:
        """Each processor between the two looks; none where there was no look."""
        return busy_between(self._before, self._after)


def _now() -> dict[int, Ticks]:
    try:
        return ticks_in(read_text(STAT, most_bytes=_MOST_BYTES))
    except Unreadable:  # a container without /proc: nothing is known
        return {}
