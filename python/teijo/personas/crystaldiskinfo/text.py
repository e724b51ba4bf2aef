"""The text that CrystalDiskInfo 9.9.2 saves: header, disk list, and of each drive what is known.

DiskInfoDlgCopy.cpp, SaveText, in its usual settings: English, with all dumps, without the column of
letters. Lines end in CR LF, but for one that the original itself ends in LF alone. It is UTF-8.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.attributes import NVME_NAMES, Row, name_of, nvme_rows
from teijo.personas.crystaldiskinfo.disk import MB, SECTOR_BYTES, Disk, signed_32
from teijo.personas.crystaldiskinfo.nvme import Nvme, nvme_of
from teijo.personas.crystaldiskinfo.rule import verdict_of
from teijo.personas.crystaldiskinfo.sata import Sata, sata_of
from teijo.units import GIGA

VERSION: Final = "9.9.2"
YEARS: Final = "2008-2026"
WIDTH: Final = 76
END: Final = "\r\n"
UNKNOWN: Final = "Unknown"
NOTHING: Final = "----"
_RULE: Final = "-" * WIDTH
_WORD_TITLE: Final = "        0    1    2    3    4    5    6    7    8    9"
_BYTE_TITLE: Final = "     +0 +1 +2 +3 +4 +5 +6 +7 +8 +9 +A +B +C +D +E +F"
_LARGEST_BUFFER: Final = 0xFFFF * 512
_LF_ALONE: Final = "     Queue Depth : 1\n"


def text_of(
    disks: Sequence[Disk],
    *,
    system: str,
    date: datetime,
    version: str = VERSION,
    years: str = YEARS,
) -> str:
    """Return the whole text of drives. `system` is the line of the operating system."""
    head = (
        _RULE,
        f"CrystalDiskInfo {version} (C) {years} hiyohiyo",
        " " * 32 + "Crystal Dew World: https://crystalmark.info/",
        _RULE,
        "",
        f"    OS : {system}",
        f"  Date : {date:%Y/%m/%d} {date.hour}:{date:%M:%S}",
        "",
        _title("Controller Map"),
        *_controllers(disks),
        "",
        _title("Disk List"),
        *(_listed(number, disk) for number, disk in enumerate(disks, start=1)),
        "",
    )
    parts = [_of_disk(number, disk) for number, disk in enumerate(disks, start=1)]
    return "".join((_lines(head), *parts))


def _lines(lines: Iterable[str]) -> str:
    return "".join(line if line == _LF_ALONE else line + END for line in lines)


def _title(words: str) -> str:
    return f"-- {words} ".ljust(WIDTH, "-")


def _controllers(disks: Sequence[Disk]) -> list[str]:
    """Return the adapters and what hangs on each; the original asks Windows for more than disks."""
    adapters = dict.fromkeys((disk.adapter, disk.kind == "ata") for disk in disks if disk.adapter)
    lines = []
    for name, is_ata in adapters:
        lines.append(f" + {visible(name)} [{'ATA' if is_ata else 'SCSI'}]")
        hang = (disk for disk in disks if (disk.adapter, disk.kind == "ata") == (name, is_ata))
        lines += [f"   - {_name(disk)}" for disk in hang]
    return lines


def _listed(number: int, disk: Disk) -> str:
    usb = "" if disk.usb_ids is None else " (V={}, P={})".format(*disk.usb_ids).upper()
    mark = _mark(disk)
    place = f"[{disk.address}, {disk.command}]{usb}"
    return f" ({number:02d}) {_name(disk)} : {_size(disk)} {place}{f' - {mark}' if mark else ''}"


def _mark(disk: Disk) -> str:
    match disk.kind:
        case "nvme":
            return "nv"
        case "ata":
            return sata_of(disk).maker.mark
        case "other":
            return ""


def _name(disk: Disk) -> str:
    match disk.kind:
        case "nvme":
            return nvme_of(disk).model
        case "ata":
            return sata_of(disk).words.model or visible(disk.model)
        case "other":
            return visible(disk.model)


def _size(disk: Disk) -> str:
    size_mb = _size_mb(disk)
    return f"{size_mb / 1000:.1f} GB" if size_mb >= 1000 else f"{size_mb} MB"


def _size_mb(disk: Disk) -> int:
    match disk.kind:
        case "nvme":
            return disk.size_by_windows_mb
        case "ata" if disk.identify:
            return sata_of(disk).words.size_mb
        case "ata" | "other":
            return disk.size_bytes // MB


def _of_disk(number: int, disk: Disk) -> str:
    head = (_RULE, f" ({number:02d}) {_name(disk)}", _RULE)
    match disk.kind:
        case "nvme":
            seen = nvme_of(disk)
            facts = _nvme_facts(disk, seen)
            rows = nvme_rows(disk.smart, disk.identify) if disk.smart else ()
            table = ["ID RawValues(6) Attribute Name", *map(_nvme_row, rows)] if rows else []
            dumps = ("SMART_NVME", disk.smart), ("", b"")
        case "ata":
            sata = sata_of(disk)
            facts = _sata_facts(disk, sata)
            table = _sata_table(sata)
            dumps = ("SMART_READ_DATA", disk.smart), ("SMART_READ_THRESHOLD", disk.thresholds)
        case "other":
            facts, table, dumps = _other_facts(disk), [], (("", b""), ("", b""))
    lines = [*head, *facts, ""]
    if table:
        lines += [_title("S.M.A.R.T."), *table, ""]
    if disk.identify:
        lines += [_title("IDENTIFY_DEVICE"), *_word_dump(disk.identify), ""]
    for title, raw in dumps:
        if raw:
            lines += [_title(title), *_byte_dump(raw), ""]
    return _lines(lines)


def _fact(label: str, value: str) -> str:
    return f"{label:>16} : {value}"


def _enclosure(disk: Disk, mark: str) -> list[str]:
    if not disk.enclosure or disk.usb_ids is None:
        return []
    vendor, product = (one.upper() for one in disk.usb_ids)
    ids = f"(V={vendor}, P={product}, {disk.command})"
    line = f"{visible(disk.enclosure)} {ids}{f' - {mark}' if mark else ''}"
    return [_fact("Enclosure", line)]


def _temperature(celsius: int | None) -> str:
    if celsius is None:
        return UNKNOWN
    ninths = celsius * 9
    # Whole degrees, cut towards 0 as in C.
    fahrenheit = (ninths // 5 if ninths >= 0 else -(-ninths // 5)) + 32
    return f"{celsius} C ({fahrenheit} F)"


def _counted(value: int | None, word: str, *, least: int) -> str:
    return UNKNOWN if value is None or value < least else f"{value} {word}"


def _starts(value: int) -> str:
    return UNKNOWN if value == 0 else f"{signed_32(value)} count"


def _nvme_facts(disk: Disk, seen: Nvme) -> list[str]:
    read = bool(disk.smart)
    return [
        *_enclosure(disk, "nv"),
        _fact("Model", seen.model),
        _fact("Firmware", seen.firmware),
        _fact("Serial Number", seen.serial),
        _fact("Disk Size", f"{_size_mb(disk) / 1000:.1f} GB"),
        _fact("Interface", "NVM Express"),
        _fact("Standard", seen.standard or UNKNOWN),
        _fact("Transfer Mode", disk.transfer_mode or f"{NOTHING} | {NOTHING}"),
        _fact("Power On Hours", _counted(seen.hours, "hours", least=0)),
        _fact("Power On Count", _starts(seen.starts)),
        *([_fact("Host Reads", f"{seen.reads_gb} GB")] if read and seen.reads_gb != -1 else []),
        *([_fact("Host Writes", f"{seen.writes_gb} GB")] if read and seen.writes_gb != -1 else []),
        _fact("Temperature", _temperature(seen.celsius)),
        _fact("Health Status", str(verdict_of(disk))),
        _fact("Features", ", ".join(seen.features)),
        _fact("Drive Letter", visible(disk.drive_letter)),
    ]


_FIGURES: Final[Mapping[str, tuple[str, str]]] = {
    "host_reads_gb": ("Host Reads", " GB"),
    "host_writes_gb": ("Host Writes", " GB"),
    "nand_writes_gb": ("NAND Writes", " GB"),
    "erased_gb": ("GBytes Erased", " GB"),
    "wear_count": ("Wear Level Count", ""),
}


def _sata_facts(disk: Disk, sata: Sata) -> list[str]:
    words = sata.words
    depth = words.queue_depth
    hours = _counted(sata.hours, "hours", least=0)
    return [
        *_enclosure(disk, sata.maker.mark),
        _fact("Model", words.model or visible(disk.model)),
        _fact("Firmware", words.firmware or visible(disk.firmware)),
        _fact("Serial Number", words.serial or visible(disk.serial)),
        _fact("Disk Size", _sizes(sata)),
        _fact("Buffer Size", _buffer(sata)),
        *([_fact("NV Cache Size", f"{words.cache_mb} MB")] if words.cache_mb else []),
        _LF_ALONE if depth is None else _fact("Queue Depth", str(depth)),
        _fact("# of Sectors", str(words.sectors) if words.sectors else UNKNOWN),
        _fact("Rotation Rate", _rotation(sata)),
        _fact("Interface", disk.interface or words.interface),
        _fact("Major Version", words.standard or UNKNOWN),
        _fact("Minor Version", words.revision if words.standard else UNKNOWN),
        _fact("Transfer Mode", " | ".join(words.transfer_modes)),
        _fact("Power On Hours", hours + (" (?)" if words.in_minutes and sata.hours else "")),
        _fact("Power On Count", _starts(sata.starts)),
        *(
            _fact(label, f"{sata.told[name]}{unit}")
            for name, (label, unit) in _FIGURES.items()
            if name in sata.told
        ),
        _fact("Temperature", _temperature(sata.celsius)),
        _fact("Health Status", str(verdict_of(disk))),
        _fact("Features", ", ".join(words.features)),
        _fact("APM Level", words.apm),
        _fact("AAM Level", words.aam),
        _fact("Drive Letter", visible(disk.drive_letter)),
    ]


def _sizes(sata: Sata) -> str:
    """Return the size, and in brackets by which addresses; Windows' own is never told."""
    words = sata.words
    if words.size_mb < 1000:
        return f"{words.size_mb} MB ({words.chs_mb / 1000:.2f}/{NOTHING}/{NOTHING}/{NOTHING})"
    large = f"{words.lba48_mb / 1000:.1f}" if words.has_lba48 else NOTHING
    by = f"{words.chs_mb / 1000:.1f}/{words.lba28_mb / 1000:.1f}/{large}/{NOTHING}"
    return f"{words.size_mb / 1000:.1f} GB ({by})"


