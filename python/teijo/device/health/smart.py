"""What of smartctl's JSON is a counter or a warning, and which warning a SCSI sense is.

A drive, a bridge or another program's bug stands behind every value: what has not the type and the
range it must have counts as not told.
"""

import json
from collections.abc import Mapping
from typing import Final

from teijo.terms.drive_warning import COUNTER, DriveWarning
from teijo.units import NVME_DATA_UNIT, ZERO_CELSIUS_KELVIN

HOTTEST: Final = 1000
MOST: Final = 2**128 - 1
"""What the largest counter of the NVMe log holds: 16 bytes."""
FAILING: Final = 0b1000
"""The bit of smartctl's exit status that says the drive is failing."""
DRIVE_WARNING: Final = 0x0B
FAILURE_AHEAD: Final = 0x5D
"""The additional sense codes of a warning, and of a failure ahead."""

_NVME: Final = {
    "data_units_read": ("host_reads_bytes", NVME_DATA_UNIT),
    "data_units_written": ("host_writes_bytes", NVME_DATA_UNIT),
    "percentage_used": ("percentage_used", 1),
    "media_errors": ("media_errors", 1),
    "warning_temp_time": ("warning_temperature_minutes", 1),
    "critical_comp_time": ("critical_temperature_minutes", 1),
    "unsafe_shutdowns": ("unsafe_shutdowns", 1),
    "power_on_hours": ("power_on_hours", 1),
}
_SCSI_WARNINGS: Final = {
    0x01: DriveWarning.TEMPERATURE,
    0x06: DriveWarning.BACKUP_FAILED,
    0x07: DriveWarning.BACKUP_FAILED,
}
"""Additional sense 0Bh by its qualifier (SPC): too hot; the cache is volatile or degraded now."""


def answer_of(text: bytes) -> Mapping[str, object] | None:
    """Return smartctl's JSON as a mapping; None where it is none, or contradicts itself."""
    try:
        answer = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def smart_counters(answer: Mapping[str, object]) -> dict[str, int]:
    """Return the counters in what `smartctl --json --attributes --health` answered.

    NVMe counts in units of 1000 × 512 bytes (NVMe base specification, SMART log). ATA drives'
    attributes mean what each vendor likes, so only temperature and hours are taken of them.
    """
    counters: dict[str, int] = {}
    log = answer.get("nvme_smart_health_information_log")
    if isinstance(log, dict):
        for key, (name, unit) in _NVME.items():
            count = whole(log.get(key))
            if count is not None:
                counters[name] = count * unit
    told = _inner(answer, "temperature", "current")
    celsius = whole(told, least=1 - ZERO_CELSIUS_KELVIN, most=HOTTEST)
    if celsius is not None:  # 0 K is how a drive says that it does not know
        counters["temperature_kelvin"] = celsius + ZERO_CELSIUS_KELVIN
    hours = whole(_inner(answer, "power_on_time", "hours"))
    if hours is not None:
        counters["power_on_hours"] = hours
    bits = warning_bits(answer)
    return counters if bits is None else counters | {COUNTER: bits}


def warning_bits(answer: Mapping[str, object]) -> int | None:
    """Return a drive's warnings as NVMe's bits, from smartctl's JSON; None where it tells none.

    An assessment that failed is never taken for health because the bits beside it are missing.
    """
    passed = _inner(answer, "smart_status", "passed")
    log = answer.get("nvme_smart_health_information_log")
    if isinstance(log, dict):
        bits = whole(log.get("critical_warning"), most=0xFF)
        return DriveWarning.RELIABILITY_DEGRADED.bit if passed is False and not bits else bits
    status = whole(_inner(answer, "smartctl", "exit_status"), most=0xFF) or 0
    if passed is False:
        return _of_scsi(answer).bit
    if status & FAILING:
        return DriveWarning.RELIABILITY_DEGRADED.bit
    return 0 if passed is True else None


def _of_scsi(answer: Mapping[str, object]) -> DriveWarning:
    """Return which warning a failed assessment is: SCSI says it by its sense, ATA does not."""
    sense = _inner(answer, "smart_status", "scsi")
    if not isinstance(sense, dict) or whole(sense.get("asc"), most=0xFF) != DRIVE_WARNING:
        return DriveWarning.RELIABILITY_DEGRADED
    qualifier = whole(sense.get("ascq"), most=0xFF)
    return _SCSI_WARNINGS.get(-1 if qualifier is None else qualifier, DriveWarning.UNNAMED)


def whole(value: object, *, least: int = 0, most: int = MOST) -> int | None:
    """Return a whole number in its range; True, 1.0, NaN and "1" are none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least <= value <= most else None


def warning_of_sense(code: int, qualifier: int) -> DriveWarning | None:
    """Return which warning an additional sense code and qualifier is (SPC), None for no warning."""
    if code == DRIVE_WARNING:
        return _SCSI_WARNINGS.get(qualifier, DriveWarning.UNNAMED)
    return DriveWarning.RELIABILITY_DEGRADED if code == FAILURE_AHEAD else None


def _inner(answer: Mapping[str, object], group: str, name: str) -> object:
    inside = answer.get(group)
    return inside.get(name) if isinstance(inside, dict) else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object of which no key stands twice with different values."""
    built: dict[str, object] = {}
    for key, value in pairs:
        if key in built and built[key] != value:
            raise ValueError(key)
        built[key] = value
    return built
