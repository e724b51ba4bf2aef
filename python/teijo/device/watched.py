"""Work that a device may never answer: a thread of its own does it, so that who waits can leave.

A system call that waits for a frozen file system or a hung drive cannot be broken off: no signal
is heard in it, and nothing ends the thread that is in it.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, Protocol, TypeVar

from teijo.errors import StoppedAtOnce, StuckDevice, TeijoError
from teijo.units import NS_PER_S, format_duration

LOOK_S: Final = 0.1
BLIND_NS: Final = NS_PER_S
"""Who did not look for longer was not running; so much of it counts as silence."""
SILENCE_NS: Final = 120 * NS_PER_S
"""As long as the kernel gives a drive, where nobody said otherwise."""
GRACE_S: Final = 0.3
"""Who is left has so long to come back."""

Got = TypeVar("Got")
Progress = Callable[[int, int], None]
"""Called with (done, in all)."""


class Moved(Protocol):
    """What watched work calls whenever some of it came back."""

    def __call__(self, done: int, total: int, *, allow_ns: int = 0) -> None:
        """Note (done, in all); what comes next may be silent for `allow_ns` by its nature."""
        ...


def hangs(error: BaseException) -> bool:
    """Return whether work that ended so is still in the kernel: to close its file would wait."""
    return isinstance(error, StoppedAtOnce) or (
        isinstance(error, TeijoError) and error.has_stuck_ios
    )


@contextmanager
def closed_after(fd: int) -> Iterator[None]:
    """Close a descriptor at the end, but for one on which work hangs: to close it would wait."""
    try:
        yield
    except BaseException as error:
        if not hangs(error):
            os.close(fd)
        raise
    os.close(fd)


def unwatched(done: int, total: int, *, allow_ns: int = 0) -> None:
    """Note nothing: nobody waits."""
    del done, total, allow_ns


class _Left(BaseException):
    """The work goes on for nobody."""


class _Work(threading.Thread, Generic[Got]):
    def __init__(self, work: Callable[[Moved], Got]) -> None:
        # A daemon: a thread that hangs in the kernel must not keep the program from its exit.
        super().__init__(name="teijo-device", daemon=True)
        self._work = work
        self.over = threading.Event()
        self.is_left = False
        self.moves = 0
        self.allow_ns = 0
        self.reached: tuple[int, int] | None = None
        self.got: Got | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.got = self._work(self.moved)
        except BaseException as error:
            self.error = error
        finally:
            self.over.set()

    def moved(self, done: int, total: int, *, allow_ns: int = 0) -> None:
        """Note that some came back.

        Raises:
            _Left: nobody wants the rest.
        """
        if self.is_left:
            raise _Left
        self.reached, self.allow_ns = (done, total), allow_ns
        self.moves += 1


def watched(
    work: Callable[[Moved], Got],
    *,
    what: str,
    silence_ns: int,
    progress: Progress | None = None,
) -> Got:
    """Return what `work` returns. It calls what it is given whenever some of it came back, and
    `progress` hears of that in the calling thread.

    Raises:
        teijo.errors.StuckDevice: nothing came back for so long; `what` was left to itself.
        teijo.errors.StoppedAtOnce: somebody asked to stop now, and it did not come back.
    """
    task = _Work(work)
    try:
        # Inside: a stop that comes while it starts finds it at work already.
        task.start()
        _wait(task, what, silence_ns, progress)
    except BaseException as stop:
        task.is_left = True
        if task.over.wait(GRACE_S):
            raise
        if isinstance(stop, KeyboardInterrupt):
            raise StoppedAtOnce(f"{what} does not come back from the device.") from stop
        # So that nobody closes what hangs: to close it would hang as well.
        if isinstance(stop, StuckDevice):
            stop.has_stuck_ios = True
        raise
    if task.error is not None:
        raise task.error
    return task.got  # type: ignore[return-value]


def _wait(task: _Work[Got], what: str, limit_ns: int, progress: Progress | None) -> None:
    moves, silent_ns, looked_ns = 0, 0, time.monotonic_ns()
    is_over = False
    while not is_over:
        is_over = task.over.wait(LOOK_S)
        before_ns, looked_ns = looked_ns, time.monotonic_ns()
        silent_ns += min(looked_ns - before_ns, BLIND_NS)
        if task.moves != moves:
            moves, silent_ns = task.moves, 0
            if progress is not None and task.reached is not None:
                progress(*task.reached)
        elif silent_ns >= max(limit_ns, task.allow_ns) and not is_over:
            raise StuckDevice(
                f"{what} has not come back from the device for {format_duration(silent_ns)}",
                remedy="Look at the kernel's log (dmesg), and at what the device stands on.",
            )
