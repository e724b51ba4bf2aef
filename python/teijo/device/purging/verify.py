"""Whether a purge took place: random stamps are written before it, and looked for after it.

So a drive that was blank before is proven too, and one that answers "done" and erases nothing is
found out.
"""

import errno
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.watched import Moved
from teijo.errors import DeviceError

STAMPS: Final = 64
STAMP_BYTES: Final = 4096


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What a stamp is known by after its content is forgotten: where, how long, its SHA-256."""

    at_bytes: int
    length_bytes: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """Random content, at so many bytes from the start."""

    at_bytes: int
    content: bytes

    @property
    def mark(self) -> Mark:
        """What the stamp is known by."""
        return Mark(
            at_bytes=self.at_bytes, length_bytes=len(self.content), digest=digest_of(self.content)
        )


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of what a place holds."""
    return sha256(content).hexdigest()


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
    stamps = tuple(
        Stamp(at_bytes=at, content=os.urandom(length)) for at, length in _places(subject)
    )
    try:
        for each in stamps:
            moved(0, 0)  # no share of the purge itself
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
    """Return what stands in the places of the stamps; raises as `look_for`."""
    return look_for(subject, tuple(each.mark for each in stamps), moved)


def look_for(subject: Subject, marks: tuple[Mark, ...], moved: Moved) -> Looked:
    """Return what stands in the places of stamps of which the marks were kept.

    Raises:
        teijo.errors.DeviceError: one of them cannot be read.
    """
    found = []
    try:
        for each in marks:
            moved(0, 0)
            found.append(kernel.read_blocks(subject.fd, each.at_bytes, each.length_bytes))
    except OSError as error:
        raise _unreachable(subject, error) from error
    return Looked(
        gone=sum(digest_of(now) != was.digest for now, was in zip(found, marks, strict=True)),
        zeros=sum(not any(now) for now in found),
        ones=sum(now == b"\xff" * len(now) for now in found),
    )


def are_placed(subject: Subject, marks: Sequence[Mark]) -> bool:
    """Return whether marks that were kept are those of a whole set of stamps on this device."""
    return [(each.at_bytes, each.length_bytes) for each in marks] == _places(subject)


def sample(subject: Subject) -> tuple[bytes, ...]:
    """Return digests of blocks at equal distances, of what is not to be purged.

    Raises:
        teijo.errors.DeviceError: one cannot be read.
    """
    try:
        found = (kernel.read_blocks(subject.fd, at, length) for at, length in _places(subject))
        return tuple(sha256(each).digest() for each in found)
    except OSError as error:
        raise _unreachable(subject, error) from error


def _places(subject: Subject) -> list[tuple[int, int]]:
    """Return where blocks at equal distances begin, and how long each is, in bytes."""
    size = subject.found.geometry.capacity_bytes
    length = max(STAMP_BYTES, subject.found.geometry.logical_block_bytes)
    last = (size - length) // length
    # A set, for a small device has fewer blocks than stamps.
    places = {last * index // (STAMPS - 1) for index in range(STAMPS)}
    return [(place * length, length) for place in sorted(places)]


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
