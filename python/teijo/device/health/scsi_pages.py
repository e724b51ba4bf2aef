"""SCSI's log pages, each given as its parameters by code (SPC, SBC)."""

from collections.abc import Mapping
from typing import Final

from teijo.device.health.raw import big, from_celsius

WRITES, READS, VERIFIES, OTHER_ERRORS = 0x02, 0x03, 0x05, 0x06
TEMPERATURE, START_STOP, SELF_TEST, SOLID_STATE = 0x0D, 0x0E, 0x10, 0x11
BACKGROUND_SCAN, PERFORMANCE, EXCEPTIONS = 0x15, 0x19, 0x2F
BYTES_PROCESSED, UNCORRECTED = 5, 6
_UNKNOWN_CELSIUS: Final = 0xFF
_ERROR_COUNTERS: Final = {
    0: "corrected_at_once", 1: "corrected_with_delay", 2: "repeated", 3: "corrected",
    4: "corrections_tried", 5: "processed_bytes", 6: "uncorrected",
}  # fmt: skip
_CYCLES: Final = {
    3: "start_stop_cycles_specified", 4: "start_stop_cycles",
    5: "load_cycles_specified", 6: "load_cycles",
}  # fmt: skip

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


def error_counters(page: Page) -> dict[str, int]:
    """Return the counters of an error page (02h, 03h, 05h), of those that it has."""
    return _numbers(page, _ERROR_COUNTERS)


def start_stop(page: Page) -> dict[str, int]:
    """Return the cycles of page 0Eh, and when the drive was made (year and week)."""
    made = page.get(1, b"")
    digits = made[:6].decode("ascii", "replace")
    dates = {}
    if len(made) >= 6 and digits.isascii() and digits.isdigit():
        dates = {"made_year": int(digits[:4]), "made_week": int(digits[4:])}
    return dates | _numbers(page, _CYCLES)


def background_scan(page: Page) -> dict[str, int]:
    """Return the minutes powered on and the scans of page 15h, and how many places it found."""
    status = page.get(0, b"")
    places = {
        "powered_on_minutes": big(status, 0, 4),
        "scan_status": big(status, 5, 1),
        "scans": big(status, 6, 2),
        "medium_scans": big(status, 10, 2),
    }
    found = {name: value for name, value in places.items() if value is not None}
    return found | ({"places_found": sum(code > 0 for code in page)} if status else {})


def performance(page: Page) -> dict[str, int]:
    """Return commands and blocks of page 19h."""
    first = page.get(1, b"")
    places = ("read_commands", "write_commands", "blocks_written", "blocks_read")
    told = {name: big(first, 8 * place, 8) for place, name in enumerate(places)}
    return {name: value for name, value in told.items() if value is not None}


def _numbers(page: Page, names: Mapping[int, str]) -> dict[str, int]:
    told = {name: counter(page, code) for code, name in names.items()}
    return {name: value for name, value in told.items() if value is not None}
