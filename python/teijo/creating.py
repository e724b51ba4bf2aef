"""Making files: a name that is taken is never followed, and what lies under it is not written to.

A name in a folder that others may write can be a link, a pipe or a second name of another file, put
there in advance. So what is new is made under a name that must be free, and what takes the place of
something is written whole beside it and renamed.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

NEW: Final = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STREAMS: Final = (Path("/dev"), Path("/proc"))
"""Where names stand for what is open already: `/dev/stdout` may lead to a file."""


def create(path: Path, mode: int = 0o644) -> int:
    """Return a new file, open for reading and writing.

    Raises:
        FileExistsError: the name is taken, by whatever. OSError: it cannot be made.
    """
    return os.open(path, os.O_RDWR | NEW, mode)


def create_whole(path: Path, data: bytes) -> os.stat_result:
    """Make a new file that appears with all its data in it, and return what it is.

    Where the file system has no nameless files, a kill can leave a part of it.

    Raises:
        FileExistsError: the name is taken, by whatever. OSError: it cannot be made.
    """
    if not _name_when_whole(path, data):
        descriptor = create(path)
        try:
            _write_and_close(descriptor, data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path.lstat()


def create_anew(path: Path, mode: int = 0o644) -> int:
    """Return a new file in the place of whatever has its name; only the name is taken from that.

    Raises:
        OSError: it cannot be made, or a folder is in its place.
    """
    path.unlink(missing_ok=True)
    return create(path, mode)


def replace_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file beside its place and put it there once all of it is written.

    A link, a pipe or a second name of another file that stood there is gone, and what it led to is
    as it was.

    Raises:
        OSError: it cannot be written, or a folder is in its place; what was there still is.
    """
    # A name has at most 255 bytes, and this one is longer than that of the file itself.
    beside = path.with_name(f".{path.name[:200]}.{os.urandom(4).hex()}")
    try:
        if not _name_when_whole(beside, data, mode):
            _write_and_close(create(beside, mode), data)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _name_when_whole(path: Path, data: bytes, mode: int = 0o644) -> bool:
    """Make a file that has no name before it is whole; tell whether that can be done here.

    Until then nothing of it is left if the process is killed.

    Raises:
        OSError: it cannot be written.
    """
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
    except OSError:
        return False  # not every file system has this
    try:
        _write(descriptor, data)
        with suppress(OSError):  # so has not every host /proc
            # Python follows the link to the open file only where a folder is named beside it.
            os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor)
            return True
        return False
    finally:
        _close(descriptor)


def deliver(path: Path, data: bytes) -> None:
    """Write to where a person asked for it: a file as a whole, a pipe or a device as it is.

    Raises:
        OSError: it cannot be written.
    """
    if not _is_stream(path):
        replace_atomically(path, data)
        return
    # /dev/stdout may lead to a file: without O_APPEND what is in it would be written over.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _write(descriptor, data)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder, or take the one that is there; a link to one is none.

    Raises:
        OSError: it cannot be made, or something else has its name.
    """
    path.mkdir(exist_ok=True)
    if path.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, f"{path.name} is a symbolic link")


def _is_stream(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    place = path.absolute()
    among_streams = any(place.is_relative_to(one) for one in _STREAMS)
    # Below /dev/shm are files like any other, only kept in memory.
    in_memory = place.is_relative_to(_STREAMS[0] / "shm")
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or (among_streams and not in_memory)


def _write_and_close(descriptor: int, data: bytes) -> None:
    try:
        _write(descriptor, data)
    finally:
        _close(descriptor)


def _close(descriptor: int) -> None:
    with suppress(InterruptedError):  # it is closed all the same
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
