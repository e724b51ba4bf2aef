"""Which devices a mount or a path stands on, where the kernel gives it a number of its own.

btrfs, overlay and others have an anonymous number (0:xx): what lies under them is told by their
source and their options. What cannot be told is said, never taken for nothing.
"""

import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device import stack
from teijo.device.kernel import HOST, Number, Roots, read_text
from teijo.device.mounts import Mount, unescape

WITHOUT_A_DISK: Final = frozenset(
    {
        "tmpfs", "ramfs", "devtmpfs", "rootfs", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs",
        "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "hugetlbfs", "debugfs", "bpf",
    }
)  # fmt: skip
_LAYERS: Final = ("lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir")


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The devices something stands on. `blind`: there may be more, which cannot be told."""

    numbers: frozenset[Number] = frozenset()
    blind: bool = False

    def __or__(self, other: "Ground") -> "Ground":
        """Return both together."""
        return Ground(numbers=self.numbers | other.numbers, blind=self.blind or other.blind)


NOTHING: Final = Ground()
UNKNOWN: Final = Ground(blind=True)


def under_mount(mount: Mount, table: Sequence[Mount], roots: Roots = HOST) -> Ground:
    """Return what a mount stands on; the layers of an overlay are followed, layer by layer."""
    return _under(mount, table, roots, frozenset())


def under_path(path: Path, table: Sequence[Mount], roots: Roots = HOST) -> Ground:
    """Return what a path stands on, as this process sees it; `table` are its own mounts.

    Raises:
        OSError: it is not there.
    """
    return _at(path, path, [one for one in table if one.process == "self"], roots, frozenset())


def carriers(mount: Mount, table: Sequence[Mount], roots: Roots = HOST) -> frozenset[Number]:
    """Return the devices that a mount is in use of.

    Of a number of its own that is the device alone: what that stands on shows in sysfs. Of an
    anonymous one it is all below its layers, for nothing else tells of them.
    """
    if mount.number.major != 0:
        return frozenset({mount.number})
    found = under_mount(mount, table, roots).numbers
    return frozenset().union(*(stack.below(number, roots) for number in found))


def _under(mount: Mount, table: Sequence[Mount], roots: Roots, seen: frozenset[Number]) -> Ground:
    if mount.number.major != 0:
        return Ground(numbers=frozenset({mount.number}))
    # An overlay may have itself among its layers.
    if mount.number in seen or mount.file_system in WITHOUT_A_DISK:
        return NOTHING
    if mount.file_system == "overlay":
        return _layers(mount, table, roots, seen | {mount.number})
    sources = [_block(place, mount, roots) for place in mount.source.split(":")]
    found = [number for number in sources if number is not None]
    if not found:
        return UNKNOWN
    return Ground(numbers=_with_btrfs(found, roots), blind=len(found) < len(sources))


def _layers(mount: Mount, table: Sequence[Mount], roots: Roots, seen: frozenset[Number]) -> Ground:
    """Return what the layers of an overlay stand on. Their paths may lead nowhere by now."""
    folders = list(_folders(mount.options))
    ground = Ground(blind=not folders)
    for folder in folders:
        try:
            if not folder.startswith("/"):
                raise FileNotFoundError(folder)  # relative to where somebody stood
            own = [one for one in table if one.process == mount.process]
            ground |= _at(_inside(folder, mount, roots), Path(folder), own, roots, seen)
        except OSError:
            ground |= UNKNOWN
    return ground


def _folders(options: str) -> Iterable[str]:
    """Yield the layers in an overlay's options; a colon within a name has a backslash before it."""
    for option in options.split(","):
        name, _, escaped = option.partition("=")
        value = unescape(escaped)
        if name in _LAYERS:
            # "::" begins layers of data only (overlayfs.rst); the other options have one path each.
            parts = re.split(r"(?<!\\):+", value) if name == "lowerdir" else [value]
            yield from (re.sub(r"\\(.)", r"\1", part) for part in parts if part)


def _at(
    place: Path, named: Path, table: Sequence[Mount], roots: Roots, seen: frozenset[Number]
) -> Ground:
    """Return what a place stands on, by its own number, else by the mount its name lies in.

    A file of an overlay and a subvolume of btrfs have numbers that no mount has.
    """
    number = Number.of(place.stat().st_dev)
    if number.major != 0:
        return Ground(numbers=frozenset({number}))
    mount = next((one for one in reversed(table) if one.number == number), None)
    if mount is None:
        inside = [one for one in table if named.resolve().is_relative_to(one.point)]
        mount = max(inside, key=lambda one: len(Path(one.point).parts), default=None)
    return UNKNOWN if mount is None else _under(mount, table, roots, seen)


def _block(source: str, mount: Mount, roots: Roots) -> Number | None:
    """Return the number of a source, as the process that mounted it sees it, or as we do."""
    if not source.startswith("/"):
        return None
    for path in (_inside(source, mount, roots), Path(source)):
        try:
            status = path.stat()
        except OSError:
            continue
        if stat.S_ISBLK(status.st_mode):
            return Number.of(status.st_rdev)
    return None


def _inside(path: str, mount: Mount, roots: Roots) -> Path:
    inside = roots.proc / mount.process / "root" / path.lstrip("/")
    return inside if inside.exists() else Path(path)


def _with_btrfs(numbers: Iterable[Number], roots: Roots) -> frozenset[Number]:
    """Add the other devices of a btrfs: a mount names one of them."""
    found = set(numbers)
    for folder in (roots.sys / "fs" / "btrfs").glob("*/devices"):
        texts = [read_text(entry / "dev") for entry in folder.iterdir()]
        members = {Number.parse(text) for text in texts if text}
        if members & found:
            found |= members
    return frozenset(found)
