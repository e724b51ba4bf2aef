"""What the kernel says of an open block device: ioctls, sysfs text, aligned reads.

Everything starts from a descriptor, for a name can be given to another drive at any time.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.units import MIB

# linux/fs.h and linux/loop.h, with the numbers of asm-generic (x86-64, arm64).
BLKROGET: Final = 0x125E
BLKGETSIZE64: Final = 0x80081272
BLKSSZGET: Final = 0x1268
BLKPBSZGET: Final = 0x127B
BLKDISCARD: Final = 0x1277
BLKSECDISCARD: Final = 0x127D
BLKGETDISKSEQ: Final = 0x80081280
LOOP_GET_STATUS64: Final = 0x4C05

DIRECT_ALIGNMENT_BYTES: Final = 4096

SECTOR_BYTES: Final = 512
"""What sysfs counts sizes and traffic in, whatever the blocks of the device are."""


@dataclass(frozen=True, kw_only=True)
class Roots:
    """Where the kernel's own file systems are; tests give a made-up tree."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")


HOST: Final = Roots()


@dataclass(frozen=True, order=True)
class Number:
    """A device number, the kernel's own name of a block device."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}:{self.minor}"

    @classmethod
    def of(cls, raw: int) -> "Number":
        """Return the number in a `st_dev` or `st_rdev`."""
        return cls(os.major(raw), os.minor(raw))

    @classmethod
    def parse(cls, text: str) -> "Number":
        """Return the number written as "254:0"."""
        major, _, minor = text.strip().partition(":")
        return cls(int(major), int(minor))


@dataclass(frozen=True, kw_only=True)
class Backing:
    """What a loop device stands on: the file's own device and inode, or a block device."""

    file_device: Number
    inode: int
    block_device: Number | None
    name: str


def number_of(fd: int) -> Number:
    """Return the device number of an open block device."""
    return Number.of(os.fstat(fd).st_rdev)


def sysfs(number: Number, roots: Roots = HOST) -> Path:
    """Return the sysfs folder of a block device; it may not exist."""
    return (roots.sys / "dev" / "block" / str(number)).resolve()


def read_text(path: Path) -> str:
    """Return a sysfs attribute without its padding; empty where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip(" \t\n\0")
    except OSError:
        return ""


def read_count(path: Path) -> int | None:
    """Return a sysfs attribute as a number; None where there is none."""
    text = read_text(path)
    return int(text) if text.isdigit() else None


def is_read_only(fd: int) -> bool:
    """Return whether the kernel would refuse writes (an open for writing does not always)."""
    return _int_ioctl(fd, BLKROGET, "i") != 0


def capacity_bytes(fd: int) -> int:
    """Return the size of an open block device."""
    return _int_ioctl(fd, BLKGETSIZE64, "Q")


def logical_block_bytes(fd: int) -> int:
    """Return the smallest addressable block of an open block device."""
    return _int_ioctl(fd, BLKSSZGET, "i")


def physical_block_bytes(fd: int) -> int:
    """Return the block an open block device says it writes at once."""
    return _int_ioctl(fd, BLKPBSZGET, "I")


def disk_sequence(fd: int) -> int | None:
    """Return the number no other disk had since boot; None before kernel 5.15."""
    try:
        return _int_ioctl(fd, BLKGETDISKSEQ, "Q")
    except OSError as error:
        if error.errno in {errno.ENOTTY, errno.EINVAL} and capacity_bytes(fd) > 0:
            return None
        raise


def discard(fd: int, start_bytes: int, length_bytes: int, *, secure: bool = False) -> None:
    """Tell the device that a range is not needed any more (BLKDISCARD, BLKSECDISCARD).

    Raises:
        OSError: EOPNOTSUPP where the device has no such command.
    """
    request = BLKSECDISCARD if secure else BLKDISCARD
    fcntl.ioctl(fd, request, struct.pack("QQ", start_bytes, length_bytes))


def loop_backing(fd: int) -> Backing | None:
    """Return what an open loop device stands on; None where it is no loop, or not set up."""
    # struct loop_info64: device, inode and block device come first, the name stands at 56.
    buffer = bytearray(232)
    try:
        fcntl.ioctl(fd, LOOP_GET_STATUS64, buffer)
    except OSError as error:
        if error.errno in {errno.ENXIO, errno.ENOTTY, errno.EINVAL}:
            return None
        raise
    device, inode, block_device = struct.unpack_from("<3Q", buffer)
    name = bytes(buffer[56:120]).split(b"\0", 1)[0].decode(errors="replace")
    return Backing(
        file_device=Number.of(device),
        inode=inode,
        block_device=Number.of(block_device) if block_device else None,
        name=name,
    )


def read_blocks(fd: int, start_bytes: int, length_bytes: int) -> bytes:
    """Return a range of an open device or file, read with a buffer direct I/O accepts.

    Raises:
        OSError: the read failed; a read of fewer bytes is ENODATA, for it means a hole in the
            device: an unplugged drive answers with 0 bytes, not with an error.
    """
    # mmap, for direct I/O wants an aligned buffer, and bytearray promises none.
    with mmap.mmap(-1, max(length_bytes, mmap.PAGESIZE)) as buffer:
        view = memoryview(buffer)
        done = 0
        try:
            while done < length_bytes:
                count = os.preadv(fd, [view[done:length_bytes]], start_bytes + done)
                if count == 0:
                    raise OSError(errno.ENODATA, "the device ends early", start_bytes + done)
                done += count
            return bytes(view[:length_bytes])
        finally:
            # Else closing the mmap fails: it still exports a pointer (BufferError).
            view.release()


def edges(fd: int, size_bytes: int) -> tuple[bytes, bytes]:
    """Return the first and the last MiB (all of it, twice, where it is smaller)."""
    length = min(MIB, size_bytes)
    start = (size_bytes - length) // DIRECT_ALIGNMENT_BYTES * DIRECT_ALIGNMENT_BYTES
    return read_blocks(fd, 0, length), read_blocks(fd, start, size_bytes - start)


def direct_alignment_bytes(fd: int) -> int | None:
    """Return the alignment direct I/O asks of offsets on an open file.

    0 means that direct I/O is refused, None that the kernel does not say (statx
    STATX_DIOALIGN, Linux 6.1).
    """
    # os.stat has no field for this alignment.
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    if statx is None:
        return None
    buffer = ctypes.create_string_buffer(256)
    empty_path, dioalign = 0x1000, 0x2000
    if statx(fd, b"", empty_path, dioalign, buffer) != 0:
        return None
    # struct statx (linux/stat.h): stx_mask comes first, stx_dio_offset_align stands at 156.
    mask, offset_align = struct.unpack_from("I", buffer, 0)[0], struct.unpack_from("I", buffer, 156)
    return int(offset_align[0]) if mask & dioalign else None


def _int_ioctl(fd: int, request: int, kind: str) -> int:
    answer = fcntl.ioctl(fd, request, bytes(struct.calcsize(kind)))
    return int(struct.unpack(kind, answer)[0])
