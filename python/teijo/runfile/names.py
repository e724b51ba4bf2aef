"""The names a run file goes by while it grows and when it is sealed."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.errors import HostError, RunFileError
from teijo.outside.text import shell_path, unspeakable

SEALED_SUFFIX: Final = ".teijo"
OPEN_SUFFIX: Final = ".open"
LONGEST: Final = 230
"""Bytes of a run file's name: those of its endings still fit in a file system's 255."""
_NAMED: Final = "Name it in UTF-8, such as run.teijo."


@dataclass(frozen=True)
class Names:
    """All files of one run. `sealed` is the one that stays."""

    sealed: Path

    @classmethod
    def of(cls, path: Path | str) -> "Names":
        """Return the names for a path given as NAME, NAME.teijo or NAME.teijo.open.

        Raises:
            RunFileError: it can name no run file.
        """
        path = Path(path)
        why = unspeakable(str(path))
        if not why and not path.name:
            why = "it is the name of no file"
        elif not why and len(path.name.encode()) > LONGEST:
            why = f"its name is longer than {LONGEST} bytes"
        if why:
            raise RunFileError(f"{str(path)!r} names no run file: {why}.", remedy=_NAMED)
        if path.name.endswith(SEALED_SUFFIX + OPEN_SUFFIX):
            path = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
        if not path.name.endswith(SEALED_SUFFIX):
            path = path.with_name(path.name + SEALED_SUFFIX)
        return cls(path)

    @property
    def open(self) -> Path:
        """The growing file."""
        return self._beside(OPEN_SUFFIX)

    @property
    def sealing(self) -> Path:
        """The sealed copy before it is checked and named."""
        return self._beside(".sealing")

    @property
    def new(self) -> Path:
        """The growing file before it holds the run's header and is named."""
        return self._beside(".new")

    @property
    def reserve(self) -> Path:
        """The ballast."""
        return self._beside(".reserve")

    @property
    def stop(self) -> Path:
        """What another process asks the run with to stop."""
        return self._beside(".stop")

    @property
    def start(self) -> Path:
        """What another process tells a run that holds when to begin."""
        return self._beside(".start")

    @property
    def logs(self) -> tuple[Path, Path]:
        """SQLite's write-ahead log and its index, beside the growing file."""
        return self._beside(OPEN_SUFFIX + "-wal"), self._beside(OPEN_SUFFIX + "-shm")

    @property
    def beside(self) -> tuple[Path, ...]:
        """All that may lie beside the growing file and belongs to it."""
        journal = self._beside(OPEN_SUFFIX + "-journal")
        return (*self.logs, journal, self.reserve, self.sealing)

    def check_free(self) -> None:
        """Make sure that a new run can have these names.

        Raises:
            RunFileError: one of them is taken.
        """
        # A dangling link takes the name as well, and would be met only at the seal.
        if os.path.lexists(self.sealed):
            raise RunFileError(
                f"{self.sealed} exists already; a run file is never overwritten.",
                remedy="Name another with -o.",
            )
        if os.path.lexists(self.open):
            raise RunFileError(
                f"{self.open} exists already: a run that has not ended.",
                remedy=f"Go on with it: `teijo resume {shell_path(self.open)}`, or name another "
                "file with -o.",
            )

    def clear_beside(self) -> None:
        """Take away what has the names of SQLite's files beside a run file that is to be made.

        Whatever they lead to stays as it is.

        Raises:
            HostError: one of them cannot be taken away.
        """
        for path in database_files(self.open):
            if not os.path.lexists(path):
                continue  # where nothing can be written, that is said of the run file itself
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise HostError(
                    f"{path} is in the way of the run file: {error.strerror}.",
                    remedy="Move it away, or name another place with -o.",
                ) from error

    def _beside(self, ending: str) -> Path:
        return self.sealed.with_name(self.sealed.name + ending)


def database_files(path: Path) -> tuple[Path, ...]:
    """Return the names of what SQLite keeps beside a file."""
    return tuple(path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal"))


def check_beside(path: Path) -> None:
    """Make sure that SQLite finds plain files beside a run file, or none: it writes to them.

    Raises:
        RunFileError: one is a link, a pipe, a folder, or has a second name.
    """
    for beside in database_files(path):
        try:
            status = beside.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise RunFileError(
                f"{beside} is no plain file with one name, and opening {path.name} could write "
                "to it.",
                remedy="Copy the run file, and what truly belongs to it, to a folder of your own.",
            )
