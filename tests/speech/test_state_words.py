"""Where a run stands: phase, round, and the time that is left as a person waits for it."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from teijo.cli.live import screen
from teijo.cli.progress import line_of
from teijo.runner.event_json import as_json
from teijo.runner.events import Ended, StepDone, StepStarted, Stopping
from teijo.runner.run_state import Follower
from teijo.speech.state_words import forecast_words, left, phase, rounds_left, steady
from teijo.terms.step import Configure, Idle, Perform, Purge
from teijo.terms.watch import RoundsLeft
from teijo.terms.work import Files
from tests.cli.events import (
    MEASURE,
    PATH,
    PRECONDITION,
    SECOND,
    Hands,
    judged,
    progress,
    result,
    started,
)


def test_before_the_first_step_the_target_is_being_opened_and_nothing_is_known() -> None:
    follower = Follower(Hands())
    assert phase(follower.state) == "opening the target"
    assert (left(follower.state), steady(follower.state), follower.state.cell) == ("", "", "")


def test_a_round_is_told_with_the_bounds_of_the_last_one() -> None:
    follower = Follower(Hands())
    for event in (started(), judged(0, 0), StepStarted(seq=2, step=MEASURE)):
        follower.tell(event)
    assert phase(follower.state) == "round 3 of 5 to 25"
    assert follower.state.cell == "0/100 4 KiB"


def test_each_kind_of_step_has_its_word() -> None:
    follower = Follower(Hands())
    words = []
    chunk = Configure(settings=(("chunk", "64KiB"),))
    for step in (Purge(), PRECONDITION, Idle(duration_ns=1), chunk, MEASURE):
        follower.tell(StepStarted(seq=1, step=step, replayed=step is MEASURE))
        words.append(phase(follower.state))
    assert words[:3] == ["purging", "preconditioning", "resting"]
    assert words[3:] == ["configuring chunk=64KiB", "replaying step 1: round 3"]


def test_the_time_left_is_told_with_its_range_and_by_itself_where_it_is_certain() -> None:
    hands = Hands()
    follower = Follower(hands)
    follower.tell(started())
    follower.tell(StepStarted(seq=1, step=MEASURE))
    follower.tell(judged(120 * SECOND, 600 * SECOND))
    hands.ns = 20 * SECOND
    follower.tell(progress(MEASURE, 20 * SECOND, 4096))
    assert left(follower.state) == "about 3 min 16 s (1 min 40 s to 9 min 40 s)"
    follower.tell(judged(40 * SECOND, 40 * SECOND))
    assert left(follower.state) == "about 20 s"


def test_bytes_that_are_measured_or_read_back_are_no_preconditioning() -> None:
    follower = Follower(Hands())
    follower.tell(StepStarted(seq=1, step=replace(PRECONDITION, phase="verify")))
    assert phase(follower.state) == "verify"


def test_a_run_that_is_over_has_no_time_left_and_knows_its_file() -> None:
    follower = Follower(Hands())
    follower.tell(StepDone(seq=1, step=MEASURE, answer=result(SECOND)))
    follower.tell(judged(SECOND, SECOND))
    follower.tell(Stopping(signal="SIGINT"))
    assert phase(follower.state) == "stopping (SIGINT)"
    follower.tell(Ended(ending="interrupted", path=PATH))
    assert (left(follower.state), follower.state.path) == ("", PATH)
    assert follower.state.share < 1, "it was stopped before its end"


def test_steps_too_short_for_a_look_show_the_rate_of_the_last_one() -> None:
    follower = Follower(Hands())
    assert follower.state.iops is None
    follower.tell(progress(MEASURE, SECOND, 4096))
    assert (follower.state.iops, follower.state.mb_s) == (3210.4, 13.15)
    follower.tell(StepDone(seq=1, step=MEASURE, answer=result(SECOND)))
    assert follower.state.iops == 3210.4, "a step without I/O has no rate"


def test_a_forecast_is_told_with_its_confidence_and_the_risk_that_it_never_comes() -> None:
    def words(low: int, median: int, high: int, never: float, phase: str = "round") -> str:
        left = RoundsLeft(low=low, median=median, high=high, confidence=0.9, never=never)
        return forecast_words(left, phase)

    assert words(1, 3, 9, 0.02) == "3 more rounds (90 %: 1 to 9)"
    assert words(1, 1, 1, 0.0) == "1 more round"
    assert words(62, 93, 124, 0.0, "minute") == "93 more minutes (90 %: 62 to 124)"
    assert words(2, 9, 20, 0.25) == "9 more rounds (90 %: 2 to 20), 25 % that it never is steady"


def test_the_rate_of_work_on_files_is_in_operations() -> None:
    step = Perform(work=Files(operation="create", count=10), round_number=2, cell="create")
    follower = Follower(Hands())
    for event in (started(), StepStarted(seq=2, step=step), progress(step, SECOND, 0)):
        follower.tell(event)
    console = Console(width=100, file=StringIO())
    console.print(screen(follower.state))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "operations/s  3,210  (3,000 in this step)" in text
    assert "create" in text
    assert "IOPS" not in text
    assert "MB/s" not in text
    assert "create, 3,000 operations/s" in line_of(follower.state)
    assert "IOPS" not in line_of(follower.state)


def test_a_forecast_is_on_the_screen_in_the_lines_and_in_json() -> None:
    left = RoundsLeft(low=1, median=3, high=9, confidence=0.9, never=0.0)
    told = judged(0, 0)
    told = replace(told, watch=replace(told.watch, rounds_left=left))
    follower = Follower(Hands())
    for event in (started(), told, StepStarted(seq=2, step=MEASURE)):
        follower.tell(event)
    assert rounds_left(follower.state) == "3 more rounds (90 %: 1 to 9)"
    assert rounds_left(follower.state) in line_of(follower.state)
    console = Console(width=100, file=StringIO())
    console.print(screen(follower.state))
    assert rounds_left(follower.state) in console.file.getvalue()  # type: ignore[attr-defined]
    assert as_json(told)["rounds_left"] == {
        "low": 1,
        "median": 3,
        "high": 9,
        "confidence": 0.9,
        "never": 0.0,
    }
    assert as_json(judged(0, 0))["rounds_left"] is None
    follower.tell(Ended(ending="steady", path=PATH))
    assert rounds_left(follower.state) == ""
