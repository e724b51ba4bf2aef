"""The mark teijo leaves on a file it made, so that it never takes somebody else's for its own.

The mark lies in the extended attribute `user.teijo` of the file; where the file system has no
such attributes, in the file `.NAME.teijo-target` beside it. It names the run that has the file,
and how the file was left: what came later is not ours, whoever's file it was before.
"""

import os
import subprocess
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from teijo.device import keeper
from teijo.device.identify import BOOT_ID
from teijo.device.kernel import HOST, Roots, read_text
from teijo.errors import UnsafeError
from teijo.outside.text import shell_path
from teijo.units import NS_PER_S

State = Literal["in use", "in order", "killed"]
CHANGE_SLACK_NS: Final = 2 * NS_PER_S
"""How much later than noted the last change of a file may be: writing the mark is one as well."""


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who wants a file: a run by its id, and where its run file grows. Empty for nobody's."""

    run: str = ""
    run_file: str = ""


NOBODY: Final = Holder()


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What is written down: which file, whose run, which process, and how the file was left.

    Times in ns. `state` is "in use" until its run ends, "in order" from then on, or "killed":
    what `keeper` found when the process was there no more.
    """

    inode: int
    state: State
    run: str
    run_file: str
    boot: str
    pid: int
    pid_started: str
    size_bytes: int = 0
    written_ns: int = 0
    changed_ns: int = 0


class Hold:
    """A file in the hands of one run: marked as in use, and in the end as left in order."""

    def __init__(self, fd: int, path: Path, holder: Holder, *, keep: bool = True) -> None:
        """Take an open, locked file; nothing is written yet. Without `keep`, a kill removes it."""
        self._fd = fd
        self._removed = None if keep else path
        self._beside = beside(path)
        self._holder = holder
        self._mark: Mark | None = None
        self._keeper: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Mark the file as in use by this process, and have a kill of it written down.

        Raises:
            OSError: it cannot be marked.
        """
        if self._mark is not None:
            return
        mark = Mark(
            inode=os.fstat(self._fd).st_ino,
            state="in use",
            run=self._holder.run,
            run_file=self._holder.run_file,
            boot=boot_id(),
            pid=os.getpid(),
            pid_started=started(os.getpid()),
        )
        keeper.write(self._fd, self._beside, asdict(mark))
        self._mark = mark
        self._keeper = keeper.start(self._fd, self._beside, self._removed)

    def settle(self) -> None:
        """Mark the file as left in order, if it was marked.

        Raises:
            OSError: it cannot be marked; it then stays marked as in use.
        """
        try:
            if self._mark is not None:
                keeper.settle(self._fd, self._beside, asdict(self._mark), "in order")
        finally:
            self._let_go()

    def withdraw(self) -> None:
        """Take the mark away: what the file holds may be somebody else's."""
        if self._mark is not None:
            with suppress(OSError):
                os.removexattr(self._fd, keeper.ATTRIBUTE)
            with suppress(OSError):
                self._beside.unlink()
        self._let_go()

    def _let_go(self) -> None:
        self._mark = None
        if self._keeper is not None:
            keeper.stop(self._keeper)
            self._keeper = None


def read_mark(fd: int, path: Path) -> Mark | None:
    """Return the mark of an open file; None where there is none that can be understood."""
    values = keeper.read(fd, beside(path))
    if values is None:
        return None
    kinds = Mark.__annotations__
    known = {name: values.get(name) for name in kinds}
    # type, not isinstance: anybody may have written it, and True passes for an int.
    if any(type(one) is not (int if kinds[name] is int else str) for name, one in known.items()):
        return None
    if known["state"] not in get_args(State):
        return None
    return Mark(**known)  # type: ignore[arg-type]


def is_untouched(mark: Mark, status: os.stat_result) -> bool:
    """Return whether a file that was left is as it was left: its size and both its times.

    A time that somebody set back is told by the time of the last change, which nobody can set.
    """
    return (mark.size_bytes, mark.written_ns) == (status.st_size, status.st_mtime_ns) and (
        status.st_ctime_ns <= mark.changed_ns + CHANGE_SLACK_NS
    )


def refusal(mark: Mark | None, status: os.stat_result, path: Path, run: str) -> UnsafeError | None:
    """Return why a run may not take a file without consent; None where the file is teijo's.

    A file in order is anybody's; one that a killed run left is that run's, who may resume.
    """
    # A copy that keeps attributes (cp -a) has the mark too, but another inode.
    if mark is None or mark.inode != status.st_ino:
        return UnsafeError(
            f"{path} exists and teijo did not make it; nothing was written",
            remedy="Name another file, or add --overwrite to lose what it holds.",
        )
    own = bool(run) and mark.run == run
    if mark.state == "in use":
        if is_alive(mark):
            return UnsafeError(
                f"{path} is being measured by process {mark.pid}; nothing was written",
                remedy="Wait for its end, or name another file.",
            )
        return UnsafeError(
            f"{path} was in use when its run, or this machine, was ended; whether somebody wrote "
            "to it since cannot be told; nothing was written",
            remedy=_remedy(mark, own=own, consent=True),
        )
    if not is_untouched(mark, status):
        return UnsafeError(
            f"{path} was made by teijo, and somebody wrote to it since; nothing was written",
            remedy="Name another file, or add --overwrite to lose what it holds.",
        )
    if mark.state == "killed" and not own:
        return UnsafeError(
            f"{path} was left by a run that was killed; nothing was written",
            remedy=_remedy(mark, own=own, consent=False),
        )
    return None


def is_of(mark: Mark | None, status: os.stat_result, run: str) -> bool:
    """Return whether a file is marked as the one of this run."""
    return mark is not None and bool(run) and (mark.inode, mark.run) == (status.st_ino, run)


def is_alive(mark: Mark, roots: Roots = HOST) -> bool:
    """Return whether the process that marked a file still runs: that one, and none of its number.

    A process that nobody has waited for yet is dead.
    """
    now = started(mark.pid, roots)
    return bool(now) and (mark.boot, mark.pid_started) == (boot_id(roots), now)


def boot_id(roots: Roots = HOST) -> str:
    """Return the kernel's name of this boot."""
    return read_text(roots.proc / BOOT_ID)


def started(pid: int, roots: Roots = HOST) -> str:
    """Return when a process began, in the kernel's ticks; empty where it is dead or none."""
    # The program's name stands in brackets and may hold anything, brackets too.
    fields = read_text(roots.proc / str(pid) / "stat").rpartition(")")[2].split()
    # proc(5) counts from 1: state is its field 3, starttime its field 22.
    return fields[19] if len(fields) > 19 and fields[0] not in {"Z", "X"} else ""


def beside(path: Path) -> Path:
    """Return the name of the file beside, where file systems without attributes have the mark."""
    return path.with_name(f".{path.name}.teijo-target")


def _remedy(mark: Mark, *, own: bool, consent: bool) -> str:
    give_up = "add --overwrite to lose what it holds"
    if own:
        return f"Look what it holds; {give_up}."
    # The mark may be anybody's, and a name in it could steer the terminal it is shown on.
    if mark.run_file.isprintable() and mark.run_file and Path(mark.run_file).is_file():
        more = " --overwrite" if consent else ""
        resume = f"Go on with that run (teijo resume {shell_path(mark.run_file)}{more})"
        return f"{resume}, {give_up}, or remove it."
    return f"Remove it, or {give_up}."
