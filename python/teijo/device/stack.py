"""What a block device stands on and what stands on it: partitions, dm, md, multipath, loops."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from teijo.device.kernel import HOST, Backing, Number, Roots, loop_backing, read_text, sysfs


@dataclass(frozen=True, kw_only=True)
class Node:
    """One block device as sysfs shows it."""

    number: Number
    name: str
    folder: Path

    @property
    def is_partition(self) -> bool:
        """Whether it is a partition of another device."""
        return (self.folder / "partition").exists()


@dataclass(frozen=True, kw_only=True)
class Loop:
    """One loop device and the file or device under it; `backing` None where unreadable."""

    node: Node
    path: str
    backing: Backing | None


def node_of(number: Number, roots: Roots = HOST) -> Node:
    """Return a device by its number. It may be gone: then its folder does not exist."""
    folder = sysfs(number, roots)
    return Node(number=number, name=folder.name, folder=folder)


def whole_disk(node: Node, roots: Roots = HOST) -> Node:
    """Return the disk a partition lies on, or the disk itself."""
    if not node.is_partition:
        return node
    return node_of(Number.parse(read_text(node.folder.parent / "dev")), roots)


def family(node: Node, roots: Roots = HOST) -> tuple[Node, ...]:
    """Return the whole disk and every partition of it: they share their fate."""
    disk = whole_disk(node, roots)
    parts = sorted(folder.parent for folder in disk.folder.glob("*/partition"))
    return (disk, *(_at(part) for part in parts))


def disks(roots: Roots = HOST) -> Iterator[Node]:
    """Yield every whole block device."""
    for folder in sorted((roots.sys / "block").iterdir()):
        number = read_text(folder / "dev")
        if number:  # a hidden path of a multipath drive has none
            real = folder.resolve()
            yield Node(number=Number.parse(number), name=real.name, folder=real)


def holders(node: Node) -> tuple[Node, ...]:
    """Return the devices directly built on this one (dm, md, bcache)."""
    return tuple(_at(entry.resolve()) for entry in sorted((node.folder / "holders").glob("*")))


def loops(roots: Roots = HOST) -> tuple[Loop, ...]:
    """Return every loop device that is set up.

    The file is told by the device and inode the loop holds open, never by its path: that may
    be another file by now. A loop whose node cannot be opened has `backing` None.
    """
    found = []
    for disk in disks(roots):
        attribute = disk.folder / "loop" / "backing_file"
        path = read_text(attribute)
        backing = _backing(disk, path, roots) if path else None
        if backing or read_text(attribute):  # not one that was detached meanwhile
            found.append(Loop(node=disk, path=path, backing=backing))
    return tuple(found)


def reach(node: Node, roots: Roots = HOST) -> tuple[Node, ...]:
    """Return every device that a write to this one changes.

    The disk with all its partitions, and, where it is a loop over a block device, that device
    with its own family: a loop leaves it free for others. (dm and md claim what they stand
    on; a loop over a file changes the file alone.)
    """
    over = {loop.node.number: loop for loop in loops(roots)}
    found: dict[Number, Node] = {}
    todo = [node]
    while todo:
        for member in family(todo.pop(), roots):
            if member.number in found:
                continue
            found[member.number] = member
            loop = over.get(member.number)
            if loop and loop.backing and loop.backing.block_device:
                todo.append(node_of(loop.backing.block_device, roots))
    return tuple(found.values())


def above(nodes: tuple[Node, ...], roots: Roots = HOST) -> tuple[str, ...]:
    """Return a line for everything that stands on any of the nodes, to the top."""
    lines: list[str] = []
    _climb(nodes, loops(roots), lines, {node.number for node in nodes})
    return tuple(lines)


def _climb(
    nodes: tuple[Node, ...], over: tuple[Loop, ...], lines: list[str], seen: set[Number]
) -> None:
    for node in nodes:
        held = [(holder, f"{holder.name} is built on {node.name}") for holder in holders(node)]
        looped = [
            (loop.node, f"{loop.node.name} is a loop over {node.name}")
            for loop in over
            if loop.backing and loop.backing.block_device == node.number
        ]
        upper = [(top, line) for top, line in held + looped if top.number not in seen]
        seen |= {top.number for top, _ in upper}
        lines.extend(line for _, line in upper)
        _climb(tuple(top for top, _ in upper), over, lines, seen)


def below(number: Number, roots: Roots = HOST) -> frozenset[Number]:
    """Return every device a device stands on, itself and whole disks included."""
    found: set[Number] = set()
    over = loops(roots)
    todo = [number]
    while todo:
        here = todo.pop()
        # 0 is an anonymous number (tmpfs, btrfs), which no block device has.
        if here in found or here.major == 0:
            continue
        found.add(here)
        node = node_of(here, roots)
        if node.is_partition:
            todo.append(whole_disk(node, roots).number)
        todo.extend(_at(entry.resolve()).number for entry in (node.folder / "slaves").glob("*"))
        for loop in over:
            if loop.node.number == here and loop.backing:
                todo.append(loop.backing.block_device or loop.backing.file_device)
    return frozenset(found)


def _at(folder: Path) -> Node:
    return Node(number=Number.parse(read_text(folder / "dev")), name=folder.name, folder=folder)


def _backing(disk: Node, path: str, roots: Roots) -> Backing | None:
    """Ask the loop itself; where there is no node for it (a container), stat its path."""
    try:
        fd = os.open(roots.dev / disk.name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(fd)
            if stat.S_ISBLK(status.st_mode) and Number.of(status.st_rdev) == disk.number:
                return loop_backing(fd)
        finally:
            os.close(fd)
    except OSError:
        pass
    try:
        status = Path(path).stat()
    except OSError:
        return None
    is_block = stat.S_ISBLK(status.st_mode)
    return Backing(
        file_device=Number.of(status.st_dev),
        inode=status.st_ino,
        block_device=Number.of(status.st_rdev) if is_block else None,
        name=path,
    )
