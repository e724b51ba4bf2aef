"""Which processes have a device or a file open: O_EXCL does not see who opens without it."""

import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device.kernel import HOST, Number, Roots, read_text
from teijo.device.retry import PAUSE_SECONDS

# Without it the kernel hides /proc/PID/fd of other users' processes (proc(5)).
CAP_SYS_PTRACE: Final = 19
MOMENT_SECONDS: Final = 0.3
"""How long whoever only looks at devices may have one open."""

FileKey = tuple[Number, int]
"""The device a file lies on, and its inode there."""

Test = Callable[[os.stat_result], bool]


@dataclass(frozen=True, kw_only=True)
class Openers:
    """The processes found, as "dd (pid 4711)". `hidden` are those that hid what they have open."""

    processes: tuple[str, ...]
    hidden: tuple[str, ...]


def openers(
    *,
    numbers: frozenset[Number] = frozenset(),
    files: frozenset[FileKey] = frozenset(),
    except_fds: frozenset[int] = frozenset(),
    roots: Roots = HOST,
) -> Openers:
    """Return who has one of the block devices or files open, whatever name it was opened by.

    `except_fds` are descriptors of this process that are its own claim.
    """

    def hits(status: os.stat_result) -> bool:
        if stat.S_ISBLK(status.st_mode):
            return Number.of(status.st_rdev) in numbers
        return (Number.of(status.st_dev), status.st_ino) in files

    own_pid = str(os.getpid())
    found: list[str] = []
    hidden: list[str] = []
    for entry in sorted(roots.proc.glob("[0-9]*"), key=lambda path: int(path.name)):
        skip = except_fds if entry.name == own_pid else frozenset()
        name = f"{read_text(entry / 'comm') or 'a process'} (pid {entry.name})"
        try:
            if any(_hit(path, hits) for path in _descriptors(entry / "fd", skip)):
                found.append(name)
        except PermissionError:
            hidden.append(name)
        except OSError:
            continue  # the process ended while it was looked at
    return Openers(processes=tuple(found), hidden=tuple(hidden))


def who_stays(look: Callable[[], Openers]) -> Openers:
    """Return who still has it open after a moment: lsblk, losetup and udev look at every device and
    let it go.
    """
    deadline = time.monotonic() + MOMENT_SECONDS
    while (found := look()).processes and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    return found


def sees_every_process(roots: Roots = HOST) -> bool:
    """Return whether /proc shows all of the host: false in a container's own pid namespace."""
    initial_namespace = "pid:[4026531836]"  # PROC_PID_INIT_INO in the kernel's proc_ns.h
    try:
        own = str((roots.proc / "self" / "ns" / "pid").readlink())
    except OSError:
        return False
    return own == initial_namespace and (roots.proc / "1").exists()


def may_see_all(roots: Roots = HOST) -> bool:
    """Return whether no more rights can be had: the host's root with CAP_SYS_PTRACE.

    What is hidden even so (by a security module) cannot be asked for by becoming root.
    """
    own = roots.proc / "self"
    held = re.search(r"^CapEff:\s*([0-9a-f]+)$", read_text(own / "status"), re.MULTILINE)
    whole_host = read_text(own / "uid_map").split() == ["0", "0", str(2**32 - 1)]
    return whole_host and held is not None and bool(int(held[1], 16) >> CAP_SYS_PTRACE & 1)


def _descriptors(folder: Path, skip: frozenset[int]) -> list[Path]:
    return [entry for entry in folder.iterdir() if int(entry.name) not in skip]


def _hit(link: Path, hits: Test) -> bool:
    """Look through one descriptor; sockets and pipes are told by their name, unopened."""
    try:
        return link.readlink().is_absolute() and hits(link.stat())
    except PermissionError:
        raise
    except OSError:
        return False  # closed since it was listed
