"""Where block devices are mounted or swapped on, in every mount namespace a process lives in."""

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from teijo.device.kernel import HOST, Number, Roots


@dataclass(frozen=True, kw_only=True)
class Mount:
    """One line of a mountinfo. `process` names the namespace it was read in;
    `options` are its file system's own, as
    they stand there: see `unescape`.
    """

    mount_id: int
    number: Number
    point: str
    file_system: str
    source: str
    process: str
    options: str = ""


@dataclass(frozen=True, kw_only=True)
class MountTable:
    """Every mount that can be seen. `hidden` names processes that hid theirs."""

    mounts: tuple[Mount, ...]
    hidden: tuple[str, ...]


def mounts_of(process: str = "self", roots: Roots = HOST) -> tuple[Mount, ...]:
    """Return the mounts one process sees.

    Raises:
        OSError: its mountinfo cannot be read.
    """
    # Names are any bytes, and an escaped one still leads to its file.
    text = (roots.proc / process / "mountinfo").read_text(errors="surrogateescape")
    return tuple(_parse(line, process) for line in text.splitlines() if " - " in line)


def all_mounts(roots: Roots = HOST) -> MountTable:
    """Return the mounts of every mount namespace that has a process in it, each once.

    Which namespace a process is in may be hidden while its mountinfo is not: it is then read
    as if it were another one.
    """
    seen: set[str] = set()
    mounts: list[Mount] = []
    hidden: list[str] = []
    for entry in sorted(roots.proc.glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            namespace = _namespace(entry)
            if namespace not in seen:
                mounts.extend(mounts_of(entry.name, roots))
                # Only now: what this process hid, another in its namespace may show.
                seen.add(namespace)
        except PermissionError:
            hidden.append(f"pid {entry.name}")
        except OSError:
            continue  # the process ended while it was looked at
    return MountTable(mounts=tuple(mounts), hidden=tuple(hidden))


def _namespace(process: Path) -> str:
    try:
        return str((process / "ns" / "mnt").readlink())
    except PermissionError:
        return f"of pid {process.name}"


def mount_of_descriptor(fd: int, roots: Roots = HOST) -> Mount | None:
    """Return the mount an open file lies on; None where the kernel does not say."""
    try:
        info = (roots.proc / "self" / "fdinfo" / str(fd)).read_text()
        found = re.search(r"^mnt_id:\s*(\d+)$", info, re.MULTILINE)
        table = {mount.mount_id: mount for mount in mounts_of("self", roots)}
    except OSError:
        return None
    return table.get(int(found[1])) if found else None


def swaps(numbers: frozenset[Number], roots: Roots = HOST) -> tuple[str, ...]:
    """Return the swap areas that lie on one of the devices.

    Raises:
        OSError: /proc/swaps exists and cannot be read.
    """
    return tuple(
        name
        for name in _swap_names(roots)
        if (_block_number(Path(name)) or _by_name(Path(name).name, roots)) in numbers
    )


def swap_files(roots: Roots = HOST) -> tuple[os.stat_result, ...]:
    """Return the status of every file in use as swap that has its name still."""
    found = []
    for name in _swap_names(roots):
        with suppress(OSError):
            found.append(Path(name).stat())
    return tuple(found)


def _swap_names(roots: Roots) -> tuple[str, ...]:
    path = roots.proc / "swaps"
    if not path.exists():
        return ()  # a kernel without swap
    lines = path.read_text(errors="surrogateescape").splitlines()[1:]
    return tuple(unescape(line.split()[0]) for line in lines)


def _parse(line: str, process: str) -> Mount:
    # Before the hyphen stands any number of optional fields (proc(5)).
    left, _, right = line.partition(" - ")
    fields, tail = left.split(" "), right.split(" ")
    return Mount(
        mount_id=int(fields[0]),
        number=Number.parse(fields[2]),
        point=unescape(fields[4]),
        file_system=tail[0],
        source=unescape(tail[1]) if len(tail) > 1 else "",
        process=process,
        options=tail[2] if len(tail) > 2 else "",
    )


def unescape(text: str) -> str:
    """Return a field of mountinfo or swaps with what it writes in octal put back."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _block_number(path: Path) -> Number | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return Number.of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None


def _by_name(name: str, roots: Roots) -> Number | None:
    """Return the number of a swap area that lost its node; sysfs still knows its name."""
    try:
        return Number.parse((roots.sys / "class" / "block" / name / "dev").read_text())
    except (OSError, ValueError):
        return None
