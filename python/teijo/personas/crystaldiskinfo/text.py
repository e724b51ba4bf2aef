"""The text that CrystalDiskInfo saves, of what is known; a line of which nothing is known is left
out, as the original leaves it out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from teijo.device.smart import KELVIN, NVME_UNIT_BYTES
from teijo.terms.drive_warning import COUNTER
from teijo.terms.geometry import Identity
from teijo.units import GIB, GIGA

WIDTH: Final = 76
_CAUTION_PERCENT: Final = 10
"""A drive with so little of its life left, or less, is one to be careful with."""
_NVME: Final = (
    (0x01, COUNTER, 1, "Critical Warning"),
    (0x02, "temperature_kelvin", 1, "Composite Temperature"),
    (0x05, "percentage_used", 1, "Percentage Used"),
    (0x06, "host_reads_bytes", NVME_UNIT_BYTES, "Data Units Read"),
    (0x07, "host_writes_bytes", NVME_UNIT_BYTES, "Data Units Written"),
    (0x0C, "power_on_hours", 1, "Power On Hours"),
    (0x0D, "unsafe_shutdowns", 1, "Unsafe Shutdowns"),
    (0x0E, "media_errors", 1, "Media and Data Integrity Errors"),
)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """One drive as it was found, and its own counters as far as it told them."""

    identity: Identity
    capacity_bytes: int
    counters: Mapping[str, int] = field(default_factory=dict)


def text_of(disks: Sequence[Disk], *, version: str, system: str, date: datetime) -> str:
    """Return the whole text, its lines ended by CR LF."""
    rule = "-" * WIDTH
    lines = [
        rule,
        f"CrystalDiskInfo {version} (C) 2008-2021 hiyohiyo",
        " " * 32 + "Crystal Dew World: https://crystalmark.info/",
        rule,
        "",
        f"    OS : {system}",
        f"  Date : {date:%Y/%m/%d} {date.hour}:{date:%M:%S}",
        "",
        _title("Disk List"),
        *(
            f" ({number:02d}) {_name(disk)} : {_size(disk)}"
            for number, disk in enumerate(disks, start=1)
        ),
        "",
    ]
    for number, disk in enumerate(disks, start=1):
        lines += [rule, f" ({number:02d}) {_name(disk)}", rule, *_facts(disk), "", *_smart(disk)]
    return "\r\n".join(lines) + "\r\n"


def health_of(counters: Mapping[str, int]) -> str:
    """Return the verdict: Bad where the drive warns, Caution near the end of its life, or Good."""
    warning, used = counters.get(COUNTER), counters.get("percentage_used")
    left = None if used is None else max(0, 100 - used)
    share = "" if left is None else f" ({left} %)"
    if warning:
        return f"Bad{share}"
    if left is not None and left <= _CAUTION_PERCENT:
        return f"Caution{share}"
    return f"Good{share}" if warning is not None or left is not None else "Unknown"


def _facts(disk: Disk) -> list[str]:
    identity, told = disk.identity, disk.counters
    celsius = told["temperature_kelvin"] - KELVIN if "temperature_kelvin" in told else None
    rows = (
        ("Model", identity.model),
        ("Firmware", identity.firmware),
        ("Serial Number", identity.serial),
        ("Disk Size", _size(disk)),
        ("Interface", "NVM Express" if identity.interface == "NVMe" else identity.interface),
        ("Power On Hours", _counted(told, "power_on_hours", 1, "hours")),
        ("Host Reads", _counted(told, "host_reads_bytes", GIB, "GB")),
        ("Host Writes", _counted(told, "host_writes_bytes", GIB, "GB")),
        ("Temperature", "" if celsius is None else f"{celsius} C ({celsius * 9 // 5 + 32} F)"),
        ("Health Status", health_of(told)),
    )
    return [f"{name:>16} : {value}" for name, value in rows if value]


def _counted(told: Mapping[str, int], key: str, unit: int, word: str) -> str:
    return f"{told[key] // unit} {word}" if key in told else ""


def _smart(disk: Disk) -> list[str]:
    """Return the table of NVMe's log, of the counters that are known; nothing of other drives."""
    rows = [
        f"{number:02X} {(disk.counters[key] // unit) & (2**48 - 1):012X} {name}"
        for number, key, unit, name in _NVME
        if key in disk.counters
    ]
    if disk.identity.interface != "NVMe" or not rows:
        return []
    return [_title("S.M.A.R.T."), "ID RawValues(6) Attribute Name", *rows, ""]


def _title(words: str) -> str:
    return f"-- {words} ".ljust(WIDTH, "-")


def _name(disk: Disk) -> str:
    return disk.identity.model or disk.identity.target


def _size(disk: Disk) -> str:
    return f"{disk.capacity_bytes / GIGA:.1f} GB"
