"""SCSI's log pages, each given as its parameters by code (SPC, SBC)."""

from collections.abc import Mapping
from typing import Final

from teijo.device.health.raw import big, from_celsius

WRITES, READS, VERIFIES, OTHER_ERRORS = 0x02, 0x03, 0x05, 0x06
TEMPERATURE, START_STOP, SELF_TEST, SOLID_STATE = 0x0D, 0x0E, 0x10, 0x11
BACKGROUND_SCAN, EXCEPTIONS = 0x15, 0x2F
BYTES_PROCESSED, UNCORRECTED = 5, 6
_UNKNOWN_CELSIUS: Final = 0xFF

Page = Mapping[int, bytes]


def celsius(page: Page, code: int = 0) -> int | None:
    """Return a temperature of page 0Dh in °C: of now (parameter 0), or the trip point (1)."""
    value = big(page.get(code, b""), 1, 1)
    return None if value == _UNKNOWN_CELSIUS else value


def counter(page: Page, code: int) -> int | None:
    """Return a counter of any length."""
    value = page.get(code, b"")
    return int.from_bytes(value, "big") if value else None


def endurance_used(page: Page) -> int | None:
    """Return the percentage used of page 11h."""
    return big(page.get(1, b""), 3, 1)


def minutes_on(page: Page) -> int | None:
    """Return the minutes powered on, of page 15h."""
    return big(page.get(0, b""), 0, 4)


def exception(page: Page) -> tuple[int, int] | None:
    """Return additional sense code and qualifier of page 2Fh; (0, 0) is nothing to tell."""
    code, qualifier = big(page.get(0, b""), 0, 1), big(page.get(0, b""), 1, 1)
    return None if code is None or qualifier is None else (code, qualifier)


def counters(pages: Mapping[int, Page]) -> dict[str, int | None]:
    """Return what the pages tell, by the names of `Counters`."""
    lost = [counter(pages[one], UNCORRECTED) for one in (WRITES, READS, VERIFIES) if one in pages]
    told = [one for one in lost if one is not None]
    minutes = minutes_on(pages.get(BACKGROUND_SCAN, {}))
    return {
        "temperature_kelvin": from_celsius(celsius(pages.get(TEMPERATURE, {}))),
        "percentage_used": endurance_used(pages.get(SOLID_STATE, {})),
        "host_reads_bytes": counter(pages.get(READS, {}), BYTES_PROCESSED),
        "host_writes_bytes": counter(pages.get(WRITES, {}), BYTES_PROCESSED),
        "power_on_hours": None if minutes is None else minutes // 60,
        "media_errors": sum(told) if told else None,
    }
