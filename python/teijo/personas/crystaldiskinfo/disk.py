"""A drive as CrystalDiskInfo is given it: the bytes that it answered, and where it hangs."""

from dataclasses import dataclass
from typing import Final, Literal

from teijo.units import MEGA

Kind = Literal["nvme", "ata", "other"]
"""What its bytes are; "other" is a drive whose own bytes the original knows nothing of."""
SECTOR_BYTES: Final = 512
CONTROLLER_BYTES: Final = 4096
MB: Final = MEGA
_CYLINDER_BYTES: Final = 255 * 63 * 512
_ROUNDING_MB: Final = 49
"""The original takes so much off a size before it rounds it."""


@dataclass(frozen=True, kw_only=True)
class Disk:
    """One drive. `model`, `firmware` and `serial` count where it gave no bytes that say them.

    `identify` is Identify Controller (4096 bytes) or IDENTIFY DEVICE (512), `smart` log 02h or
    SMART READ DATA, `thresholds` SMART READ THRESHOLDS; each is empty where it was not read, and
    `blind` says of each such read why. `address` is number, port and target as the disk list has
    them, `command` how the original names the way to it; `drive_letter` where it is mounted.
    `transfer_mode` is the PCIe link now and at most, or empty.
    """

    kind: Kind
    model: str
    firmware: str = ""
    serial: str = ""
    size_bytes: int = 0
    interface: str = ""
    identify: bytes = b""
    smart: bytes = b""
    thresholds: bytes = b""
    address: str = "X/X/X"
    command: str = "un"
    adapter: str = ""
    enclosure: str = ""
    usb_ids: tuple[str, str] | None = None
    transfer_mode: str = ""
    drive_letter: str = ""
    blind: tuple[str, ...] = ()

    @property
    def size_by_windows_mb(self) -> int:
        """The size that Windows tells of a disk, in MB: whole cylinders of it."""
        whole = self.size_bytes // _CYLINDER_BYTES * _CYLINDER_BYTES
        return less_rounding(whole) if whole // MB > _ROUNDING_MB else 0


def less_rounding(size_bytes: int) -> int:
    """Return a size in MB as the original has it: in 32 bits."""
    return size_bytes // MB - _ROUNDING_MB & 0xFFFFFFFF


def signed_32(value: int) -> int:
    """Return what is left of a number in the original's 32 bits with a sign."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
