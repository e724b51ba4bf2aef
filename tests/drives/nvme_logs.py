"""Log pages of an emulated NVMe drive: errors, SMART, self-test, endurance group, OCP C0h, more."""

import struct
from typing import TYPE_CHECKING

from tests.drives.nvme_identify import INVALID_FIELD
from tests.drives.nvme_state import DNR, WHOLE_SUBSYSTEM, Refusal

if TYPE_CHECKING:
    from tests.drives.nvme import NvmeDrive

ERRORS, SMART, FIRMWARE, CHANGED, EFFECTS, SELF_TEST = 1, 2, 3, 4, 5, 6
ENDURANCE, SANITIZE, OCP = 0x09, 0x81, 0xC0
ERROR_ENTRIES = 64
INVALID_LOG = 0x109 | DNR
OCP_GUID = bytes.fromhex("C5AF1028EABFF2A49C4F6F7CC914D5AF")
OCP_VERSION = 3
SMART_FIELDS = {
    "critical_warning": (0, 1), "temperature": (1, 2), "spare": (3, 1), "spare_threshold": (4, 1),
    "percentage_used": (5, 1), "endurance_warning": (6, 1), "data_units_read": (32, 16),
    "data_units_written": (48, 16), "host_reads": (64, 16), "host_writes": (80, 16),
    "busy_minutes": (96, 16), "power_cycles": (112, 16), "power_on_hours": (128, 16),
    "unsafe_shutdowns": (144, 16), "media_errors": (160, 16), "error_entries": (176, 16),
    "warning_minutes": (192, 4), "critical_minutes": (196, 4),
    **{f"sensor_{index + 1}": (200 + 2 * index, 2) for index in range(8)},
    "t1_count": (216, 4), "t2_count": (220, 4), "t1_seconds": (224, 4), "t2_seconds": (228, 4),
}  # fmt: skip
"""Place and bytes of each field of log page 02h."""
OCP_FIELDS = {
    "media_written": (0, 16), "media_read": (16, 16), "bad_user_blocks": (32, 6),
    "bad_user_normalized": (38, 2), "bad_system_blocks": (40, 6), "bad_system_normalized": (46, 2),
    "xor_recoveries": (48, 8), "uncorrectable": (56, 8), "soft_ecc": (64, 8),
    "end_to_end_detected": (72, 4), "end_to_end_corrected": (76, 4), "system_used": (80, 1),
    "refreshes": (81, 7), "maximum_erases": (88, 4), "minimum_erases": (92, 4),
    "throttle_events": (96, 1), "throttle_status": (97, 1), "link_correctable": (104, 8),
    "incomplete_shutdowns": (112, 4), "free_percent": (120, 1), "capacitor_health": (128, 2),
    "unaligned": (136, 8), "security_version": (144, 8), "used_blocks": (152, 8),
    "power_loss_protections": (160, 16), "endurance_estimate": (176, 16),
    "link_retrains": (192, 8), "power_state_changes": (200, 8), "dies": (216, 2),
    "maximum_temperature": (222, 1), "average_erases": (224, 8), "time_outs": (232, 4),
    "version": (494, 2),
}  # fmt: skip
"""Place and bytes of each field of log page C0h (OCP Datacenter NVMe SSD, SMART / Health)."""


def log_page(drive: "NvmeDrive", number: int, cdw10: int, cdw11: int, offset: int) -> bytes:
    """Return what Get Log Page asks for, as long as it asks.

    Raises:
        Refusal: the drive has no such page, or it ends before the offset.
    """
    length = ((cdw10 >> 16 | (cdw11 & 0xFFFF) << 16) + 1) * 4
    page = _page(drive, cdw10 & 0xFF, number, cdw11 >> 16)
    if offset > len(page) or offset % 4:
        raise Refusal(INVALID_FIELD)
    return page[offset : offset + length].ljust(length, b"\0")


def _page(drive: "NvmeDrive", page: int, number: int, specific: int) -> bytes:
    if page == ERRORS:
        return b"".join(reversed(drive.errors)).ljust(64 * ERROR_ENTRIES, b"\0")
    if page == SMART:
        if number not in (0, WHOLE_SUBSYSTEM):  # LPA bit 0: not by namespace
            raise Refusal(INVALID_FIELD)
        return laid_out(SMART_FIELDS, smart(drive) | drive.knobs.smart)
    if page == FIRMWARE:
        slots = bytearray(512)
        slots[0], slots[8:16] = 1, drive.state["firmware"].encode().ljust(8)[:8]
        return bytes(slots)
    if page == CHANGED:
        return bytes(4096)
    if page == EFFECTS:
        return effects(drive)
    if page == SELF_TEST and drive.knobs.oacs & 0b10000:
        return _self_tests(drive)
    if page == ENDURANCE:
        if specific != 1:
            raise Refusal(INVALID_FIELD)
        return _endurance(drive)
    if page == SANITIZE and drive.knobs.sanicap & 0b111:
        return drive.purging.log()
    if page == OCP and drive.knobs.ocp:
        return laid_out(OCP_FIELDS, _ocp(drive) | drive.knobs.ocp_values)[:496] + OCP_GUID
    raise Refusal(INVALID_LOG)


