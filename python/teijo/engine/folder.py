"""The Rust engine on files below an open folder."""

from typing import Final

from teijo.engine import _native
from teijo.engine.session import Observer
from teijo.terms.result import Performed
from teijo.terms.work import FileIo, Files
from teijo.units import NS_PER_S

FULL: Final = "The disk is full"
"""How the engine's error begins where there is no room; it knows no path to name."""


class Folder:
    """A folder that nobody else works in, and what was made in it."""

    backend = "system calls"

    def __init__(self, descriptor: int) -> None:
        """Take an open directory; the descriptor stays the caller's."""
        self._native = _native.NativeFolder(descriptor)

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a work from now on when a call takes longer; a flush may take its time."""
        self._native.limit_io(io_timeout_ns)

    def run(self, work: Files | FileIo, seed: int, observer: Observer) -> Performed:
        """Carry out a work, looked at a few times a second.

        Raises:
            teijo.errors.PlanError: it has no meaning, or no files to work on.
            teijo.errors.HostError: the disk is full.
            teijo.errors.DeviceError: the file system refuses what was asked for.
            teijo.errors.StuckDevice: a call does not come back; nothing can be done here any more.
        """
        match work:
            case FileIo():
                return self._native.run_large(work, seed, seed, NS_PER_S, observer)
            case Files():
                return self._native.run_small(work, seed, NS_PER_S, observer)

    def clear(self) -> None:
        """Remove what is left of what was made; what others put there stays."""
        self._native.clear()

    def close(self) -> None:
        """Give the folder up."""
        self._native.close()
