"""The logs of a snapshot as counters by name, the same names for every kind of drive.

Where a drive counts a thing twice, the log that the standard defines is taken.
"""

from collections.abc import Mapping

from teijo.device.health import ata_data
from teijo.device.health.ata_health import AtaHealth
from teijo.device.health.nvme_health import NvmeHealth
from teijo.device.health.raw import from_celsius
from teijo.device.health.scsi_health import ScsiHealth

SECTOR_BYTES = ata_data.SECTOR_BYTES
_STATISTICS = {
    "percentage_used": "percentage_used",
    "read_commands": "read_commands",
    "write_commands": "write_commands",
    "power_on_resets": "power_cycles",
    "power_on_hours": "power_on_hours",
    "uncorrectable_errors": "media_errors",
    "over_limit_minutes": "warning_temperature_minutes",
}
_LOST = ("write_errors", "read_errors", "verify_errors")


def nvme_counts(health: NvmeHealth) -> dict[str, int]:
    """Return what the NVMe logs 02h and C0h count."""
    told = dict(health.smart or {})
    told.pop("group_warning", None)
    sensors = enumerate(told.pop("sensors_kelvin", ()), start=1)
    named = {**told, **{f"sensor_{n}_kelvin": value for n, value in sensors}}
    vendor = {name: value for name, value in (health.ocp or {}).items() if name != "version"}
    limits = health.limits
    if limits is not None:
        named |= {
            "warning_limit_kelvin": limits.warning_kelvin,
            "critical_limit_kelvin": limits.critical_kelvin,
        }
    return _known({**named, **vendor})


def ata_counts(health: AtaHealth) -> dict[str, int]:
    """Return what the device statistics count; of what they do not, the attributes."""
    told = {one.name: one.value for one in health.statistics or ()}
    named = {name: told.get(place) for place, name in _STATISTICS.items()}
    written, read = told.get("logical_sectors_written"), told.get("logical_sectors_read")
    named |= {
        "temperature_kelvin": from_celsius(told.get("now_celsius")),
        "warning_limit_kelvin": from_celsius(told.get("operating_limit_celsius")),
        "highest_kelvin": from_celsius(told.get("highest_celsius")),
        "host_writes_bytes": None if written is None else written * SECTOR_BYTES,
        "host_reads_bytes": None if read is None else read * SECTOR_BYTES,
        "error_log_entries": health.error_count,
        "interface_crc_errors": told.get("interface_crc_errors"),
    }
    attributes = ata_data.in_attributes(health.attributes or ())
    return _known(attributes) | _known(named)


def scsi_counts(health: ScsiHealth) -> dict[str, int]:
    """Return what the log pages count."""
    temperature, cycles = health.temperature or {}, health.start_stop or {}
    pages: list[Mapping[str, int]] = [getattr(health, name) or {} for name in _LOST]
    lost = [page["uncorrected"] for page in pages if "uncorrected" in page]
    minutes = (health.background_scan or {}).get("powered_on_minutes")
    performance = health.performance or {}
    return _known(
        {
            "temperature_kelvin": from_celsius(temperature.get("now_celsius")),
            "warning_limit_kelvin": from_celsius(temperature.get("reference_celsius")),
            "percentage_used": (health.endurance or {}).get("percentage_used"),
            "host_writes_bytes": pages[0].get("processed_bytes"),
            "host_reads_bytes": pages[1].get("processed_bytes"),
            "read_commands": performance.get("read_commands"),
            "write_commands": performance.get("write_commands"),
            "power_on_hours": None if minutes is None else minutes // 60,
            "start_stop_cycles": cycles.get("start_stop_cycles"),
            "media_errors": sum(lost) if lost else None,
            "non_medium_errors": (health.non_medium_errors or {}).get("errors"),
        }
    )


def _known(told: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in told.items() if value is not None}
