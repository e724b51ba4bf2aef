"""The state of a run in words: what a live screen shows and a message says."""

from teijo.device import Hook
from teijo.runner.events import RunStarted
from teijo.runner.run_state import RunState
from teijo.speech.tongue import reported, said, tr
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.watch import RoundsLeft, Watch
from teijo.units import NS_PER_S, format_size

NEVER_WORTH_SAYING = 0.1


def phase(state: RunState) -> str:
    """Return what is being done, in a few words: "round 3 of 5 to 25", "precondition"."""
    if state.stopping:
        return tr("stopping ({signal})", signal=state.stopping)
    if state.step is None and state.layout is not None:
        done, total = state.layout.done_bytes, state.layout.total_bytes
        return tr(
            "laying out the file, {done} of {total}",
            done=format_size(done),
            total=format_size(total),
        )
    if state.step is None:
        return tr("opening the target")
    words = phase_of(state.step.step, state.watch)
    if state.purging is not None:
        words = tr("purging ({percent} %)", percent=f"{state.purging.share * 100:.0f}")
    if state.step.step.part:
        words = f"{state.step.step.part}: {words}"
    if not state.step.replayed:
        return words
    return tr("replaying step {seq}: {words}", seq=state.step.seq, words=words)


def steady(state: RunState) -> str:
    """Return how far steady state is, in words; nothing where it is not asked."""
    return reported(state.watch.steady) if state.watch else ""


def rounds_left(state: RunState) -> str:
    """Return the forecast in words: "3 more rounds (90 %: 1 to 9)"; nothing without one."""
    if state.watch is None or state.watch.rounds_left is None or state.ending != "running":
        return ""
    return forecast_words(state.watch.rounds_left, state.watch.phase)


def left(state: RunState) -> str:
    """Return the time left in words: "about 12 s (8 s to 1 min 12 s)", nothing while unknown."""
    span = state.time_left
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
        case Measure(round_number=None) | Perform(round_number=None):
            return said(step.phase)
        case Measure() | Perform():
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
