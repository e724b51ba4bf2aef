"""Whether a run file may be acted on: nobody but the caller and root can have written it.

A run file says what is to be done next, on which target. To read one asks for no trust.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from teijo.errors import UnsafeError
from teijo.outside.text import shell_path
from teijo.runfile.names import Names

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_ROOT: Final = 0
FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""How a run file is opened to be acted on: no other file in its place, and no waiting on one."""


def check_trusted(descriptor: int, names: Names) -> None:
    """Make sure that an open run file, what lies beside it and its folder are the caller's.

    The file is asked by its descriptor, before SQLite has read a byte of it.

    Raises:
        UnsafeError: somebody else can have written what would be acted on.
    """
    status = os.fstat(descriptor)
    faults = [*_faults(names.open, status)]
    # SQLite opens by name: it must still lead to the file that was asked.
    if not faults and not _is_at(names.open, status):
        faults.append((f"{names.open} was put in another's place just now", ""))
    for path in names.beside:
        if (beside := _status(path)) is not None:
            faults += _faults(path, beside)
    folder = names.open.parent
    if (around := _status(folder, follow=True)) is not None:
        mode = around.st_mode
        # In /tmp everybody may write, but the sticky bit keeps each file to its owner.
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            text = f"everybody may replace files in the folder {folder} (mode {mode & 0o7777:04o})"
            faults.append((text, f"chmod o-w {shell_path(folder)}"))
    if faults:
        what, command = faults[0]
        do = f"if you trust what it says: {command}; or copy it" if command else "copy it"
        raise UnsafeError(
            f"{what}. What a run file says is acted on only where nobody but you and root can "
            "have written it; nothing was done.",
            remedy=f"It can be read: teijo report, teijo export. To go on with it, {do} to a "
            f"folder of your own, with what lies beside it: cp {shell_path(names.open)}* FOLDER",
        )


def is_own(status: os.stat_result) -> bool:
    """Return whether nobody but the caller and root can have written a file."""
    return status.st_uid in (os.geteuid(), _ROOT) and not status.st_mode & _OTHERS_WRITE


def _faults(path: Path, status: os.stat_result) -> Iterator[tuple[str, str]]:
    """Yield why a file may be another's, with the command that mends it, if one does."""
    if not stat.S_ISREG(status.st_mode):
        yield f"{path} is no regular file", ""
        return
    mine = os.geteuid()
    if status.st_uid not in (mine, _ROOT):
        yield (
            f"{path} belongs to user {status.st_uid}, and you are {mine}",
            f"chown {mine} {shell_path(path)}",
        )
    if status.st_mode & _OTHERS_WRITE:
        mode = f"{status.st_mode & 0o7777:04o}"
        yield (
            f"{path} can be written by others than its owner (mode {mode})",
            f"chmod go-w {shell_path(path)}",
        )


def _is_at(path: Path, status: os.stat_result) -> bool:
    now = _status(path)
    return now is not None and (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino)


def _status(path: Path, *, follow: bool = False) -> os.stat_result | None:
    try:
        return path.stat() if follow else path.lstat()
    except FileNotFoundError:
        return None
