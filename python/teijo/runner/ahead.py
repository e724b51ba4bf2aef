"""How far a whole run is, and how much longer a person waits for it: one estimate with a range.

The share is what was done of what will be done, on the run's own clock; in virtual time, whose pace
changes, it is what was waited of what will be. It never falls: where more turns out to be left than
was expected, it waits.
"""

from copy import copy
from dataclasses import dataclass
from typing import Final

from teijo.runner import events
from teijo.terms.result import StepResult
from teijo.terms.step import Perform, Precondition, Purge, Step
from teijo.terms.watch import Watch

PACE_NS_LEAST: Final = 100_000_000
"""How long to look at a run before its pace is shown: the first moments say little."""
SETTLES_AT: Final = 0.2
"""Where between the least and the most time a run ends, as long as nothing else is known."""
FILL_SHARE: Final = 0.2
"""How far a simulated run is taken to be when it is filled and has measured nothing yet."""
SHARE_MOST: Final = 0.99
"""All of it is done only when it has ended."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A time that is left: at least, as expected, at most."""

    least_ns: int
    expected_ns: int
    most_ns: int


@dataclass
class _Pace:
    """How long a person waited for how much of the run's clock."""

    waited_ns: int = 0
    run_ns: int = 0

    def add(self, waited_ns: int, run_ns: int) -> None:
        self.waited_ns += waited_ns
        self.run_ns += run_ns