def _buffer(sata: Sata) -> str:
    size = sata.words.buffer_bytes
    if sata.is_ssd and size == _LARGEST_BUFFER:
        return f">= {size // 1024} KB"
    return f"{size // 1024} KB" if size else UNKNOWN


def _rotation(sata: Sata) -> str:
    if sata.words.solid_state:
        return f"{NOTHING} (SSD)"
    return UNKNOWN if sata.words.rpm is None else f"{sata.words.rpm} RPM"


def _other_facts(disk: Disk) -> list[str]:
    """Return what is known of a drive that the original would not list."""
    rows = (
        ("Model", disk.model),
        ("Firmware", disk.firmware),
        ("Serial Number", disk.serial),
        ("Disk Size", f"{disk.size_bytes / GIGA:.1f} GB" if disk.size_bytes else ""),
        ("Interface", disk.interface),
        ("Health Status", str(verdict_of(disk))),
        ("Drive Letter", disk.drive_letter),
    )
    return [_fact(label, visible(value)) for label, value in rows if value]


def _nvme_row(row: Row) -> str:
    return f"{row.number:02X} {row.count:012X} {name_of(row.number, NVME_NAMES)}"


def _padded(value: int) -> str:
    return f"{value:_>3}"


def _sata_table(sata: Sata) -> list[str]:
    if not sata.rows:
        return []
    if sata.wide_raw:
        title = "ID Raw Values (8)   Attribute Name"
    elif sata.maker.vendor == "sandforce":
        title = "ID Cur Wor Thr Raw Values (7) Attribute Name"
    else:
        title = "ID Cur Wor Thr RawValues(6) Attribute Name"
    return [title, *(_sata_row(row, sata) for row in sata.rows)]


