"""NVMe's log pages byte by byte: SMART (02h) and the OCP drives' own (C0h).

Places are those of the NVMe base specification and of the OCP data centre NVMe SSD specification.
"""

from collections.abc import Mapping
from typing import Final

from teijo.device.health.raw import Unreadable, is_blank, kelvin, little
from teijo.units import NVME_DATA_UNIT

LOG_BYTES: Final = 512
SENSORS: Final = 8
OCP_GUID: Final = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")
"""AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5h, as the log has it: its lowest byte first."""
OCP_VERSIONS: Final = range(1, 6)
_NO_PERCENT: Final = 101

_COUNTERS: Final = {
    "host_reads_bytes": (32, 16, NVME_DATA_UNIT),
    "host_writes_bytes": (48, 16, NVME_DATA_UNIT),
    "read_commands": (64, 16, 1),
    "write_commands": (80, 16, 1),
    "busy_minutes": (96, 16, 1),
    "power_cycles": (112, 16, 1),
    "power_on_hours": (128, 16, 1),
    "unsafe_shutdowns": (144, 16, 1),
    "media_errors": (160, 16, 1),
    "error_log_entries": (176, 16, 1),
    "warning_temperature_minutes": (192, 4, 1),
    "critical_temperature_minutes": (196, 4, 1),
    "thermal_1_transitions": (216, 4, 1),
    "thermal_2_transitions": (220, 4, 1),
    "thermal_1_seconds": (224, 4, 1),
    "thermal_2_seconds": (228, 4, 1),
}
"""Byte, length and unit of each counter of log 02h."""

_OCP: Final = {
    "media_writes_bytes": (0, 16),
    "media_reads_bytes": (16, 16),
    "bad_user_blocks": (32, 6),
    "bad_user_blocks_normalized": (38, 2),
    "bad_system_blocks": (40, 6),
    "bad_system_blocks_normalized": (46, 2),
    "xor_recoveries": (48, 8),
    "uncorrectable_reads": (56, 8),
    "soft_ecc_errors": (64, 8),
    "end_to_end_detected": (72, 4),
    "end_to_end_corrected": (76, 4),
    "system_data_used_percent": (80, 1),
    "refreshes": (81, 7),
    "most_erases": (88, 4),
    "least_erases": (92, 4),
    "throttle_events": (96, 1),
    "throttle_status": (97, 1),
    "pcie_correctable_errors": (104, 8),
    "incomplete_shutdowns": (112, 4),
    "free_blocks_percent": (120, 1),
    "capacitor_health_percent": (128, 2),
    "unaligned_ios": (136, 8),
    "used_blocks": (152, 8),
    "power_loss_protections": (160, 16),
    "endurance_estimate_bytes": (176, 16),
    "link_retrains": (192, 8),
    "power_state_changes": (200, 8),
}
_NO_CAPACITOR: Final = 0xFFFF


def smart(raw: bytes) -> dict[str, int | tuple[int | None, ...] | None]:
    """Return the fields of log 02h by name; None is what the drive does not tell.

    A spare threshold of 0, or above 100, is no information, and then the spare is none either.

    Raises:
        Unreadable: it is too short, or there is nothing in it.
    """
    if len(raw) < LOG_BYTES or is_blank(raw):
        raise Unreadable("the drive's SMART log (02h) is blank")
    threshold: int | None = raw[4] if 0 < raw[4] < _NO_PERCENT else None
    return {
        "critical_warning": raw[0],
        "temperature_kelvin": kelvin(little(raw, 1, 2)),
        "sensors_kelvin": tuple(kelvin(little(raw, 200 + 2 * n, 2)) for n in range(SENSORS)),
        "available_spare_percent": raw[3] if raw[3] < _NO_PERCENT and threshold else None,
        "spare_threshold_percent": threshold,
        "percentage_used": raw[5],
        "group_warning": raw[6],
        **{name: little(raw, at, n) * unit for name, (at, n, unit) in _COUNTERS.items()},
    }


def ocp(raw: bytes) -> Mapping[str, int | None]:
    """Return the fields of log C0h of an OCP drive by name, `version` among them.

    The log is any vendor's own: only its GUID and version say that it is this one.

    Raises:
        Unreadable: it is another vendor's log, or of a version that is not known.
    """
    if raw[496:512] != OCP_GUID:
        raise Unreadable("its log C0h is not the one of OCP: the GUID is another")
    version = little(raw, 494, 2)
    if version not in OCP_VERSIONS:
        raise Unreadable(f"its OCP log C0h has version {version}, which is not known here")
    told: dict[str, int | None] = {name: little(raw, *place) for name, place in _OCP.items()}
    if told["capacitor_health_percent"] == _NO_CAPACITOR:
        told["capacitor_health_percent"] = None
    return {"version": version, **told}
