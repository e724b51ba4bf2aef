"""The live screen shows phase, round, rates, steady state, time left and remarks."""

import io

from rich.console import Console

from teijo.cli.live import live, screen
from teijo.runner.run_state import Follower
from tests.cli.events import Hands, short_run


def shown(events: int) -> str:
    follower = Follower(Hands())
    for event in short_run()[:events]:
        follower.tell(event)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(screen(follower.state))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_the_screen_shows_what_a_person_waits_for() -> None:
    text = shown(events=7)
    for part in (
        "round 3 of 5 to 25 · 0/100 4 KiB",
        "3,210  (3,000 in this step)",
        "13.2  (12.3 in this step)",
        "2 of 3 tracking variables steady",
        "time left",
        "simulated",
    ):
        assert part in text
    assert text.splitlines()[1].split()[:2] == ["phase", "round"], "the bar has its own line"


def test_the_screen_of_a_run_that_has_just_begun_invents_nothing() -> None:
    text = shown(events=1)
    assert "opening the target" in text
    assert "IOPS" not in text


def test_the_screen_is_painted_on_its_console_and_cleared_at_the_end() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None)
    with live(Follower(Hands()), console) as observer:
        for event in short_run():
            observer(event)
    assert "recorded in run.teijo.open" in file.getvalue()
