"""Space for a target file, and its first content: a block never written is read without a drive.

posix_fallocate reserves the space before anything is measured; random data are then written
once over the whole file.
"""

import errno
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from teijo.errors import DeviceError, HostError
from teijo.units import GIB, MIB, format_size

PIECE_BYTES: Final = 4 * MIB
Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all) while a file is laid out."""


def reserve(fd: int, path: Path, size_bytes: int) -> None:
    """Take the space of a whole file, and leave some for the results beside it.

    Raises:
        teijo.errors.HostError: the file system has not enough.
    """
    status = os.fstatvfs(fd)
    free = status.f_bavail * status.f_frsize
    floor = min(GIB, status.f_blocks * status.f_frsize // 20)
    # st_blocks counts 512 bytes, whatever the file system's blocks are.
    need = size_bytes - os.fstat(fd).st_blocks * 512
    shortage = HostError(
        f"{path} is to be {format_size(size_bytes)}, and its file system has "
        f"{format_size(free)} free, of which {format_size(floor)} stay free for the results",
        remedy="Name a smaller size, another folder, or make room.",
    )
    if need > free - floor:
        raise shortage
    try:
        os.posix_fallocate(fd, 0, size_bytes)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise shortage from error
        raise HostError(
            f"No space can be reserved for {path}: {error.strerror}",
            remedy="Choose a file on another file system.",
        ) from error


def lay_out(fd: int, size_bytes: int, progress: Progress | None = None) -> None:
    """Write random data over a whole open file and bring them to the drive.

    Raises:
        teijo.errors.DeviceError: a write failed.
    """
    random = np.random.default_rng()
    with mmap.mmap(-1, PIECE_BYTES) as buffer:
        words = np.frombuffer(buffer, dtype=np.uint64)
        view = memoryview(buffer)
        try:
            for start in range(0, size_bytes, PIECE_BYTES):
                words[:] = random.integers(0, 2**64, size=words.size, dtype=np.uint64)
                length = min(PIECE_BYTES, size_bytes - start)
                _write(fd, view[:length], start)
                if progress is not None:
                    progress(start + length, size_bytes)
            os.fsync(fd)
        except OSError as error:
            raise DeviceError(
                f"Laying out the file failed: {error.strerror}",
                remedy="See to the disk it lies on (dmesg may say more), or name another file.",
            ) from error
        finally:
            view.release()
            # The array exports the buffer too, and an exported mmap cannot be closed (BufferError).
            del words


def has_holes(fd: int, size_bytes: int) -> bool:
    """Return whether some of an open file was never written, as far as its file system tells."""
    try:
        # ext4 and XFS call space that was reserved and never written a hole as well.
        return os.lseek(fd, 0, os.SEEK_HOLE) < size_bytes
    except OSError:
        return False


def _write(fd: int, view: memoryview, start: int) -> None:
    done = 0
    while done < len(view):
        count = os.pwritev(fd, [view[done:]], start + done)
        if count == 0:
            raise OSError(errno.EIO, "a write wrote nothing")
        done += count
