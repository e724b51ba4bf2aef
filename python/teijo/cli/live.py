"""The live screen of a run on a terminal: a few quiet lines that are repainted in place."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from teijo.cli import talk
from teijo.cli.standing import Standing, coarse, hook_lines, title
from teijo.outside.text import visible
from teijo.runner.events import Ended, Event, HookNamed, Observer, RunStarted

REPAINTS_PER_SECOND = 8


@contextmanager
def live(standing: Standing, console: Console | None = None) -> Iterator[Observer]:
    """Give an observer whose events a screen on stderr shows until the block ends."""
    console = console or Console(stderr=True)
    with Live(
        get_renderable=lambda: screen(standing),
        console=console,
        refresh_per_second=REPAINTS_PER_SECOND,
        transient=True,
    ) as painter:

        def observer(event: Event) -> None:
            standing.tell(event)
            match event:
                case HookNamed(hook=hook):
                    for line in hook_lines(hook):
                        console.print(plain(line), soft_wrap=True)
                case RunStarted():
                    begun = plain(f"{title(event)}, recorded in {event.path}")
                    console.print(begun, soft_wrap=True)
                    if event.ahead is not None:
                        console.print(plain(f"ahead: {event.ahead.line}"), soft_wrap=True)
                case Ended():
                    painter.refresh()
                case _:
                    pass

        yield observer


def screen(standing: Standing) -> RenderableType:
    """Return the screen: what is done, how fast, how near to steady state, how long yet."""
    now = standing.progress
    rows = [
        ("phase", " · ".join(filter(None, (standing.phase, standing.cell)))),
        ("IOPS", rate(standing.iops, now.iops if now else None, digits=0)),
        ("MB/s", rate(standing.mb_s, now.mb_s if now else None, digits=1)),
        ("steady state", standing.steady),
        ("forecast", standing.rounds_left),
        ("elapsed", coarse(standing.elapsed_ns)),
        ("time left", standing.left or "-"),
        ("remarks", remarks(standing)),
    ]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", justify="right")
    grid.add_column()
    grid.add_row("", ProgressBar(total=1.0, completed=now.share if now else 0.0, width=48))
    for name, value in rows:
        if value:
            grid.add_row(name, plain(value))
    return grid


def plain(text: str) -> Text:
    """Return text that the console neither reads as markup nor hands to the terminal to obey."""
    return Text(visible(text, most=talk.CELL_MOST))


def rate(now: float | None, step: float | None, *, digits: int) -> str:
    """Return a rate of this moment, and of the whole step where one is running."""
    if now is None:
        return ""
    whole = "" if step is None else f"  ({step:,.{digits}f} in this step)"
    return f"{now:,.{digits}f}{whole}"


def remarks(standing: Standing) -> str:
    """Return the kinds of the remarks so far, each once."""
    return ", ".join(dict.fromkeys(remark.kind.value for remark in standing.remarks))
