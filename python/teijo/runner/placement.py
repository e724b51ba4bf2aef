"""Whether a folder lies on the device under test: the record must not load what it records."""

import os
import stat
from pathlib import Path
from typing import Final

from teijo.device.ground import under_path
from teijo.device.mounts import mounts_of
from teijo.device.target import member_texts
from teijo.terms.geometry import Identity

_BLOCKS: Final = Path("/sys/dev/block")


def lies_on(identity: Identity, folder: Path) -> bool:
    """Tell whether `folder` is in a file system on a block device that `identity` names.

    Looks through partitions and what is stacked on them (dm, md, loop files are the preflight's).
    Files and simulated devices carry no file system.
    """
    if identity.kind != "block":
        return False
    try:
        homes = under_path(folder, mounts_of()).numbers
    except OSError:
        return False
    numbers = {_device_number(text) for text in member_texts(identity.target)}
    beneath = (_beneath(os.makedev(home.major, home.minor), set()) for home in homes)
    return any(not numbers.isdisjoint(each) for each in beneath)


def _device_number(target: str) -> int | None:
    try:
        status = Path(target).stat()
    except OSError:
        return None
    return status.st_rdev if stat.S_ISBLK(status.st_mode) else None


def _beneath(number: int, seen: set[int]) -> set[int]:
    """Return the device numbers that carry `number`: itself, its disk, and its slaves."""
    if number in seen:
        return seen
    seen.add(number)
    node = _BLOCKS / f"{os.major(number)}:{os.minor(number)}"
    if not node.exists():
        return seen
    node = node.resolve()
    parents = list((node / "slaves").glob("*/dev"))
    if (node / "partition").exists():
        parents.append(node.parent / "dev")
    for parent in parents:
        major, _, minor = parent.read_text().strip().partition(":")
        _beneath(os.makedev(int(major), int(minor)), seen)
    return seen
