"""SIGINT, SIGTERM and SIGHUP: once ends the running step cleanly, twice ends it now. SIGTSTP."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, Self

from teijo.errors import Interrupted

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Whether somebody asked this run to stop."""

    def __init__(
        self,
        notify: Callable[[str], None] | None = None,
        stand_still: Callable[[], None] | None = None,
    ) -> None:
        """`notify` hears the first request's signal by name; `stand_still` answers SIGTSTP."""
        self._stand_still = stand_still
        self._notify = notify
        self._at_once = False
        self.reason = ""

    @property
    def requested(self) -> bool:
        """Whether to stop at the next chance."""
        return bool(self.reason)

    def request(self, reason: str) -> None:
        """Ask to stop; the second request, or one while waiting, stops at once.

        Raises:
            KeyboardInterrupt: now.
        """
        again, self.reason = self.requested, self.reason or reason
        if not again and self._notify is not None:
            self._notify(reason)
        if again or self._at_once:
            raise KeyboardInterrupt(reason)

    def check(self) -> None:
        """Stop here if that was asked.

        Raises:
            Interrupted: it was.
        """
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
        """Take the signals for the time of a run; outside the main thread take none.

        A signal that is ignored stays ignored: `nohup teijo run …` goes on after a hang-up.
        """
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        heard = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._handle) for number in heard}
        if self._stand_still is not None and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
            before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._handle_stop)
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _handle_stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        assert self._stand_still is not None, "heard only where somebody answers"
        self._stand_still()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.request(signal.Signals(number).name)
