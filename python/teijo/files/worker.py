"""Creates, stats and deletes files in a fresh folder of a directory, and leaves that as it was.

Every name is looked up in an open folder (`dir_fd`), never by a path that somebody could turn
elsewhere; a name that is taken is never followed, and only what was made here is removed. The
folder's name holds the run's token, so that a run that goes on knows what its killed self left.
"""

import errno
import os
import random
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from teijo.errors import HostError, PlanError, TargetError, UnsafeError
from teijo.stopwatch import Stopwatch
from teijo.terms.geometry import Identity
from teijo.terms.result import OperationResult
from teijo.terms.work import Files, Sql

STREAM: Final = "files"
PREFIX: Final = "teijo-files-"
_NUMBER_BYTES: Final = 8
_NAME: Final = re.compile(r"[0-9]{10}")
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class FilesWorker:
    """A directory, and the folder of ours in it. Names are numbers, so that they sort."""

    backend = "python"

    def __init__(self, target: str, path: Path, *, token: str) -> None:
        """Open the directory and remove what a killed run of this token left in it.

        The folder is made with the first file.

        Raises:
            TargetError: it is not there, or none.
            UnsafeError: the folder of this token holds what others made.
        """
        self.identity = Identity(kind="directory", target=target)
        try:
            # A person may name a link to a directory; what is opened now stays the one.
            self._directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise TargetError(
                f"{path} cannot be opened: {error.strerror}", remedy="Check who may write there."
            ) from error
        self._name = f"{PREFIX}{token}"
        self._folder = -1
        self._made: dict[int, None] = {}
        try:
            self._remove_left()
        except BaseException:
            os.close(self._directory)
            raise

    def perform(
        self, work: Files | Sql, seed: int, look: Callable[[int], bool]
    ) -> tuple[OperationResult, ...]:
        """Carry out an operation on each file; `look` is told how many were done, and may stop it.

        Raises:
            PlanError: the work is no work on files, or on more than were created.
            HostError: the folder cannot be made, or its disk is full.
        """
        if not isinstance(work, Files) or (work.operation != "create" and not self._made):
            raise PlanError("There are no files to work on", remedy="Create them first.")
        drawn = random.Random(seed)
        size_bytes = work.size_bytes if work.operation == "create" else None
        timer, flushed = Stopwatch(STREAM, work.operation, size_bytes), Stopwatch(STREAM, "fsync")
        numbers, act = list(self._made)[: work.count], self._stat
        match work.operation:
            case "create":
                self._make_folder()
                first = max(self._made, default=-1) + 1
                numbers = list(range(first, first + work.count))
                content = drawn.randbytes(work.size_bytes)
                act = partial(self._create, content, flushed if work.fsync else None)
            case "stat":
                pass
            case "delete":
                act = self._delete
        if work.order == "random":
            drawn.shuffle(numbers)
        for done, number in enumerate(numbers, start=1):
            act(timer, number)
            if not look(done):
                break
        return (timer.result, flushed.result) if work.fsync else (timer.result,)

    def _make_folder(self) -> None:
        if self._folder >= 0:
            return
        try:
            # For its owner alone: a resume refuses a folder that others may write to.
            os.mkdir(self._name, 0o700, dir_fd=self._directory)
            self._folder = self._opened()
        except OSError as error:
            raise HostError(
                f"No folder can be made in {self.identity.target}: {error.strerror}.",
                remedy="Check who may write there, and whether it is mounted read-only.",
            ) from error

    def _opened(self) -> int:
        return os.open(
            self._name,
            os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
            dir_fd=self._directory,
        )

    def _remove_left(self) -> None:
        """Remove the folder of this token and the files in it that have names of ours.

        Raises:
            UnsafeError: it is no folder of ours, or holds something else.
        """
        try:
            folder = self._opened()
        except FileNotFoundError:
            return
        except OSError as error:
            self._refuse_left(error)
        try:
            status = os.fstat(folder)
            # Who else may write there may have put files of such names into it.
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                self._refuse_left()
            with os.scandir(folder) as found:
                left = tuple(found)
            # All are looked at before one is removed: a folder that is not ours stays as it is.
            if not all(_NAME.fullmatch(one.name) and _is_plain(one) for one in left):
                self._refuse_left()
            for one in left:
                os.unlink(one.name, dir_fd=folder)
            os.rmdir(self._name, dir_fd=self._directory)
        except OSError as error:
            self._refuse_left(error)
        finally:
            os.close(folder)

    def _refuse_left(self, error: OSError | None = None) -> NoReturn:
        raise UnsafeError(
            f"{self._name} in {self.identity.target} is not as this run left it",
            remedy="Look what it holds, and move it away.",
        ) from error

    def _create(
        self, content: bytes, flushed: Stopwatch | None, timer: Stopwatch, number: int
    ) -> None:
        # The number gives each file another content, though only one is drawn for all of them.
        mine = number.to_bytes(_NUMBER_BYTES, "big")[: len(content)] + content[_NUMBER_BYTES:]
        file = timer.time(lambda: self._write(number, mine))
        if file is None:
            return
        try:
            if flushed is not None:
                flushed.time(lambda: os.fsync(file))
        finally:
            os.close(file)

    def _write(self, number: int, content: bytes) -> int:
        file = os.open(
            _name(number),
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
            0o600,
            dir_fd=self._folder,
        )
        # Before it is written: what a full disk cut off must be removed too.
        self._made[number] = None
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            os.close(file)
            # No failed operation to be counted: with room made, the run can be resumed.
            if error.errno in _FULL:
                raise HostError(
                    f"The disk of {self.identity.target} is full.",
                    remedy="Free space there, and resume the run.",
                ) from error
            raise
        except BaseException:
            os.close(file)
            raise
        return file

    def _stat(self, timer: Stopwatch, number: int) -> None:
        timer.time(lambda: os.stat(_name(number), dir_fd=self._folder, follow_symlinks=False))

    def _delete(self, timer: Stopwatch, number: int) -> None:
        timer.time(lambda: self._unlink(number))

    def _unlink(self, number: int) -> None:
        os.unlink(_name(number), dir_fd=self._folder)
        del self._made[number]

    def close(self) -> None:
        """Remove what is left of what was made; a folder in which others put something stays."""
        if self._directory < 0:
            return
        for number in self._made:
            with suppress(OSError):
                os.unlink(_name(number), dir_fd=self._folder)
        self._made.clear()
        if self._folder >= 0:
            os.close(self._folder)
        with suppress(OSError):
            os.rmdir(self._name, dir_fd=self._directory)
        os.close(self._directory)
        self._directory = self._folder = -1


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _name(number: int) -> str:
    return f"{number:010d}"
