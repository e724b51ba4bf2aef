"""Who a block device is, told from its open descriptor: names and links are never believed."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device import bus, heads, kernel, serial
from teijo.device.kernel import HOST, SECTOR_BYTES, Number, Roots, read_count, read_text
from teijo.device.stack import Node, disks, node_of, whole_disk
from teijo.device.write_cache import WriteCache, write_cache
from teijo.terms.geometry import Geometry, Identity

WWIDS: Final = ("wwid", "device/wwid", "uuid", "nguid", "eui", "dm/uuid", "md/uuid")
BOOT_ID: Final = Path("sys/kernel/random/boot_id")
KERNEL_NAMES: Final = (
    ("loop", "loop"),
    ("dm-", "device mapper"),
    ("md", "md"),
    ("zram", "zram"),
    ("mmcblk", "MMC"),
    ("nbd", "NBD"),
)
CARRIERS: Final = (
    (r"usb\d+", "USB"),
    (r"ata\d+", "SATA"),
    (r"end_device-[\d:]+", "SAS"),
    (r"rport-[\d:-]+", "Fibre Channel"),
    (r"session\d+", "iSCSI"),
    (r"virtio\d+", "virtio"),
)
"""What lies on the way to a disk in sysfs, the nearest to the disk's own kind first."""


@dataclass(frozen=True, kw_only=True)
class Identification:
    """A device as it was found. `own_serial` is the drive's alone; empty where it has none."""

    identity: Identity
    geometry: Geometry
    number: Number
    node: Node
    disk_sequence: int | None
    own_serial: str

    @property
    def token(self) -> str:
        """What a person types after --destroy."""
        return self.identity.serial


def identify(fd: int, target: str, roots: Roots = HOST) -> Identification:
    """Return who the open block device is.

    A device without a serial gets one of ours that no other device can have: a loop its
    file's name and inode, anything else its name and the kernel's disk sequence of this boot.

    Raises:
        OSError: the device went away.
    """
    number = kernel.number_of(fd)
    node = node_of(number, roots)
    disk = whole_disk(node, roots)
    sequence = kernel.disk_sequence(fd)
    own = serial.of_disk(disk.folder)
    cache = write_cache(fd, disk)
    name = own + _namespace(disk, own, roots) or _given_serial(fd, disk, sequence, roots)
    if node.is_partition:
        name += f"-part{read_text(node.folder / 'partition')}"
    return Identification(
        identity=Identity(
            kind="block",
            target=target,
            model=_model(fd, disk),
            serial=name,
            firmware=_first(disk, "device/firmware_rev", "device/rev"),
            interface=_interface(disk),
            wwid=_first(disk, *WWIDS),
            write_cache=cache.state,
            facts=_facts(disk, own=bool(own)) | _further(node, cache),
        ),
        geometry=_geometry(fd),
        number=number,
        node=node,
        disk_sequence=sequence,
        own_serial=own,
    )


def describe(node: Node) -> tuple[str, str, str]:
    """Return model, serial and WWID of a disk that is not opened; empty where unknown."""
    return _sysfs_model(node), serial.of_disk(node.folder), _first(node, *WWIDS)


def _geometry(fd: int) -> Geometry:
    capacity = kernel.capacity_bytes(fd)
    return Geometry(
        capacity_bytes=capacity,
        nominal_capacity_bytes=capacity,
        logical_block_bytes=kernel.logical_block_bytes(fd),
        physical_block_bytes=kernel.physical_block_bytes(fd),
    )


def geometry_in_sysfs(path: Path, roots: Roots = HOST) -> Geometry | None:
    """Return the geometry of a block device that is not opened; None where sysfs tells none."""
    try:
        node = node_of(Number.of(path.stat().st_rdev), roots)
    except OSError:
        return None
    queue = whole_disk(node, roots).folder / "queue"
    sectors = read_count(node.folder / "size")
    logical = read_count(queue / "logical_block_size")
    physical = read_count(queue / "physical_block_size")
    if not sectors or not logical or not physical:
        return None
    return Geometry(
        capacity_bytes=sectors * SECTOR_BYTES,
        nominal_capacity_bytes=sectors * SECTOR_BYTES,
        logical_block_bytes=logical,
        physical_block_bytes=physical,
    )


