"""Room on the results disk: reserved before a device is touched, given back when needed."""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from teijo.creating import create_anew
from teijo.errors import HostError
from teijo.units import MIB, format_size

LEAST_BYTES: Final = 4 * MIB
_TAKEN: Final = frozenset({errno.EISDIR, errno.EEXIST, errno.EPERM, errno.ELOOP, errno.ENOTDIR})
_STEP_BYTES: Final = 12 * 1024
"""A step's row, its results with their histograms (1–4 KiB each) and the pages around them."""
_INTERVAL_BYTES: Final = 160
_LOG_BYTES: Final = 2 * MIB
"""The write-ahead log between two checkpoints."""


def estimate_bytes(*, steps: int, intervals: int) -> int:
    """Return the room a run of so many steps and intervals needs.

    Twice the data, because the sealed copy is written beside the open file.
    """
    return max(LEAST_BYTES, 2 * (steps * _STEP_BYTES + intervals * _INTERVAL_BYTES) + _LOG_BYTES)


class Ballast:
    """A file that holds disk blocks until the run file needs them."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        """Reserve `size_bytes` at `path`; what has its name is replaced, not written to.

        Raises:
            HostError: the disk has not that much room; nothing is left behind.
        """
        self.path = path
        self.size_bytes = size_bytes
        self._descriptor: int | None = None
        try:
            self._descriptor = create_anew(path)
            _allocate(self._descriptor, size_bytes)
            os.ftruncate(self._descriptor, size_bytes)
        except OSError as error:
            self.remove()
            if error.errno in _TAKEN:
                raise HostError(
                    f"{path} is in the way of the run file: {error.strerror}.",
                    remedy="Move it away, or name another place with -o.",
                ) from error
            raise HostError(
                f"No room for the run file: {format_size(size_bytes)} are needed in {path.parent} "
                f"({error.strerror}).",
                remedy="Free space there, or name another place with -o.",
            ) from error

    def give_way(self) -> Iterator[int]:
        """Free the reserve piece by piece, yielding the bytes left after each piece."""
        while self.size_bytes > 0:
            self.size_bytes = max(0, self.size_bytes - max(MIB, self.size_bytes // 4))
            assert self._descriptor is not None, "a reserve of some size is open"
            try:
                os.ftruncate(self._descriptor, self.size_bytes)
            except OSError:  # its disk fails: nothing more comes from here
                self.size_bytes = 0
            yield self.size_bytes

    def remove(self) -> None:
        """Free all of it; what cannot be removed is replaced by the next run of this name."""
        self.size_bytes = 0
        if self._descriptor is None:
            return
        with suppress(OSError):  # Linux closes it whatever it says
            os.close(self._descriptor)
        self._descriptor = None
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def _allocate(descriptor: int, size_bytes: int) -> None:
    """Reserve blocks; a file system that cannot is taken as it is."""
    if size_bytes <= 0:
        return
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        # EINVAL too is said by file systems that cannot (posix_fallocate(3)).
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
