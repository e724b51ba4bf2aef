"""A simulated run carried out again: an honest record holds, a changed one does not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.errors import DeviceError, IdentityError
from teijo.runfile.proof.flaw import Check, Flaw
from teijo.runner.again import replayed
from teijo.runner.events import Event, StepStarted, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, StepResult
from tests.runner.acts import run_paper
from tests.runner.fakes import STEPS, FakeDevice, Faults, PaperMethod


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return run_paper(tmp_path_factory.mktemp("paper") / "run")


def flaws(record: Record, device: FakeDevice | None = None) -> list[Flaw]:
    return [*replayed(record, PaperMethod(), device or FakeDevice(), unobserved, Interrupt())]


def changed(record: Record, seq: int, change: Callable[[StepResult], object]) -> Record:
    """Return a record with another answer to one step."""
    steps = list(record.steps)
    answer = steps[seq - 1].answer
    assert isinstance(answer, StepResult)
    steps[seq - 1] = replace(steps[seq - 1], answer=change(answer))  # type: ignore[arg-type]
    return replace(record, steps=tuple(steps))


def test_an_honest_record_is_answered_the_same_step_by_step(honest: Record) -> None:
    events: list[Event] = []
    assert [*replayed(honest, PaperMethod(), FakeDevice(), events.append, Interrupt())] == []
    again = [event for event in events if isinstance(event, StepStarted)]
    assert [event.seq for event in again] == list(range(1, STEPS + 1))
    assert all(event.replayed for event in again)


def test_a_changed_number_is_told_with_its_step_and_its_name_and_once(honest: Record) -> None:
    def shorter(answer: StepResult) -> StepResult:
        first, *others = answer.results
        latency = replace(first.latency, sum_ns=first.latency.sum_ns - 1)
        return replace(answer, results=(replace(first, latency=latency), *others))

    measured = next(
        each.seq for each in honest.steps if each.answer.results  # type: ignore[union-attr]
    )  # fmt: skip
    (found,) = flaws(changed(honest, measured, shorter))
    assert (found.check, found.step) == (Check.REPLAY, measured)
    assert found.text.endswith("latency_ns_sum")


def test_columns_remarks_and_what_was_measured_of_nothing_are_told_by_name(honest: Record) -> None:
    said = Remark(kind=RemarkKind.IO_ERRORS, text="no", step=2)
    for change, name in (
        (lambda answer: replace(answer, health_after={"laps": 0}), "health_after"),
        (lambda answer: replace(answer, cursors={"main": 4096}), "cursors"),
        (lambda answer: replace(answer, remarks=(said,)), "remarks"),
        (lambda answer: replace(answer, results=()), "the whole row; intervals"),
    ):
        (found,) = flaws(changed(honest, 4, change))
        assert found.step == 4
        assert name in found.text


def test_a_step_that_did_not_take_place_is_no_simulations(honest: Record) -> None:
    found = flaws(changed(honest, 3, lambda answer: Gap()))
    assert [each.step for each in found] == [3]
    assert "did not take place" in found[0].text


def test_remarks_of_the_beginning_are_those_of_device_and_settings(honest: Record) -> None:
    kept = tuple(each for each in honest.remarks if each.kind is not RemarkKind.SIMULATED)
    own = Remark(kind=RemarkKind.DEVIATION, text="made up")
    found = flaws(replace(honest, remarks=(*kept, own)))
    assert [each.step for each in found] == [None, None]
    assert "simulated is missing: It is of paper." in found[0].text
    assert "has no reason: made up" in found[1].text


def test_another_device_than_that_of_the_record_is_refused(honest: Record) -> None:
    with pytest.raises(IdentityError, match="PAPER-1"):
        flaws(honest, FakeDevice(serial="OTHER"))


def test_a_step_that_cannot_be_carried_out_ends_the_replay_with_its_reason(honest: Record) -> None:
    device = FakeDevice(faults=Faults(raises={1: DeviceError("It is torn.")}))
    (found,) = flaws(honest, device)
    assert "cannot be carried out: It is torn." in found.text
