"""Watching a drive while a run goes on: one thread asks for its log, the run's own thread records.

When the drive may be asked is decided here, in the looks at a running step: never in a rest, and
never so late in a step that the answer could reach into what follows. The thread knows nothing of
the run; the run file has one writer.
"""

import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Final

from teijo.analysis.throttling import Span, remarks_on, warning_between
from teijo.device.device import Device
from teijo.device.health.drive_log import DriveLog, LogReader
from teijo.document.phrase import say
from teijo.errors import DriveWarned, StuckDevice
from teijo.methods.drive_settings import watch_interval_of
from teijo.methods.settings import Settings
from teijo.runfile.recorder import Recorder
from teijo.runner.events import Observer, Remarked
from teijo.runner.interrupt import Interrupt
from teijo.terms.reading import MOST, Reading
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle, Measure, Precondition, Step
from teijo.units import NS_PER_S, format_duration

MARGIN_NS: Final = NS_PER_S // 5
"""A step that has less left is not asked in any more."""
MARGIN_TIMES: Final = 4
"""Nor one that has less left than so many times the slowest answer yet; that is halved for each
interval in which it kept the drive from being asked."""
LOOK_S: Final = 0.1


WATCHED: Final = "drive watched"
NOT_WATCHED: Final = (
    "no: a SATA drive stops its other work to answer; --set watch=10s has it asked all the same"
)
"""A fact of the run's environment, and what it says of a drive that is not watched for that."""


def log_to_watch(
    settings: Settings, device: Device, recorder: Recorder
) -> tuple[LogReader, int] | None:
    """Return what reads the drive's log and how often, in ns; None where nobody watches it.

    A drive that stops its work to answer is watched only where a person asked for it by name; that
    it is not is recorded.
    """
    asked = watch_interval_of(settings)
    read = None if asked is None else device.log_reader()
    if asked is None or read is None:
        return None
    interval_ns, is_named = asked
    if isinstance(read, DriveLog) and read.drains_queue and not is_named:
        recorder.note(WATCHED, NOT_WATCHED)
        return None
    return read, interval_ns


class _Thread:
    """Asks a drive in a thread of its own, once for each order."""

    def __init__(self, read: LogReader) -> None:
        self.read = read
        self._orders: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
        self.over = threading.Event()
        self.over.set()
        self.answer: Reading | None = None
        # A daemon: a drive that never answers must not keep the program from its exit.
        threading.Thread(target=self._serve, name="teijo-health", daemon=True).start()

    def order(self, step: int, origin_ns: int) -> None:
        """Ask once; `origin_ns` is the zero of the run's clock on the monotonic one."""
        self.over.clear()
        self._orders.put((step, origin_ns))

    def end(self) -> None:
        """Let the thread end after what it is at."""
        self._orders.put(None)

    def _serve(self) -> None:
        while (order := self._orders.get()) is not None:
            step, origin_ns = order
            began_ns = time.monotonic_ns()
            counters, error = _asked(self.read)
            self.answer = Reading(
                step=step,
                at_ns=max(0, began_ns - origin_ns),
                cost_ns=time.monotonic_ns() - began_ns,
                counters=counters,
                error=error,
            )
            self.over.set()


def _asked(read: LogReader) -> tuple[Mapping[str, int], str]:
    try:
        told = read()
    except Exception as error:  # whatever a drive makes of its log, the run goes on
        return {}, getattr(error, "strerror", None) or str(error) or type(error).__name__
    counters = {name: count for name, count in told.items() if 0 <= count <= MOST}
    return counters, "" if counters else "the drive told nothing"


