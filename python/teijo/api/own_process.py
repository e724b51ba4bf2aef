"""A verb of Teijo in a process of its own, which outlives the program that started it."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Final

from teijo.outside.text import visible

PROGRAM: Final = ("-P", "-c", "from teijo.cli import program; program()")
"""What an interpreter is given for `teijo`: this one, wherever it was started from."""
_TOLD_BYTES_MOST: Final = 4000


@dataclass
class OwnProcess:
    """A process that was begun, no part of this one's session; `told` is its last word on stderr.

    `status` is None as long as it goes on, then 0 or what it ended with, as `waitpid` has it.
    """

    pid: int
    _said: IO[bytes]
    status: int | None = None
    told: str = ""

    @classmethod
    def begin(cls, words: Sequence[str]) -> "OwnProcess":
        """Start `teijo` with these words; what it prints on stdout is for nobody.

        Raises:
            OSError: it cannot be started.
        """
        said = tempfile.TemporaryFile()  # noqa: SIM115 — as long as the process
        try:
            pid = os.posix_spawn(
                sys.executable,
                [sys.executable, *PROGRAM, *words],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, said.fileno(), 2),
                ],
                setsid=True,
            )
        except OSError:
            said.close()
            raise
        return cls(pid, said)

    def look(self) -> int | None:
        """Take in whether it has ended; return its status, None as long as it goes on."""
        if self.status is not None:
            return self.status
        try:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:  # where the signal is ignored, nobody is told how it ended
            ended, status = self.pid, 0
        if ended:
            self.status = status
            self.told = self._heard()
        return self.status

    def leave(self) -> None:
        """Let it go on without anybody who looks after it."""
        self._said.close()

    def _heard(self) -> str:
        with self._said as said:
            size = said.seek(0, os.SEEK_END)
            said.seek(max(0, size - _TOLD_BYTES_MOST))
            text = said.read().decode("utf-8", "replace")
        lines = [visible(line, most=_TOLD_BYTES_MOST) for line in text.splitlines()]
        return "\n".join(line for line in lines if line).removeprefix("error: ")
