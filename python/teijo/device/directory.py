"""A directory as a target: who carries out files, and who databases."""

from pathlib import Path

from teijo.device.working import Look
from teijo.errors import PlanError
from teijo.files.worker import FilesWorker
from teijo.sql.bench import Databases
from teijo.terms.result import Performed
from teijo.terms.work import FileIo, Files, PerformedWork, Sql, SqlBench, Transactions


class DirectoryWorker:
    """Gives each work on a directory to the one who knows it."""

    def __init__(self, target: str, path: Path, *, token: str) -> None:
        """Open the directory for files; a database is opened when one is wanted.

        Raises:
            TargetError: it is not there, or none.
            UnsafeError: the folder of this token holds what others made.
        """
        self._files = FilesWorker(target, path, token=token)
        self._databases = Databases(path)
        self.identity = self._files.identity
        self.backend = self._files.backend

    def perform(self, work: PerformedWork, seed: int, look: Look) -> Performed:
        """Carry out a work.

        Raises:
            PlanError: it is for an SQLite file, or for files that are not there.
            HostError: a program is missing, or the disk is full.
            DeviceError: a statement was refused.
        """
        match work:
            case Files() | FileIo():
                return self._files.perform(work, seed, look)
            case SqlBench() | Transactions():
                return self._databases.perform(work, seed, look)
            case Sql():
                raise PlanError(
                    f"{self.identity.target} is no database",
                    remedy="Name a file that does not exist: sqlite:PATH.",
                )

    def limit_io(self, io_timeout_ns: int) -> None:
        """Take over how long an I/O on files may stay without an answer."""
        self._files.limit_io(io_timeout_ns)

    def close(self) -> None:
        """Remove what was made."""
        self._databases.close()
        self._files.close()