def _sata_row(row: Row, sata: Sata) -> str:
    raw, name = f"{row.count:012X}", name_of(row.number, sata.maker.names)
    value, worst, threshold = (_padded(one) for one in (row.value, row.worst, row.threshold))
    match sata.maker.vendor:
        case "sandforce":
            cells = f"{value} {worst} {threshold} {row.reserved:02X}{raw}"
        case "jmicron" if sata.wide_raw:
            cells = f"{value} {row.reserved:02X}{raw}{row.worst:02X}"
        case "indilinx":
            cells = f"{raw}{row.worst:02X}{row.value:02X}"
        case _:
            cells = f"{value} {worst} {threshold if sata.thresholds_read else '---'} {raw}"
    return f"{row.number:02X} {cells} {name}"


def _word_dump(raw: bytes) -> list[str]:
    """Return the first 256 words, the high byte of each first, ten a row."""
    raw = raw.ljust(SECTOR_BYTES, b"\0")[:SECTOR_BYTES]
    words = [f"{raw[at + 1]:02X}{raw[at]:02X}" for at in range(0, SECTOR_BYTES, 2)]
    rows = range(0, len(words), 10)
    return [_WORD_TITLE, *(f"{at:03d}: {' '.join(words[at : at + 10])}" for at in rows)]


def _byte_dump(raw: bytes) -> list[str]:
    raw = raw.ljust(SECTOR_BYTES, b"\0")[:SECTOR_BYTES]
    rows = range(0, SECTOR_BYTES, 16)
    return [_BYTE_TITLE, *(f"{at:03X}: {raw[at : at + 16].hex(' ').upper()}" for at in rows)]
