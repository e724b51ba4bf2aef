"""Whether a purge took place: random stamps are written before it, and looked for after it.

So a drive that was blank before is proven too, and one that answers "done" and erases nothing is
found out.
"""

import errno
import mmap
import os
from dataclasses import dataclass
from typing import Final

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.watched import Moved
from teijo.errors import DeviceError

STAMPS: Final = 64
STAMP_BYTES: Final = 4096


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """Random content, at so many bytes from the start."""

    at_bytes: int
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What was found where the stamps had been: how many are gone, and read as one byte."""

    gone: int
    zeros: int
    ones: int


def stamp(subject: Subject, moved: Moved) -> tuple[Stamp, ...]:
    """Write stamps at equal distances, the first and the last block among them; read them back.

    Raises:
        teijo.errors.DeviceError: they cannot be written, or are not there.
    """
    size = subject.found.geometry.capacity_bytes
    length = max(STAMP_BYTES, subject.found.geometry.logical_block_bytes)
    last = (size - length) // length
    # A set, for a small device has fewer blocks than stamps.
    places = sorted({last * index // (STAMPS - 1) for index in range(STAMPS)})
    stamps = tuple(Stamp(at_bytes=place * length, content=os.urandom(length)) for place in places)
    try:
        for number, each in enumerate(stamps):
            moved(number, len(stamps))
            _write(subject.fd, each)
        os.fsync(subject.fd)
    except OSError as error:
        raise _unreachable(subject, error) from error
    kept = len(stamps) - look(subject, stamps, moved).gone
    if kept != len(stamps):
        raise DeviceError(
            f"{subject.target}: {len(stamps) - kept} of {len(stamps)} blocks written before the "
            "purge do not read back as they were written",
            remedy="Look at the drive's error log: it does not keep what it takes.",
        )
    return stamps


def look(subject: Subject, stamps: tuple[Stamp, ...], moved: Moved) -> Looked:
    """Return what stands in the places of the stamps.

    Raises:
        teijo.errors.DeviceError: one of them cannot be read.
    """
    found = []
    try:
        for number, each in enumerate(stamps):
            moved(number, len(stamps))
            found.append(kernel.read_blocks(subject.fd, each.at_bytes, len(each.content)))
    except OSError as error:
        raise _unreachable(subject, error) from error
    return Looked(
        gone=sum(now != was.content for now, was in zip(found, stamps, strict=True)),
        zeros=sum(not any(now) for now in found),
        ones=sum(now == b"\xff" * len(now) for now in found),
    )


def _write(fd: int, each: Stamp) -> None:
    # mmap, for direct I/O wants an aligned buffer.
    with mmap.mmap(-1, len(each.content)) as buffer:
        buffer[:] = each.content
        if os.pwrite(fd, buffer, each.at_bytes) != len(each.content):
            raise OSError(errno.EIO, "the device took a part of a block")


def _unreachable(subject: Subject, error: OSError) -> DeviceError:
    return DeviceError(
        f"{subject.target} cannot be read or written around its purge: {error.strerror}",
        remedy="Look at the kernel log (dmesg).",
    )
