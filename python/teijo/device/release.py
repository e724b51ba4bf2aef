"""Letting go of a target: when nothing of ours holds it any longer, another program may have it.

The kernel takes a ring down in the background, and the ring holds its files a moment longer than
the descriptor is open. Until then a file system is busy, and a device cannot be opened alone.
"""

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Final

from teijo.device.retry import retry_for

WAIT_SECONDS: Final = 2.0
_BUSY: Final = frozenset({errno.EAGAIN, errno.EBUSY})


def open_place(fd: int) -> Path:
    """Return the path that a descriptor was opened at."""
    return Path(f"/proc/self/fd/{fd}").readlink()


def wait_until_free(path: Path) -> None:
    """Wait until nobody holds a file or a block device open, but not for ever.

    Somebody else may hold it for reasons of theirs: that is not asked here, and the hook will tell.
    """
    try:
        retry_for(lambda: _hold_alone(path), errors=_BUSY, seconds=WAIT_SECONDS)
    except OSError:
        return


def _hold_alone(path: Path) -> None:
    """Hold it alone for a moment: a device by O_EXCL, a file by a lease.

    Raises:
        OSError: EBUSY or EAGAIN where somebody else has it open; others where it cannot be told.
    """
    device = stat.S_ISBLK(path.stat().st_mode)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (os.O_EXCL if device else 0))
    try:
        if not device:
            # Granted only where nobody else has the file open (fcntl(2)).
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    finally:
        os.close(fd)
