"""A limit of memory for this process: a control group (v2) of its own, removed when it is left.

With it the page cache of what the process reads and writes is bounded too, as by a machine with
less memory. The group bears the number of its process: what a killed one left, the next removes.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from teijo.errors import HostError
from teijo.units import format_size

PREFIX: Final = "teijo-memory-"
LEAST_BYTES: Final = 128 << 20
"""This program itself needs that much."""
_NAME: Final = re.compile(rf"{PREFIX}([0-9]{{1,10}})")
_REMEDY: Final = "Leave memory away, or run as root where control groups v2 have memory."


class MemoryLimit:
    """No limit, until one is held. `root` and `proc` are elsewhere in tests."""

    def __init__(
        self, root: Path = Path("/sys/fs/cgroup"), proc: Path = Path("/proc"), pid: int = 0
    ) -> None:
        """Hold none."""
        self._root = root
        self._proc = proc
        self._pid = pid or os.getpid()
        self._before: Path | None = None
        self._group: Path | None = None

    def check(self, memory_bytes: int | None) -> None:
        """Make sure that a limit can be held, as far as that is seen without holding it.

        Raises:
            HostError: it cannot be held here.
        """
        if memory_bytes is None:
            return
        _check_enough(memory_bytes)
        parent = self._parent()
        if not os.access(parent, os.W_OK):
            raise _refusal(f"{parent} is not writable")

    def hold(self, memory_bytes: int | None) -> dict[str, str]:
        """Hold this process, and those it starts, to so many bytes; None is no limit.

        Returns facts of what is held, for the answer of the step.

        Raises:
            HostError: that cannot be done here.
        """
        if memory_bytes is None:
            self.leave()
            return {}
        _check_enough(memory_bytes)
        if self._group is None:
            self._enter(self._parent())
        assert self._group is not None
        self._write(self._group / "memory.max", str(memory_bytes))
        return {
            "memory_max_bytes": str(memory_bytes),
            "memory_group": str(self._group.relative_to(self._root)),
        }

    def hits(self) -> int:
        """Return how often the limit was met so far: memory had to be given up for it."""
        if self._group is None:
            return 0
        found = re.search(r"^max ([0-9]{1,18})$", _read(self._group / "memory.events"), re.M)
        return int(found[1]) if found else 0

    def leave(self) -> None:
        """Go back to where the process was, and remove the group; it may be called again."""
        group, before, self._group = self._group, self._before, None
        if group is None or before is None:
            return
        with suppress(HostError):
            self._write(before / "cgroup.procs", str(self._pid))
        # Who is still in it, a server that ends now, keeps it; the next run removes it.
        with suppress(OSError):
            group.rmdir()

    def outlived(self) -> bool:
        """Remove the group of a process that is no more; return whether the kernel killed in it,
        because it needed more than its limit.

        `pid` is the killed one's; this process is in the group where that one began.
        """
        try:
            group = self._parent() / f"{PREFIX}{self._pid}"
        except HostError:
            return False
        is_killed = re.search(r"^oom_kill [1-9]", _read(group / "memory.events"), re.M)
        with suppress(OSError):
            group.rmdir()
        return is_killed is not None

    def _own(self) -> Path:
        """Return the group that this process is in."""
        for line in _read(self._proc / "self" / "cgroup").splitlines():
            if line.startswith("0::/") and ".." not in Path(line[3:]).parts:
                return self._root / line[4:]
        raise _refusal("this process is in no control group v2")

    def _parent(self) -> Path:
        """Return the nearest group above that gives those in it the memory controller."""
        controllers = self._root / "cgroup.controllers"
        if not controllers.is_file():
            raise _refusal(f"{self._root} holds no control groups v2")
        if "memory" not in _read(controllers).split():
            raise _refusal(f"{controllers} names no memory controller")
        own = self._before = self._own()
        # A group with processes in it may not give controllers on, so it is one above ours.
        above = [own, *own.parents] if own == self._root else list(own.parents)
        for parent in above[: above.index(self._root) + 1]:
            if "memory" in _read(parent / "cgroup.subtree_control").split():
                return parent
        raise _refusal(f"no group above {own} gives the memory controller on")

    def _enter(self, parent: Path) -> None:
        for left in _left(parent, self._proc):
            with suppress(OSError):
                left.rmdir()
        group = parent / f"{PREFIX}{self._pid}"
        try:
            group.mkdir()
        except FileExistsError:
            pass  # of a process of the same number, long ago
        except OSError as error:
            raise _refusal(f"{group} cannot be made: {error.strerror}") from error
        self._group = group
        try:
            self._write(group / "cgroup.procs", str(self._pid))
        except HostError:
            self.leave()
            raise

    def _write(self, path: Path, text: str) -> None:
        try:
            # Without O_CREAT: the kernel made it, or it is none of a control group.
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _refusal(f"{path} cannot be written: {error.strerror}") from error


def _check_enough(memory_bytes: int) -> None:
    if memory_bytes < LEAST_BYTES:
        asked, least = format_size(memory_bytes), format_size(LEAST_BYTES)
        raise _refusal(f"{asked} is less than this program needs, {least}")


def _refusal(reason: str) -> HostError:
    return HostError(f"The memory cannot be limited here: {reason}.", remedy=_REMEDY)


def _left(parent: Path, proc: Path) -> Iterator[Path]:
    """Give the groups of processes that are no more."""
    for group in sorted(parent.glob(f"{PREFIX}*")):
        named = _NAME.fullmatch(group.name)
        if named and not (proc / named[1]).exists():
            yield group


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
