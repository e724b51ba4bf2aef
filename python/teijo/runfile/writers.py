"""Whether somebody writes to a growing run file, found without a lock that stood in their way.

A writer holds its file's one exclusive lock (flock), and Linux lists those of all processes in
/proc/locks, but for those of other machines and containers. So a file that was written a moment ago
counts as well: while I/O is measured a run writes once a second.
"""

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.runfile.names import database_files
from teijo.units import NS_PER_S

FRESH_NS: Final = 15 * NS_PER_S
"""A file that was written so shortly ago is being written."""
_LOCKS: Final = Path("/proc/locks")
_HELD: Final = re.compile(
    r"^\d+: FLOCK +\w+ +WRITE +\S+ +([0-9a-f]+):([0-9a-f]+):(\d+) ", re.MULTILINE
)
_File = tuple[int, int]


@dataclass(frozen=True)
class Writers:
    """Which files were held for writing at one moment, as device and inode each."""

    held: frozenset[_File]
    at_ns: int

    @classmethod
    def now(cls) -> "Writers":
        """Return those of this moment; none where the kernel does not tell."""
        text = ""
        with suppress(OSError):
            text = _LOCKS.read_text("ascii", "replace")
        held = {
            (os.makedev(int(major, 16), int(minor, 16)), int(inode))
            for major, minor, inode in _HELD.findall(text)
        }
        return cls(frozenset(held), time.time_ns())

    def write_to(self, path: Path) -> bool:
        """Tell whether somebody writes to a growing file; nobody does to one that is gone."""
        if self.hold(path):
            return True
        return path.exists() and 0 <= self.at_ns - last_write_ns(path) < FRESH_NS

    def hold(self, path: Path) -> bool:
        """Tell whether somebody of this machine holds a growing file."""
        try:
            status = path.stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) in self.held


def last_write_ns(path: Path) -> int:
    """Return when a growing file or its log was last written, 0 where neither is there."""
    dates = [0]
    log, *_ = database_files(path)
    for each in (path, log):
        with suppress(OSError):
            dates.append(each.stat().st_mtime_ns)
    return max(dates)
