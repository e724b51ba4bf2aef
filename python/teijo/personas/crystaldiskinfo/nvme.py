"""What the original works out of an NVMe drive's bytes: who it is, and the figures it prints.

CrystalDiskInfo 9.9.2, AtaSmart.cpp: AddDiskNVMe, as it stands once the program has begun.
"""

from dataclasses import dataclass
from typing import Final

from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.disk import SECTOR_BYTES, Disk, signed_32
from teijo.units import ZERO_CELSIUS_KELVIN

HOTTEST_CELSIUS: Final = 100
_UNITS_PER_GB_SHIFT: Final = 21
_LOW_64: Final = (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class Nvme:
    """An NVMe drive as the original has it in mind; None is what it calls unknown."""

    model: str
    firmware: str
    serial: str
    standard: str
    features: tuple[str, ...]
    life: int
    hours: int | None
    starts: int
    reads_gb: int
    writes_gb: int
    celsius: int | None


def nvme_of(disk: Disk) -> Nvme:
    """Return what the original makes of an NVMe drive's bytes."""
    log = disk.smart.ljust(SECTOR_BYTES, b"\0")
    controller = disk.identify.ljust(SECTOR_BYTES + 16, b"\0")
    hours = signed_32(_number(log, 128, 4))
    celsius = _number(log, 1, 2) - ZERO_CELSIUS_KELVIN
    told = celsius != -ZERO_CELSIUS_KELVIN and celsius <= HOTTEST_CELSIUS
    return Nvme(
        model=_text(controller, 24, 40) or disk.model,
        serial=_text(controller, 4, 20) or disk.serial,
        firmware=_text(controller, 64, 8) or disk.firmware,
        standard=_standard(controller) if disk.identify else "",
        features=_features(controller),
        life=max(0, 100 - log[5]),
        hours=hours if hours >= 0 and disk.smart else None,
        starts=_number(log, 112, 4),
        reads_gb=_gb(log, 32),
        writes_gb=_gb(log, 48),
        celsius=celsius if told else None,
    )


def _number(raw: bytes, at: int, length: int) -> int:
    return int.from_bytes(raw[at : at + length], "little")


def _text(raw: bytes, at: int, length: int) -> str:
    field = raw[at : at + length].partition(b"\0")[0].decode("latin-1")
    return visible(field).rstrip()


def _gb(log: bytes, at: int) -> int:
    """Return data units in the original's GB: within 64 bits, and then within 32 with a sign."""
    return signed_32((_number(log, at, 8) * 1000 & _LOW_64) >> _UNITS_PER_GB_SHIFT)


def _standard(controller: bytes) -> str:
    minor, major = controller[81], _number(controller, 82, 2)
    return f"NVM Express {major}.{minor}" if major else "NVM Express 1.0/1.1"


def _features(controller: bytes) -> tuple[str, ...]:
    trim, cache = controller[520] & 0x4, controller[525] & 0x1
    names = ("S.M.A.R.T.", "TRIM" if trim else "", "VolatileWriteCache" if cache else "")
    return tuple(name for name in names if name)
