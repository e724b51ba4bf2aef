"""What tells whether a run file has changed since it was read, without a look into it.

Size, dates and inode, of a growing file its log's too. The date of change (ctime) cannot be set by
who has set back the date of the last write.
"""

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.runfile.names import OPEN_SUFFIX
from teijo.units import NS_PER_S

SETTLED_NS: Final = NS_PER_S // 10
"""Kernels date writes by a clock of some milliseconds: two within one tick leave one date."""


@dataclass(frozen=True)
class Mark:
    """`text` is another one for other bytes; `changed_ns` is the last date in it."""

    text: str
    changed_ns: int

    def is_settled(self) -> bool:
        """Return whether a change from now on is sure to be dated otherwise."""
        return not 0 <= time.time_ns() - self.changed_ns < SETTLED_NS


def mark_of(path: Path | str) -> Mark:
    """Return the mark of a file, which may be a link, or lead nowhere.

    Raises:
        OSError: there is nothing of this name, or it may not be looked at.
    """
    name = os.fspath(path)
    own = os.lstat(name)  # of text: ten thousand objects of paths take half a second
    statuses = [own]
    if stat.S_ISLNK(own.st_mode):
        statuses += _status(name)
    dated = [(each, each.st_ctime_ns) for each in statuses]
    if name.endswith(OPEN_SUFFIX):
        # SQLite makes a log its owner's when root reads it, which is a change without one.
        dated += [(each, 0) for each in _status(f"{name}-wal")]
    text = " ".join(f"{_digits(each)}:{changed_ns:x}" for each, changed_ns in dated)
    return Mark(text, max(max(each.st_mtime_ns, changed_ns) for each, changed_ns in dated))


def _status(name: str) -> list[os.stat_result]:
    try:
        return [os.stat(name)]  # noqa: PTH116
    except OSError:
        return []


def _digits(status: os.stat_result) -> str:
    file = f"{status.st_dev:x}:{status.st_ino:x}"
    return f"{file}:{status.st_size:x}:{status.st_mtime_ns:x}"
