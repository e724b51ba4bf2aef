"""A run's ends: done, failed, interrupted, host error; and what each leaves behind."""

import errno
import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest

from teijo.errors import DeviceError, HostError, IdentityError, Interrupted, PlanError, RunFileError
from teijo.runfile import reader, space
from teijo.runner.events import (
    Ended,
    Event,
    Judged,
    Progress,
    Remarked,
    RunStarted,
    StepDone,
    StepStarted,
)
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from tests.runner.acts import resume_paper, run_paper
from tests.runner.fakes import (
    STEPS,
    FakeDevice,
    Faults,
    PaperMethod,
    results_of,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.teijo"


def test_a_run_leaves_one_sealed_file_with_every_step(path: Path) -> None:
    record = run_paper(path)
    assert [item.name for item in path.parent.iterdir()] == ["run.teijo"]
    assert [step.seq for step in record.steps] == list(range(1, STEPS + 1))
    assert record.run.ending == "steady"
    assert record.run.ended_at


def test_an_observer_hears_the_run_in_order(path: Path) -> None:
    events: list[Event] = []
    run_paper(path, observer=events.append)
    kinds = [type(event) for event in events]
    assert kinds[0] is RunStarted
    assert kinds[-1] is Ended
    assert kinds.count(StepStarted) == kinds.count(StepDone) == STEPS
    assert kinds.count(Judged) == STEPS + 1
    shares = [e.share for e in events if isinstance(e, Progress) and e.step.kind == "measure"]
    assert shares[:2] == [0.5, 1.0]


def test_no_two_steps_share_a_seed_and_a_run_repeats_itself(tmp_path: Path) -> None:
    one, two = (run_paper(tmp_path / name) for name in ("a", "b"))
    seeds = [step.seed for step in one.steps]
    assert len(set(seeds)) == len(seeds)
    assert all(seed < 2**53 for seed in seeds)
    assert one.steps == two.steps


def test_sequential_streams_carry_on_where_the_last_step_left_them(path: Path) -> None:
    device = FakeDevice()
    run_paper(path, device, method=PaperMethod(fills=3))
    begins = [plan.streams[0].cursor_bytes for plan in device.session.plans[:3]]
    assert begins == [0, 3 * 128 * 1024, 6 * 128 * 1024]


def test_the_gap_before_a_step_is_the_rest_the_device_had(path: Path) -> None:
    device = FakeDevice()
    answers = results_of(run_paper(path, device))
    assert answers[0].gap_ns == 0
    for before, after in pairwise(answers):
        rest = after.started_ns - before.started_ns - before.elapsed_ns
        assert after.gap_ns == rest == 14  # the counters were read twice, 7 ns each


def test_the_devices_counters_stand_before_and_after_each_step(path: Path) -> None:
    answers = results_of(run_paper(path))
    measured = answers[-1]
    assert measured.health_after["laps"] == measured.health_before["laps"] + 1


def test_the_device_is_checked_around_every_step_and_the_stimulus_ended(path: Path) -> None:
    device = FakeDevice()
    run_paper(path, device)
    assert device.checks == 2 * STEPS
    assert device.session.finished >= STEPS


def test_a_step_in_which_another_device_took_its_place_is_not_recorded(path: Path) -> None:
    def swap() -> None:
        device.lost = IdentityError("another device took its place")

    device = FakeDevice(faults=Faults(during={3: swap}))
    with pytest.raises(IdentityError, match="another device"):
        run_paper(path, device)
    record = reader.read(path)
    assert record.run.ending == "interrupted"
    assert len(record.steps) == 4, "purge, preconditioning, rest, and the one lap of the old device"
    device.lost = None


def test_a_device_that_is_gone_after_its_last_answer_keeps_that_answer(path: Path) -> None:
    def unplug() -> None:
        device.lost = DeviceError("it is gone")

    device = FakeDevice(faults=Faults(during={3: unplug}))
    with pytest.raises(DeviceError, match="gone"):
        run_paper(path, device)
    assert len(reader.read(path).steps) == 5


def test_a_device_that_cannot_be_purged_is_remarked(path: Path) -> None:
    record = run_paper(path, FakeDevice(purge_method=None))
    assert (RemarkKind.NOT_PURGED, 1) in [(r.kind, r.step) for r in record.remarks]
    assert results_of(record)[0].detail["method"] == "none"


def test_not_steady_is_remarked(path: Path) -> None:
    record = run_paper(path, method=PaperMethod(ending="not steady"))
    assert record.run.ending == "not steady"
    assert RemarkKind.NOT_STEADY in [remark.kind for remark in record.remarks]


def test_failed_ios_are_counted_named_and_remarked(path: Path) -> None:
    events: list[Event] = []
    faults = Faults(errors={2: {errno.EIO: 3, 0: 1}})
    record = run_paper(path, FakeDevice(faults=faults), observer=events.append)
    remark = next(r for r in record.remarks if r.kind is RemarkKind.IO_ERRORS)
    assert remark.step == 4
    assert "Input/output error" in remark.text
    assert "short or empty transfer" in remark.text
    assert any(isinstance(event, Remarked) for event in events)
    assert results_of(record)[3].results[0].errors == {errno.EIO: 3, 0: 1}


def test_a_failing_device_ends_the_run_with_all_it_answered(path: Path) -> None:
    device = FakeDevice(faults=Faults(failure={3: "1000 I/Os in a row failed (EIO)"}))
    with pytest.raises(DeviceError, match="step 5") as caught:
        run_paper(path, device)
    assert caught.value.exit_code == 5
    record = reader.read(path)
    assert record.run.ending == "failed"
    assert "EIO" in record.run.error
    assert len(record.steps) == 5
    assert results_of(record)[-1].ios > 0


def test_another_device_stops_the_run_which_can_go_on_later(path: Path) -> None:
    device = FakeDevice()

    def lose(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 4:
            device.lost = IdentityError("The serial is X and was Y.")

    with pytest.raises(IdentityError):
        run_paper(path, device, observer=lose)
    assert reader.read(path).run.ending == "interrupted"
    assert len(resume_paper(path).steps) == STEPS


def test_a_plan_the_device_cannot_serve_leaves_no_file_if_nothing_was_measured(
    path: Path,
) -> None:
    device = FakeDevice(faults=Faults())
    device.lost = PlanError("a block is larger than the range")
    with pytest.raises(PlanError):
        run_paper(path, device)
    assert list(path.parent.iterdir()) == []


def test_a_plan_refused_later_keeps_what_was_measured(path: Path) -> None:
    with pytest.raises(PlanError, match="no multiple"):
        run_paper(path, method=PaperMethod(first_block=700))
    record = reader.read(path)
    assert record.run.ending == "failed"
    assert len(record.steps) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_running_step_and_the_run_can_go_on(
    path: Path, number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    faults = Faults(during={3: once(lambda: os.kill(os.getpid(), number))})
    events: list[Event] = []
    with pytest.raises(Interrupted, match=number.name) as caught:
        run_paper(path, FakeDevice(faults=faults), observer=events.append)
    looks = [event for event in events if isinstance(event, Progress) and event.seq == 5]
    assert len(looks) == 1, "the lap went on after the signal"
    assert caught.value.exit_code == 7
    assert "teijo resume" in str(caught.value)
    assert signal.getsignal(number) == before
    record = reader.read(path)
    assert record.run.ending == "interrupted"
    assert len(record.steps) == 4
    running = reader.read_running(path)
    assert running is not None
    assert running.seq == 5
    resumed = resume_paper(path)
    assert len(resumed.steps) == STEPS
    kinds = [remark.kind for remark in resumed.remarks]
    assert RemarkKind.INTERRUPTED not in kinds
    assert RemarkKind.RESUMED in kinds


def test_a_signal_that_is_ignored_stays_ignored(path: Path) -> None:
    faults = Faults(during={4: lambda: os.kill(os.getpid(), signal.SIGHUP)})
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        assert run_paper(path, FakeDevice(faults=faults)).run.ending == "steady"
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_signal_stops_at_once(path: Path) -> None:
    def twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second signal did not stop the lap")

    with pytest.raises(Interrupted):
        run_paper(path, FakeDevice(faults=Faults(during={2: twice})))
    assert reader.read(path).run.ending == "interrupted"


def test_a_signal_ends_a_rest_at_once(path: Path) -> None:
    device = FakeDevice()
    device.rest = lambda: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(Interrupted):
        run_paper(path, device)
    assert len(reader.read(path).steps) == 2


def test_a_run_outside_the_main_thread_leaves_the_signals_alone(path: Path) -> None:
    handlers: list[object] = []
    records: list[Record] = []

    def look(event: Event) -> None:
        handlers.append(signal.getsignal(signal.SIGTERM))

    thread = Thread(target=lambda: records.append(run_paper(path, observer=look)))
    before = signal.getsignal(signal.SIGTERM)
    thread.start()
    thread.join()
    assert records[0].run.ending == "steady"
    assert set(handlers) == {before}


def test_room_for_the_whole_run_is_reserved_also_by_a_resume(path: Path) -> None:
    sizes: dict[int, int] = {}

    def look(event: Event) -> None:
        if isinstance(event, StepStarted):
            sizes[event.seq] = path.with_name("run.teijo.reserve").stat().st_size
            if event.seq == 5 and len(sizes) == 5:
                raise HostError("died")

    with pytest.raises(HostError, match="died"):
        run_paper(path, FakeDevice(replayable=False), observer=look)
    assert not path.with_name("run.teijo.reserve").exists()
    resume_paper(path, FakeDevice(replayable=False), observer=look)
    assert len(sizes) > 5
    assert min(sizes.values()) >= space.LEAST_BYTES


def test_the_running_step_can_be_watched_from_another_reader(path: Path) -> None:
    seen: list[int] = []

    def look(event: Event) -> None:
        if isinstance(event, Progress) and event.seq == 6:
            running = reader.read_running(path)
            assert running is not None
            seen.append(len(running.intervals["main", "write"].index))
            assert len(reader.read(path).steps) == 5

    run_paper(path, observer=look)
    assert seen == [1, 2]


def test_an_observers_error_leaves_the_run_resumable(path: Path) -> None:
    def fall(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 3:
            raise HostError("the terminal went away")

    with pytest.raises(HostError):
        run_paper(path, observer=fall)
    assert len(reader.read(path).steps) == 3
    assert len(resume_paper(path).steps) == STEPS


def test_a_name_that_is_taken_is_refused(path: Path) -> None:
    run_paper(path)
    with pytest.raises(RunFileError, match="never overwritten"):
        run_paper(path)
    device = FakeDevice(faults=Faults(raises={1: HostError("no memory")}))
    with pytest.raises(HostError):
        run_paper(path.with_name("b.teijo"), device)
    with pytest.raises(RunFileError, match="has not ended"):
        run_paper(path.with_name("b.teijo"))


def once(action: Callable[[], None]) -> Callable[[], None]:
    """Do it the first time only: a second signal would stop at once."""
    left = [action]
    return lambda: left.pop()() if left else None
