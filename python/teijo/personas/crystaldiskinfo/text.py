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
_ALL_PERCENT: Final = 100
_CAUTION_PERCENT: Final = 10
"""A drive with so little of its life left, or less, is one to be careful with."""
_THERMAL: Final = "Thermal Management Temperature"
_NVME: Final = (
    (0x01, COUNTER, 1, "Critical Warning"),
    (0x02, "temperature_kelvin", 1, "Composite Temperature"),
    (0x03, "available_spare_percent", 1, "Available Spare"),
    (0x04, "spare_threshold_percent", 1, "Available Spare Threshold"),
    (0x05, "percentage_used", 1, "Percentage Used"),
    (0x06, "host_reads_bytes", NVME_UNIT_BYTES, "Data Units Read"),
    (0x07, "host_writes_bytes", NVME_UNIT_BYTES, "Data Units Written"),
    (0x08, "read_commands", 1, "Host Read Commands"),
    (0x09, "write_commands", 1, "Host Write Commands"),
    (0x0A, "busy_minutes", 1, "Controller Busy Time"),
    (0x0B, "power_cycles", 1, "Power Cycles"),
    (0x0C, "power_on_hours", 1, "Power On Hours"),
    (0x0D, "unsafe_shutdowns", 1, "Unsafe Shutdowns"),
    (0x0E, "media_errors", 1, "Media and Data Integrity Errors"),
    (0x0F, "error_log_entries", 1, "Number of Error Information Log Entries"),
    (0x10, "warning_temperature_minutes", 1, "Warning Composite Temperature Time"),
    (0x11, "critical_temperature_minutes", 1, "Critical Composite Temperature Time"),
    *((0x11 + n, f"sensor_{n}_kelvin", 1, f"Temperature Sensor {n}") for n in range(1, 9)),
    *(
        (0x19 + n, f"thermal_{n}_transitions", 1, f"{_THERMAL} {n} Transition Count")
        for n in (1, 2)
    ),
    *((0x1B + n, f"thermal_{n}_seconds", 1, f"Total Time For {_THERMAL} {n}") for n in (1, 2)),
)
"""The original's number of a row, the counter in it, its unit, and the original's name for it."""
_VIRTUAL: Final = ("Parallels", "VMware", "QEMU")
"""Of a model that begins so, the original says nothing."""


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


def health_of(counters: Mapping[str, int], model: str = "") -> str:
    """Return the original's verdict, with the share of the life that is left.

    In its order: nothing of a virtual machine's drive; Bad for any critical warning, or a spare
    below its threshold; Caution for one just at it, unless that is 100, or where 10 % or less of
    the life is left; else Good. A threshold of 0 or above 100 is none.
    """
    used = counters.get("percentage_used")
    left = None if used is None else max(0, 100 - used)
    share = "" if left is None else f" ({left} %)"
    return f"{_word(counters, left, model)}{share}"


def _word(counters: Mapping[str, int], left: int | None, model: str) -> str:
    warning = counters.get(COUNTER)
    if model.startswith(_VIRTUAL):
        return "Unknown"
    if warning:
        return "Bad"
    spare, threshold = (
        counters.get(name) for name in ("available_spare_percent", "spare_threshold_percent")
    )
    if spare is not None and threshold is not None and 0 < threshold <= _ALL_PERCENT:
        if spare < threshold:
            return "Bad"
        if spare == threshold != _ALL_PERCENT:
            return "Caution"
    if left is not None:
        return "Caution" if left <= _CAUTION_PERCENT else "Good"
    return "Unknown" if warning is None else "Good"


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
        ("Power On Count", _counted(told, "power_cycles", 1, "count")),
        ("Host Reads", _counted(told, "host_reads_bytes", GIB, "GB")),
        ("Host Writes", _counted(told, "host_writes_bytes", GIB, "GB")),
        ("Temperature", "" if celsius is None else f"{celsius} C ({celsius * 9 // 5 + 32} F)"),
        ("Health Status", health_of(told, identity.model)),
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
