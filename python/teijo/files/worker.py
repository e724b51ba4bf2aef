"""Work on files in a fresh folder of a directory, which is left as it was.

Here are the folder, and what a killed run left of one; the engine works in it. Every name is looked
up in an open folder (`dir_fd`), never by a path that somebody could turn elsewhere; a name that is
taken is never followed, and only what was made here is removed. The folder's name holds the run's
token, so that a run that goes on knows what its killed self left.
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from teijo.engine.folder import FULL, Folder
from teijo.engine.session import Observer, Progress
from teijo.errors import HostError, PlanError, TargetError
from teijo.files.caches import drop_caches
from teijo.files.left import refuse_left, remove_left
from teijo.terms.geometry import Identity
from teijo.terms.result import Performed
from teijo.terms.work import FileIo, Files, Sql

PREFIX: Final = "teijo-files-"
_REMEDY: Final = "Check who may write there, and whether it is mounted read-only."
Look = Callable[[int, Progress | None], bool]


class FilesWorker:
    """A directory, and the folder of ours in it."""

    backend = Folder.backend

    def __init__(self, target: str, path: Path, *, token: str) -> None:
        """Open the directory and remove what a killed run of this token left in it.

        The folder is made with the first file.

        Raises:
            TargetError: it is not there, none, or nothing can be made in it.
            UnsafeError: the folder of this token holds what others made.
        """
        self.identity = Identity(kind="directory", target=target)
        self._path = path
        try:
            # A person may name a link to a directory; what is opened now stays the one.
            self._directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise TargetError(
                f"{path} cannot be opened: {error.strerror}", remedy="Check who may write there."
            ) from error
        self._name = f"{PREFIX}{token}"
        self._descriptor = -1
        self._folder: Folder | None = None
        self._io_timeout_ns: int | None = None
        try:
            self._check_writable()
            remove_left(self._directory, self._name, target)
        except BaseException:
            os.close(self._directory)
            raise

    def _check_writable(self) -> None:
        """Make sure that a folder can be made, before a run file says that a run has begun.

        Raises:
            TargetError: it cannot.
        """
        # By what is open, for the path may lead elsewhere by now.
        if os.access(".", os.W_OK | os.X_OK, dir_fd=self._directory, effective_ids=True):
            return
        is_read_only = os.fstatvfs(self._directory).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise TargetError(f"No folder can be made in {self._path}: {reason}", remedy=_REMEDY)

    def perform(self, work: Files | FileIo | Sql, seed: int, look: Look) -> Performed:
        """Carry out a work; `look` is told how far it is, and may stop it.

        Raises:
            PlanError: the work is no work on files, or on more than were made.
            HostError: the folder cannot be made, its disk is full, or the page cache stays.
            DeviceError: the file system refuses what was asked for.
            StuckDevice: a call does not come back.
        """
        if isinstance(work, Sql):
            raise PlanError("There are no files to work on", remedy="Create them first.")
        folder = self._open_folder()
        if isinstance(work, FileIo) and work.drop_caches:
            drop_caches(lambda: look(0, None))
        try:
            return folder.run(work, seed, _observer(look))
        except HostError as error:
            if not error.message.startswith(FULL):
                raise
            raise HostError(
                f"The disk of {self._path} is full.",
                remedy="Free space there, and resume the run.",
            ) from error

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a work from now on when a call takes longer; a flush may take its time."""
        self._io_timeout_ns = io_timeout_ns
        if self._folder is not None:
            self._folder.limit_io(io_timeout_ns)

    def _open_folder(self) -> Folder:
        if self._folder is not None:
            return self._folder
        try:
            # For its owner alone: a resume refuses a folder that others may write to.
            os.mkdir(self._name, 0o700, dir_fd=self._directory)
            self._descriptor = os.open(
                self._name,
                os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                dir_fd=self._directory,
            )
        except OSError as error:
            raise HostError(
                f"No folder can be made in {self._path}: {error.strerror}.", remedy=_REMEDY
            ) from error
        status = os.fstat(self._descriptor)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
            # Somebody put another folder in the place of the one that was made.
            refuse_left(self._name, self.identity.target)
        self._folder = Folder(self._descriptor)
        if self._io_timeout_ns is not None:
            self._folder.limit_io(self._io_timeout_ns)
        return self._folder

    def close(self) -> None:
        """Remove what is left of what was made; a folder in which others put something stays."""
        if self._directory < 0:
            return
        if self._folder is not None:
            self._folder.clear()
            self._folder.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
        with suppress(OSError):
            os.rmdir(self._name, dir_fd=self._directory)
        os.close(self._directory)
        self._directory = self._descriptor = -1
        self._folder = None


def _observer(look: Look) -> Observer:
    return lambda now: look(now.ios, now)
