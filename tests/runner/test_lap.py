"""A measurement that may end early: whoever stops it gets what was measured until then."""

from pathlib import Path
from unittest.mock import patch

import pytest

from teijo import api
from teijo.document.model import Paragraph
from teijo.errors import Interrupted
from teijo.runfile.proof.chain import clock_flaws
from teijo.runfile.proof.flaw import Check
from teijo.runner.events import Event, Progress
from teijo.runner.interrupt import Interrupt
from teijo.runner.run import _Act
from teijo.terms.result import STOPPED, StepResult
from teijo.units import NS_PER_S
from tests.crash.runs import in_a_child, kill_me

SECONDS = 100_000
"""Far longer than the test waits: the device of virtual time has millions of I/Os to make."""


def run(tmp_path: Path, **settings: str):
    asked = {"seconds": f"{SECONDS}s", "factor": "random", "strict": "on", "kind": "write"}
    return stopped("classic.sqlio", "sim:hdd-7200", tmp_path, asked | settings, "pass")


def diskspd(tmp_path: Path, phase: str, **settings: str):
    asked = {"access": "random", "buffering": "u", "warm_up": "1s", "seconds": "1s"}
    return stopped("classic.diskspd", "sim:hdd-7200", tmp_path, asked | settings, phase)


def stopped(method: str, target: str, tmp_path: Path, settings: dict[str, str], phase: str):
    """Run a method, and ask it to stop in this phase."""
    interrupt = Interrupt()

    def observer(event: Event) -> None:
        running = isinstance(event, Progress) and event.ios and event.step.phase == phase
        if running and not interrupt.requested:
            interrupt.request("a test")

    return api.run(
        method,
        target,
        output=tmp_path / "run.teijo",
        settings=settings,
        observer=observer,
        interrupt=interrupt,
    )


def test_it_is_done_with_what_was_measured_and_says_who_ended_it(tmp_path):
    done = run(tmp_path)
    (step,) = done.record.steps
    answer = step.answer
    assert isinstance(answer, StepResult)
    assert done.record.run.ending == "done"
    assert answer.detail[STOPPED] == "a test"
    assert 0 < answer.elapsed_ns < SECONDS * NS_PER_S
    assert done.found.printed.ios_per_s == pytest.approx(answer.iops)
    blocks = [each for section in done.document().sections for each in section.blocks]
    told = [each.text for each in blocks if isinstance(each, Paragraph)]
    assert sum("Ended early by a test" in text for text in told) == 1
    assert not list(clock_flaws(done.record))


def test_a_step_that_is_short_and_does_not_say_why_is_a_flaw(tmp_path):
    from dataclasses import replace

    done = run(tmp_path)
    (step,) = done.record.steps
    silent = replace(step, answer=replace(step.answer, detail={}))
    assert list(clock_flaws(replace(done.record, steps=(silent,))))


def test_one_of_several_passes_is_not_cut_but_stopped_and_can_go_on(tmp_path):
    with pytest.raises(Interrupted):
        run(tmp_path, passes="2")


@pytest.mark.parametrize(
    ("phase", "settings"),
    [("pass", {"seconds": f"{SECONDS}s"}), ("cool-down", {"cool_down": f"{SECONDS}s"})],
)
def test_with_a_cool_down_it_ends_as_well_and_does_not_wait_for_it(tmp_path, phase, settings):
    done = diskspd(tmp_path, phase, **{"cool_down": "1s", **settings})
    assert done.record.run.ending == "done"
    last = done.record.steps[-1]
    assert last.step.phase == phase
    assert last.ended_early
    assert len(done.found.passes) == 1


def test_before_anything_is_measured_it_is_interrupted(tmp_path):
    with pytest.raises(Interrupted):
        diskspd(tmp_path, "warm-up", warm_up=f"{SECONDS}s")


def test_what_was_ended_early_is_not_known_to_a_replay_and_what_was_before_it_is(tmp_path):
    path = diskspd(tmp_path, "pass", seconds=f"{SECONDS}s").path
    found = api.verify(path, replay=True)
    assert found.holds
    (flaw,) = found.unknown_of(Check.REPLAY)
    assert flaw.step == 2
    assert "somebody ended it early" in flaw.text


def test_killed_before_its_end_is_recorded_a_run_that_was_ended_early_is_only_ended(tmp_path):
    def act() -> None:
        with patch.object(_Act, "_end", lambda *_: kill_me()):
            diskspd(tmp_path, "pass", seconds=f"{SECONDS}s", cool_down="1s")

    assert in_a_child(act) == -9
    resumed = api.resume(tmp_path / "run.teijo")
    assert resumed.record.run.ending == "done"
    assert [each.step.phase for each in resumed.record.steps] == ["warm-up", "pass"]
