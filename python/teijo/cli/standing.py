"""Where a run stands, folded from its events: what a live screen shows and a message says."""

from collections.abc import Callable
from pathlib import Path

from teijo.cli.ahead import Ahead, Span
from teijo.cli.tongue import reported, said, tr
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
from teijo.units import NS_PER_S, format_size, megabytes_per_second

NowNs = Callable[[], int]
NEVER_WORTH_SAYING = 0.1


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
        self._ahead = Ahead()

    def tell(self, event: Event) -> None:
        """Take note of one event."""
        self._ahead.tell(event, self.now_ns())
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
            case Progress():
                self.progress = event
                self.iops, self.mb_s = event.iops_now, event.mb_s_now
            case StepDone(answer=StepResult() as answer):
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
            return tr("stopping ({signal})", signal=self.stopping)
        if self.step is None and self.layout is not None:
            done, total = self.layout.done_bytes, self.layout.total_bytes
            return tr(
                "laying out the file, {done} of {total}",
                done=format_size(done),
                total=format_size(total),
            )
        if self.step is None:
            return tr("opening the target")
        words = phase_of(self.step.step, self.watch)
        if self.step.step.part:
            words = f"{self.step.step.part}: {words}"
        if not self.step.replayed:
            return words
        return tr("replaying step {seq}: {words}", seq=self.step.seq, words=words)

    @property
    def cell(self) -> str:
        """The cell of the matrix that is measured, or nothing."""
        step = self.step.step if self.step else None
        return step.cell or "" if isinstance(step, Measure) else ""

    @property
    def steady(self) -> str:
        """How far steady state is, in words; nothing where it is not asked."""
        return reported(self.watch.steady) if self.watch else ""

    @property
    def rounds_left(self) -> str:
        """The forecast in words: "3 more rounds (90 %: 1 to 9)"; nothing where there is none."""
        if self.watch is None or self.watch.rounds_left is None or self.ending != "running":
            return ""
        return forecast_words(self.watch.rounds_left, self.watch.phase)

    @property
    def share(self) -> float:
        """How much of the run is done, 0 to 1, by what is expected of it; it never falls."""
        return 1.0 if self.is_done else self._ahead.share(self.now_ns())

    @property
    def is_done(self) -> bool:
        """Whether the run came to the end of its steps."""
        return self.ending in ("done", "steady", "not steady")

    @property
    def time_left(self) -> Span | None:
        """The time left, as a person waits; None while unknown."""
        return None if self.ending != "running" else self._ahead.left(self.now_ns())

    @property
    def left(self) -> str:
        """The time left in words: "about 12 s (8 s to 1 min 12 s)", nothing while unknown."""
        span = self.time_left
        if span is None:
            return ""
        least, usual, most = map(coarse, (span.least_ns, span.expected_ns, span.most_ns))
        if least == most:
            return tr("about {usual}", usual=usual)
        return tr("about {usual} ({least} to {most})", usual=usual, least=least, most=most)


def hook_lines(hook: Hook) -> tuple[str, str]:
    """Return what is said of a hook before it runs: the command, and the digest of all of it."""
    return (
        tr("hook: {command}", command=hook.text),
        tr("digest of the hook: {digest}", digest=hook.digest),
    )


def begun(event: RunStarted) -> list[str]:
    """Return what is said when a run begins: what, on what, recorded where, and what is ahead."""
    what = title(event)
    resumed = "{what}: resumed, recorded in {path}"
    words = resumed if event.resumed else "{what}: begins, recorded in {path}"
    lines = [tr(words, what=what, path=event.path)]
    if event.ahead is not None and not event.virtual:
        lines.append(tr("ahead: {line}", line=said(event.ahead.line)))
    return lines


def title(event: RunStarted) -> str:
    """Return what runs on what: "pts.iops 2.0.2-client on MLC-A 256 GB"."""
    device = event.identity.model or event.identity.target
    run = " ".join(filter(None, (event.run.method, event.run.spec)))
    return tr("{run} on {device}", run=run, device=device)


def coarse(duration_ns: int) -> str:
    """Return a duration without fractions of a second: an estimate has none."""
    if duration_ns < 10 * NS_PER_S:
        return tr("{s} s", s=duration_ns // NS_PER_S)
    minutes, seconds = divmod(round(duration_ns / NS_PER_S), 60)
    hours, more = divmod(minutes, 60)
    if hours:
        return tr("{h} h {m} min", h=hours, m=f"{more:02d}")
    return tr("{m} min {s} s", m=minutes, s=f"{seconds:02d}") if minutes else tr("{s} s", s=seconds)


def phase_of(step: Step, watch: Watch | None) -> str:
    """Return a step in a few words, with the round it belongs to."""
    match step:
        case Purge():
            return tr("purging")
        case Precondition():
            precondition = step.phase == "precondition"
            return tr("preconditioning") if precondition else said(step.phase)
        case Idle():
            return tr("resting")
        case Configure():
            return tr("configuring {settings}", settings=step.text)
        case Measure(round_number=None):
            return said(step.phase)
        case Measure():
            number = step.round_number
            return tr("{what} {number}", what=said(step.phase), number=number) + bounds(watch)


def bounds(watch: Watch | None) -> str:
    """Return " of 5 to 25": the least and the most number of the last round."""
    if watch is None or watch.rounds_most is None:
        return ""
    least, most = watch.rounds_least, watch.rounds_most
    if least is None or least == most:
        return tr(" of {most}", most=most)
    return tr(" of {least} to {most}", least=least, most=most)


def forecast_words(left: RoundsLeft, phase: str) -> str:
    """Return a forecast in words, with the risk that the limit comes first where it is one."""
    one = left.median == 1
    if phase == "minute":
        words = "{count} more minute" if one else "{count} more minutes"
    else:
        words = "{count} more round" if one else "{count} more rounds"
    parts = [tr(words, count=left.median)]
    if left.low != left.high:
        sure = f"{left.confidence * 100:.0f}"
        parts.append(tr(" ({sure} %: {low} to {high})", sure=sure, low=left.low, high=left.high))
    if left.never >= NEVER_WORTH_SAYING:
        risk = f"{left.never * 100:.0f}"
        parts.append(tr(", {risk} % that it never is steady", risk=risk))
    return "".join(parts)
