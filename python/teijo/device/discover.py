"""What can be measured here: block devices with what uses them, and the simulated devices."""

import os
from dataclasses import dataclass
from pathlib import Path

from teijo.device import mounts, stack
from teijo.device.identify import describe
from teijo.device.kernel import HOST, Roots, read_count, read_text
from teijo.device.stack import Node

SECTOR_BYTES = 512


@dataclass(frozen=True, kw_only=True)
class FoundDevice:
    """One line of `teijo devices`. `target` is what to type; `use` is empty for a free one."""

    target: str
    kernel_name: str
    model: str
    serial: str
    capacity_bytes: int
    use: str


def list_devices(roots: Roots = HOST) -> tuple[FoundDevice, ...]:
    """Return every block device that holds something: disks, and partitions after their disk.

    Nothing is opened; whether a device may be written is preflight's to say.
    """
    links = _lasting_names(roots)
    found = []
    for disk in stack.disks(roots):
        for node in stack.family(disk, roots):
            capacity = (read_count(node.folder / "size") or 0) * SECTOR_BYTES
            if capacity == 0:
                continue
            model, serial, _ = describe(disk)
            backing = read_text(node.folder / "loop" / "backing_file")
            found.append(
                FoundDevice(
                    target=links.get(node.name, str(roots.dev / node.name)),
                    kernel_name=node.name,
                    model=model or (f"Loop over {backing}" if backing else ""),
                    serial=serial,
                    capacity_bytes=capacity,
                    use=_use(node, roots),
                )
            )
    return tuple(found)


def _use(node: Node, roots: Roots) -> str:
    """Return what uses a device itself, or any part of it."""
    nodes = stack.reach(node, roots) if not node.is_partition else (node,)
    numbers = frozenset(member.number for member in nodes)
    try:
        table = mounts.mounts_of("self", roots)
        uses = [
            f"{mount.file_system} at {mount.point}"
            for mount in table
            if mounts.matches(mount, numbers, roots)
        ]
        uses += [f"swap {name}" for name in mounts.swaps(numbers, roots)]
    except OSError:
        uses = ["unknown"]
    uses += stack.above(nodes, roots)
    return ", ".join(dict.fromkeys(uses))


def _lasting_names(roots: Roots) -> dict[str, str]:
    """Return the by-id link of each kernel name; of several, the one with the serial in it."""
    folder = roots.dev / "disk" / "by-id"
    names: dict[str, str] = {}
    try:
        links = sorted(folder.iterdir(), key=_least_telling)
    except OSError:
        return {}
    for link in links:
        names[Path(os.path.realpath(link)).name] = str(link)
    return names


def _least_telling(link: Path) -> tuple[bool, str]:
    opaque = link.name.startswith(("wwn-", "nvme-eui.", "nvme-nvme.", "lvm-", "scsi-3"))
    return (not opaque, link.name)
