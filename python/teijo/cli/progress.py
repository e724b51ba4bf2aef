"""How a run shows a person or a program how far it is: a live screen, lines, or JSON lines.

All of it goes to stderr; stdout is for what a run leaves behind.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from teijo.cli import console
from teijo.cli.options import ProgressMode
from teijo.runner import events
from teijo.runner.event_json import as_json
from teijo.runner.run_state import Follower, RunState
from teijo.speech.state_words import begun, hook_lines, left, phase, rounds_left, steady
from teijo.speech.tongue import reported, said, tr
from teijo.terms.remark import RemarkKind
from teijo.units import NS_PER_S, format_duration

QUIET_NS = 5 * NS_PER_S
"""How long the plain lines stay silent while the same goes on, round after round."""


@contextmanager
def telling(mode: ProgressMode | None) -> Iterator[events.Observer]:
    """Give an observer that tells on stderr; without a mode, the one that fits stderr."""
    if mode is None:
        mode = ProgressMode.RICH if paints(sys.stderr, os.environ) else ProgressMode.PLAIN
    match mode:
        case ProgressMode.RICH:
            from teijo.cli.live import live

            with live(Follower(time.monotonic_ns)) as observer:
                yield observer
        case ProgressMode.PLAIN:
            yield Plain(Follower(time.monotonic_ns), console.say)
        case ProgressMode.NDJSON:
            yield lambda event: console.say_json(as_json(event))
        case ProgressMode.NONE:
            yield events.unobserved


def paints(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Return whether a stream is a terminal on which lines can be painted over."""
    return stream.isatty() and environment.get("TERM", "") not in ("", "dumb", "unknown")


class Plain:
    """One line when something new begins, and one every few seconds while it goes on."""

    def __init__(self, follower: Follower, say: Callable[[str], None]) -> None:
        """Tell through `say` what `follower` knows."""
        self._follower = follower
        self._say = say
        self._word = ""
        self._said_ns = 0
        self._remarked: set[RemarkKind] = set()

    def __call__(self, event: events.Event) -> None:
        """Take note of one event, and speak if it is worth a line."""
        self._follower.tell(event)
        match event:
            case events.HookNamed(hook=hook):
                for line in hook_lines(hook):
                    self._line(line)
            case events.RunStarted():
                for line in begun(event):
                    self._line(line)
            case events.LayingOut() | events.StepStarted() | events.Progress() | events.Purging():
                # Its first word alone: the next round goes on with the same.
                word = phase(self._follower.state).partition(" ")[0]
                if word != self._word or self._follower.now_ns() - self._said_ns >= QUIET_NS:
                    self._word = word
                    self._line(line_of(self._follower.state))
            case events.Remarked(remark=remark):
                # Of a kind that touches step after step the first is said; the verdict counts all.
                if remark.kind not in self._remarked:
                    self._remarked.add(remark.kind)
                    kind, text = reported(remark.kind.value), reported(remark.text)
                    self._line(tr("remark: {kind}: {text}", kind=kind, text=text))
            case events.Stopping():
                words = "{signal}: the running step ends; once more stops at once"
                self._line(tr(words, signal=event.signal))
            case events.Ended():
                self._line(tr("ended: {ending}", ending=said(event.ending)))
            case events.StepDone() | events.Judged():
                pass

    def _line(self, text: str) -> None:
        self._said_ns = self._follower.now_ns()
        self._say(f"[{format_duration(self._follower.state.elapsed_ns):>12}] {text}")


def line_of(state: RunState) -> str:
    """Return how far a run is, in one line."""
    parts = [phase(state)]
    if state.cell:
        parts.append(state.cell)
    if state.progress is not None and state.performs:
        parts.append(tr("{rate} operations/s", rate=f"{state.progress.iops:,.0f}"))
    elif state.progress is not None:
        parts.append(f"{state.progress.iops:,.0f} IOPS")
        parts.append(f"{state.progress.mb_s:,.1f} MB/s")
    if words := steady(state):
        parts.append(words)
    if words := rounds_left(state):
        parts.append(words)
    if state.share:
        parts.append(f"{state.share * 100:.0f} %")
    if words := left(state):
        parts.append(tr("{time} left", time=words))
    return ", ".join(parts)
