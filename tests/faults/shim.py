"""The shim that lets calls of libc fail: built once, loaded before libc, driven by ctypes.

The process under test is started with `environment()`; inside it `Shim()` arms the faults. It sees
what goes through libc: Python, SQLite, NumPy, the standard library of Rust. It does not see raw
system calls (rustix, io_uring) nor what libc calls within itself (fopen, dlopen, malloc's mmap).
"""

import ctypes
import errno
import hashlib
import os
import shutil
import subprocess
import tempfile
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
SOURCES: Final = (HERE / "shim.c", HERE / "disk.c", HERE / "disk.h")
LIBRARY: Final = "TEIJO_SHIM"
"""The variable that tells a process under the shim where it lies."""


class Calls(IntFlag):
    """Kinds of calls; the same list stands in shim.c."""

    OPEN = 1
    READ = 2
    WRITE = 4
    SYNC = 8
    NAME = 16
    SPACE = 32
    MMAP = 64
    CLOSE = 128
    STAT = 256
    XATTR = 512
    ALLOC = 1024


class Mode(IntEnum):
    """What happens at the Nth call; the same list stands in shim.c."""

    FAIL = 0
    FAIL_FROM = 1
    """That call and every later one of its kinds: a disk that stays full, or is gone."""
    SHORT = 2
    """A read or write of half the bytes."""
    KILL = 3
    """The process is killed before the call."""
    POWER_CUT = 4
    """As KILL, and the tracked files are as a power cut leaves them."""
    LOSE_FSYNC = 5
    """From that call on fsync says yes, and nothing becomes durable."""


FILES: Final = ~(Calls.ALLOC | Calls.STAT)
"""Every kind that touches a file or maps memory."""
ANY: Final = ~Calls(0)


def build() -> Path | None:
    """Return the shared object, compiled unless it was; None where there is no C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES)).hexdigest()
    folder = Path(tempfile.gettempdir()) / f"teijo-shim-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{digest[:16]}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as room:
            made = Path(room) / "shim.so"
            flags = ["-O2", "-shared", "-fPIC", "-Wall", "-fno-builtin"]
            sources = [str(source) for source in SOURCES if source.suffix == ".c"]
            subprocess.run([compiler, *flags, "-o", str(made), *sources, "-ldl"], check=True)
            made.replace(library)
    return library


def environment(library: Path) -> dict[str, str]:
    """Return what a process needs in its environment to run under the shim."""
    return {"LD_PRELOAD": str(library), LIBRARY: str(library)}


class Shim:
    """The shim of this very process, which must have been started under it."""

    def __init__(self) -> None:
        """Find it."""
        self._c = ctypes.CDLL(os.environ[LIBRARY])
        for name in ("fault_count", "fault_fired"):
            getattr(self._c, name).restype = ctypes.c_long
        self._c.fault_where.restype = ctypes.c_char_p
        self._c.fault_least_bytes.argtypes = [ctypes.c_size_t]
        self._c.fault_add.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_uint]
        for name in ("fault_power_cut", "fault_cut_seed"):
            getattr(self._c, name).argtypes = [ctypes.c_ulong]

    def restrict_to(self, *folders: Path) -> None:
        """Count only calls on files in these folders, and memory; none means everywhere."""
        self._c.fault_paths(":".join(str(folder.resolve()) for folder in folders).encode())

    def count_memory_from(self, size_bytes: int) -> None:
        """Leave smaller anonymous mappings and allocations uncounted (1 MiB at first)."""
        self._c.fault_least_bytes(size_bytes)

    def begin(self, kinds: Calls = FILES) -> None:
        """Count calls of these kinds from one on, with no fault among them yet."""
        self._c.fault_begin(kinds & 0x7FF)

    def add(
        self, nth: int, mode: Mode = Mode.FAIL, error: int = errno.EIO, kinds: Calls = ANY
    ) -> None:
        """Let the Nth counted call go wrong, if it is of `kinds`; up to 256 of these.

        EINTR spares the calls that cannot be interrupted (names, mappings, allocations).
        """
        assert self._c.fault_add(nth, mode, error, kinds & 0x7FF) == 0, "too many faults"

    def disarm(self) -> None:
        """Let every call pass, and count no more."""
        self._c.fault_disarm()

    @property
    def count(self) -> int:
        """Calls counted since `begin`."""
        return int(self._c.fault_count())

    @property
    def fired(self) -> int:
        """Faults that happened since `begin`."""
        return int(self._c.fault_fired())

    @property
    def where(self) -> str:
        """The last call that went wrong, with its path."""
        return bytes(self._c.fault_where()).decode(errors="replace")

    def track(self, attic: Path, *, seed: int = 0) -> None:
        """Remember from now on what a power cut would lose of the folders of `restrict_to`.

        `attic`, a folder beside them on the same file system, keeps unlinked files. `seed` decides
        what is lost at a POWER_CUT: 0 all that was not flushed, others any part of it.
        """
        self._c.fault_cut_seed(seed)
        self._c.fault_track(str(attic.resolve()).encode())

    def power_cut(self, seed: int = 0) -> None:
        """Put the files to what a power cut leaves; the process must end now, writing no more."""
        self._c.fault_power_cut(seed)
