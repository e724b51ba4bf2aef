"""A drive's log as it is read while a run goes on: one NVMe page (02h), and OCP's own (C0h).

It is read on the claimed descriptor, and no program is started. Places are those of the NVMe base
specification (SMART log) and of the OCP data centre NVMe SSD specification (log C0h).
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from teijo.analysis.throttling import LIMIT
from teijo.device.commands import nvme, seam
from teijo.device.smart import HOTTEST, NVME_UNIT_BYTES
from teijo.terms.drive_warning import COUNTER

LogReader = Callable[[], Mapping[str, int]]
"""Asks a drive once. It may raise an OSError: the drive refused, or is gone."""

OCP_LOG: Final = 0xC0
OCP_GUID: Final = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")
"""AFD514C97C6F4F9CA4F2BFEA2810AFC5h, its lowest byte first; any other page C0h is not OCP's."""
_SMART: Final = {
    COUNTER: (0, 1, 1),
    "percentage_used": (5, 1, 1),
    "host_reads_bytes": (32, 16, NVME_UNIT_BYTES),
    "host_writes_bytes": (48, 16, NVME_UNIT_BYTES),
    "power_cycles": (112, 16, 1),
    "power_on_hours": (128, 16, 1),
    "unsafe_shutdowns": (144, 16, 1),
    "media_errors": (160, 16, 1),
    "warning_temperature_minutes": (192, 4, 1),
    "critical_temperature_minutes": (196, 4, 1),
    "thermal_1_transitions": (216, 4, 1),
    "thermal_2_transitions": (220, 4, 1),
    "thermal_1_seconds": (224, 4, 1),
    "thermal_2_seconds": (228, 4, 1),
}
"""Byte, length and unit of each counter."""
_KELVINS: Final = {"temperature_kelvin": 1} | {
    f"sensor_{n}_kelvin": 198 + 2 * n for n in range(1, 9)
}
_OCP: Final = {
    "nand_writes_bytes": (0, 16, 1),
    "nand_reads_bytes": (16, 16, 1),
    "throttle_events": (96, 1, 1),
    "throttle_status": (97, 1, 1),
}
_WARNING_LIMIT: Final = slice(266, 268)
"""Of Identify Controller: WCTEMP, 0 where the drive does not tell it."""


def log_reader(fd: int) -> LogReader | None:
    """Return what reads the log of the NVMe drive under a descriptor; None where there is none.

    What does not change, and whether the drive has OCP's page, is asked once, here.
    """
    try:
        seam.ioctl(fd, nvme.NVME_IOCTL_ID)  # which every other driver refuses
    except OSError:
        return None
    limit = 0
    with suppress(OSError):
        told = nvme.identify(fd, structure=1, number=0)
        limit = int.from_bytes(told[_WARNING_LIMIT], "little")
    constant = {LIMIT: limit} if 0 < limit <= HOTTEST else {}
    has_ocp = False
    with suppress(OSError):
        has_ocp = nvme.log_page(fd, OCP_LOG, nvme.SMART_LOG_BYTES)[-16:] == OCP_GUID

    def read() -> Mapping[str, int]:
        counters = smart_log(nvme.log_page(fd, nvme.SMART_LOG, nvme.SMART_LOG_BYTES)) | constant
        if has_ocp:
            counters |= _counted(nvme.log_page(fd, OCP_LOG, nvme.SMART_LOG_BYTES), _OCP)
        return counters

    return read


def smart_log(raw: bytes) -> dict[str, int]:
    """Return the counters of log 02h by name. A temperature of 0 K, or above 1000, is none."""
    counters = _counted(raw, _SMART)
    for name, place in _KELVINS.items():
        kelvin = int.from_bytes(raw[place : place + 2], "little")
        if 0 < kelvin <= HOTTEST:
            counters[name] = kelvin
    return counters


def _counted(raw: bytes, places: Mapping[str, tuple[int, int, int]]) -> dict[str, int]:
    return {
        name: int.from_bytes(raw[at : at + length], "little") * unit
        for name, (at, length, unit) in places.items()
    }
