"""Where a run stands, folded from its events: what a live screen shows and a line of talk says."""

from collections.abc import Callable
from pathlib import Path

from teijo.device import Hook
from teijo.runner.events import (
    Ended,
    Event,
    HookNamed,
    Judged,
    LayingOut,
    Progress,
    Remarked,
    RunStarted,
    StepDone,
    StepStarted,
    Stopping,
)
from teijo.terms.record import Ending
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge, Step
from teijo.terms.watch import RoundsLeft, Watch
from teijo.units import format_duration, format_size, megabytes_per_second

NowNs = Callable[[], int]
NEVER_WORTH_SAYING = 0.1
PACE_NS_LEAST = 100_000_000
"""How long to look at a run before its pace is told: the first moments are all beginning."""


class Standing:
    """The state of one run. `now_ns` is a steady clock of the host; a run has its own clock.

    `iops` and `mb_s` are of the last look, or of the last step where steps are shorter than that.
    """

    def __init__(self, now_ns: NowNs) -> None:
        """Begin to watch at the clock's present."""
        self.now_ns = now_ns
        self.began_ns = now_ns()
        self.layout: LayingOut | None = None
        self.started: RunStarted | None = None
        self.step: StepStarted | None = None
        self.progress: Progress | None = None
        self.iops: float | None = None
        self.mb_s: float | None = None
        self.watch: Watch | None = None
        self.remarks: list[Remark] = []
        self.stopping = ""
        self.ending: Ending = "running"
        self.path: Path | None = None
        self._session_ns = 0
        self._first_step_ns: int | None = None
        self._step_ns = 0
        self._aside_ns = 0

    def tell(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case HookNamed():
                pass
            case LayingOut():
                self.layout = event
            case RunStarted():
                self.started = event
                self.path = event.path
            case StepStarted():
                self.step = event
                self.progress = None
                self._step_ns = self.now_ns()
                if self._first_step_ns is None:
                    self._first_step_ns = self._step_ns
            case Progress():
                self.progress = event
                self.iops, self.mb_s = event.iops_now, event.mb_s_now
            case StepDone(step=Purge()):
                self._aside_ns += self.now_ns() - self._step_ns
                self.progress = None
            case StepDone(answer=StepResult() as answer):
                self._session_ns += answer.elapsed_ns
                self.progress = None
                if answer.ios:
                    self.iops = answer.iops
                    self.mb_s = megabytes_per_second(answer.bytes, answer.elapsed_ns)
            case StepDone():
                self.progress = None
            case Judged():
                self.watch = event.watch
            case Remarked():
                self.remarks.append(event.remark)
            case Stopping():
                self.stopping = event.signal
            case Ended():
                self.ending = event.ending
                self.path = event.path

    @property
    def elapsed_ns(self) -> int:
        """How long a person has waited."""
        return self.now_ns() - self.began_ns

    @property
    def phase(self) -> str:
        """What is being done, in a few words: "round 3 of 5 to 25", "precondition"."""
        if self.stopping:
            return f"stopping ({self.stopping})"
        if self.step is None and self.layout is not None:
            done, total = self.layout.done_bytes, self.layout.total_bytes
            return f"laying out the file, {format_size(done)} of {format_size(total)}"
        if self.step is None:
            return "opening the target"
        words = phase_of(self.step.step, self.watch)
        return f"replaying step {self.step.seq}: {words}" if self.step.replayed else words

    @property
    def cell(self) -> str:
        """The cell of the matrix that is measured, or nothing."""
        step = self.step.step if self.step else None
        return step.cell or "" if isinstance(step, Measure) else ""

    @property
    def steady(self) -> str:
        """How far steady state is, in words; nothing where it is not asked."""
        return self.watch.steady if self.watch else ""

    @property
    def rounds_left(self) -> str:
        """The forecast in words: "3 more rounds (90 %: 1 to 9)"; nothing where there is none."""
        if self.watch is None or self.watch.rounds_left is None or self.ending != "running":
            return ""
        return forecast_words(self.watch.rounds_left, self.watch.phase)

    def left_ns(self) -> tuple[int, int] | None:
        """Return the least and most time left, as a person waits; None while unknown.

        The run's clock may be a simulated one: what is left on it is stretched by how fast it
        has gone until now, purges aside, which take their own time. Bytes that are left take as
        long as the last ones did.
        """
        now = self.progress
        session_ns = self._session_ns + (now.elapsed_ns if now else 0)
        if self.watch is None or self._first_step_ns is None or session_ns == 0:
            return None
        waited_ns = self.now_ns() - self._first_step_ns - self._aside_ns
        if waited_ns < PACE_NS_LEAST:
            return None
        pace = waited_ns / session_ns
        least, most = self.watch.remaining_ns_least, self.watch.remaining_ns_most
        if now is not None and isinstance(now.step, Precondition):
            if not now.bytes:
                return None
            left_bytes = max(0, now.step.total_bytes - now.bytes)
            least += left_bytes * now.elapsed_ns // now.bytes
            most += left_bytes * now.elapsed_ns // now.bytes
        elif now is not None:
            least, most = least - now.elapsed_ns, most - now.elapsed_ns
        return max(0, round(least * pace)), max(0, round(most * pace))

    @property
    def left(self) -> str:
        """The time left in words: "8 s to 1 min 12 s", or nothing while it is unknown."""
        span = self.left_ns()
        if span is None or self.ending != "running":
            return ""
        least, most = (coarse(each) for each in span)
        return least if least == most else f"{least} to {most}"


def hook_lines(hook: Hook) -> tuple[str, str]:
    """Return what is said of a hook before it runs: the command, and the digest of all of it."""
    return f"hook: {hook.text}", f"digest of the hook: {hook.digest}"


def title(event: RunStarted) -> str:
    """Return what runs on what: "pts.iops 2.0.2-client on MLC-A 256 GB"."""
    device = event.identity.model or event.identity.target
    return f"{' '.join(filter(None, (event.run.method, event.run.spec)))} on {device}"


def coarse(duration_ns: int) -> str:
    """Return a duration without fractions of a second: an estimate has none."""
    return format_duration(duration_ns) if duration_ns >= 10**10 else f"{duration_ns // 10**9} s"


def phase_of(step: Step, watch: Watch | None) -> str:
    """Return a step in a few words, with the round it belongs to."""
    match step:
        case Purge():
            return "purging"
        case Precondition():
            return "preconditioning" if step.phase == "precondition" else step.phase
        case Idle():
            return "resting"
        case Configure():
            return f"configuring {step.text}"
        case Measure(round_number=None):
            return step.phase
        case Measure():
            return f"{step.phase} {step.round_number}{bounds(watch)}"


def bounds(watch: Watch | None) -> str:
    """Return " of 5 to 25": the least and the most number of the last round."""
    if watch is None or watch.rounds_most is None:
        return ""
    least, most = watch.rounds_least, watch.rounds_most
    return f" of {most}" if least is None or least == most else f" of {least} to {most}"


def forecast_words(left: RoundsLeft, phase: str) -> str:
    """Return a forecast in words, with the risk that the limit comes first where it is one."""
    what = "minute" if phase == "minute" else "round"
    words = f"{left.median} more {what}{'' if left.median == 1 else 's'}"
    if left.low != left.high:
        words += f" ({left.confidence * 100:.0f} %: {left.low} to {left.high})"
    if left.never >= NEVER_WORTH_SAYING:
        words += f", {left.never * 100:.0f} % that it never is steady"
    return words
