"""How a run file comes into the world: under another name, until it holds a run; how it is locked.

A process that is killed before that leaves NAME.teijo.new, which the next run of this name removes.
"""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from typing import Final

from teijo.errors import HostError, RunFileError, UnsafeError
from teijo.outside.text import shell_path
from teijo.runfile import trust
from teijo.runfile.names import Names
from teijo.runfile.seal import name_once, release

_OURS: Final = b"SQLite format 3\0"
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def create_locked(names: Names) -> int:
    """Create NAME.teijo.new, empty, and return the descriptor that holds its lock.

    Raises:
        RunFileError: another process is making it, or something else has that name.
        HostError: the folder cannot be written.
    """
    try:
        try:
            return _created(names)
        except FileExistsError:
            _remove_left(names)
            return _created(names)
    except FileExistsError as error:
        raise _taken(names) from error
    except OSError as error:
        raise HostError(
            f"No run file can be written in {names.sealed.parent}: {error.strerror}.",
            remedy="Name a folder that exists and can be written with -o.",
        ) from error


def give_name(names: Names) -> None:
    """Turn NAME.teijo.new, which holds a run now, into NAME.teijo.open.

    Raises:
        RunFileError: another process was faster. OSError: the disk failed.
    """
    try:
        name_once(names.new, names.open)
    except FileExistsError as error:
        raise _taken(names) from error
    remove_new(names)


def lock_existing(names: Names) -> int:
    """Return the descriptor that holds the lock of a growing run file that is the caller's.

    Raises:
        UnsafeError: somebody else can have written it.
        RunFileError: there is none, or another process writes it.
        HostError: it cannot be opened for writing.
    """
    try:
        lock = os.open(names.open, os.O_RDWR | trust.FLAGS)
    except FileNotFoundError as error:
        if names.sealed.exists():
            raise RunFileError(
                f"{names.sealed} is sealed: the run has ended, nothing is left to resume.",
                remedy=f"See it with `teijo report {shell_path(names.sealed)}`, or start a new "
                "run.",
            ) from error
        raise RunFileError(
            f"There is no run file {names.open}.",
            remedy="Name the file that was left: NAME.teijo.open.",
        ) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnsafeError(
                f"{names.open} is a symbolic link, and what a run file says is acted on only where "
                "it lies; nothing was done.",
                remedy="Name the file itself.",
            ) from error
        raise HostError(
            f"{names.open} cannot be opened for writing: {error.strerror}.",
            remedy="Check who may write there, and whether the disk is mounted read-only.",
        ) from error
    try:
        trust.check_trusted(lock, names)
    except BaseException:
        os.close(lock)
        raise
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        release(lock)
        raise RunFileError(
            f"{names.open} is being written by another teijo.",
            remedy="Watch it with `teijo report`, or wait until that run has ended.",
        ) from error
    return lock


def remove_new(names: Names) -> None:
    """Remove what is left of the making; what stays is removed by the next run of this name."""
    for path in (names.new.with_name(names.new.name + "-journal"), names.new):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _created(names: Names) -> int:
    lock = os.open(names.new, _FLAGS | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        # flock, because a lock of fcntl goes as soon as a reader in this process closes the file.
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        release(lock)
        raise
    return lock


def _remove_left(names: Names) -> None:
    """Remove what a killed process left, and nothing else that may have this name.

    Raises:
        RunFileError: it is no such thing. OSError: the disk failed.
    """
    left = os.open(names.new, _FLAGS)
    try:
        try:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _taken(names) from error
        about = os.fstat(left)
        ours = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
        # After a power cut its first sector may read as zeros, though later ones were kept.
        head = os.pread(left, len(_OURS), 0)
        if not ours or (any(head) and head != _OURS):
            raise RunFileError(
                f"{names.new} exists, and no teijo has made it.",
                remedy="Move it away, or name another file with -o.",
            )
        remove_new(names)
    finally:
        release(left)


def _taken(names: Names) -> RunFileError:
    return RunFileError(
        f"{names.open} is just being made by another teijo.",
        remedy="Name another file with -o.",
    )
