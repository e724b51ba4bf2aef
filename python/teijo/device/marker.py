"""The mark teijo leaves on a file it made, so that it never takes somebody else's for its own.

The mark lies in the extended attribute `user.teijo` of the file; where the file system has no
such attributes, in the file `.NAME.teijo-target` beside it. It says whether the file was left
in order and when it was last written: content that came later is not ours, whoever's file it
was before.
"""

import errno
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

ATTRIBUTE: Final = "user.teijo"
WITHOUT_ATTRIBUTES: Final = frozenset({errno.ENOTSUP, errno.EPERM, errno.ENOSPC})


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What is written down: which file, and its last write; 0 while it is being measured."""

    inode: int
    written_ns: int


def leave_mark(fd: int, path: Path, *, in_use: bool) -> None:
    """Mark an open file as ours, in use or left in order."""
    status = os.fstat(fd)
    mark = Mark(inode=status.st_ino, written_ns=0 if in_use else status.st_mtime_ns)
    text = json.dumps(asdict(mark)).encode()
    try:
        os.setxattr(fd, ATTRIBUTE, text)
    except OSError as error:
        if error.errno not in WITHOUT_ATTRIBUTES:
            raise
        _beside(path).write_bytes(text)


def is_ours(fd: int, path: Path) -> bool:
    """Return whether teijo made this very file and nobody wrote to it since.

    A mark "in use" on a file nobody holds is one whose run was killed: it is still ours.
    """
    mark = _read(fd, path)
    status = os.fstat(fd)
    if mark is None or mark.inode != status.st_ino:
        return False
    return mark.written_ns in {0, status.st_mtime_ns}


def remove_mark(path: Path) -> None:
    """Remove the file beside, when its target is removed."""
    _beside(path).unlink(missing_ok=True)


def _read(fd: int, path: Path) -> Mark | None:
    try:
        text = os.getxattr(fd, ATTRIBUTE)
    except OSError:
        try:
            text = _beside(path).read_bytes()
        except OSError:
            return None
    try:
        values = json.loads(text)
        return Mark(inode=int(values["inode"]), written_ns=int(values["written_ns"]))
    except (ValueError, KeyError, TypeError):
        return None


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.teijo-target")