def laid_out(fields: dict[str, tuple[int, int]], values: dict[str, int]) -> bytes:
    """Return 512 bytes with each value in its place.

    Raises:
        KeyError: there is no field of that name.
    """
    page = bytearray(512)
    for name, value in values.items():
        start, size = fields[name]
        page[start : start + size] = value.to_bytes(size, "little")
    return bytes(page)


def smart(drive: "NvmeDrive") -> dict[str, int]:
    """Return the fields of log page 02h before the knob `smart` is laid over them."""
    told, kelvin = drive.counters, drive.thermal.kelvin
    spare = drive.knobs.smart.get("spare", 100)
    threshold = drive.knobs.smart.get("spare_threshold", 10)
    warning = drive.knobs.critical_warning | drive.thermal.outside << 1
    warning |= spare < threshold
    return {
        "critical_warning": warning,
        "temperature": kelvin,
        "spare": spare,
        "spare_threshold": threshold,
        "percentage_used": 3,
        "data_units_read": _units(told["bytes_read"]),
        "data_units_written": _units(told["bytes_written"]),
        "host_reads": told["reads"],
        "host_writes": told["writes"],
        "busy_minutes": int(told["busy_seconds"] // 60),
        "power_cycles": told["power_cycles"],
        "power_on_hours": int(told["seconds_on"] // 3600),
        "unsafe_shutdowns": told["unsafe_shutdowns"],
        "media_errors": told["media_errors"],
        "error_entries": told["errors"],
        "warning_minutes": int(told["warning_seconds"] // 60),
        "critical_minutes": int(told["critical_seconds"] // 60),
        "sensor_1": kelvin,
        "sensor_2": kelvin + 5,
        "t1_count": told["t1_count"],
        "t2_count": told["t2_count"],
        "t1_seconds": int(told["t1_seconds"]),
        "t2_seconds": int(told["t2_seconds"]),
    }


def _units(count: int) -> int:
    """Thousands of 512 bytes, rounded up."""
    return -(-count // 512_000)


def _billions(count: int) -> int:
    """Billions of bytes, rounded up, as an endurance group counts."""
    return -(-count // 10**9)


def _ocp(drive: "NvmeDrive") -> dict[str, int]:
    told = drive.counters
    hot = max(drive.thermal.hottest - 273, 0)
    return {
        "media_written": int(told["bytes_written"] * drive.knobs.write_amplification),
        "media_read": told["bytes_read"],
        "bad_user_normalized": 100,
        "bad_system_normalized": 100,
        "maximum_erases": 40,
        "minimum_erases": 20,
        "average_erases": 30,
        "throttle_events": (told["t1_count"] + told["t2_count"]) & 0xFF,
        "throttle_status": drive.thermal.level,
        "free_percent": 100,
        "capacitor_health": 100,
        "incomplete_shutdowns": told["unsafe_shutdowns"],
        "power_state_changes": drive.power_state_changes,
        "maximum_temperature": min(hot, 255),
        "dies": 8,
        "version": OCP_VERSION,
    }


def _endurance(drive: "NvmeDrive") -> bytes:
    told, page = drive.counters, bytearray(512)
    page[3], page[4], page[5] = 100, 10, 3
    written = _billions(told["bytes_written"])
    media = _billions(int(told["bytes_written"] * drive.knobs.write_amplification))
    for start, value in (
        (48, _billions(told["bytes_read"])), (64, written), (80, media), (96, told["reads"]),
        (112, told["writes"]), (128, told["media_errors"]), (144, told["errors"]),
    ):  # fmt: skip
        page[start : start + 16] = value.to_bytes(16, "little")
    return bytes(page)


def _self_tests(drive: "NvmeDrive") -> bytes:
    page = bytearray(564)
    page[0], page[1] = drive.self_test_now()
    done = list(reversed(drive.state["self_tests"]))[:20]
    for index in range(20):
        at = 4 + 28 * index
        if index >= len(done):
            page[at] = 0x0F  # no result
            continue
        kind, result, hours = done[index]
        page[at] = kind << 4 | result
        struct.pack_into("<Q", page, at + 4, hours)
    return bytes(page)


def effects(drive: "NvmeDrive") -> bytes:
    """Return Commands Supported and Effects (05h)."""
    supported, changes_data, changes_names, changes_capabilities = 1, 1 << 1, 1 << 3, 1 << 2
    alone = 1 << 16
    knobs = drive.knobs
    admin = dict.fromkeys((0x02, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x18), supported)
    if knobs.oacs & 0b1000:
        admin |= dict.fromkeys((0x0D, 0x15), supported | changes_names)
    if knobs.oacs & 0b10000:
        admin[0x14] = supported
    if knobs.oacs & 0b10:
        admin[0x80] = supported | changes_data | changes_capabilities | alone
    if knobs.sanicap & 0b111:
        admin[0x84] = supported | changes_data | alone
    media = {0x00: supported | changes_data, 0x01: supported | changes_data, 0x02: supported}
    if knobs.oncs & 0b1000:
        media[0x08] = supported | changes_data
    if knobs.oncs & 0b100:
        media[0x09] = supported | changes_data
    page = bytearray(4096)
    for start, commands in ((0, admin), (1024, media)):
        for opcode, word in commands.items():
            struct.pack_into("<I", page, start + 4 * opcode, word)
    return bytes(page)
