"""The bytes that CrystalDiskInfo asks a drive for, read on an open descriptor; only questions.

NVMe: Identify Controller, log 02h. ATA: IDENTIFY DEVICE, SMART data and thresholds. The original
switches SMART on where it is off; nothing is switched here. What could not be read is said.
"""

import platform
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from teijo.device import bus, heads
from teijo.device.checks import Subject
from teijo.device.commands import ata, nvme
from teijo.device.drive.asked import Asked, whole
from teijo.device.drive.place import Place, place_of
from teijo.device.drive.portrait import PATIENCE_NS
from teijo.device.health.reading import kind_behind
from teijo.device.kernel import SECTOR_BYTES as KERNEL_SECTOR_BYTES
from teijo.device.kernel import read_count
from teijo.device.mounts import mounts_of
from teijo.device.stack import family, whole_disk
from teijo.device.watched import Moved, watched
from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.disk import CONTROLLER_BYTES, SECTOR_BYTES, Disk, Kind

NOTHING: Final = "----"
_GENERATIONS: Final[Mapping[float, int]] = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
"""The generation of PCIe by its transfers in GT/s."""
_CONTROLLER: Final = 1


def disk_of(subject: Subject, number: int = 0) -> Disk:
    """Return what CrystalDiskInfo knows of the drive under an open block device.

    `number` is what the disk list calls it, from 0 on. A drive that refuses all is a disk all the
    same: `blind` says of each question why.

    Raises:
        teijo.errors.StuckDevice: it does not answer at all.
    """
    return watched(
        lambda moved: _disk_of(subject, number, moved),
        what=f"What {subject.target} was asked of its health",
        silence_ns=PATIENCE_NS,
    )


def _disk_of(subject: Subject, number: int, moved: Moved) -> Disk:
    node = whole_disk(subject.found.node, subject.roots)
    place = place_of(node)
    asked = Asked()
    asked.moved = moved
    kind = asked.of("the kind of the drive", partial(_kind, subject.fd))
    read: dict[str, bytes] = {}
    if kind is not None:
        for name, question in _QUESTIONS[kind].items():
            read[name] = asked.of(name, partial(question, subject.fd)) or b""
    first, second, third = (*read.values(), b"", b"", b"")[:3]
    identity = subject.found.identity
    is_usb = place.bridge is not None
    sectors = read_count(node.folder / "size")
    return Disk(
        kind=kind or "other",
        model=identity.model or identity.target,
        firmware=identity.firmware,
        serial=identity.serial,
        size_bytes=sectors * KERNEL_SECTOR_BYTES
        if sectors
        else subject.found.geometry.capacity_bytes,
        interface=_interface(place) if kind == "ata" else identity.interface,
        identify=first,
        smart=second,
        thresholds=third,
        address=f"{number}/X/X",
        command={"nvme": "sq", "ata": "sa1" if is_usb else "pd1"}.get(kind or "", "un"),
        adapter=place.adapter,
        enclosure=f"{place.bridge.maker} {place.bridge.product}".strip() if place.bridge else "",
        usb_ids=(place.bridge.vendor_id, place.bridge.product_id) if place.bridge else None,
        transfer_mode=_link(subject) if kind == "nvme" else "",
        drive_letter=_mounted(subject),
        blind=tuple(f"{name}: {why}" for name, why in asked.not_told.items()),
    )


def system_of_host() -> str:
    """Return the line that the text has of the operating system."""
    release = platform.release()
    short = ".".join(release.split(".")[:2])
    return visible(f"{platform.system()} [{short} Build {release}]")


def _kind(fd: int) -> Kind:
    """Return whose commands it takes; a bridge that says that it passes ATA's on takes those.

    Raises:
        OSError: it takes none, or is gone.
    """
    kind = kind_behind(fd)
    return "other" if kind == "scsi" else kind


_QUESTIONS: Final[Mapping[Kind, Mapping[str, Callable[[int], bytes]]]] = {
    "nvme": {
        "Identify Controller": lambda fd: whole(
            nvme.identify(fd, structure=_CONTROLLER, number=0), CONTROLLER_BYTES
        ),
        "SMART log (02h)": lambda fd: whole(
            nvme.log_page(fd, nvme.SMART_LOG, nvme.SMART_LOG_BYTES), SECTOR_BYTES
        ),
    },
    "ata": {
        "IDENTIFY DEVICE": lambda fd: whole(ata.identify(fd), SECTOR_BYTES),
        "SMART READ DATA": lambda fd: whole(
            ata.smart_sector(fd, ata.SMART_READ_DATA), SECTOR_BYTES
        ),
        "SMART READ THRESHOLDS": lambda fd: whole(
            ata.smart_sector(fd, ata.SMART_READ_THRESHOLDS), SECTOR_BYTES
        ),
    },
    "other": {},
}


def _interface(place: Place) -> str:
    """Return what the original calls a drive behind a bridge; empty of one without."""
    if place.bridge is None:
        return ""
    return "UASP (Serial ATA)" if place.bridge.driver == "uas" else "USB (Serial ATA)"


def _link(subject: Subject) -> str:
    """Return the PCIe link as the original has it, empty where there is none."""
    node = whole_disk(subject.found.node, subject.roots)
    now, most = bus.own_link(heads.carrier(node.folder))
    if now is None and most is None:
        return ""
    return " | ".join(_rate(one) for one in (now, most))


def _rate(rate: bus.Rate | None) -> str:
    generation = _GENERATIONS.get(rate.transfers) if rate else None
    return f"PCIe {generation}.0 x{rate.width}" if rate and generation else NOTHING


def _mounted(subject: Subject) -> str:
    """Return where it and its partitions are mounted, in the place of drive letters."""
    numbers = {node.number for node in family(subject.found.node, subject.roots)}
    try:
        mounts = mounts_of(roots=subject.roots)
    except OSError:
        return ""
    points = dict.fromkeys(str(one.point) for one in mounts if one.number in numbers)
    return visible(" ".join(points))
