"""Sealing: a growing file becomes one whole, checked file, or stays as it was."""

import errno
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from teijo.creating import create
from teijo.errors import HostError, RunFileError
from teijo.outside.text import shell_path
from teijo.runfile import guard, schema
from teijo.runfile.content import content_digest
from teijo.runfile.names import Names

T = TypeVar("T")

_PIECE_BYTES: Final = 1 << 20
_UNREAD: Final = re.compile(r"unable to get the page\. error code=(\d+)")
"""What an integrity check says of a page that the disk did not give; 8458 is an I/O error."""


def check_structure(db: sqlite3.Connection, path: Path) -> None:
    """Make sure that the tables of a file, whose layout is ours, are whole, with their indexes.

    Raises:
        RunFileError: they are not. HostError: the disk refused a read.
        sqlite3.Error: it takes more steps than the connection may do.
    """
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    unread = _UNREAD.search(str(found))
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise HostError(
            f"{path} could not be read to its end: its disk failed.",
            remedy="Look at the kernel log for its disk, and try again.",
        )
    if found != "ok" or list(db.execute("PRAGMA foreign_key_check")):
        raise RunFileError(
            f"{path} is damaged ({' '.join(str(found).split())[:200]}).",
            remedy="Use a copy that is whole. What can be read of it, `teijo report` shows.",
        )


def copy_and_name(db: sqlite3.Connection, names: Names) -> None:
    """Write the sealed file: copy, check, flush, give it its name.

    A sealed file of this very content, left by a seal that was cut short, is taken as it is.

    Raises:
        RunFileError: its name has been taken meanwhile.
        HostError: the copy is not what was written.
        sqlite3.Error, OSError: the disk failed or is full.
    """
    _remove_copy(names)
    digest = db.execute("SELECT digest FROM run").fetchone()[0]
    if _holds(names.sealed, digest):
        return
    try:
        once_more(lambda: _copy(db, names))
        _check(names.sealing)
        # Before it is named: a power cut must not leave the name of a file that is not all there.
        _sync(names.sealing, os.O_RDWR)
        _name(names.sealing, names.sealed)
    finally:
        _remove_copy(names)
    # Before the open file is removed: else a power cut may leave neither name.
    sync_folder(names.sealed.parent)


def once_more(act: Callable[[], T]) -> T:
    """Do what begins anew each time, and do it again if the disk failed the first time.

    A flush that a signal interrupts looks to SQLite like a disk that fails.
    """
    try:
        return act()
    except sqlite3.OperationalError:
        return act()


def _copy(db: sqlite3.Connection, names: Names) -> None:
    _remove_copy(names)
    release(create(names.sealing))  # SQLite takes an empty file, and none that is planted
    # A plain copy would keep the log mode, and a sealed run is one file with nothing beside it.
    db.execute("VACUUM INTO ?", (os.fspath(names.sealing),))


def _remove_copy(names: Names) -> None:
    """Remove the copy and its journal; one that stays is removed by the next seal."""
    for path in (names.sealing, names.sealing.with_name(names.sealing.name + "-journal")):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _holds(path: Path, digest: str) -> bool:
    """Tell whether a file is there, whole, and of this content."""
    return path.is_file() and not path.is_symlink() and _examine(path) == digest


def _check(path: Path) -> None:
    if not _examine(path):
        raise HostError(
            f"The sealed copy {path} is not what was written.",
            remedy="The open file is kept. Check the disk and the memory of this machine.",
        )


def _examine(path: Path) -> str:
    """Return the digest of a whole sealed file, "" for any other file."""
    copy = sqlite3.connect(guard.address(path, sealed=True), uri=True)
    try:
        guard.harden(copy)
        guard.allow_reading(copy, path.stat().st_size)
        version = schema.check_marks(copy, path)
        schema.check_layout(copy, path, version)
        check_structure(copy, path)
        stored: str = copy.execute("SELECT digest FROM run").fetchone()[0]
        return stored if stored == content_digest(copy, version) else ""
    # The disk or memory of this host failed, which says nothing of the copy.
    except sqlite3.OperationalError:
        raise
    except (sqlite3.DatabaseError, RunFileError, ValueError):
        return ""
    finally:
        copy.close()


def _name(temporary: Path, final: Path) -> None:
    try:
        name_once(temporary, final)
    except FileExistsError as error:
        raise RunFileError(
            f"{final} has appeared during the run; it is not overwritten.",
            remedy=f"Move it away, then `teijo resume {shell_path(final)}.open` to seal this run.",
        ) from error


def name_once(temporary: Path, final: Path) -> None:
    """Give a file a second name without ever replacing a file that is there.

    Raises:
        FileExistsError: there is one. OSError: the disk failed.
    """
    try:
        os.link(temporary, final)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        temporary.rename(final)  # a file system without hard links (FAT, some shares)


def write_again(path: Path) -> None:
    """Write a file once more with what it holds, and flush it.

    What a flush failed on may be in the kernel's memory alone, and no later flush writes it:
    whoever builds on it must bring it to the disk first. A file that is not there needs nothing.

    Raises:
        OSError: the disk failed.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        place = 0
        while piece := os.pread(descriptor, _PIECE_BYTES, place):
            place += os.pwrite(descriptor, piece, place)  # may be short: go on where it ended
        os.fsync(descriptor)
    finally:
        release(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        release(descriptor)


def release(descriptor: int) -> None:
    """Close a descriptor: Linux closes it whatever it says, and its data was flushed before."""
    with suppress(OSError):
        os.close(descriptor)
