"""A request to stop: the first ends the running step cleanly, the second ends it now.

Who asks is a face's business: signals on the command line, a button, another process by a file.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from time import monotonic_ns, sleep
from typing import Final, Self

from teijo.errors import Interrupted
from teijo.units import NS_PER_S

_LOOK_NS: Final = NS_PER_S
"""How often at most it is looked whether another process asked."""


class Interrupt:
    """Whether somebody asked this run to stop. `request` may be called on any thread."""

    def __init__(
        self, ears: "Callable[[Interrupt], AbstractContextManager[None]] | None" = None
    ) -> None:
        """`ears` is what a face does as long as the run listens, such as taking signals."""
        self._ears = ears
        self._lock = threading.RLock()  # the handler of a signal may find its own thread holding it
        self._thread: int | None = None
        self._at_once = False
        self._is_sent = False
        self._looks_ns = monotonic_ns() + _LOOK_NS
        self._elsewhere_count = 0
        self.reason = ""
        self.elsewhere: Callable[[], int] | None = None
        """Counts how often another process asked."""
        self.notify: Callable[[str], None] | None = None
        """Hears the reason of the first request."""
        self.stand_still: Callable[[], None] | None = None
        """Stops the whole process until a SIGCONT, and takes note of how long."""

    @property
    def requested(self) -> bool:
        """Whether to stop at the next chance."""
        return bool(self.reason)

    def request(self, reason: str) -> None:
        """Ask to stop; the second request, or one while waiting, stops at once.

        Raises:
            KeyboardInterrupt: now, on the thread that runs; on another it is raised over there.
        """
        with self._lock:
            again, self.reason = self.requested, self.reason or reason
            at_once = again or self._at_once
        if not again and self.notify is not None:
            self.notify(reason)
        if at_once:
            self._break_off(reason)

    def look(self) -> None:
        """Look from time to time whether another process asked; see `request`."""
        if self.elsewhere is None or monotonic_ns() < self._looks_ns:
            return
        self._looks_ns = monotonic_ns() + _LOOK_NS
        before, self._elsewhere_count = self._elsewhere_count, self.elsewhere()
        for _ in range(before, min(2, self._elsewhere_count)):  # a third asks for nothing more
            self.request("another process")

    def check(self) -> None:
        """Stop here if that was asked.

        Raises:
            Interrupted: it was.
        """
        self.look()
        if self.requested:
            raise Interrupted(f"Stopped by {self.reason}.")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the first request stop this block at once: there is nothing to end cleanly."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    @contextmanager
    def listening(self) -> Iterator[Self]:
        """Let this thread be stopped in the block, by whatever the face hears meanwhile."""
        self._thread = threading.get_ident()
        try:
            with nullcontext() if self._ears is None else self._ears(self):
                yield self
        finally:
            with self._lock:
                self._thread = None
            if self._is_sent:
                with suppress(KeyboardInterrupt):  # what came too late breaks nothing off
                    sleep(0)

    def _break_off(self, reason: str) -> None:
        with self._lock:
            # Under the lock, or `listening` might end between the question and the raising.
            if self._thread == threading.get_ident():
                raise KeyboardInterrupt(reason)
            if self._thread is not None:
                self._is_sent = True
                _raise_in(self._thread, KeyboardInterrupt)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Raise in another thread as the handler of a signal does in the main one."""
    error = ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
