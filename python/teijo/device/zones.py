"""Whether a disk has zones that must be written in order, as the kernel and the drive say.

The kernel tells host-managed ones in `queue/zoned`. Host-aware ones newer kernels (6.8) take for
ordinary disks: then page B1h of the drive, which the kernel keeps, says it.
"""

from typing import Final

from teijo.device.drive.scsi_identity import HOST_MANAGED, characteristics_of
from teijo.device.kernel import read_text
from teijo.device.stack import Node

NONE: Final = "none"
WRITTEN_IN_ORDER: Final = frozenset({"host-managed", "host-aware"})


def zoned(disk: Node) -> str:
    """Return "none", "host-managed", "host-aware", or "" where the kernel does not say."""
    told = read_text(disk.folder / "queue" / "zoned")
    if told in WRITTEN_IN_ORDER:
        return told
    if read_text(disk.folder / "device" / "type") == str(HOST_MANAGED):
        return "host-managed"
    try:
        page = (disk.folder / "device" / "vpd_pgb1").read_bytes()
    except OSError:
        page = b""
    if characteristics_of(page).zoned == "host-aware":
        return "host-aware"
    return told if told == NONE else ""
