"""Paths in an original's command line: those of Windows are refused, with their Linux form."""

import re
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
