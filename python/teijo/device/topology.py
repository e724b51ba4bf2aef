"""What lies between this host and a drive, part by part, for what several drives share.

All of it is the kernel's word in sysfs, procfs and the mounts; nothing is sent to a drive, and no
drive is opened. What the kernel does not tell is in `unknown`, never taken for not shared.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.device import bus, ground, heads, stack
from teijo.device.kernel import HOST, Number, Roots, read_text
from teijo.device.mounts import Mount, mounts_of
from teijo.device.platform import (
    interrupt_processors,
    numa_node,
    pcie_bytes_per_second,
    rate_words,
)
from teijo.device.stack import Loop, Node, node_of
from teijo.device.target import BlockTarget, FileTarget, SimulatedTarget, Target
from teijo.outside.text import visible
from teijo.terms.topology import KINDS, PARTS_MOST, Kind, Part, Way

_OF_A_BUS: Final[tuple[Kind, ...]] = ("PCIe bridge", "NUMA node", "interrupts")
_ALL: Final[tuple[Kind, ...]] = ("disk", *_OF_A_BUS)
_ON_THE_WAY: Final[tuple[tuple[str, Kind], ...]] = (
    (r"nvme\d+", "NVMe controller"),
    (r"expander-[\d:]+", "SAS expander"),
    (r"ata\d+", "SATA port"),
    (r"usb\d+", "USB bus"),
    (r"session\d+", "iSCSI session"),
    (r"host\d+", "SCSI host"),
    (r"pci[0-9a-f]{4}:[0-9a-f]{2}", "PCIe root"),
)
"""Folders of sysfs that several disks may lie below, by their names."""
_IN_MEMORY: Final = ("zram", "ram")
_HOST_NAMES: Final = ("version_product", "board_name", "proc_name")
"""What a SCSI host says it is, the most telling first (SAS3008, SAS9300-8i, mpt3sas)."""
_NAME_MOST: Final = 100


@dataclass
class _Seen:
    """What was seen so far of a way, and of which kinds there may be more."""

    roots: Roots
    parts: dict[tuple[Kind, str], Part] = field(default_factory=dict)
    unknown: set[Kind] = field(default_factory=set)

    def add(self, part: Part) -> None:
        """Take in a part, once."""
        if len(self.parts) < PARTS_MOST:
            self.parts.setdefault((part.kind, part.name), part)


def way_of(target: Target, roots: Roots = HOST) -> Way:
    """Return all that lies between this host and a target, as far as it is told.

    Of a file it is the way to the disks under its file system; of one to be made, that of its
    folder.
    """
    if isinstance(target, SimulatedTarget):
        return Way()
    seen = _Seen(roots)
    count = str(len(os.sched_getaffinity(0)))
    seen.add(Part(kind="host", name="processors and memory", detail=count))
    try:
        if not isinstance(target, BlockTarget | FileTarget):
            raise FileNotFoundError(target.text)  # several disks as one, or none
        path = target.path if target.path.exists() else target.path.absolute().parent
        status = path.stat()
        if stat.S_ISBLK(status.st_mode):
            _add_block(Number.of(status.st_rdev), seen)
        else:
            _add_path(path, seen)
    except (OSError, ValueError):  # a tree of sysfs that changes while it is read
        seen.unknown.update(_ALL)
    return Way(
        parts=tuple(seen.parts.values()),
        unknown=tuple(kind for kind in KINDS if kind in seen.unknown),
    )


def _add_path(path: Path, seen: _Seen) -> None:
    """Add the file system that a path lies in, and the devices under that."""
    table = mounts_of("self", seen.roots)
    place = path.resolve()
    inside = [each for each in table if place.is_relative_to(each.point)]
    mount = max(inside, key=lambda each: len(Path(each.point).parts), default=None)
    _add_file_system(Number.of(path.stat().st_dev), mount, seen)
    found = ground.under_path(path, table, seen.roots)
    if found.blind:
        seen.unknown.update(_ALL)
    for number in sorted(found.numbers):
        _add_block(number, seen)


def _add_file_system(number: Number, mount: Mount | None, seen: _Seen) -> None:
    told = "" if mount is None else f"{mount.file_system} at {mount.point}"
    seen.add(Part(kind="file system", name=str(number), detail=_named(told)))


def _add_block(number: Number, seen: _Seen) -> None:
    """Add a block device and all that it stands on."""
    over = {loop.node.number: loop for loop in stack.loops(seen.roots)}
    for each in sorted(stack.below(number, seen.roots)):
        node = node_of(each, seen.roots)
        if not node.folder.is_dir():
            seen.unknown.update(_ALL)
        elif each in over:
            _add_under_loop(over[each], seen)
        elif any((node.folder / "slaves").glob("*")):
            told = read_text(node.folder / "dm/name") or read_text(node.folder / "md/level")
            seen.add(Part(kind="array", name=_named(node.name), detail=_named(told)))
        elif not node.is_partition:
            _add_disk(node, seen)


def _add_under_loop(loop: Loop, seen: _Seen) -> None:
    """Add the file system of a loop's file; a device under it is among those of `below`."""
    if loop.backing is None:
        seen.unknown.update(_ALL)
        return
    if loop.backing.block_device is not None:
        return
    path = Path(loop.path.removesuffix(" (deleted)"))
    if path.exists():
        _add_path(path, seen)
        return
    number = loop.backing.file_device
    table = mounts_of("self", seen.roots)
    mount = next((one for one in table if one.number == number), None)
    _add_file_system(number, mount, seen)
    if number.major == 0 and (mount is None or mount.file_system not in ground.WITHOUT_A_DISK):
        seen.unknown.update(_ALL)


