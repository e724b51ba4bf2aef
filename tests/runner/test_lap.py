"""A measurement that may end early: whoever stops it gets what was measured until then."""

from pathlib import Path

import pytest

from teijo import api
from teijo.errors import Interrupted
from teijo.methods.classic.timed_pages import NO_LEVEL, early_blocks
from teijo.runfile.proof.chain import clock_flaws
from teijo.runner.events import Event, Progress
from teijo.runner.interrupt import Interrupt
from teijo.terms.result import STOPPED, StepResult
from teijo.units import NS_PER_S

SECONDS = 100_000
"""Far longer than the test waits: the device of virtual time has millions of I/Os to make."""


def run(tmp_path: Path, **settings: str):
    interrupt = Interrupt()

    def observer(event: Event) -> None:
        if isinstance(event, Progress) and event.ios and not interrupt.requested:
            interrupt.request("a test")

    asked = {"seconds": f"{SECONDS}s", "factor": "random", "strict": "on", "kind": "write"}
    return api.run(
        "classic.sqlio",
        "sim:hdd-7200",
        output=tmp_path / "run.teijo",
        settings=asked | settings,
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
    (told,) = early_blocks(done.found)
    assert "Ended early by a test" in told.text
    assert not list(clock_flaws(done.record))
    assert NO_LEVEL


def test_a_step_that_is_short_and_does_not_say_why_is_a_flaw(tmp_path):
    from dataclasses import replace

    done = run(tmp_path)
    (step,) = done.record.steps
    silent = replace(step, answer=replace(step.answer, detail={}))
    assert list(clock_flaws(replace(done.record, steps=(silent,))))


def test_one_of_several_passes_is_not_cut_but_stopped_and_can_go_on(tmp_path):
    with pytest.raises(Interrupted):
        run(tmp_path, passes="2")
