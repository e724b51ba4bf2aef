"""The live screen of a run on a terminal: a few quiet lines that are repainted in place."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from teijo.cli import layout
from teijo.cli.console import CELL_MOST, STDERR, width
from teijo.outside.text import visible
from teijo.report.width import columns_of, padded
from teijo.runner import events
from teijo.runner.run_state import Follower, RunState
from teijo.speech.state_words import begun, coarse, hook_lines, left, phase, rounds_left, steady
from teijo.speech.tongue import reported, tr
from teijo.units import ZERO_CELSIUS_KELVIN

REPAINTS_PER_SECOND: Final = 8
BAR_MOST: Final = 48
"""Columns of the bar on a wide terminal."""
_PERCENT: Final = 6
"""Columns of the figure behind the bar."""


@contextmanager
def live(follower: Follower, console: Console | None = None) -> Iterator[events.Observer]:
    """Give an observer whose events a screen on stderr shows until the block ends."""
    # `STDERR` is stderr, and goes on where a terminal that went away would raise.
    file: Any = STDERR
    console = console or Console(file=file, width=width(sys.stderr))
    with Live(
        get_renderable=lambda: screen(follower.state, console.width, console.encoding),
        console=console,
        refresh_per_second=REPAINTS_PER_SECOND,
        transient=True,
    ) as painter:

        def tell(line: str) -> None:
            for part in layout.lines(shown(line, console.encoding), console.width):
                # As Text, for brackets in a name are no markup; it is broken into lines already.
                console.print(Text(part), soft_wrap=True)

        def observer(event: events.Event) -> None:
            follower.tell(event)
            match event:
                case events.HookNamed(hook=hook):
                    for line in hook_lines(hook):
                        tell(line)
                case events.RunStarted():
                    for line in begun(event):
                        tell(line)
                case events.Ended():
                    painter.refresh()
                case (
                    events.LayingOut()
                    | events.StepStarted()
                    | events.Progress()
                    | events.Purging()
                    | events.StepDone()
                ):
                    pass
                case events.Judged() | events.Remarked() | events.Stopping():
                    pass

        yield observer


def screen(state: RunState, width: int = layout.USUAL, encoding: str = "utf-8") -> RenderableType:
    """Return the screen: what is done, how fast, how near to steady state, how long yet.

    One bar shows the whole run. No line is longer than the terminal is wide.
    """
    rows = [
        (tr("phase"), " · ".join(filter(None, (phase(state), state.cell)))),
        *rates(state),
        (tr("temperature"), temperature(state)),
        (tr("steady state"), steady(state)),
        (tr("forecast"), rounds_left(state)),
        (tr("elapsed"), coarse(state.elapsed_ns)),
        (tr("time left"), left(state) or "-"),
        (tr("remarks"), remarks(state)),
    ]
    named = max(columns_of(name) for name, _ in rows)
    lines = [Text(" " * (named + 2) + bar(state.share, width - named - 2, encoding))]
    hang = " " * (named + 2)
    for name, value in rows:
        if not value:
            continue
        wrapped = layout.lines(hang + shown(value, encoding), width - 1)
        head = Text(padded(name, named, right=True), style="dim")
        lines.append(head.append(Text(f"  {wrapped[0].lstrip()}", style="not dim")))
        lines += [Text(part) for part in wrapped[1:]]
    return Group(*(_fitting(line, width) for line in lines))


def bar(share: float, room: int, encoding: str) -> str:
    """Return the bar of the whole run with its percent, in the signs that a terminal has."""
    columns = max(1, min(BAR_MOST, room - _PERCENT))
    full, empty = ("━", "╌") if encoding.lower().startswith("utf") else ("#", "-")
    done = round(share * columns)
    return f"{full * done}{empty * (columns - done)} {share * 100:3.0f} %"


def shown(text: str, encoding: str) -> str:
    """Return text that the terminal neither obeys nor fails to write."""
    whole = visible(text, most=CELL_MOST)
    return whole.encode(encoding, "backslashreplace").decode(encoding)


def rates(state: RunState) -> tuple[tuple[str, str], ...]:
    """Return the rows of rates: operations where they are timed, otherwise I/Os and bytes."""
    now = state.progress
    count = rate(state.iops, now.iops if now else None, digits=0)
    if state.performs:
        return ((tr("operations/s"), count),)
    moved = rate(state.mb_s, now.mb_s if now else None, digits=1)
    return ((tr("IOPS"), count), (tr("MB/s"), moved))


def temperature(state: RunState) -> str:
    """Return what a drive that is watched told last of its temperature."""
    kelvin = state.progress.temperature_kelvin if state.progress else None
    return "" if kelvin is None else f"{kelvin - ZERO_CELSIUS_KELVIN} °C"


def rate(now: float | None, step: float | None, *, digits: int) -> str:
    """Return a rate of this moment, and of the whole step where one is running."""
    if now is None:
        return ""
    if step is None:
        return f"{now:,.{digits}f}"
    whole = tr("({rate} in this step)", rate=f"{step:,.{digits}f}")
    return f"{now:,.{digits}f}  {whole}"


def remarks(state: RunState) -> str:
    """Return the kinds of the remarks so far, each once."""
    return ", ".join(dict.fromkeys(reported(remark.kind.value) for remark in state.remarks))


def _fitting(line: Text, width: int) -> Text:
    """Return a line of the screen cut where the terminal ends: a broken one is not erased."""
    line.no_wrap, line.overflow = True, "ellipsis"
    line.truncate(width, overflow="ellipsis")
    return line
