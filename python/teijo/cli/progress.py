"""How a run tells a person or a program where it stands: a live screen, lines, or JSON lines.

All of it goes to stderr; stdout is for what a run leaves behind.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO

from teijo.cli import console
from teijo.cli.options import ProgressMode
from teijo.cli.standing import Standing, begun, hook_lines
from teijo.cli.tongue import reported, said, tr
from teijo.runner.events import (
    Ended,
    Event,
    HookNamed,
    Judged,
    LayingOut,
    Observer,
    Progress,
    Remarked,
    RunStarted,
    StepDone,
    StepStarted,
    Stopping,
)
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Step
from teijo.units import NS_PER_S, format_duration, megabytes_per_second

QUIET_NS = 5 * NS_PER_S
"""How long the plain lines stay silent while the same goes on, round after round."""


@contextmanager
def telling(mode: ProgressMode | None) -> Iterator[Observer]:
    """Give an observer that tells on stderr; without a mode, the one that fits stderr."""
    if mode is None:
        mode = ProgressMode.RICH if paints(sys.stderr, os.environ) else ProgressMode.PLAIN
    match mode:
        case ProgressMode.RICH:
            from teijo.cli.live import live

            with live(Standing(time.monotonic_ns)) as observer:
                yield observer
        case ProgressMode.PLAIN:
            yield Plain(Standing(time.monotonic_ns), console.say)
        case ProgressMode.NDJSON:
            yield lambda event: console.say_json(as_json(event))


def paints(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Return whether a stream is a terminal on which lines can be painted over."""
    return stream.isatty() and environment.get("TERM", "") not in ("", "dumb", "unknown")


class Plain:
    """One line when something new begins, and one every few seconds while it goes on."""

    def __init__(self, standing: Standing, say: Callable[[str], None]) -> None:
        """Tell through `say` what `standing` knows."""
        self._standing = standing
        self._say = say
        self._word = ""
        self._said_ns = 0
        self._remarked: set[RemarkKind] = set()

    def __call__(self, event: Event) -> None:
        """Take note of one event, and speak if it is worth a line."""
        self._standing.tell(event)
        match event:
            case HookNamed(hook=hook):
                for line in hook_lines(hook):
                    self._line(line)
            case RunStarted():
                for line in begun(event):
                    self._line(line)
            case LayingOut() | StepStarted() | Progress():
                word = self._standing.phase.partition(" ")[0]
                if word != self._word or self._standing.now_ns() - self._said_ns >= QUIET_NS:
                    self._word = word
                    self._line(state(self._standing))
            case Remarked(remark=remark):
                # Of a kind that touches step after step the first is said; the verdict counts all.
                if remark.kind not in self._remarked:
                    self._remarked.add(remark.kind)
                    kind, text = reported(remark.kind.value), reported(remark.text)
                    self._line(tr("remark: {kind}: {text}", kind=kind, text=text))
            case Stopping():
                words = "{signal}: the running step ends; once more stops at once"
                self._line(tr(words, signal=event.signal))
            case Ended():
                self._line(tr("ended: {ending}", ending=said(event.ending)))
            case StepDone() | Judged():
                pass

    def _line(self, text: str) -> None:
        self._said_ns = self._standing.now_ns()
        self._say(f"[{format_duration(self._standing.elapsed_ns):>12}] {text}")


def state(standing: Standing) -> str:
    """Return where a run stands, in one line."""
    parts = [standing.phase]
    if standing.cell:
        parts.append(standing.cell)
    if standing.progress is not None:
        parts.append(f"{standing.progress.iops:,.0f} IOPS")
        parts.append(f"{standing.progress.mb_s:,.1f} MB/s")
    if standing.steady:
        parts.append(standing.steady)
    if standing.rounds_left:
        parts.append(standing.rounds_left)
    if standing.share:
        parts.append(f"{standing.share * 100:.0f} %")
    if standing.left:
        parts.append(tr("{time} left", time=standing.left))
    return ", ".join(parts)


def as_json(event: Event) -> dict[str, object]:
    """Return an event as one JSON object; times in ns on the run's clock, sizes in bytes."""
    match event:
        case HookNamed(hook=hook):
            told = {"argv": list(hook.argv), "program": hook.program, "digest": hook.digest}
            return {"event": "hook", **told}
        case LayingOut():
            return {"event": "laying_out", **asdict(event)}
        case RunStarted():
            return {
                "event": "run_started",
                "run": event.run.id,
                "method": event.run.method,
                "spec": event.run.spec,
                "target": event.identity.target,
                "model": event.identity.model,
                "capacity_bytes": event.geometry.capacity_bytes,
                "path": str(event.path),
                "resumed": event.resumed,
                "ahead": None if event.ahead is None or event.virtual else asdict(event.ahead),
            }
        case StepStarted():
            return step_json("step_started", event.seq, event.step) | {"replayed": event.replayed}
        case Progress():
            return step_json("progress", event.seq, event.step) | {
                "share": round(event.share, 4),
                "elapsed_ns": event.elapsed_ns,
                "ios": event.ios,
                "bytes": event.bytes,
                "errors": event.errors,
                "iops_now": round(event.iops_now, 1),
                "mb_s_now": round(event.mb_s_now, 2),
            }
        case StepDone():
            return step_json("step_done", event.seq, event.step) | answer_json(event.answer)
        case Judged():
            watch = event.watch
            return {
                "event": "judged",
                "phase": watch.phase,
                "round": watch.round_number,
                "rounds_least": watch.rounds_least,
                "rounds_most": watch.rounds_most,
                "steady": watch.steady,
                "remaining_ns_least": watch.remaining_ns_least,
                "remaining_ns_most": watch.remaining_ns_most,
                "remaining_bytes": watch.remaining_bytes,
                "rounds_left": None if watch.rounds_left is None else asdict(watch.rounds_left),
            }
        case Remarked():
            remark = event.remark
            return {
                "event": "remark",
                "kind": remark.kind.value,
                "text": remark.text,
                "step": remark.step,
            }
        case Stopping():
            return {"event": "stopping", "signal": event.signal}
        case Ended():
            return {
                "event": "ended",
                "ending": event.ending,
                "path": str(event.path),
                "error": event.error,
            }


def step_json(name: str, seq: int, step: Step) -> dict[str, object]:
    """Return what every event about a step says."""
    place: dict[str, object] = {"event": name, "seq": seq, "kind": step.kind, "phase": step.phase}
    if isinstance(step, Measure):
        place |= {"round": step.round_number, "cell": step.cell}
    return place


def answer_json(answer: object) -> dict[str, object]:
    """Return the numbers of an answer, or that the step did not take place."""
    if not isinstance(answer, StepResult):
        return {"gap": True}
    return {
        "gap": False,
        "elapsed_ns": answer.elapsed_ns,
        "ios": answer.ios,
        "bytes": answer.bytes,
        "iops": round(answer.iops, 1),
        "mb_s": round(megabytes_per_second(answer.bytes, answer.elapsed_ns), 2),
    }
