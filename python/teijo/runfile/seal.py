"""Sealing: a growing file becomes one whole, checked file, or stays as it was."""

import errno
import os
import sqlite3
from pathlib import Path

from teijo.errors import RunFileError
from teijo.runfile import guard, schema
from teijo.runfile.content import content_digest
from teijo.runfile.names import Names


def check_structure(db: sqlite3.Connection, path: Path) -> None:
    """Make sure that the tables of a file, whose layout is ours, are whole, with their indexes.

    Raises:
        RunFileError: they are not.
        sqlite3.Error: it takes more steps than the connection may do.
    """
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok" or list(db.execute("PRAGMA foreign_key_check")):
        raise RunFileError(
            f"{path} is damaged ({' '.join(str(found).split())[:200]}).",
            remedy="Use a copy that is whole. What can be read of it, `teijo report` shows.",
        )


def copy_and_name(db: sqlite3.Connection, names: Names) -> None:
    """Write the sealed file: copy, check, flush, give it its name.

    A sealed file of this very content, left by a seal that was cut short, is taken as it is.

    Raises:
        RunFileError: the copy is not whole, or its name has been taken meanwhile.
        sqlite3.Error, OSError: the disk failed or is full.
    """
    names.sealing.unlink(missing_ok=True)
    digest = db.execute("SELECT digest FROM run").fetchone()[0]
    if _holds(names.sealed, digest):
        return
    try:
        db.execute("VACUUM INTO ?", (os.fspath(names.sealing),))
        _check(names.sealing)
        _sync(names.sealing, os.O_RDWR)
        _name(names.sealing, names.sealed)
    finally:
        names.sealing.unlink(missing_ok=True)
    sync_folder(names.sealed.parent)


def _holds(path: Path, digest: str) -> bool:
    """Tell whether a file is there, whole, and of this content."""
    return path.exists() and _examine(path) == digest


def _check(path: Path) -> None:
    if not _examine(path):
        raise RunFileError(
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
    except (sqlite3.DatabaseError, RunFileError, ValueError):
        return ""
    finally:
        copy.close()


def _name(temporary: Path, final: Path) -> None:
    """Rename without ever replacing a file that is there."""
    try:
        os.link(temporary, final)
    except FileExistsError as error:
        raise RunFileError(
            f"{final} has appeared during the run; it is not overwritten.",
            remedy=f"Move it away, then `teijo resume {final}.open` to seal this run.",
        ) from error
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        temporary.rename(final)  # a file system without hard links (FAT, some shares)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
