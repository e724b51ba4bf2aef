"""Space for a target file, and its first content: a block never written is read without a drive.

posix_fallocate reserves the space before anything is measured; random data are then written
once over the whole file.
"""

import errno
import fcntl
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from teijo.errors import DeviceError, HostError
from teijo.units import GIB, MIB, format_size

PIECE_BYTES: Final = 4 * MIB
_FIEMAP: Final = 0xC020660B
_FIEMAP_HEAD: Final = struct.Struct("=QQIIII")
_FIEMAP_EXTENT: Final = struct.Struct("=QQQQQIIII")
_FIEMAP_SYNC, _LAST, _UNWRITTEN = 1, 1, 0x800
_EXTENTS: Final = 256
"""That are asked for at once."""
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


def unwritten_bytes(fd: int, size_bytes: int) -> int | None:
    """Return how much of an open file was never written: holes, and space only reserved.

    None where nobody tells: of what is no file, and where the file system tells of no extents.
    """
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return None
    try:
        return size_bytes - sum(_written_extents(fd, size_bytes))
    except OSError:
        holes = sum(_holes(fd, size_bytes)) if has_holes(fd, size_bytes) else 0
        # A file system that knows of no holes says that there are none, too.
        return holes or None


def _written_extents(fd: int, size_bytes: int) -> Iterator[int]:
    """Give the length of each written extent, by FIEMAP."""
    start = 0
    while start < size_bytes:
        asked = bytearray(_FIEMAP_HEAD.size + _EXTENTS * _FIEMAP_EXTENT.size)
        _FIEMAP_HEAD.pack_into(asked, 0, start, size_bytes - start, _FIEMAP_SYNC, 0, _EXTENTS, 0)
        fcntl.ioctl(fd, _FIEMAP, asked)
        mapped = _FIEMAP_HEAD.unpack_from(asked)[3]
        for number in range(mapped):
            place = _FIEMAP_HEAD.size + number * _FIEMAP_EXTENT.size
            logical, _, length, _, _, flags, *_ = _FIEMAP_EXTENT.unpack_from(asked, place)
            end = min(logical + length, size_bytes)
            if not flags & _UNWRITTEN:
                yield max(0, end - max(logical, start))
            start = end
            if flags & _LAST:
                return
        if not mapped:
            return


def _holes(fd: int, size_bytes: int) -> Iterator[int]:
    """Give the length of each hole, by lseek."""
    place = 0
    while (begin := os.lseek(fd, place, os.SEEK_HOLE)) < size_bytes:
        try:
            place = os.lseek(fd, begin, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:  # there is no data behind the last hole
                raise
            place = size_bytes
        yield min(place, size_bytes) - begin
        if place >= size_bytes:
            return


def _write(fd: int, view: memoryview, start: int) -> None:
    done = 0
    while done < len(view):
        count = os.pwritev(fd, [view[done:]], start + done)
        if count == 0:
            raise OSError(errno.EIO, "a write wrote nothing")
        done += count
