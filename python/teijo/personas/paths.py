"""Paths in an original's command line: what of them is of Windows, and what is a folder.

The personas of Windows tools and of Linux tools have this one rule: scripts move between both.
"""

import re
from pathlib import Path
from typing import Final

from teijo.device.target import member_texts
from teijo.errors import UsageError
from teijo.outside.text import visible

_NAMESPACE: Final = re.compile(r"\\\\[.?]\\")
r"""What begins \\.\E: and \\?\C:\x: a device, or a path that is taken as it stands."""
_NUMBER: Final = re.compile(r"#[0-9]+")
"""A physical drive, as DiskSpd and SQLIO count them."""
_DRIVE: Final = re.compile(r"([A-Za-z]):")
_SHOWN_MOST: Final = 80


def refuse_windows(path: str) -> None:
    r"""Make sure that a path is none of Windows; of several as one target (`concat:A,B`), none is.

    Of Windows are a physical drive (`#1`, `\\.\PhysicalDrive1`), a drive (`C:`, `\\.\C:`), a path
    on one (`C:\x`, `C:x`), a share (`\\server\share\x`), and what has a backslash (`folder\x`).

    Raises:
        UsageError: it is one; the remedy names what Linux has in its place.
    """
    for each in member_texts(path):
        _refuse(each)


def _refuse(path: str) -> None:
    shown = visible(path, most=_SHOWN_MOST)
    namespace = _NAMESPACE.match(path)
    rest = path[namespace.end() :] if namespace else path
    if namespace and rest.upper().startswith("UNC\\"):
        raise _share(shown, rest[len("UNC\\") :])
    drive = _DRIVE.match(rest)
    below = _slashed(rest[drive.end() :] if drive else rest).lstrip("/")
    if drive and below:
        raise UsageError(
            f"{shown} is a path of Windows",
            remedy=f"Write where it is on Linux, as in /mnt/{drive[1].lower()}/{below}.",
        )
    if drive:
        raise UsageError(
            f"{shown} is a drive of Windows", remedy=_in_place_of_drive(drive[1].lower())
        )
    if namespace or _NUMBER.fullmatch(path):
        raise UsageError(
            f"{shown} is a physical drive of Windows", remedy=_in_place_of_drive("NAME")
        )
    if path.startswith("\\\\"):
        raise _share(shown, below)
    if "\\" in path:
        raise UsageError(
            f"{shown} is a path of Windows",
            remedy=f"Write it with slashes: {_slashed(path)}.",
        )


def _slashed(path: str) -> str:
    return visible(path.replace("\\", "/"), most=_SHOWN_MOST)


def _share(shown: str, path: str) -> UsageError:
    return UsageError(
        f"{shown} is a share of Windows",
        remedy=f"Mount it, and write the path there, as in /mnt/{_slashed(path)}.",
    )


def _in_place_of_drive(mounted: str) -> str:
    return (
        "Write /dev/disk/by-id/NAME (see `teijo devices`), or where it is mounted, as in "
        f"/mnt/{mounted}."
    )


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; one that cannot be a path is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False  # a name over 255 bytes, for example
