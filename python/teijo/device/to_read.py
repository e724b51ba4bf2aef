"""A target opened to be read for a moment: claimed while it is, never made, changed or marked."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from teijo.device.file import claim_file, file_geometry, give_back
from teijo.device.kernel import HOST, SECTOR_BYTES, Number, Roots, read_count
from teijo.device.layout import has_holes, unwritten_bytes
from teijo.device.preflight import claim
from teijo.device.stack import node_of, whole_disk
from teijo.device.target import BlockTarget, FileTarget, Target
from teijo.errors import TargetError, UnsafeError
from teijo.terms.geometry import Geometry

Opened = tuple[int, Geometry]


@contextmanager
def opened_to_read(target: Target) -> Iterator[Opened]:
    """Open a block device or a file that is there, for direct reading; yield its descriptor.

    Raises:
        teijo.errors.UnsafeError: something uses it, and reads would disturb that.
        teijo.errors.TargetError: it is not there, or no block device or file.
    """
    match target:
        case BlockTarget(path=path):
            with _block(path) as opened:
                yield opened
        case FileTarget():
            with _file(target) as opened:
                yield opened
        case _:
            raise TargetError(
                f"{target.text} is no block device and no file.",
                remedy="Name one: /dev/disk/by-id/NAME, or a file that is there.",
            )


@contextmanager
def _block(path: Path) -> Iterator[Opened]:
    subject = claim(path, write=False)
    try:
        if subject.refusal:
            raise UnsafeError(
                f"{path} is in use ({subject.refusal}), and reads would disturb what uses it.",
                remedy="End that first.",
            )
        yield subject.fd, subject.found.geometry
    finally:
        os.close(subject.fd)


@contextmanager
def _file(target: FileTarget) -> Iterator[Opened]:
    if not target.path.exists():
        raise TargetError(
            f"{target.path} is not there yet, and nothing is made to be read.",
            remedy="Run the plan first, which makes it.",
        )
    opened = claim_file(target, write=False, overwrite=False, make=False)
    if opened.created:  # it went away in between
        give_back(opened)
        raise TargetError(f"{target.path} was removed.", remedy="Look who removes it.")
    try:
        if not target.allow_holes and has_holes(opened.fd, opened.size_bytes):
            raise TargetError(
                f"{target.path} has blocks never written, and reading them asks no drive",
                remedy="Write it first, or accept it with --set holes=allow.",
            )
        yield opened.fd, file_geometry(opened)
    finally:
        # A ring may keep the file open a little longer; the lock is given up here and now.
        fcntl.flock(opened.fd, fcntl.LOCK_UN)
        os.close(opened.fd)


def unwritten_share(target: Target, roots: Roots = HOST) -> float | None:
    """Return which share of a target was never written, None where nothing tells.

    Of a file its file system knows; of an NVMe namespace the drive, as the kernel read it (nuse).
    """
    try:
        match target:
            case FileTarget(path=path):
                return _of_file(path)
            case BlockTarget(path=path):
                return _of_namespace(Number.of(path.stat().st_rdev), roots)
            case _:
                return None
    except OSError:
        return None


def _of_file(path: Path) -> float | None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = os.fstat(fd).st_size
        found = unwritten_bytes(fd, size) if size else None
        return None if found is None else found / size
    finally:
        os.close(fd)


def _of_namespace(number: Number, roots: Roots) -> float | None:
    disk = whole_disk(node_of(number, roots), roots).folder
    used, sectors = read_count(disk / "nuse"), read_count(disk / "size")
    block = read_count(disk / "queue" / "logical_block_size")
    if used is None or not sectors or not block:
        return None
    return max(0.0, 1 - used * block / (sectors * SECTOR_BYTES))
