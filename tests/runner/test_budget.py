"""The write budget: refused before the first write, held during the run, kept in the file."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import teijo.runner.preview as previewing
from teijo import api
from teijo.engine.session import Progress
from teijo.errors import Interrupted, PlanError, UnsafeError
from teijo.methods.registry import method_named
from teijo.runfile import reader
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner.budget import FACT, Budget
from teijo.runner.events import Event, RunStarted, unobserved
from teijo.runner.extent import refuse_beyond
from teijo.runner.preview import Rates, preview, written_bytes
from teijo.runner.run import Order, begin, resume
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Direction, Intervals, StepResult
from teijo.terms.step import Idle, Measure, Precondition, Purge
from tests.methods.canned import flow
from tests.runner.fakes import MIB, SECOND, FakeDevice, PaperMethod, PaperSettings, workload

GIB = Geometry(capacity_bytes=1024 * MIB, nominal_capacity_bytes=1024 * MIB)
FAST = PaperMethod(first_block=128 * MIB)
"""On the paper device, which knows no speed, more than twice the rate a preview assumes."""


def fast_device(*, replayable: bool = False) -> FakeDevice:
    device = FakeDevice(replayable=replayable)
    device.geometry = GIB
    return device


def run_fast(
    path: Path,
    limit: float,
    *,
    events: list[Event] | None = None,
    settings: PaperSettings = PaperSettings(),  # noqa: B008
) -> Path:
    order = Order(
        method=FAST,
        spec="",
        settings=settings,
        seed=11,
        device=fast_device(),
        output=path,
        engine="native",
        max_drive_writes=limit,
    )
    return begin(order, (events if events is not None else []).append)


def go_on(path: Path, limit: float | None = None) -> Record:
    recorder = Recorder.reopen(path)
    record = reader.read(Names.of(path).open)
    try:
        return reader.read(
            resume(
                record,
                recorder,
                FAST,
                FAST.settings_from(record.run.settings),
                fast_device(),
                unobserved,
                max_drive_writes=limit,
            )
        )
    finally:
        recorder.close()


# --- before the run ---------------------------------------------------------------------------


def test_a_run_that_is_expected_to_write_more_is_refused_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    target = tmp_path / "target.dat"
    with pytest.raises(UnsafeError) as refused:
        api.run("iops", f"{target}?size=8MiB", output=tmp_path / "run", max_drive_writes=2.5)
    assert refused.value.exit_code == 3
    assert "the limit is 2.5 drive writes" in refused.value.message
    assert "Nothing was written" in refused.value.message
    assert "at least" in refused.value.message
    assert "at most" in refused.value.message
    assert "fewer rounds" in refused.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_the_expected_amount_decides_not_the_most() -> None:
    method = method_named("iops")
    seen = preview(method, method.settings("", {}, GIB), GIB)
    refuse_beyond(seen.drive_writes(seen.expected), seen)
    assert seen.drive_writes(seen.most) > 2 * seen.drive_writes(seen.expected)
    with pytest.raises(UnsafeError):
        refuse_beyond(seen.drive_writes(seen.expected) * 0.999, seen)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_limit_is_refused_as_a_mistake(limit: float) -> None:
    method = method_named("iops")
    with pytest.raises(PlanError, match="no limit"):
        refuse_beyond(limit, preview(method, method.settings("", {}, GIB), GIB))


# --- during the run ---------------------------------------------------------------------------


def test_a_run_is_stopped_before_it_writes_more_and_goes_on_with_a_higher_limit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.teijo"
    events: list[Event] = []
    with pytest.raises(Interrupted, match="the limit of 6 drive writes") as stopped:
        run_fast(path, 6, events=events)
    assert stopped.value.exit_code == 7
    assert stopped.value.remedy.endswith("--max-drive-writes N, where N is above 6")
    started = next(event for event in events if isinstance(event, RunStarted))
    assert started.ahead is not None
    left = reader.read(Names.of(path).open)
    assert left.run.ending == "interrupted"
    assert left.environment[FACT] == "6 drive writes (6.442 GB)"
    (why,) = [each for each in left.remarks if each.kind is RemarkKind.INTERRUPTED]
    assert "the limit of 6 drive writes (6.442 GB)" in why.text
    assert 3 * GIB.capacity_bytes < written_bytes(left.steps) <= 6 * GIB.capacity_bytes

    with pytest.raises(UnsafeError, match="already"):
        go_on(path)
    assert reader.read(Names.of(path).open).run.ending == "interrupted"
    done = go_on(path, 40)
    assert done.run.ending == "steady"
    assert done.environment[FACT] == "40 drive writes (42.95 GB)"


def test_a_budget_that_suffices_changes_nothing(tmp_path: Path) -> None:
    record = reader.read(run_fast(tmp_path / "run.teijo", 40))
    assert record.run.ending == "steady"
    assert not [each for each in record.remarks if each.kind is RemarkKind.INTERRUPTED]


def test_a_file_is_written_no_further_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real file, faster than the preview believes: the looks at the step must stop it."""
    slow = partial(Rates, bytes_per_second=10**5, ios_per_second=20)
    monkeypatch.setattr(previewing, "Rates", slow)
    asked = {"rw": "randwrite", "bs": "64KiB", "seconds": "60"}
    with pytest.raises(Interrupted, match="the limit of 3 drive writes"):
        api.run(
            "workload",
            f"{tmp_path / 'target.dat'}?size=16MiB",
            output=tmp_path / "run",
            settings=asked,
            max_drive_writes=3,
        )
    recorder = Recorder.reopen(tmp_path / "run.teijo.open")
    try:
        assert recorder.abandoned_bytes() <= 3 * 16 * MIB
    finally:
        recorder.close()


