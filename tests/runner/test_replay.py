"""Resume: simulated devices do it all again, others have a gap; nothing is guessed."""

from itertools import pairwise
from pathlib import Path

import pytest

from teijo.errors import HostError, IdentityError, RunFileError
from teijo.runfile import reader
from teijo.runfile.schema import VERSION
from teijo.runner.events import Event, StepDone, StepStarted
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap, StepResult
from tests.runfile.forging import as_version
from tests.runner.acts import resume_paper, run_paper
from tests.runner.fakes import STEPS, FakeDevice, PaperMethod, results_of


def stopped_after(
    path: Path, seq: int, *, replayable: bool = True, method: PaperMethod | None = None
) -> None:
    """Leave a run that died after a step."""

    def die(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == seq:
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        run_paper(path, FakeDevice(replayable=replayable), method=method, observer=die)


@pytest.mark.parametrize("seq", range(1, STEPS + 1))
def test_a_simulated_run_that_was_resumed_equals_one_that_was_not(tmp_path: Path, seq: int) -> None:
    whole = run_paper(tmp_path / "whole")
    stopped_after(tmp_path / "cut", seq)
    events: list[Event] = []
    resumed = resume_paper(tmp_path / "cut", observer=events.append)
    assert resumed.steps == whole.steps
    replayed = [e.seq for e in events if isinstance(e, StepStarted) and e.replayed]
    assert replayed == list(range(1, seq + 1))
    assert [r.kind for r in resumed.remarks].count(RemarkKind.RESUMED) == 1


@pytest.mark.parametrize("version", range(1, VERSION))
def test_a_run_that_an_older_teijo_left_open_goes_on_as_a_new_one(
    tmp_path: Path, version: int
) -> None:
    whole = run_paper(tmp_path / "whole")
    stopped_after(tmp_path / "left", 3)
    as_version(tmp_path / "left.teijo.open", tmp_path / "cut.teijo.open", version)
    resumed = resume_paper(tmp_path / "cut")
    assert resumed.steps == whole.steps
    assert resumed.run.provenance == whole.run.provenance


@pytest.mark.parametrize("seq", range(1, STEPS))
def test_a_real_device_has_a_gap_where_it_was_left_alone(tmp_path: Path, seq: int) -> None:
    stopped_after(tmp_path / "cut", seq, replayable=False)
    device = FakeDevice(replayable=False)
    resumed = resume_paper(tmp_path / "cut", device)
    gaps = [step.seq for step in resumed.steps if isinstance(step.answer, Gap)]
    assert gaps == [seq + 1]
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]
    assert resumed.run.ending == "steady"
    starts = [answer.started_ns for answer in results_of(resumed)]
    assert starts == sorted(starts)


def test_a_step_that_was_running_becomes_the_gap_with_the_intervals_it_had(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cut"
    seen: list[int] = []

    def die(event: Event) -> None:
        if isinstance(event, StepStarted) and event.seq == 6:
            seen.append(event.seq)
        elif seen and type(event).__name__ == "Progress":
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        run_paper(path, FakeDevice(replayable=False), observer=die)
    running = reader.read_running(path)
    assert running is not None
    assert len(running.intervals["main", "read"].index) == 1
    resumed = resume_paper(path, FakeDevice(replayable=False))
    assert isinstance(resumed.steps[5].answer, Gap)
    assert resumed.steps[5].step == running.step


def test_a_run_without_an_answer_begins_again_without_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "cut"

    def die(event: Event) -> None:
        if isinstance(event, StepStarted):
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        run_paper(path, FakeDevice(replayable=False), observer=die)
    resumed = resume_paper(path, FakeDevice(replayable=False))
    assert not [step for step in resumed.steps if isinstance(step.answer, Gap)]
    assert len(resumed.steps) == STEPS


def test_another_device_is_refused_and_the_record_untouched(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    stopped_after(path, 4, replayable=False)
    before = reader.read(path)
    with pytest.raises(IdentityError, match=r"serial: 'PAPER-1' then, 'OTHER' now") as caught:
        resume_paper(path, FakeDevice(replayable=False, serial="OTHER"))
    assert caught.value.exit_code == 4
    assert reader.read(path) == before
    assert resume_paper(path, FakeDevice(replayable=False)).run.ending == "steady"


def test_a_simulated_device_that_answers_differently_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    stopped_after(path, 5)
    device = FakeDevice()
    device.session.clock_ns += 1
    device.purge_method = "fire"
    with pytest.raises(IdentityError, match="another answer to step 1"):
        resume_paper(path, device)
    assert len(resume_paper(path).steps) == STEPS


def test_a_method_that_asks_for_another_step_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    stopped_after(path, 5)
    with pytest.raises(RunFileError, match="step 4"):
        resume_paper(path, method=PaperMethod(first_block=8192))


def test_a_sealed_run_has_nothing_left_to_resume(tmp_path: Path) -> None:
    run_paper(tmp_path / "run")
    with pytest.raises(RunFileError, match="sealed"):
        resume_paper(tmp_path / "run")


@pytest.mark.parametrize("replayable", [True, False])
def test_sequential_streams_carry_on_after_a_resume(tmp_path: Path, replayable: bool) -> None:
    path, method = tmp_path / "cut", PaperMethod(fills=3)
    stopped_after(path, 3, replayable=replayable, method=method)
    device = FakeDevice(replayable=replayable)
    resume_paper(path, device, method=method)
    fills = [plan for plan in device.session.plans if plan.total_bytes is not None]
    assert fills[-1].streams[0].cursor_bytes == 6 * 128 * 1024


def test_the_clock_of_a_run_goes_on_after_two_gaps_in_a_row(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    stopped_after(path, 4, replayable=False)

    def die(event: Event) -> None:
        if isinstance(event, StepDone) and isinstance(event.answer, Gap):
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        resume_paper(path, FakeDevice(replayable=False), observer=die)
    steps = resume_paper(path, FakeDevice(replayable=False)).steps
    assert [step.seq for step in steps if isinstance(step.answer, Gap)] == [5, 6]
    answers = [step.answer for step in steps if isinstance(step.answer, StepResult)]
    for before, after in pairwise(answers):
        assert after.started_ns >= before.started_ns + before.elapsed_ns


def test_a_run_can_be_resumed_more_than_once(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    stopped_after(path, 4, replayable=False)

    def die(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 7:
            raise HostError("died")

    with pytest.raises(HostError, match="died"):
        resume_paper(path, FakeDevice(replayable=False), observer=die)
    resumed = resume_paper(path, FakeDevice(replayable=False))
    gaps = [step.seq for step in resumed.steps if isinstance(step.answer, Gap)]
    assert gaps == [5, 8]
    assert [r.kind for r in resumed.remarks].count(RemarkKind.RESUMED) == 2
