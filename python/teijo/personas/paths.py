"""Paths in an original's command line: what of them is a folder, and what is of Windows."""

import re
from pathlib import Path
from typing import Final

from teijo.errors import UsageError

_DRIVE: Final = re.compile(r"(\\\\[.?]\\)?[A-Za-z]:([\\/]|$)")
_SHARE: Final = re.compile(r"\\\\")


def refuse_windows(path: str) -> None:
    """Make sure that a path is none of Windows.

    Raises:
        UsageError: it has a drive letter or a share; the remedy names what to write here.
    """
    if _DRIVE.match(path) or _SHARE.match(path):
        rest = _DRIVE.sub("", path, count=1).replace("\\", "/").strip("/")
        linux = f"/mnt/test/{rest}" if rest and not _SHARE.match(path) else "/mnt/test"
        raise UsageError(
            f"{path!r} is a path of Windows",
            remedy=f"Write the path where it is mounted here, as in {linux}.",
        )


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; one that cannot be a path is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # a name over 255 bytes, for example
