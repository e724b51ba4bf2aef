"""The text that CrystalDiskMark saves, line for line as versions 3.0.2, 5.1.2 and 8.0.4 have it.

Widths and words are the original's; it ends lines with CR LF in every one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from teijo import units
from teijo.methods.classic.crystaldiskmark.rows import Column, Like, Place, Profile, Row, rows_of
from teijo.terms.workload import Access

VERSIONS: Final[Mapping[Like, tuple[str, str]]] = {
    "3": ("3.0.2", "2013"),
    "5": ("5.1.2", "2016"),
    "8": ("8.0.4", "2021"),
}
"""The version that is acted as, and the last year of its copyright."""
_PROFILES: Final[Mapping[Profile, str]] = {
    "default": "Default",
    "nvme": "Default",
    "peak": "Peak",
    "real-world": "Real",
    "demo": "Demo",
}
"""NVMe is a setting of version 8, not a profile: the text does not show it."""
_SMALL_BYTES: Final = 8 * units.GIB
"""A drive below that has its sizes in MiB."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """What was measured, as the original shows a drive letter: its name, and how full it is."""

    name: str
    used_bytes: int
    total_bytes: int


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The numbers of one row in one column; those of a row that was not measured are zeros."""

    mb_s: float = 0.0
    latency_us: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """All that a text says: the numbers by place, and what is below them.

    `system` is the operating system in the original's words, `machine` its architecture ("x64").
    """

    like: Like
    profile: Profile = "default"
    mix: int | None = None
    queues: int = 32
    threads: int = 1
    numbers: Mapping[Place, Shown]
    runs: int = 5
    size_bytes: int
    interval_ns: int = 0
    measure_ns: int = 0
    zeros: bool = False
    admin: bool = False
    drive: Drive
    date: datetime
    system: str
    machine: str = "x64"
    comment: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the window."""
        return rows_of(self.like, self.profile, queues=self.queues, threads=self.threads)

    def at(self, row: Row, column: Column) -> Shown:
        """Return the numbers of a row in a column."""
        return self.numbers.get(Place(row=row, column=column), Shown())


def text_of(sheet: Sheet) -> str:
    """Return the whole text."""
    match sheet.like:
        case "3":
            lines = [*_old_title(sheet), *_results_3(sheet), *_footer_3(sheet)]
        case "5":
            lines = [*_old_title(sheet), *_results_5(sheet), *_footer_5(sheet)]
        case "8":
            lines = [*_title_8(sheet), *_results_8(sheet), *_footer_8(sheet)]
    return "\r\n".join(lines)


def file_name(date: datetime) -> str:
    """Return the name that the original offers to save its text by."""
    return f"CrystalDiskMark_{date:%Y%m%d%H%M%S}.txt"


def _product(sheet: Sheet) -> str:
    version, year = VERSIONS[sheet.like]
    return f"CrystalDiskMark {version} {sheet.machine} (C) 2007-{year} hiyohiyo"


def _old_title(sheet: Sheet) -> list[str]:
    rule = "-" * 71
    newer = [
        "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]",
        "* KB = 1000 bytes, KiB = 1024 bytes",
    ]
    older = ["* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]"]
    site = " " * 27 + "Crystal Dew World : http://crystalmark.info/"
    return [rule, _product(sheet), site, rule, *(older if sheet.like == "3" else newer), ""]


def _title_8(sheet: Sheet) -> list[str]:
    rule = "-" * 78
    return [
        rule,
        _product(sheet),
        " " * 34 + "Crystal Dew World: https://crystalmark.info/",
        rule,
        "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]",
        "* KB = 1000 bytes, KiB = 1024 bytes",
        "",
    ]


def _iops(row: Row, shown: Shown) -> float:
    return shown.mb_s * units.MEGA / row.block_size_bytes


def _results_3(sheet: Sheet) -> list[str]:
    lines = []
    for row in sheet.rows:
        for column, word in (("read", "Read"), ("write", "Write")):
            shown = sheet.at(row, "read" if column == "read" else "write")
            name = f"Random {word} {row.block_size_bytes // units.KIB}KB"
            iops = ""
            if row.access is Access.SEQUENTIAL:
                name = f"Sequential {word}"
            elif row.block_size_bytes == 4 * units.KIB:
                name += f" (QD={row.queue_depth})"
                iops = f" [{_iops(row, shown):8.1f} IOPS]"
            lines.append(f"{name:>26} : {shown.mb_s:9.3f} MB/s{iops}")
    return [*lines, ""]


def _results_5(sheet: Sheet) -> list[str]:
    lines = []
    for place, row in enumerate(sheet.rows):
        for word, shown in (("Read", sheet.at(row, "read")), ("Write", sheet.at(row, "write"))):
            # The last two rows have one queue: the original's text gives that less room, or none.
            load = f"(Q={row.queue_depth:{3 if place < 2 else 2}d},T={row.threads:2d})"
            if row.access is Access.SEQUENTIAL:
                load = f"(T={row.threads:2d})" if place == 2 else load
                lines.append(f"{f'Sequential {word} {load}':>31} : {shown.mb_s:9.3f} MB/s")
                continue
            rate = f"{shown.mb_s:9.3f} MB/s [{_iops(row, shown):8.1f} IOPS]"
            lines.append(f"{f'Random {word} 4KiB {load}':>31} : {rate}")
    return [*lines, ""]


def _results_8(sheet: Sheet) -> list[str]:
    lines = ["[Read]", *(_line_8(row, sheet.at(row, "read")) for row in sheet.rows), ""]
    lines += ["[Write]", *(_line_8(row, sheet.at(row, "write")) for row in sheet.rows), ""]
    if sheet.mix is not None:
        lines.append(f"[Mix] Read {sheet.mix}%/Write {100 - sheet.mix}%")
        lines += [*(_line_8(row, sheet.at(row, "mix")) for row in sheet.rows), ""]
    return lines


def _line_8(row: Row, shown: Shown) -> str:
    size, unit = row.block_size_bytes // units.KIB, "KiB"
    if size >= 1024:
        size, unit = size // 1024, "MiB"
    load = f"{row.order} {size:4d}{unit} (Q={row.queue_depth:3d}, T={row.threads:2d})"
    rate = f"{shown.mb_s:9.3f} MB/s [{_iops(row, shown):9.1f} IOPS]"
    return f"  {load}: {rate} <{shown.latency_us:9.2f} us>"


def _footer_3(sheet: Sheet) -> list[str]:
    mode = " <All 0x00, 0Fill>" if sheet.zeros else ""
    test = f"{sheet.size_bytes // units.MIB} MB [{_drive_old(sheet.drive, '')}] (x{sheet.runs})"
    return [f"  Test : {test}{mode}", *_old_end(sheet)]


def _footer_5(sheet: Sheet) -> list[str]:
    mode = "<0Fill>" if sheet.zeros else ""
    test = f"{sheet.size_bytes // units.MIB} MiB [{_drive_old(sheet.drive, 'i')}] (x{sheet.runs})"
    return [
        f"  Test : {test} {mode} [Interval={_seconds(sheet.interval_ns)} sec]",
        *_old_end(sheet),
    ]


def _old_end(sheet: Sheet) -> list[str]:
    comment = [f"    {sheet.comment}", ""] if sheet.comment else ["  "]
    return [f"  Date : {_date(sheet.date)}", f"    OS : {sheet.system}", *comment]


def _footer_8(sheet: Sheet) -> list[str]:
    size = f"{sheet.size_bytes // units.MIB} MiB"
    if sheet.size_bytes % units.GIB == 0:
        size = f"{sheet.size_bytes // units.GIB} GiB"
    mode = (" [Admin]" if sheet.admin else "") + (" <0Fill>" if sheet.zeros else "")
    measure, interval = _seconds(sheet.measure_ns), _seconds(sheet.interval_ns)
    comment = [f"Comment: {sheet.comment}"] if sheet.comment else []
    return [
        f"Profile: {_PROFILES[sheet.profile]}",
        f"   Test: {size} (x{sheet.runs}) [{drive_of_8(sheet.drive)}]",
        f"   Mode:{mode}",
        f"   Time: Measure {measure} sec / Interval {interval} sec ",
        f"   Date: {_date(sheet.date)}",
        f"     OS: {sheet.system}",
        *comment,
        "",
    ]


def drive_of_8(drive: Drive) -> str:
    """Return a drive as version 8 has it in its window and its text: "C: 45% (210/465GiB)"."""
    unit, word = _unit(drive)
    percent, used, total = _fullness(drive, unit)
    return f"{drive.name}: {percent:.0f}% ({used:.0f}/{total:.0f}{word}iB)"


def _drive_old(drive: Drive, binary: str) -> str:
    unit, word = _unit(drive)
    percent, used, total = _fullness(drive, unit)
    return f"{drive.name}: {percent:.1f}% ({used:.1f}/{total:.1f} {word}{binary}B)"


def _unit(drive: Drive) -> tuple[int, str]:
    return (units.MIB, "M") if drive.total_bytes < _SMALL_BYTES else (units.GIB, "G")


def _fullness(drive: Drive, unit: int) -> tuple[float, float, float]:
    share = drive.used_bytes / drive.total_bytes if drive.total_bytes else 0.0
    return share * 100, drive.used_bytes / unit, drive.total_bytes / unit


def _seconds(duration_ns: int) -> str:
    return f"{duration_ns / units.NS_PER_S:g}"


def _date(date: datetime) -> str:
    """Return a date as the original prints it: the hour has one digit before ten."""
    return f"{date:%Y/%m/%d} {date.hour}:{date:%M:%S}"
