"""When a drive is asked for its own counters: never in a rest, never in a measurement, seldom."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from teijo.methods.method import Steps
from teijo.methods.pts.hir.method import Hir
from teijo.methods.pts.xsr.method import Xsr
from teijo.methods.settings import Settings
from teijo.runfile import reader
from teijo.runner import looks
from teijo.runner.events import unobserved
from teijo.runner.run import Order, begin
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle, Measure, Precondition, Purge, Step
from tests.runner.acts import run_paper
from tests.runner.fakes import MIB, SECOND, FakeDevice, Faults, PaperMethod, results_of, workload

LONG = 2 * SECOND
"""A drive that takes two seconds to tell its counters."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.teijo"


def drive() -> FakeDevice:
    device = FakeDevice(replayable=False)
    device.smart_ns = LONG
    return device


class Steps(PaperMethod):
    """A method of given steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__()
        self.asked = steps

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        yield from (step for step in self.asked)
        return "steady"


def measure(
    phase: str, number: int | None, *, continues: bool = False, minutes: float = 1.5
) -> Measure:
    return Measure(
        workload=workload(0, 4096),
        duration_ns=int(minutes * 60 * SECOND),
        phase=phase,
        round_number=number,
        cell=phase,
        continues=continues,
        open_ended=True,
    )


def asked(record: Record) -> list[bool]:
    """Return of each step whether the drive was asked before it."""
    return ["power_on_hours" in answer.health_before for answer in results_of(record)]


def run(path: Path, method: Hir | Xsr, device: FakeDevice, **overrides: str) -> Record:
    order = Order(
        method=method,
        spec="",
        settings=method.settings("", overrides, device.geometry),
        seed=11,
        device=device,
        output=path,
        engine="native",
    )
    return reader.read(begin(order, unobserved))


def test_no_rest_of_hir_is_lengthened_and_the_drive_is_asked_at_most_once_a_minute(
    path: Path,
) -> None:
    device = drive()
    small = {"round_minutes": "1", "bursts": "20", "baseline_minutes": "2", "idle": "5,50"}
    record = run(path, Hir(), device, minute="60s", **small)
    answers = {each.seq: each.answer for each in record.steps}
    rests = [each for each in record.steps if isinstance(each.step, Idle)]
    assert len(rests) == 40
    for each in rests:
        before, rest, after = (answers[each.seq + place] for place in (-1, 0, 1))
        assert isinstance(before, StepResult)
        assert isinstance(rest, StepResult)
        assert isinstance(after, StepResult)
        gap_ns = after.started_ns - before.started_ns - before.elapsed_ns
        assert gap_ns - rest.elapsed_ns < 100, "the kernel's counters, and no word to the drive"
    times = [time_ns for time_ns, _ in device.looks[:-1]]  # the last is the run's end
    assert all(later - earlier >= 60 * SECOND for earlier, later in pairwise(times))
    assert len(device.looks) < 10
    assert "power_on_hours" in results_of(record)[-1].health_after


def test_no_switch_of_xsr_is_preceded_by_a_question(path: Path) -> None:
    device = drive()
    small = {"first_minutes": "3", "random_minutes": "3", "last_minutes": "3"}
    record = run(path, Xsr(), device, minute="60s", **small)
    assert [place for place, was in enumerate(asked(record)) if was] == [0]
    assert len(device.looks) == 2


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([Purge(), Precondition(workload=workload(0, 4096), total_bytes=MIB)], [True, False]),
        ([measure("round", 1), measure("round", 2), measure("histogram", 3)],
         [True, False, True]),
        ([measure("ramp", 1), measure("measure", 1), measure("ramp", 2)], [True, False, True]),
        ([measure("measure", None), measure("read back", None), measure("read back", None)],
         [True, True, False]),
        ([measure("a", 1), measure("b", 2, continues=True), measure("c", 3)],
         [True, False, True]),
        ([measure("a", 1), measure("b", 2, minutes=0.5), measure("c", 3)], [True, True, False]),
        ([measure("a", 1), Idle(duration_ns=90 * SECOND), measure("b", 2)],
         [True, False, False]),
        ([measure("a", 1), Idle(duration_ns=90 * SECOND), Purge()], [True, False, True]),
        ([measure("a", 1), Precondition(workload=workload(0, 4096), total_bytes=MIB),
          measure("b", 2)], [True, True, False]),
    ],
    ids=["soon after the purge", "another phase", "a ramp and its cell",
         "what is read back", "one stimulus",
         "within the minute", "a rest and what follows", "a purge after a rest",
         "what follows a preconditioning"],
)  # fmt: skip
def test_a_drive_is_asked_between_phases_only(
    path: Path, steps: list[Step], expected: list[bool]
) -> None:
    record = run_paper(path, drive(), method=Steps(steps))
    assert asked(record) == expected


def test_the_kernels_counters_stand_at_every_step(path: Path) -> None:
    for answer in results_of(run_paper(path, drive())):
        assert "laps" in answer.health_before
        assert "laps" in answer.health_after


def test_a_warning_at_the_end_of_a_run_is_a_remark_of_its_last_step(path: Path) -> None:
    device = drive()
    ends = len(results_of(run_paper(path.with_name("other.teijo"), drive())))

    def fail_soon() -> None:
        device.smart["critical_warning"] = 0b100

    device.session.faults = Faults(during={5: fail_soon})
    record = run_paper(path, device)
    (remark,) = [each for each in record.remarks if each.kind is RemarkKind.DRIVE_WARNS]
    assert remark.step == ends
    assert results_of(record)[-1].health_after["critical_warning"] == 0b100


def test_a_drive_that_failed_is_asked_at_once(path: Path) -> None:
    device = drive()
    device.session.faults = Faults(failure={2: "gone"})
    with pytest.raises(Exception, match="gone"):
        run_paper(path, device)
    failed = results_of(reader.read(path))[-1]
    assert "power_on_hours" in failed.health_after


def test_nothing_else_in_the_runner_asks_a_drive() -> None:
    room = Path(looks.__file__).parent
    asking = [path.name for path in room.rglob("*.py") if "asked_counters(" in path.read_text()]
    assert asking == ["looks.py"]
