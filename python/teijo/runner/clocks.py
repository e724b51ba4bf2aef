"""The host's clocks held against each other: whether it slept, and whether it was set anew.

And whether the program itself was stopped by somebody.
"""

import os
import signal
import time
from typing import Final

from teijo.document.phrase import say
from teijo.units import NS_PER_S, format_duration

STEP_NS_LEAST: Final = NS_PER_S
"""Less is how a time service mends a clock, little by little."""


def asleep_ns() -> int:
    """Return how long the host has been asleep since it was started."""
    # Only BOOTTIME goes on while the host is suspended.
    awake_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - awake_ns


class Clocks:
    """What changed between the clocks since they were last looked at."""

    def __init__(self) -> None:
        """Look for the first time."""
        self._asleep_ns = asleep_ns()
        self._day_ns = _day_ns()
        self._stopped_ns = 0

    def slept_ns(self) -> int:
        """Return how long the host slept since this was last asked."""
        before_ns, self._asleep_ns = self._asleep_ns, asleep_ns()
        return max(0, self._asleep_ns - before_ns)

    def stand_still(self) -> None:
        """Stop this process, as SIGTSTP asks, until a SIGCONT; note for how long."""
        began_ns = time.monotonic_ns()
        # SIGTSTP itself has a handler by now, which is what called this.
        os.kill(os.getpid(), signal.SIGSTOP)
        self._stopped_ns += time.monotonic_ns() - began_ns

    def stopped_ns(self) -> int:
        """Return how long this process was stopped since this was last asked."""
        stopped_ns, self._stopped_ns = self._stopped_ns, 0
        return stopped_ns

    def step_text(self) -> str:
        """Return what was done to the time of day since this was last asked, "" where nothing."""
        before_ns, self._day_ns = self._day_ns, _day_ns()
        stepped_ns = self._day_ns - before_ns
        if abs(stepped_ns) < STEP_NS_LEAST:
            return ""
        stepped = format_duration(abs(stepped_ns))
        if stepped_ns > 0:
            return say("The clock was set forward by {time} during the run.", time=stepped)
        return say("The clock was set back by {time} during the run.", time=stepped)


def _day_ns() -> int:
    """Return the time of day by a clock that nobody sets, which is a constant until it is set."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
