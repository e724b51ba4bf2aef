"""ATA's SMART data and device statistics byte by byte (ACS), and what of it all mean alike.

What an attribute's raw value means is each vendor's own; those read here mean the same in all
drives that have them.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.health.ata_names import name_of
from teijo.device.health.raw import Unreadable, from_celsius, is_blank, little, signed

SECTOR_BYTES: Final = 512
STATISTICS: Final = 0x04
"""The log with the device statistics."""
STATISTICS_PAGES: Final = 8
"""Pages 0 to 7 are read at once: all that are standard but the vendor's."""
GENERAL, ERRORS, TEMPERATURE, SOLID_STATE = 1, 4, 5, 7
ENTRIES: Final = 30
ENTRY_BYTES: Final = 12
HOURS, CYCLES, AIRFLOW, CELSIUS = 0x09, 0x0C, 0xBE, 0xC2
_SUPPORTED_AND_VALID: Final = 0xC0


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute: its normalised values (255 is the best) and its 6 raw bytes as a number.

    `name` is the usual one, "" where there is none; `threshold` is None where the drive gives none
    for this id.
    """

    number: int
    name: str = ""
    flags: int
    value: int
    worst: int
    threshold: int | None
    raw: int


def attributes(data: bytes, thresholds: bytes) -> tuple[Attribute, ...]:
    """Return the attributes in the order of the drive; a number may stand twice.

    Raises:
        Unreadable: it is too short, or there is nothing in it.
    """
    if len(data) < SECTOR_BYTES or is_blank(data):
        raise Unreadable("the drive's SMART data is blank")
    limits: dict[int, int] = {}
    for at in _places(thresholds):
        limits.setdefault(thresholds[at], thresholds[at + 1])
    return tuple(
        Attribute(
            number=data[at],
            name=name_of(data[at]),
            flags=little(data, at + 1, 2),
            value=data[at + 3],
            worst=data[at + 4],
            threshold=limits.get(data[at]),
            raw=little(data, at + 5, 6),
        )
        for at in _places(data)
    )


def statistic(pages: bytes, page: int, at: int, length: int) -> int | None:
    """Return one device statistic of pages read from page 0 on; None unless it is valid.

    `at` is its place in its page, `length` how many bytes of its eight are the number.
    """
    start = page * SECTOR_BYTES
    # The page says its own number; a drive that has fewer pages answers zeros.
    if len(pages) < start + SECTOR_BYTES or pages[start + 2] != page:
        return None
    if pages[start + at + 7] & _SUPPORTED_AND_VALID != _SUPPORTED_AND_VALID:
        return None
    return little(pages, start + at, length)


def in_statistics(pages: bytes, block_bytes: int) -> dict[str, int | None]:
    """Return what the device statistics tell, by the names of `Counters`."""
    written = statistic(pages, GENERAL, 0x18, 6)
    read = statistic(pages, GENERAL, 0x28, 6)
    celsius = statistic(pages, TEMPERATURE, 0x08, 1)
    return {
        "temperature_kelvin": from_celsius(None if celsius is None else signed(celsius)),
        "percentage_used": statistic(pages, SOLID_STATE, 0x08, 1),
        "host_reads_bytes": None if read is None else read * block_bytes,
        "host_writes_bytes": None if written is None else written * block_bytes,
        "read_commands": statistic(pages, GENERAL, 0x30, 6),
        "write_commands": statistic(pages, GENERAL, 0x20, 6),
        "power_cycles": statistic(pages, GENERAL, 0x08, 4),
        "power_on_hours": statistic(pages, GENERAL, 0x10, 4),
        "media_errors": statistic(pages, ERRORS, 0x08, 4),
        "warning_temperature_minutes": statistic(pages, TEMPERATURE, 0x50, 4),
    }


def in_attributes(found: tuple[Attribute, ...]) -> dict[str, int | None]:
    """Return what of the attributes every vendor means alike: temperature, hours, power cycles."""
    raw = {one.number: one.raw for one in reversed(found)}
    celsius = raw.get(CELSIUS, raw.get(AIRFLOW))
    return {
        # The other bytes of the raw value are often the least and the most so far.
        "temperature_kelvin": None if celsius is None else from_celsius(signed(celsius & 0xFF)),
        "power_on_hours": None if HOURS not in raw else raw[HOURS] & 0xFFFFFFFF,
        "power_cycles": None if CYCLES not in raw else raw[CYCLES] & 0xFFFFFFFF,
    }


def _places(sector: bytes) -> list[int]:
    """Return where in a sector of attributes or thresholds an entry with a number stands."""
    places = range(2, 2 + ENTRIES * ENTRY_BYTES, ENTRY_BYTES)
    return [at for at in places if at + ENTRY_BYTES <= len(sector) and sector[at]]
