"""What a killed run left in a directory: found by its name, looked at whole, and removed."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from teijo.errors import UnsafeError

_FILE: Final = (
    r"([0-9]{10}|[0-9a-f]{10}[0-9A-Za-z]{0,12}|[0-9A-Za-z]{0,12}[0-9a-f]{10}|large-[0-9]{5})"
)
_NAME: Final = re.compile(_FILE)
_DIRECTORY: Final = re.compile(r"[0-9]{5}")
_LINKED: Final = re.compile(rf"(\.\./{_DIRECTORY.pattern}/)?{_FILE}")


def remove_left(directory: int, name: str, target: str) -> None:
    """Remove a folder of this name, with the files and directories in it that have names of ours.

    Raises:
        UnsafeError: it is no folder of ours, or holds something else.
    """
    try:
        with _opened(name, directory) as folder:
            inner, files = _look(folder, deeper=True)
            # All are looked at before one is removed: a folder that is not ours stays as it is.
            # They may be more than this process can have open at a time.
            for number in inner:
                with _opened(number, folder) as within:
                    _look(within, deeper=False)
            _unlink_all(folder, files)
            for number in inner:
                with _opened(number, folder) as within:
                    _unlink_all(within, _look(within, deeper=False)[1])
                os.rmdir(number, dir_fd=folder)
        os.rmdir(name, dir_fd=directory)
    except FileNotFoundError as error:
        if error.filename != name:
            refuse_left(name, target, error)
    except (OSError, _NotOursError) as error:
        refuse_left(name, target, error)


def _unlink_all(folder: int, names: list[str]) -> None:
    for name in names:
        os.unlink(name, dir_fd=folder)


class _NotOursError(Exception):
    """Something is there that this program did not make."""


@contextmanager
def _opened(name: str, directory: int) -> Iterator[int]:
    descriptor = os.open(
        name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory
    )
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _look(folder: int, *, deeper: bool) -> tuple[list[str], list[str]]:
    """Return the names of the directories and of the files in a folder: all are of ours."""
    status = os.fstat(folder)
    # Who else may write there may have put files of such names into it.
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _NotOursError
    inner, files = [], []
    for entry in _entries(folder):
        if deeper and _DIRECTORY.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            inner.append(entry.name)
        elif _NAME.fullmatch(entry.name) and _is_plain(folder, entry):
            files.append(entry.name)
        else:
            raise _NotOursError
    return inner, files


def _entries(folder: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        yield from found


def _is_plain(folder: int, entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        # It is removed itself, and what it names is one of ours.
        return _LINKED.fullmatch(os.readlink(entry.name, dir_fd=folder)) is not None
    return entry.is_file(follow_symlinks=False)


def refuse_left(name: str, target: str, error: Exception | None = None) -> NoReturn:
    """Tell that a folder is not as the run left it.

    Raises:
        UnsafeError: always.
    """
    raise UnsafeError(
        f"{name} in {target} is not as this run left it",
        remedy="Look what it holds, and move it away.",
    ) from error
