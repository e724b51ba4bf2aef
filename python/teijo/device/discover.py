"""What can be measured here: block devices with what uses them, and the simulated devices."""

import os
from dataclasses import dataclass
from pathlib import Path

from teijo.device import ground, mounts, stack
from teijo.device.checks import PROTECTED
from teijo.device.identify import describe
from teijo.device.kernel import HOST, SECTOR_BYTES, Number, Roots, read_count, read_text
from teijo.device.stack import Node


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
    used = _Used.now(roots)
    found = []
    for disk in stack.disks(roots):
        for node in stack.family(disk, roots):
            capacity = (read_count(node.folder / "size") or 0) * SECTOR_BYTES
            # A loop that is not set up, a reader without a card.
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
                    use=used.by(node),
                )
            )
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _Used:
    """What is mounted and loaded now, read once. `blind` are paths whose disks cannot be told."""

    carried: tuple[tuple[mounts.Mount, frozenset[Number]], ...] | None
    blind: tuple[str, ...]
    roots: Roots

    @classmethod
    def now(cls, roots: Roots) -> "_Used":
        """Look at the mounts of every namespace, and at what the system itself lies on."""
        try:
            own = mounts.mounts_of("self", roots)
            table = (*own, *mounts.all_mounts(roots).mounts)
        except OSError:
            return cls(carried=None, blind=(), roots=roots)
        points = [mount for mount in own if mount.point in PROTECTED]
        blind = [one.point for one in points if ground.under_mount(one, own, roots).blind]
        carried = tuple((one, ground.carriers(one, table, roots)) for one in table)
        return cls(carried=carried, blind=tuple(dict.fromkeys(blind)), roots=roots)

    def by(self, node: Node) -> str:
        """Return what uses a device itself, or any part of it; "" where it is free."""
        nodes = stack.reach(node, self.roots) if not node.is_partition else (node,)
        numbers = frozenset(member.number for member in nodes)
        uses = self._mounted(numbers)
        uses += stack.above(nodes, self.roots)
        # What / and the like lie on cannot be told: it may be this very disk.
        if not uses and self.blind:
            uses = [f"unknown: the disks under {', '.join(self.blind)} cannot be told"]
        return ", ".join(dict.fromkeys(uses))

    def _mounted(self, numbers: frozenset[Number]) -> list[str]:
        if self.carried is None:
            return ["unknown"]
        uses = [
            f"{mount.file_system} at {mount.point}"
            for mount, carriers in self.carried
            if carriers & numbers
        ]
        try:
            return uses + [f"swap {name}" for name in mounts.swaps(numbers, self.roots)]
        except OSError:
            return [*uses, "unknown"]


def _lasting_names(roots: Roots) -> dict[str, str]:
    """Return the by-id link of each kernel name; of several, the one with the serial in it."""
    folder = roots.dev / "disk" / "by-id"
    names: dict[str, str] = {}
    try:
        links = sorted(folder.iterdir(), key=_least_telling)
    except OSError:
        return {}
    # The last link of a disk is kept: those that hide its serial were sorted first.
    for link in links:
        names[Path(os.path.realpath(link)).name] = str(link)
    return names


def _least_telling(link: Path) -> tuple[bool, str]:
    opaque = link.name.startswith(("wwn-", "nvme-eui.", "nvme-nvme.", "lvm-", "scsi-3"))
    return (not opaque, link.name)
