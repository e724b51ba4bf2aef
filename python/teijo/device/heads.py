"""The controllers behind an NVMe disk: the one it hangs under, or, of a multipath head, each path.

Where a drive may have several controllers the kernel hangs `nvme0n1` under the subsystem, and its
paths (`nvme0c1n1`, hidden) under the controllers. All is read in sysfs, and nothing is sent.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device.kernel import read_count, read_text

_CONTROLLER: Final = re.compile(r"nvme\d+")
_HEAD: Final = re.compile(r"nvme(\d+)n(\d+)")
_SUBSYSTEM: Final = re.compile(r"nvme-subsys\d+")


@dataclass(frozen=True, kw_only=True)
class Controller:
    """One controller of an NVMe drive as the kernel has it; what it does not tell is empty.

    `carries` says whether it has a path to the disk, `path_state` how that path is (ANA).
    """

    name: str
    transport: str
    address: str
    state: str
    controller_id: int | None
    carries: bool
    path_state: str
    folder: Path

    @property
    def rank(self) -> tuple[bool, bool, bool, str]:
        """What sorts the path that I/O takes to the front."""
        return (not self.carries, self.state != "live", self.path_state != "optimized", self.name)


def controllers(folder: Path) -> tuple[Controller, ...]:
    """Return the controllers of an NVMe disk, the one that I/O takes first; none of another."""
    if _CONTROLLER.fullmatch(folder.parent.name):
        return (_controller(folder.parent, path=folder),)
    if not _SUBSYSTEM.fullmatch(folder.parent.name):
        return ()
    head = _HEAD.fullmatch(folder.name)
    try:
        entries = sorted(folder.parent.iterdir())
    except OSError:
        return ()
    found = []
    for entry in entries:
        if not _CONTROLLER.fullmatch(entry.name):
            continue
        real = entry.resolve()
        paths = sorted(real.glob(f"nvme{head[1]}c*n{head[2]}")) if head else []
        found.append(_controller(real, path=paths[0] if paths else None))
    return tuple(sorted(found, key=lambda one: one.rank))


def carrier(folder: Path) -> Path:
    """Return where a disk hangs on its bus: of a multipath head, the controller I/O takes."""
    if not _SUBSYSTEM.fullmatch(folder.parent.name):
        return folder
    found = controllers(folder)
    return found[0].folder if found else folder


def _controller(folder: Path, *, path: Path | None) -> Controller:
    return Controller(
        name=folder.name,
        transport=read_text(folder / "transport"),
        address=read_text(folder / "address"),
        state=read_text(folder / "state"),
        controller_id=read_count(folder / "cntlid"),
        carries=path is not None,
        path_state=read_text(path / "ana_state") if path is not None else "",
        folder=folder,
    )
