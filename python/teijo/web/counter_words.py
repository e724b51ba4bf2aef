"""What counters are called on a page, and how their numbers are written."""

from collections.abc import Callable, Mapping
from typing import Final

from teijo.analysis.drive_course import RUN_ERRORS, RUN_READS, RUN_WRITES, Counter
from teijo.speech.tongue import tr
from teijo.units import GIGA

_BYTES: Final = "bytes"
_SIGNED: Final = "+,"
NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "host_writes_bytes": ("written by the host", _BYTES),
    "media_writes_bytes": ("written to the NAND", _BYTES),
    "nand_writes_bytes": ("written to the NAND", _BYTES),
    "host_reads_bytes": ("read by the host", _BYTES),
    "percentage_used": ("used", "%"),
    "available_spare_percent": ("spare", "%"),
    "media_errors": ("media errors", ""),
    "error_log_entries": ("error log entries", ""),
    "interface_crc_errors": ("interface CRC errors", ""),
    "pcie_correctable_errors": ("PCIe errors, corrected", ""),
    "link_retrains": ("link retrains", ""),
    "warning_temperature_minutes": ("above the warning", "min"),
    "critical_temperature_minutes": ("above the critical", "min"),
    "thermal_1_transitions": ("thermal state 1 entered", ""),
    "thermal_2_transitions": ("thermal state 2 entered", ""),
    "throttle_events": ("throttle events", ""),
    "power_cycles": ("power cycles", ""),
    "unsafe_shutdowns": ("unsafe shutdowns", ""),
    RUN_WRITES: ("written by the run", _BYTES),
    RUN_READS: ("read by the run", _BYTES),
    RUN_ERRORS: ("I/Os that failed", ""),
    "kernel_write_bytes": ("written to the device, by the kernel", _BYTES),
    "kernel_read_bytes": ("read from the device, by the kernel", _BYTES),
    "kernel_flushes": ("flushes, by the kernel", ""),
}
"""The counters that are shown, in their order, with name and unit; others are for analysis."""
LIMIT_NAMES: Final[Mapping[str, str]] = {
    "warning_limit_kelvin": "the drive warns",
    "critical_limit_kelvin": "critical",
}


def named(counters: tuple[Counter, ...]) -> list[dict[str, str]]:
    """Return name, first, now and difference of each counter that is shown, as texts."""
    told = {each.name: each for each in counters}
    return [_row(told[name]) for name in NAMES if name in told]


def _row(counter: Counter) -> dict[str, str]:
    name, unit = NAMES[counter.name]
    number = _number_of(unit)
    return {
        "key": counter.name,
        "name": tr(name),
        "first": number(counter.first, ","),
        "now": number(counter.now, ","),
        "difference": number(counter.difference, _SIGNED) if counter.difference else "0",
    }


def _number_of(unit: str) -> Callable[[int, str], str]:
    if unit == _BYTES:
        return lambda value, mark: f"{value / GIGA:{mark}.3f} GB"
    return lambda value, mark: f"{value:{mark}} {unit}".rstrip()