def test_what_an_abandoned_step_wrote_counts_when_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.teijo"
    with pytest.raises(Interrupted):
        run_fast(path, 8, settings=PaperSettings(rounds=1, seconds=10))
    recorder = Recorder.reopen(path)
    abandoned = recorder.abandoned_bytes()
    left = reader.read(Names.of(path).open)
    recorder.close()
    whole = written_bytes(left.steps)
    assert abandoned > GIB.capacity_bytes // 4
    assert whole + abandoned <= 8 * GIB.capacity_bytes
    with pytest.raises(UnsafeError) as refused:
        go_on(path, (whole + abandoned) / GIB.capacity_bytes)
    assert f"{(whole + abandoned) / GIB.capacity_bytes:.3g} of them already" in str(refused.value)


# --- the reckoning ----------------------------------------------------------------------------


def look(elapsed_ns: int, size: int, **finished: int) -> Progress:
    """A look at a running step with finished intervals of so many bytes, by direction."""
    columns = {
        direction: Intervals(
            length_ns=SECOND,
            **{
                name: np.array([count])
                for name in (
                    "index", "ios", "bytes", "errors",
                    "latency_ns_sum", "latency_ns_min", "latency_ns_max",
                )
            }
        )
        for direction, count in finished.items()
    }  # fmt: skip
    parts = tuple(("main", direction, each) for direction, each in columns.items())
    return Progress(elapsed_ns=elapsed_ns, ios=1, bytes=size, errors=0, finished=parts)


def measure(read_percent: int, seconds: int = 10) -> Measure:
    return Measure(workload=workload(read_percent, 4096), duration_ns=seconds * SECOND)


def result(size: int, elapsed_ns: int, direction: Direction = "write"):
    flows = (flow(direction, size // 4096, 4096),)
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=flows)


def test_a_byte_bounded_step_is_known_before_it_begins() -> None:
    budget = Budget(drive_writes=2, capacity_bytes=MIB)
    fill = Precondition(workload=workload(0, 4096), total_bytes=2 * MIB)
    budget.check(fill)
    budget.settle(fill, result(2 * MIB, SECOND))
    for harmless in (Purge(), Idle(duration_ns=SECOND), measure(100)):
        budget.check(harmless)
    with pytest.raises(Interrupted, match=r"would write about 1\.049 MB more"):
        budget.check(Precondition(workload=workload(0, 4096), total_bytes=MIB))
    assert budget.stopped


def test_reading_back_costs_nothing() -> None:
    budget = Budget(drive_writes=1, capacity_bytes=MIB, spent_bytes=MIB)
    budget.check(Precondition(workload=workload(100, 4096), total_bytes=5 * MIB))


def test_a_timed_step_writes_as_the_last_of_its_workload_did() -> None:
    budget = Budget(drive_writes=10, capacity_bytes=MIB)
    budget.check(measure(0))
    budget.settle(measure(0), result(6 * MIB, 10 * SECOND))
    budget.check(measure(50))  # another workload: nothing is known of it
    budget.check(measure(0, seconds=6))
    with pytest.raises(Interrupted):
        budget.check(measure(0, seconds=7))


def test_a_look_stops_a_step_before_the_next_look_would_be_too_late() -> None:
    budget = Budget(drive_writes=10, capacity_bytes=MIB)
    budget.check(measure(0, seconds=100))
    assert budget.fits(look(SECOND, 4 * MIB))
    assert not budget.fits(look(2 * SECOND, 8 * MIB))
    assert budget.stopped


def test_the_last_look_of_a_step_that_just_fits_does_not_stop_it() -> None:
    budget = Budget(drive_writes=8, capacity_bytes=MIB)
    budget.check(measure(0, seconds=2))
    assert budget.fits(look(SECOND, 4 * MIB))
    assert budget.fits(look(2 * SECOND, 8 * MIB))


def test_reads_of_a_mix_are_told_from_its_writes() -> None:
    budget = Budget(drive_writes=10, capacity_bytes=MIB)
    budget.check(measure(50, seconds=1000))
    # Nine of ten bytes were reads: the finished intervals say so, the rest counts by its share.
    assert budget.fits(look(10 * SECOND, 42 * MIB, read=36 * MIB, write=4 * MIB))
    assert not budget.fits(look(11 * SECOND, 54 * MIB))
