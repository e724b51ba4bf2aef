"""Which slot of its host a drive sits in, by what the kernel tells of enclosures and PCI slots.

Nothing is sent. Slots are numbered alike in hosts of one kind, so that drives of several hosts can
be held against each other by them; an enclosure's own name would set each drive apart.
"""

import re
from pathlib import Path
from typing import Final

from teijo.device import bus
from teijo.device.kernel import HOST, Roots, read_text
from teijo.device.stack import Node

_COMPONENT: Final = "enclosure_device:"
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_NAME: Final = re.compile(r"[\w .:/-]{1,60}")
_BY_PATH: Final = re.compile(r"[\w.:+-]{1,200}")


def slot_of(disk: Node, at: Path, roots: Roots = HOST) -> str:
    """Return the slot of a disk that hangs at `at` in sysfs, "" where nothing tells it.

    An enclosure's bay is asked for first (SES), then the PCI slot of an NVMe drive, then the path
    that udev named it by.
    """
    return _bay(disk) or _pci_slot(at, roots) or _by_path(disk, roots)


def _bay(disk: Node) -> str:
    """Return the bay by the services of its enclosure: its number, else its name there."""
    for link in _listed(disk.folder / "device"):
        if not link.name.startswith(_COMPONENT):
            continue
        number = read_text(link / "slot")
        told = number if _NUMBER.fullmatch(number) else link.name.removeprefix(_COMPONENT)
        if _NAME.fullmatch(told.strip()):
            return f"bay {told.strip()}"
    return ""


def _pci_slot(at: Path, roots: Roots) -> str:
    """Return the slot of an NVMe drive's own function; an adapter's would be that of all below."""
    pci = bus.function(at)
    if pci is None or not bus.adapter(at).startswith("none, NVMe"):
        return ""
    place = pci.name.partition(".")[0]
    for slot in _listed(roots.sys / "bus" / "pci" / "slots"):
        if read_text(slot / "address") == place and _NAME.fullmatch(slot.name):
            return f"PCI slot {slot.name}"
    return ""


def _by_path(disk: Node, roots: Roots) -> str:
    """Return the name that udev gave the disk by its path; the first of several."""
    for link in _listed(roots.dev / "disk" / "by-path"):
        try:
            leads_to = link.readlink().name
        except OSError:
            continue
        if leads_to == disk.name and _BY_PATH.fullmatch(link.name):
            return link.name
    return ""


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
