"""A run that is ready and holds until it is told when to begin, so that many begin together."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from teijo.errors import Interrupted
from teijo.runfile import start_request
from teijo.runfile.recorder import Recorder
from teijo.runfile.start_request import Start
from teijo.runner.interrupt import Interrupt
from teijo.terms.result import Answer, StepResult
from teijo.units import NS_PER_S

ASKED: Final = "start asked for"
BEGUN: Final = "begun at"
"""Facts of the environment: two wall times of this host, whose difference is how late it was. It
has begun when the engine sets its first threads going, each of which issues I/O at once.
"""
CLOCK: Final = "clock of the fleet"
"""By how much this host's clock is ahead of the one that all hosts go by, and how surely."""
WAITING: Final = "waiting"
MOST_S: Final = 600
"""Whoever was to tell may be gone."""
_ERROR: Final = re.compile(r"[0-9]{1,9}\.[0-9]{6}")
_LOOK_S: Final = 0.01
_LAST_S: Final = 0.002
"""So long before the moment nothing is asked any more: the process sleeps to it."""


def told(recorder: Recorder, run: str, interrupt: Interrupt) -> Start:
    """Wait until a run is told when to begin, and return that.

    The moment is recorded before it comes, since that may wait for a disk.

    Raises:
        Interrupted: it was stopped meanwhile, or nobody told it for ten minutes.
    """
    names = recorder.names
    start_request.clear(names)
    recorder.note(ASKED, WAITING)
    waited_s = time.monotonic()
    while (start := start_request.told(names, run)) is None:
        interrupt.check()
        if time.monotonic() - waited_s > MOST_S:
            raise Interrupted("Nobody told the run when to begin.")
        time.sleep(_LOOK_S)
    start_request.clear(names)
    recorder.note(ASKED, written(start.at_ns))
    if start.error_ns:
        ahead_s, error_s = start.ahead_ns / NS_PER_S, start.error_ns / NS_PER_S
        recorder.note(CLOCK, f"{ahead_s:+.6f} s ± {error_s:.6f} s")
    return start


@dataclass
class Gate:
    """The moment at which all runs of a fleet begin: the first step waits there, all prepared.

    `now_ns` is the run's clock, which steps are timed by; `passed_ns` is when the wait was over,
    by the wall clock and by the run's.
    """

    at_ns: int
    interrupt: Interrupt
    now_ns: Callable[[], int]
    passed_ns: tuple[int, int] = (0, 0)

    def __call__(self) -> None:
        """Wait for the moment.

        Raises:
            Interrupted: the run was stopped meanwhile.
        """
        while (left_s := (self.at_ns - time.time_ns()) / NS_PER_S) > 0.0:
            self.interrupt.check()
            time.sleep(left_s if left_s < _LAST_S else min(_LOOK_S, left_s / 2))
        self.passed_ns = time.time_ns(), self.now_ns()

    def begun_ns(self, answer: Answer) -> int:
        """Return when the first step began that waited here, by the wall clock."""
        wall_ns, run_ns = self.passed_ns
        since_ns = answer.started_ns - run_ns if isinstance(answer, StepResult) else 0
        return wall_ns + max(0, since_ns)


def written(moment_ns: int) -> str:
    """Return a wall time to the microsecond, in UTC."""
    seconds, rest_ns = divmod(moment_ns, NS_PER_S)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest_ns // 1000:06d}Z"


def late_s(environment: Mapping[str, str]) -> float | None:
    """Return by how much a run began late, in seconds; None of one that did not hold."""
    try:
        asked, begun = (datetime.fromisoformat(environment[name]) for name in (ASKED, BEGUN))
    except (KeyError, ValueError):
        return None
    return (begun - asked).total_seconds()


def clock_error_s(environment: Mapping[str, str]) -> float:
    """Return by how much the clock of a run's host may be off the fleet's; 0 where none is told."""
    error = environment.get(CLOCK, "").partition("± ")[2].partition(" ")[0]
    return float(error) if _ERROR.fullmatch(error) else 0.0
