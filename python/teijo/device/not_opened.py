"""Why a target cannot be opened: its name or rights, the device itself, or this machine."""

import errno
from pathlib import Path
from typing import Final

from teijo.errors import DeviceError, HostError, TargetError, TeijoError

_OF_THE_DEVICE: Final = frozenset({errno.EIO, errno.EREMOTEIO, errno.ESTALE})
_OF_THE_MACHINE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


def not_opened(path: Path, error: OSError, *, remedy: str) -> TeijoError:
    """Return what a user is told; `remedy` is for a wrong name or missing rights."""
    message = f"{path} cannot be opened: {error.strerror}"
    if error.errno in _OF_THE_DEVICE:
        return DeviceError(
            message, remedy="Look at its cable and at dmesg; another device may still work."
        )
    if error.errno in _OF_THE_MACHINE:
        return HostError(
            message, remedy="Free memory or space, or raise the limit of open files (ulimit -n)."
        )
    return TargetError(message, remedy=remedy)
