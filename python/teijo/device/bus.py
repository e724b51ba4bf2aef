"""What a disk hangs on: the adapter between it and the host, as the kernel's tree of buses says.

The names in sysfs are a device's own. What has not the form it must have is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device.kernel import read_text

NO_ADAPTER: Final = "none, NVMe"
"""What the adapter of a drive that has none begins with."""
_ADDRESS: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_ID: Final = re.compile(r"0x([0-9a-f]{4})")
_DRIVER: Final = re.compile(r"[a-zA-Z0-9_-]{1,32}")
# Current kernels write "8.0 GT/s PCIe", older ones "8 GT/s".
_SPEED: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9])? GT/s)(?: PCIe)?")
_WIDTH: Final = re.compile(r"[0-9]{1,2}")
_TOTAL: Final = re.compile(r"^TOTAL_ERR_\w+ ([0-9]{1,18})$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How fast one end of a PCIe link runs, or can run."""

    speed: str
    width: int

    def __str__(self) -> str:
        return f"{self.speed} x{self.width}"

    @property
    def transfers(self) -> float:
        """GT/s of one lane."""
        return float(self.speed.split()[0])


@dataclass(frozen=True, kw_only=True)
class Link:
    """One PCIe link on the way to a drive, named by its lower end.

    `possible` is what both ends can; None where an end does not tell. `errors` are those that its
    lower end counted (AER) by kind, empty where the kernel does not.
    """

    address: str
    now: Rate
    possible: Rate | None
    errors: dict[str, int]

    @property
    def is_degraded(self) -> bool:
        """Whether it runs slower or narrower than both of its ends can."""
        return self.possible is not None and (
            self.now.transfers < self.possible.transfers or self.now.width < self.possible.width
        )


def links(folder: Path) -> tuple[Link, ...]:
    """Return the PCIe links between a disk and the host, the nearest to the disk first.

    Every other function on the way is the lower end of a link, and the one above it its upper.
    """
    chain = _functions(folder)
    found = []
    for place in range(0, len(chain), 2):
        lower, upper = chain[place], chain[place + 1] if place + 1 < len(chain) else None
        now = _rate(lower, "current")
        if now is not None:
            ends = [_rate(end, "max") for end in (lower, upper) if end is not None]
            found.append(
                Link(
                    address=lower.name,
                    now=now,
                    possible=_common([end for end in ends if end is not None]) if ends[0] else None,
                    errors=dict(_errors(lower)),
                )
            )
    return tuple(found)


def addresses(folder: Path) -> tuple[str, ...]:
    """Return the PCI devices between a disk and the host, the nearest to the disk first."""
    return tuple(each.name for each in _functions(folder))


def _functions(folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if _ADDRESS.fullmatch(each.name)]


def _rate(place: Path, which: str) -> Rate | None:
    speed = _SPEED.fullmatch(read_text(place / f"{which}_link_speed"))
    width = _WIDTH.fullmatch(read_text(place / f"{which}_link_width"))
    # A function without a link says 0, or 255, lanes.
    if speed is None or width is None or int(width[0]) not in range(1, 33):
        return None
    return Rate(speed=speed[0], width=int(width[0]))


def _common(ends: list[Rate]) -> Rate:
    slowest = min(ends, key=lambda end: end.transfers)
    return Rate(speed=slowest.speed, width=min(end.width for end in ends))


def _errors(place: Path) -> Iterator[tuple[str, int]]:
    """Yield what the kernel counted of advanced error reporting: the totals of three files."""
    for kind in ("correctable", "nonfatal", "fatal"):
        total = _TOTAL.search(read_text(place / f"aer_dev_{kind}"))
        if total is not None:
            yield kind, int(total[1])


def adapter(folder: Path) -> str:
    """Return the adapter of a disk by its driver, its PCI numbers and its place.

    An NVMe drive has its controller in itself, so there is none between it and the bus. Nothing
    is returned where the disk hangs on no PCI device (a loop device, a virtual disk).
    """
    place = function(folder)
    if place is None:
        return ""
    maker, kind = (_ID.fullmatch(read_text(place / name)) for name in ("vendor", "device"))
    numbers = f" {maker[1]}:{kind[1]}" if maker and kind else ""
    if "nvme" in {part.name for part in _between(place, folder)}:
        return f"{NO_ADAPTER} on PCIe {place.name}{numbers}"
    driver = (place / "driver").resolve().name if (place / "driver").exists() else ""
    shown = driver if _DRIVER.fullmatch(driver) else "unknown driver"
    return f"{shown}{numbers} at PCI {place.name}"


def link(folder: Path) -> str:
    """Return the PCIe link of a disk as it runs and as it could be: a slot too narrow shows."""
    nearest = next(iter(links(folder)), None)
    if nearest is None:
        return ""
    most = _rate(function(folder) or folder, "max")
    return f"{nearest.now} (at most {most})" if most else str(nearest.now)


def own_link(folder: Path) -> tuple[Rate | None, Rate | None]:
    """Return how fast the function nearest to a disk runs now, and the most that it alone can."""
    place = function(folder)
    return (None, None) if place is None else (_rate(place, "current"), _rate(place, "max"))


def function(folder: Path) -> Path | None:
    """Return the PCI device that is nearest to a disk."""
    return next(iter(_functions(folder)), None)


def _between(place: Path, folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if place in each.parents]