class Ahead:
    """The estimate of one run, folded from its events and the moments they came at."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._started: events.RunStarted | None = None
        self._watch: Watch | None = None
        self._first: Watch | None = None
        self._now: events.Progress | None = None
        self._step: events.StepStarted | None = None
        self._began_ns = 0
        self._step_began_ns = 0
        self._judged_run_ns = 0
        self._run_ns = 0
        self._done_bytes = 0
        self._timed, self._filled = _Pace(), _Pace()
        self._fill_bytes = 0
        self._share = 0.0

    def branch(self) -> "Ahead":
        """Return the same estimate, to be told what this one is not."""
        other = copy(self)
        other._timed, other._filled = copy(self._timed), copy(self._filled)
        return other

    def tell(self, event: events.Event, now_ns: int) -> None:
        """Take note of an event at a moment of the person's clock."""
        match event:
            case events.RunStarted():
                self._started, self._began_ns = event, now_ns
                self._run_ns = 0 if event.virtual else event.recorded_ns
                self._judged_run_ns = self._run_ns
            case events.StepStarted():
                self._end_replayed(now_ns)
                self._step, self._now, self._step_began_ns = event, None, now_ns
            case events.Progress():
                self._now = event
            case events.StepDone():
                self._end(event.step, event.answer, now_ns)
            case events.Judged():
                self._watch, self._judged_run_ns, self._done_bytes = event.watch, self._run_ns, 0
                self._first = self._first or event.watch
            case (
                events.HookNamed()
                | events.LayingOut()
                | events.Purging()
                | events.Remarked()
                | events.Stopping()
                | events.Ended()
            ):
                pass

    def share(self, now_ns: int) -> float:
        """Return how much of the run is done, from 0 to 1; it never falls."""
        left, done, part = self._left_run_ns(), self._run_ns + self._look_ns, 1.0
        if self._fills_before_it_measures:
            part = FILL_SHARE
        elif self._started is not None and self._started.virtual:
            left, done = self.left(now_ns), now_ns - self._began_ns
        if left is not None and done + left.expected_ns:
            found = part * done / (done + left.expected_ns)
            self._share = max(self._share, min(SHARE_MOST, found))
        return self._share

    def left(self, now_ns: int) -> Span | None:
        """Return what a person still waits; None while nobody can say."""
        left, pace = self._left_run_ns(), self._pace(now_ns)
        if left is None or pace is None or self._fills_before_it_measures:
            return None
        each = (left.least_ns, left.expected_ns, left.most_ns)
        least, expected, most = (round(one * pace) for one in each)
        return Span(least_ns=least, expected_ns=expected, most_ns=most)

    @property
    def _fills_before_it_measures(self) -> bool:
        """Whether a simulated run has not measured yet: how long it fills says nothing of that."""
        virtual = self._started is not None and self._started.virtual
        measures = self._watch is not None and self._watch.remaining_ns_most > 0
        running = self._step is not None and not fills(self._step.step)
        return virtual and measures and not running and not self._timed.run_ns

    @property
    def _look_ns(self) -> int:
        return self._now.elapsed_ns if self._now else 0

    @property
    def _replay_left_ns(self) -> int:
        """Return what a simulated device carries out again before the run goes on."""
        if self._started is None or not self._started.virtual:
            return 0
        return max(0, self._started.recorded_ns - self._run_ns - self._look_ns)

    def _left_run_ns(self) -> Span | None:
        """Return what is left on the run's own clock."""
        watch = self._watch
        if watch is None:
            return None
        again_ns = self._replay_left_ns
        # Steps that are carried out again are none of those the method still asks for.
        spent_ns = 0 if again_ns else self._since_judged_ns()
        fill_ns = self._fill_left_ns(watch)
        if fill_ns is None:
            return None
        running_ns = self._performing_ns()
        least, expected, most = (
            max(running_ns, one - spent_ns) for one in bounds(watch, self._settles)
        )
        extra = fill_ns + again_ns
        return Span(least_ns=least + extra, expected_ns=expected + extra, most_ns=most + extra)

    def _performing_ns(self) -> int:
        """Return what is left of a work under way that is bounded by its count, at its own pace."""
        now = self._now
        if now is None or not isinstance(now.step, Perform) or not now.share:
            return 0
        return round(now.elapsed_ns * (1 - now.share) / now.share)

    @property
    def _settles(self) -> float:
        """Return where between least and most a drive settles, as the preview of the run has it."""
        seen = self._started.ahead if self._started else None
        if seen is None:
            return SETTLES_AT
        wide = seen.most.duration_ns - seen.least.duration_ns
        return (seen.expected.duration_ns - seen.least.duration_ns) / wide if wide > 0 else 0.0

    def _since_judged_ns(self) -> int:
        """Return how much of the timed steps has passed since the method was asked."""
        look = 0 if self._now is None or fills(self._now.step) else self._now.elapsed_ns
        return self._run_ns - self._judged_run_ns + look

    def _fill_left_ns(self, watch: Watch) -> int | None:
        """Return how long the bytes that are still to be written take; None while unknown."""
        now = self._now if self._now is not None and fills(self._now.step) else None
        running = now.step if now is not None else None
        left = watch.remaining_bytes - self._done_bytes
        if isinstance(running, Precondition):
            left = max(left, running.total_bytes) - (now.bytes if now else 0)
        if left <= 0:
            return 0
        if now is not None and now.bytes:
            return left * now.elapsed_ns // now.bytes
        if self._fill_bytes:
            return left * self._filled.run_ns // self._fill_bytes
        return self._fill_assumed_ns(left)

    def _fill_assumed_ns(self, left_bytes: int) -> int | None:
        """Return the time of bytes before any were written: what the preview leaves for them."""
        seen, first = (self._started.ahead if self._started else None), self._first
        if seen is None or first is None or not first.remaining_bytes:
            return None
        timed_ns = bounds(first, self._settles)[1]
        fill_ns = max(0, seen.expected.duration_ns - timed_ns)
        return fill_ns * left_bytes // first.remaining_bytes

    def _pace(self, now_ns: int) -> float | None:
        """Return how long a person waits for each unit of the run's clock."""
        running = self._step is not None and self._now is not None
        waited = now_ns - self._step_began_ns if running else 0
        paces = (self._timed, self._filled)
        every_run_ns = sum(pace.run_ns for pace in paces) + self._look_ns
        every_waited_ns = sum(pace.waited_ns for pace in paces) + waited
        virtual = self._started is None or self._started.virtual
        if every_run_ns == 0 or every_waited_ns < PACE_NS_LEAST:
            return None if virtual else 1.0  # a real device's clock is the person's
        filling = running and self._now is not None and fills(self._now.step)
        pace = self._filled if filling else self._timed
        if pace.waited_ns + waited >= PACE_NS_LEAST and pace.run_ns + self._look_ns:
            return (pace.waited_ns + waited) / (pace.run_ns + self._look_ns)
        return every_waited_ns / every_run_ns

    def _end(self, step: Step, answer: object, now_ns: int) -> None:
        look, self._now = self._now, None
        # A purge takes its own time, and says nothing of how fast I/O goes.
        if not isinstance(answer, StepResult) or isinstance(step, Purge):
            return
        waited_ns = now_ns - self._step_began_ns
        if fills(step):
            self._filled.add(waited_ns, answer.elapsed_ns)
            written = answer.bytes or (look.bytes if look else 0)
            self._fill_bytes += written
            self._done_bytes += written
            self._judged_run_ns += answer.elapsed_ns
        else:
            self._timed.add(waited_ns, answer.elapsed_ns)
        self._run_ns += answer.elapsed_ns

    def _end_replayed(self, now_ns: int) -> None:
        """Count a step that was carried out again: its end is the beginning of the next."""
        again = self._step
        if again is None or not again.replayed:
            return
        kind = self._filled if fills(again.step) else self._timed
        if not isinstance(again.step, Purge):
            kind.add(now_ns - self._step_began_ns, again.recorded_ns)
        self._run_ns += again.recorded_ns
        self._judged_run_ns = self._run_ns


def fills(step: Step) -> bool:
    """Return whether a step is bounded by bytes, not by time."""
    return isinstance(step, Precondition)


def bounds(watch: Watch, settles: float) -> tuple[int, int, int]:
    """Return the timed steps still to come: at least, as expected, at most, in ns.

    A forecast of the rounds narrows them; without one `settles` (0 to 1) says where the expected
    end lies between the others.
    """
    least, most = watch.remaining_ns_least, max(watch.remaining_ns_least, watch.remaining_ns_most)
    usual = least + round((most - least) * min(1.0, max(0.0, settles)))
    left, number = watch.rounds_left, watch.round_number
    first, last = watch.rounds_least, watch.rounds_most
    if watch.part or left is None or number is None:
        return least, usual, most  # of several tests the rounds of one say little
    if first is None or last is None or last <= first:
        return least, usual, most
    round_ns = (most - least) / (last - first)
    rounds_most = last - number + 1

    def at(rounds: int) -> int:
        return min(most, max(least, round(most - (rounds_most - rounds) * round_ns)))

    return at(left.low), at(left.median), at(left.high)
