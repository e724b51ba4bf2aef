"""Configure in a run: the record knows each device, the clock goes on, resume does it again."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from teijo.cli.signals import heard
from teijo.device import Hook, open_target
from teijo.device.device import Device
from teijo.errors import HostError, Interrupted
from teijo.methods.method import Steps
from teijo.methods.settings import Settings
from teijo.runfile import reader
from teijo.runner.events import Event, Observer, StepDone, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.runner.preview import preview
from teijo.runner.run import Order, begin
from teijo.terms.configured import geometry_in
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Configure, Measure, Step
from teijo.terms.workload import Access
from teijo.units import MIB
from tests.runner.acts import resume_paper
from tests.runner.fakes import FakeDevice, PaperMethod, PaperSettings, workload

MS = 1_000_000
SMALL = "sim:mlc-a?capacity=64MiB&dies=2"
OTHERS = ("sim:mlc-a?capacity=128MiB&dies=2", "sim:slc-a?capacity=64MiB&dies=2", SMALL)


class Rebuilding(PaperMethod):
    """Configures, writes for a moment, and does the same for each other configuration."""

    def __init__(self, make: Callable[[str], Configure]) -> None:
        super().__init__()
        self._make = make
        self.hook = make("").hook

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        writes = workload(0, 4096, Access.SEQUENTIAL)
        for number, text in enumerate(OTHERS, 1):
            measure = Measure(workload=writes, duration_ns=10 * MS, round_number=number, cell=text)
            whole = False
            while not whole:
                configured = yield self._make(text)
                whole = isinstance(configured, StepResult) and isinstance(
                    (yield measure), StepResult
                )
        return "done"


def swapped(text: str) -> Configure:
    return Configure(settings=(("device", text),), device=text, cell=text)


def by_hook(*argv: str) -> Callable[[str], Configure]:
    return lambda text: Configure(settings=(("device", text),), hook=argv, cell=text)


def by_consent(target: str, method: Rebuilding, *, overwrite: bool = False) -> Device:
    """Open a target that the hook of a method may configure."""
    hook = Hook.of(method.hook)
    return open_target(target, write=True, overwrite=overwrite, hook=hook)


def run(path: Path, device: Device, method: Rebuilding, observer: Observer = unobserved) -> Record:
    order = Order(
        method=method,
        spec="",
        settings=PaperSettings(),
        seed=11,
        device=device,
        output=path,
        engine="native",
    )
    with closing(device):
        return reader.read(begin(order, observer, Interrupt(heard)))


def go_on(path: Path, device: Device, method: Rebuilding) -> Record:
    with closing(device):
        return resume_paper(path, device, method=method)


def dying_after(seq: int) -> Observer:
    def die(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == seq:
            raise HostError("died")

    return die


def answers(record: Record, kind: type[Step]) -> list[StepResult]:
    return [
        each.answer
        for each in record.steps
        if isinstance(each.step, kind) and isinstance(each.answer, StepResult)
    ]


def test_each_configuration_stands_in_the_record_and_the_clock_goes_on(tmp_path: Path) -> None:
    record = run(tmp_path / "run", open_target(SMALL, write=True), Rebuilding(swapped))
    configured = answers(record, Configure)
    assert [each.detail["target"] for each in configured] == list(OTHERS)
    sizes = [geometry_in(each.detail) for each in configured]
    assert [size and size.capacity_bytes // MIB for size in sizes] == [128, 64, 64]
    ends = [each.started_ns + each.elapsed_ns for each in answers(record, Measure)]
    assert ends == sorted(ends)
    assert ends[0] >= 10 * MS
    assert all(each.started_ns >= 0 and each.gap_ns < MS for each in answers(record, Measure))


def test_a_sequential_stream_begins_anew_on_a_new_device(tmp_path: Path) -> None:
    record = run(tmp_path / "run", open_target(SMALL, write=True), Rebuilding(swapped))
    first, _, third = answers(record, Measure)
    assert first.cursors["main"] > 0
    assert third.cursors["main"] < 2 * first.cursors["main"]


def test_what_must_be_said_of_a_new_device_is_said_once(tmp_path: Path) -> None:
    record = run(tmp_path / "run", open_target(SMALL, write=True), Rebuilding(swapped))
    said = [each.text for each in record.remarks if each.kind is RemarkKind.SIMULATED]
    assert len(said) == len(set(said)) == 2
    assert [each.step for each in record.remarks if "SLC-A" in each.text] == [3]


@pytest.mark.parametrize("seq", range(1, 7))
def test_on_simulated_devices_a_resumed_run_equals_a_whole_one(tmp_path: Path, seq: int) -> None:
    method = Rebuilding(swapped)
    whole = run(tmp_path / "whole", open_target(SMALL, write=True), method)
    with pytest.raises(HostError, match="died"):
        run(tmp_path / "cut", open_target(SMALL, write=True), method, dying_after(seq))
    resumed = go_on(tmp_path / "cut", open_target(SMALL, write=True), method)
    assert resumed.steps == whole.steps


@pytest.mark.parametrize("seq", range(6))
def test_on_a_real_target_the_hook_runs_again_for_the_cell_that_is_resumed(
    tmp_path: Path, seq: int
) -> None:
    target, log = f"{tmp_path}/disk?size=4MiB", tmp_path / "log"
    method = Rebuilding(by_hook("sh", "-c", f"echo $TEIJO_SET_DEVICE >> {log}"))
    ends: Observer = dying_after(seq) if seq else unobserved
    if seq:
        with pytest.raises(HostError, match="died"):
            run(tmp_path / "cut", by_consent(target, method), method, ends)
        record = go_on(tmp_path / "cut", by_consent(target, method), method)
    else:
        record = run(tmp_path / "cut", by_consent(target, method), method)
    measured = [each.step.cell for each in record.steps if isinstance(each.step, Measure)
                and isinstance(each.answer, StepResult)]  # fmt: skip
    assert measured == list(OTHERS)
    in_the_middle = seq % 2 == 1
    expected = [text for n, text in enumerate(OTHERS) for _ in range(1 + (
        in_the_middle and seq == 2 * n + 1
    ))]  # fmt: skip
    assert log.read_text().split() == expected


def test_a_hook_that_changed_the_size_does_not_keep_a_run_from_going_on(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(bytes(4 * MIB))
    method = Rebuilding(by_hook("sh", "-c", 'head -c 8M /dev/zero > "$TEIJO_TARGET"'))
    opened = lambda: by_consent(str(path), method, overwrite=True)  # noqa: E731
    with pytest.raises(HostError, match="died"):
        run(tmp_path / "cut", opened(), method, dying_after(2))
    record = go_on(tmp_path / "cut", opened(), method)
    sizes = [geometry_in(each.detail) for each in answers(record, Configure)]
    assert [size and size.capacity_bytes for size in sizes] == [8 * MIB] * 3


def test_a_failed_hook_leaves_a_run_that_can_go_on(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    method = Rebuilding(by_hook("sh", "-c", f"[ $(cat {gate}) != $TEIJO_SET_DEVICE ]"))
    target = f"{tmp_path}/disk?size=4MiB"
    gate.write_text(OTHERS[1])
    with pytest.raises(HostError, match="exit code 1"):
        run(tmp_path / "cut", by_consent(target, method), method)
    gate.write_text("none")
    record = go_on(tmp_path / "cut", by_consent(target, method), method)
    assert len(answers(record, Measure)) == 3


def test_time_of_a_device_of_paper_counts_from_where_the_run_stood(tmp_path: Path) -> None:
    record = run(tmp_path / "run", FakeDevice(), Rebuilding(swapped))
    configured = answers(record, Configure)
    assert [each.elapsed_ns for each in configured] == [2_000 * MS] * 3
    measured = answers(record, Measure)
    for before, after in zip(configured, measured, strict=True):
        assert after.gap_ns == after.started_ns - before.started_ns - before.elapsed_ns


def test_a_preview_counts_what_is_measured_on_every_device() -> None:
    geometry = Geometry(capacity_bytes=64 * MIB, nominal_capacity_bytes=64 * MIB)
    seen = preview(Rebuilding(swapped), PaperSettings(), geometry)
    assert (seen.least.steps, seen.least.duration_ns) == (6, 30 * MS)


def test_a_signal_waits_for_the_hook_and_the_run_can_go_on(tmp_path: Path) -> None:
    log, target = tmp_path / "log", f"{tmp_path}/disk?size=4MiB"
    body = f"echo begun >> {log}; [ -e {log}.sent ] || kill -INT $PPID; touch {log}.sent"
    method = Rebuilding(by_hook("sh", "-c", f"{body}; sleep 0.2; echo ended >> {log}"))
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", by_consent(target, method), method)
    assert log.read_text().split() == ["begun", "ended"]
    record = go_on(tmp_path / "cut", by_consent(target, method), method)
    assert len(answers(record, Measure)) == 3


def test_a_second_signal_ends_the_hook(tmp_path: Path) -> None:
    mark, target = tmp_path / "hook", f"{tmp_path}/disk?size=4MiB"
    body = f"echo $$ > {mark}; kill -INT $PPID; sleep 0.3; kill -INT $PPID; sleep 100"
    method = Rebuilding(by_hook("sh", "-c", body))
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", by_consent(target, method), method)
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()