def _add_disk(disk: Node, seen: _Seen) -> None:
    """Add a disk and all that it hangs on."""
    at = heads.carrier(disk.folder)
    seen.add(Part(kind="disk", name=_named(disk.name)))
    if disk.name.startswith(_IN_MEMORY):
        return
    for part in (*_folders(at, seen.roots), *_pcie(at)):
        seen.add(part)
    if node := numa_node(at):
        seen.add(Part(kind="NUMA node", name=node))
    _, served = interrupt_processors(at, seen.roots)
    for cpu in sorted(served):
        seen.add(Part(kind="interrupts", name=str(cpu)))
    lacking = {"NUMA node": not node, "interrupts": not served,
               "PCIe bridge": bus.function(at) is None}  # fmt: skip
    seen.unknown.update(kind for kind in _OF_A_BUS if lacking[kind])


def _folders(at: Path, roots: Roots) -> Iterator[Part]:
    """Yield what a disk lies below in sysfs: hosts, expanders, ports, buses."""
    for folder in (at, *at.parents):
        for form, kind in _ON_THE_WAY:
            if re.fullmatch(form, folder.name):
                detail = _scsi_host(folder.name, roots) if kind == "SCSI host" else ""
                yield Part(kind=kind, name=folder.name, detail=detail)


def _scsi_host(name: str, roots: Roots) -> str:
    folder = roots.sys / "class" / "scsi_host" / name
    return next((_named(text) for each in _HOST_NAMES if (text := read_text(folder / each))), "")


def _pcie(at: Path) -> Iterator[Part]:
    """Yield the adapter of a disk that has one, and every bridge above, with the link below it.

    An NVMe drive is its own PCIe device: what others share begins at the bridge above.
    """
    links = {each.address: each.now for each in bus.links(at)}
    adapter = bus.adapter(at)
    for place, name in enumerate(bus.addresses(at)):
        if place == 0 and adapter.startswith(bus.NO_ADAPTER):
            continue
        rate = links.get(name)
        usable = 0 if rate is None else pcie_bytes_per_second(rate.transfers, rate.width)[1]
        yield Part(
            kind="adapter" if place == 0 else "PCIe bridge",
            name=name,
            detail=_named(adapter) if place == 0 else "",
            link="" if rate is None else rate_words(rate),
            usable=usable or None,
        )


def _named(text: str) -> str:
    """Return a name as it may be shown, and no longer than a part may have it."""
    return visible(text[:_NAME_MOST])[: 2 * _NAME_MOST]