def _given_serial(fd: int, disk: Node, sequence: int | None, roots: Roots) -> str:
    backing = kernel.loop_backing(fd)
    if backing is not None:
        path = read_text(disk.folder / "loop" / "backing_file") or backing.name
        # The kernel's words behind a file without a name are no part of the serial to type.
        name = Path(path.removesuffix(" (deleted)")).name
        return serial.canonical(f"loop-{backing.inode}-".encode() + os.fsencode(name))
    # Disks are counted anew at each boot, so the number alone would name another one then.
    boot = read_text(roots.proc / BOOT_ID)[:8]
    return f"{disk.name}-{sequence if sequence is not None else 'unnumbered'}-{boot}"


def _namespace(disk: Node, own: str, roots: Roots) -> str:
    """Return what tells the namespaces of one drive apart: they share its serial."""
    number = read_text(disk.folder / "nsid")
    if not own or not number:
        return ""
    sharing = [other for other in disks(roots) if serial.of_disk(other.folder) == own]
    return f"-ns{number}" if len(sharing) > 1 else ""


def _model(fd: int, disk: Node) -> str:
    model = _sysfs_model(disk)
    if model:
        return model
    if kernel.loop_backing(fd) is not None:
        return f"Loop device over {read_text(disk.folder / 'loop' / 'backing_file')}"
    return ""


def _sysfs_model(disk: Node) -> str:
    vendor, model = _first(disk, "device/vendor"), _first(disk, "device/model")
    # libata calls every maker "ATA", and virtio has a PCI number there: no maker's name.
    if vendor in {"", "ATA"} or vendor.startswith("0x"):
        return model or _first(disk, "dm/name")
    return f"{vendor} {model}".strip()


def _interface(disk: Node) -> str:
    """Return the bus, as far as the kernel's own name and the way to it in sysfs tell it.

    A disk of a SCSI host is a SCSI disk, whatever carries the host's commands.
    """
    if disk.name.startswith("nvme"):
        transports = dict.fromkeys(one.transport for one in heads.controllers(disk.folder))
        told = [each for each in transports if each]
        return f"NVMe {', '.join(told) or read_text(disk.folder / 'device' / 'transport')}".strip()
    for word, interface in KERNEL_NAMES:
        if disk.name.startswith(word):
            return interface
    way = [part for part in disk.folder.parts if part != disk.name]
    carriers = [name for form, name in CARRIERS if any(re.fullmatch(form, one) for one in way)]
    if any(re.fullmatch(r"host\d+", one) for one in way):
        # The kernel drives USB and SATA disks through a SCSI host too; their bus is what counts.
        if carriers[:1] in (["USB"], ["SATA"]):
            return carriers[0]
        return f"SCSI ({carriers[0]})" if carriers else "SCSI"
    if carriers:
        return carriers[0]
    return "SCSI" if (disk.folder / "device" / "vpd_pg80").exists() else ""


def _facts(disk: Node, *, own: bool) -> dict[str, str]:
    queue, hangs_at = disk.folder / "queue", heads.carrier(disk.folder)
    controllers = heads.controllers(disk.folder)
    address = controllers[0].address if controllers else ""
    facts = {
        "kernel name": disk.name,
        "i/o scheduler": read_text(queue / "scheduler"),
        "rotational": {"0": "no", "1": "yes"}.get(read_text(queue / "rotational"), ""),
        "address": address or read_text(disk.folder / "device" / "address"),
        "link": bus.link(hangs_at),
        "link possible": _possible(hangs_at),
        "HBA": bus.adapter(hangs_at),
        "paths": _paths(controllers),
        "given serial": "" if own else "the device has none of its own",
    }
    if (disk.folder / "loop").exists():
        facts["loop direct i/o"] = {"0": "no", "1": "yes"}.get(
            read_text(disk.folder / "loop" / "dio"), ""
        )
        facts["backing file"] = read_text(disk.folder / "loop" / "backing_file")
    return {name: text for name, text in facts.items() if text}


def _possible(folder: Path) -> str:
    nearest = next(iter(bus.links(folder)), None)
    return str(nearest.possible) if nearest and nearest.possible else ""


def _paths(controllers: Sequence[heads.Controller]) -> str:
    """Return the paths to the disk of a drive with several controllers."""
    if len(controllers) < 2:
        return ""
    words = (
        (one.name, one.transport, one.address, one.state, one.path_state if one.carries else "none")
        for one in controllers
    )
    return "; ".join(" ".join(word for word in each if word) for each in words)


def _further(node: Node, cache: WriteCache) -> dict[str, str]:
    """Return what a conformance ledger asks for: who told the cache, and which part this is."""
    part = read_text(node.folder / "partition") if node.is_partition else ""
    return cache.facts | ({"partition": part} if part else {})


def _first(disk: Node, *names: str) -> str:
    return next((text for name in names if (text := read_text(disk.folder / name))), "")
