"""SIGINT, SIGTERM and SIGHUP as requests to stop a run, and SIGTSTP; for as long as it listens."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from teijo.runner.interrupt import Interrupt

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def heard(interrupt: Interrupt) -> Iterator[None]:
    """Take the signals for the time of the block; outside the main thread take none.

    A signal that is ignored stays ignored: `nohup teijo run …` goes on after a hang-up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        interrupt.request(signal.Signals(number).name)

    def stand_still(number: int, frame: FrameType | None) -> None:
        del number, frame
        assert interrupt.stand_still is not None, "taken only where somebody answers"
        interrupt.stand_still()

    # Python takes handlers of signals on the main thread alone.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in taken}
    if interrupt.stand_still is not None and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, stand_still)
    try:
        yield
    finally:
        for number, handler in before.items():
            # None is a handler that no Python code set, and signal() takes none back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
