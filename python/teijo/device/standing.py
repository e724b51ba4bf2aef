"""What of this kernel stands on an open file: a loop device, or a swap area."""

import os
from pathlib import Path

from teijo.device.kernel import Number
from teijo.device.mounts import swap_files
from teijo.device.stack import loops
from teijo.errors import UnsafeError


def check_under_nothing(fd: int, path: Path) -> tuple[Number, int]:
    """Refuse a file that the kernel here has in use; return by what it knows it.

    Raises:
        teijo.errors.UnsafeError: a loop device or a swap area stands on it.
    """
    status = os.fstat(fd)
    key = (Number.of(status.st_dev), status.st_ino)
    under = [
        loop.node.name
        for loop in loops()
        if loop.backing and (loop.backing.file_device, loop.backing.inode) == key
    ]
    if under:
        raise UnsafeError(
            f"{path} is what {', '.join(under)} stands on; nothing was written",
            remedy="Detach it first: losetup -d.",
        )
    if key in {(Number.of(found.st_dev), found.st_ino) for found in swap_files()}:
        raise UnsafeError(
            f"{path} is in use as swap; nothing was written",
            remedy="Stop it first: swapoff.",
        )
    return key