class HealthWatch:
    """The drive under a run, and what it told of itself since the run began or went on."""

    def __init__(
        self,
        read: LogReader,
        *,
        interval_ns: int,
        stops: bool,
        now_ns: Callable[[], int],
        recorder: Recorder,
        observer: Observer,
        interrupt: Interrupt,
        silence_ns: int,
    ) -> None:
        """Watch by `read`. With `stops` a warning of the drive stops the run."""
        self._thread = _Thread(read)
        self._interval_ns = interval_ns
        self._stops = stops
        self._now_ns = now_ns
        self._recorder = recorder
        self._observer = observer
        self._interrupt = interrupt
        self._silence_ns = silence_ns
        self._readings: list[Reading] = []
        self._ended: list[Span] = []
        self._marked: set[tuple[int | None, RemarkKind]] = set()
        self._is_blind = False
        self._due_ns = 0
        self._slowest_ns = 0
        self._fresh: list[Mapping[str, int]] = []
        self.warning = ""
        """Why the drive stopped the run, "" if it did not."""

    @property
    def temperature_kelvin(self) -> int | None:
        """What the drive told last of its temperature, None if it did not."""
        last = next((each.counters for each in reversed(self._readings) if each.counters), {})
        return last.get("temperature_kelvin")

    def now(self, seq: int) -> None:
        """Ask the drive, and wait: at the beginning and at the end, where nothing is measured."""
        self._order(seq)
        self.rest()

    def look(
        self, seq: int, step: Step, last: Step | None, *, elapsed_ns: int, share: float
    ) -> None:
        """Take in what came, and ask again where that is due and disturbs no rest.

        `last` is the step before. `share` of the step is done; the rest of it is expected to go on
        as fast.
        """
        self._take()
        if not self._thread.over.is_set() or self._now_ns() < self._due_ns or not share:
            return
        if isinstance(last, Idle) and share < 0.5:
            return  # what a drive does right after a rest is what the rest is measured by
        left_ns = elapsed_ns * (1 - share) / share
        open_ended = isinstance(step, Measure) and step.open_ended
        if open_ended or left_ns > max(MARGIN_NS, MARGIN_TIMES * self._slowest_ns):
            self._order(seq)
        elif self._now_ns() >= self._due_ns + self._interval_ns:
            # One slow answer must not leave the drive unwatched: it is believed for less and less.
            self._slowest_ns //= 2
            self._due_ns += self._interval_ns

    def check(self) -> None:
        """Stop here if the drive warned and the run is to stop then.

        Raises:
            DriveWarned: it did.
        """
        if self.warning:
            raise DriveWarned(f"Stopped by the drive's warning ({self.warning}).")

    def rest(self) -> None:
        """Wait until the drive is not being asked, before it rests, is purged or given up.

        Raises:
            StuckDevice: it does not answer.
        """
        began_ns = time.monotonic_ns()
        while not self._thread.over.wait(LOOK_S):
            self._interrupt.look()
            silent_ns = time.monotonic_ns() - began_ns
            if silent_ns > self._silence_ns:
                stuck = StuckDevice(
                    f"The drive has not told its log for {format_duration(silent_ns)}",
                    remedy="Look at the kernel's log (dmesg); --set watch=off does not ask it.",
                )
                stuck.has_stuck_ios = True
                raise stuck
        self._take()

    def reopen(self, read: LogReader | None) -> None:
        """Go on with another descriptor: the device was given up and claimed again."""
        if read is not None:
            self._thread.read = read

    def remarks_on(self, seq: int, step: Step, result: StepResult) -> tuple[Remark, ...]:
        """Return what the readings so far say against a step that has ended.

        What only the next reading shows is recorded when that is there.
        """
        self._take()
        if not isinstance(step, Measure | Precondition):
            return ()
        ended_ns = result.started_ns + result.elapsed_ns
        span = Span(seq=seq, started_ns=result.started_ns, ended_ns=ended_ns)
        self._ended.append(span)
        found = remarks_on(span, self._readings)
        self._marked.update((one.step, one.kind) for one in found)
        return found

    def fresh(self) -> list[Mapping[str, int]]:
        """Return the counters that came since the last time this was asked."""
        found, self._fresh = self._fresh, []
        return found

    def end(self) -> None:
        """Ask no more."""
        self._thread.end()

    def _order(self, seq: int) -> None:
        now_ns = self._now_ns()
        # From one to the next, so that late looks do not add up; but never two at once.
        self._due_ns = max(self._due_ns + self._interval_ns, now_ns + self._interval_ns // 2)
        self._thread.order(seq, time.monotonic_ns() - now_ns)

    def _take(self) -> None:
        if not self._thread.over.is_set() or self._thread.answer is None:
            return
        reading, self._thread.answer = self._thread.answer, None
        self._slowest_ns = max(self._slowest_ns, reading.cost_ns)
        self._recorder.keep_readings(reading)
        if reading.error:
            self._tell_blind(reading)
            return
        before = self._readings[-1] if self._readings else None
        self._readings.append(reading)
        self._fresh.append(reading.counters)
        self._mark_ended()
        if self._stops and before is not None and not self.warning:
            self.warning = warning_between(before, reading)
            if self.warning and not self._interrupt.requested:
                self._interrupt.request(say("the drive's warning ({what})", what=self.warning))

    def _tell_blind(self, reading: Reading) -> None:
        if not self._is_blind:
            text = say("The drive's log could not be read during the run: {why}", why=reading.error)
            self._keep(Remark(kind=RemarkKind.CHECK_BLIND, text=text, step=None))
        self._is_blind = True

    def _mark_ended(self) -> None:
        """Remark on steps that had ended before the reading that shows what touched them."""
        for span in self._ended:
            for one in remarks_on(span, self._readings):
                if (one.step, one.kind) not in self._marked:
                    self._keep(one)
            self._marked -= {(span.seq, kind) for kind in RemarkKind}
        self._ended.clear()
        # The last reading bounds the step that goes on; nothing older is asked for again once
        # the steps before it are told.
        self._prune()

    def _keep(self, remark: Remark) -> None:
        self._recorder.remark(remark)
        self._observer(Remarked(remark=remark))

    def _prune(self) -> None:
        del self._readings[:-_KEPT]


_KEPT: Final = 4096
"""Readings of a step that are looked at: eleven hours of one a 10 s."""
