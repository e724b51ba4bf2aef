"""What a disk hangs on: the adapter between it and the host, as the kernel's tree of buses says.

The names in sysfs are a device's own. What has not the form it must have is left out.
"""

import re
from pathlib import Path
from typing import Final

from teijo.device.kernel import read_text

_ADDRESS: Final = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_ID: Final = re.compile(r"0x([0-9a-f]{4})")
_DRIVER: Final = re.compile(r"[a-zA-Z0-9_-]{1,32}")
# Current kernels write "8.0 GT/s PCIe", older ones "8 GT/s".
_SPEED: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9])? GT/s)(?: PCIe)?")
_WIDTH: Final = re.compile(r"[0-9]{1,2}")


def adapter(folder: Path) -> str:
    """Return the adapter of a disk by its driver, its PCI numbers and its place.

    An NVMe drive has its controller in itself, so there is none between it and the bus. Nothing
    is returned where the disk hangs on no PCI device (a loop device, a virtual disk).
    """
    place = _pci(folder)
    if place is None:
        return ""
    maker, kind = (_ID.fullmatch(read_text(place / name)) for name in ("vendor", "device"))
    numbers = f" {maker[1]}:{kind[1]}" if maker and kind else ""
    if "nvme" in {part.name for part in _between(place, folder)}:
        return f"none, NVMe on PCIe {place.name}{numbers}"
    driver = (place / "driver").resolve().name if (place / "driver").exists() else ""
    shown = driver if _DRIVER.fullmatch(driver) else "unknown driver"
    return f"{shown}{numbers} at PCI {place.name}"


def link(folder: Path) -> str:
    """Return the PCIe link of a disk as it runs and as it could be: a slot too narrow shows."""
    for each in (folder, *folder.parents):
        speed = _SPEED.fullmatch(read_text(each / "current_link_speed"))
        width = _WIDTH.fullmatch(read_text(each / "current_link_width"))
        if speed is None or width is None:
            continue
        now = f"{speed[0]} x{width[0]}"
        most = _SPEED.fullmatch(read_text(each / "max_link_speed"))
        widest = _WIDTH.fullmatch(read_text(each / "max_link_width"))
        return f"{now} (at most {most[0]} x{widest[0]})" if most and widest else now
    return ""


def _pci(folder: Path) -> Path | None:
    """Return the PCI device that is nearest to a disk."""
    above = (each for each in (folder, *folder.parents) if _ADDRESS.fullmatch(each.name))
    return next(above, None)


def _between(place: Path, folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if place in each.parents]
