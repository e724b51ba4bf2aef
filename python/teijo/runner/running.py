"""A run in a thread of its own, as a handle: its events, its state, and the way to stop it."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final, Generic, Protocol, TypeVar

from teijo.errors import Interrupted
from teijo.runner.events import Event, Observer
from teijo.runner.interrupt import Interrupt
from teijo.runner.run_state import Follower, RunState

KEPT_EVENTS: Final = 1_000
"""A reader that is further behind loses the oldest; the state loses nothing."""
_ASKED: Final = "its caller"

Result = TypeVar("Result")
Made = TypeVar("Made", covariant=True)


class Act(Protocol[Made]):
    """What runs: it tells its observer of each event, and listens to the interrupt."""

    def __call__(self, *, observer: Observer, interrupt: Interrupt) -> Made:
        """Run to the end."""
        ...


class Running(Generic[Result]):
    """A run under way. Every method may be called on any thread, by as many as like.

    The thread ends with the program: the run can then be resumed from its file.
    """

    def __init__(self, act: Act[Result]) -> None:
        """Begin."""
        self._act = act
        self._interrupt = Interrupt()
        self._follower = Follower(time.monotonic_ns)
        self._changed = threading.Condition()
        self._events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._count = 0
        self._over = threading.Event()
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._carry_out, name="teijo-run", daemon=True)
        self._thread.start()

    def events(self) -> Iterator[Event]:
        """Yield each event from the oldest that is kept on; ends with the run.

        Each call is a reader of its own. It waits for what comes next.
        """
        seen = 0
        while True:
            with self._changed:
                while self._count == seen and not self._over.is_set():
                    self._changed.wait()
                missed = max(0, len(self._events) - (self._count - seen))
                fresh, seen = list(islice(self._events, missed, None)), self._count
            if not fresh:
                return
            yield from fresh

    def state(self) -> RunState:
        """Return the run as it is at this moment."""
        with self._changed:
            return self._follower.state

    def stop(self) -> None:
        """Ask it to stop: the running step is left, and the file can be resumed.

        Asked once more, it stops at once, also where a device does not answer.
        """
        self._interrupt.request(_ASKED)

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether the run is over, after so many seconds at most."""
        return self._over.wait(seconds)

    def result(self) -> Result:
        """Wait for the end of the run, and return it from its sealed file.

        Raises:
            teijo.errors.TeijoError: it ended early; what was measured is in the run file.
        """
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _tell(self, event: Event) -> None:
        with self._changed:
            self._follower.tell(event)
            self._events.append(event)
            self._count += 1
            self._changed.notify_all()

    def _carry_out(self) -> None:
        try:
            self._result.append(self._act(observer=self._tell, interrupt=self._interrupt))
        # A second `stop` arrives like this, from another thread.
        except KeyboardInterrupt as stop:
            self._error = Interrupted(f"Stopped by {self._interrupt.reason}.")
            self._error.__cause__ = stop
        except BaseException as error:
            self._error = error
        finally:
            with self._changed:
                self._over.set()
                self._changed.notify_all()
