"""What a killed run left in a directory: found by its name, looked at whole, and removed."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack
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
    with ExitStack() as opened:
        try:
            folder = _opened(opened, name, directory)
        except FileNotFoundError:
            return
        except OSError as error:
            refuse_left(name, target, error)
        try:
            inner, files = _look(folder, deeper=True)
            found = [(folder, one) for one in files]
            for number in inner:
                within = _opened(opened, number, folder)
                found += [(within, one) for one in _look(within, deeper=False)[1]]
            # All were looked at before one is removed: a folder that is not ours stays as it is.
            for within, one in found:
                os.unlink(one, dir_fd=within)
            for number in inner:
                os.rmdir(number, dir_fd=folder)
            os.rmdir(name, dir_fd=directory)
        except (OSError, _NotOursError) as error:
            refuse_left(name, target, error)


class _NotOursError(Exception):
    """Something is there that this program did not make."""


def _opened(opened: ExitStack, name: str, directory: int) -> int:
    descriptor = os.open(
        name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory
    )
    opened.callback(os.close, descriptor)
    return descriptor


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
