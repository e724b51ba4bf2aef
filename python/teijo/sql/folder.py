"""A folder of ours in a target directory, with a keeper that removes it when the run is gone.

What a killed run left, where not even its keeper could remove it, the next run removes: a folder
counts as ours by its name, its owner, its mark and a lock that nobody holds any more.
"""

import fcntl
import json
import os
import re
import select
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from time import sleep
from typing import Final

from teijo.errors import HostError, TargetError
from teijo.units import MIB

PREFIX: Final = "teijo-sql-"
_NAME: Final = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")
_MARK: Final = "mark"
_CONTENT: Final = b"A private database of teijo. It is removed when its run has ended.\n"
_KEEPER: Final = Path(__file__).with_name("keeper.py")
_START_SECONDS: Final = 120
_END_SECONDS: Final = 30
_REMOVALS_MOST: Final = 100
_REST_SECONDS: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class Programs:
    """What is to run in a folder: what prepares it, then the server; none of SQLite.

    `stop` is the signal that ends it, `user` the (uid, gid) it runs as, None for our own.
    """

    prepare: Sequence[Sequence[str]] = ()
    serve: Sequence[str] = ()
    stop: int = 9
    user: tuple[int, int] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class Folder:
    """A folder with a keeper. `data` in it belongs to the server's user."""

    def __init__(self, target: Path, user: tuple[int, int] | None) -> None:
        """Make it in a target directory; no keeper is started yet.

        Raises:
            TargetError: the directory cannot be opened or written.
        """
        self.name = f"{PREFIX}{token_hex(8)}"
        try:
            self._target = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                remove_abandoned(self._target)
                os.mkdir(self.name, 0o711 if user else 0o700, dir_fd=self._target)
                self._made(user)
            except BaseException:
                os.close(self._target)
                raise
        except OSError as error:
            raise TargetError(
                f"No folder can be made in {target}: {error.strerror}",
                remedy="Check who may write there, and whether it is mounted read-only.",
            ) from error
        self.path = target.absolute() / self.name
        self._keeper: subprocess.Popen[bytes] | None = None

    def _made(self, user: tuple[int, int] | None) -> None:
        folder = os.open(
            self.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._target
        )
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._lock = os.open(_MARK, flags, 0o600, dir_fd=folder)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            os.write(self._lock, _CONTENT)
            os.mkdir("data", 0o700, dir_fd=folder)
            if user:
                os.chown("data", *user, dir_fd=folder, follow_symlinks=False)
            self.data = os.open(
                "data", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
            )
        finally:
            os.close(folder)

    def start(self, programs: Programs) -> int:
        """Start the keeper, and by it the server; return the server's process id, 0 for none.

        Raises:
            HostError: a program failed; what it said is in the message.
        """
        spec = {
            "data": os.fspath(self.path / "data"),
            "prepare": [list(each) for each in programs.prepare],
            "serve": list(programs.serve),
            "stop": int(programs.stop),
            "user": programs.user,
            "environment": dict(programs.environment),
        }
        self._keeper = subprocess.Popen(
            # -I -S: no PYTHONPATH, working folder or site-packages decides what it runs.
            [sys.executable, "-I", "-S", os.fspath(_KEEPER),
             str(self._target), str(self._lock), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._target, self._lock),
            cwd="/",
            bufsize=0,
            start_new_session=True,  # a Ctrl-C, or a kill of the run's group, is not for it
        )  # fmt: skip
        assert self._keeper.stdin is not None
        with suppress(BrokenPipeError):
            self._keeper.stdin.write(json.dumps(spec).encode() + b"\n")
        word, _, rest = self.said(_START_SECONDS).partition(" ")
        if word != "started":
            raise HostError(
                f"The private server does not start: {rest or self._silence()}",
                remedy="Look at what it says; `--set server=sqlite` needs no server.",
            )
        return int(rest)

    def _silence(self) -> str:
        """Return why the keeper said nothing; some programs wait for ever on a full disk."""
        assert self._keeper is not None
        if os.fstatvfs(self._target).f_bavail * os.fstatvfs(self._target).f_frsize < MIB:
            return "its disk is full"
        try:
            self._keeper.wait(1)
        except subprocess.TimeoutExpired:
            return "it takes too long"
        return "the process that keeps it has ended"

    def said(self, seconds: float) -> str:
        """Return the next line of the keeper, "" for none in this time."""
        assert self._keeper is not None
        assert self._keeper.stdout is not None
        if not select.select([self._keeper.stdout], [], [], seconds)[0]:
            return ""
        return self._keeper.stdout.readline().decode(errors="replace").strip()

    def close(self) -> None:
        """Stop the server and remove the folder; again is nothing."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            assert keeper.stdin is not None
            assert keeper.stdout is not None
            with suppress(OSError):
                keeper.stdin.close()
            try:
                keeper.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                keeper.kill()  # the server is tied to it
                keeper.wait()
            keeper.stdout.close()
        if self._target >= 0:
            self._remove()
            for descriptor in (self.data, self._lock, self._target):
                os.close(descriptor)
            self._target = -1

    def _remove(self) -> None:
        """Remove the folder, though what a killed keeper left may write for a moment yet."""
        for _ in range(_REMOVALS_MOST):
            shutil.rmtree(self.name, ignore_errors=True, dir_fd=self._target)
            try:
                os.stat(self.name, dir_fd=self._target, follow_symlinks=False)
            except OSError:
                return
            sleep(_REST_SECONDS)


def remove_abandoned(target: int) -> None:
    """Remove what killed runs left in an open directory; what is not ours, or is in use, stays."""
    with os.scandir(target) as found:
        names = [each.name for each in found if _NAME.fullmatch(each.name)]
    for name in names:
        if (lock := _abandoned(target, name)) is not None:
            shutil.rmtree(name, ignore_errors=True, dir_fd=target)
            os.close(lock)


def _abandoned(target: int, name: str) -> int | None:
    """Return the lock of a folder that is ours and of nobody alive; None of any other."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
    except OSError:
        return None
    lock = -1
    try:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return None
        lock = os.open(_MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        mark = os.fstat(lock)
        ours = stat.S_ISREG(mark.st_mode) and mark.st_uid == os.geteuid() and mark.st_nlink == 1
        if ours and os.pread(lock, len(_CONTENT) + 1, 0) == _CONTENT:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kept, lock = lock, -1
            return kept
        return None
    except OSError:
        return None
    finally:
        os.close(folder)
        if lock >= 0:
            os.close(lock)
