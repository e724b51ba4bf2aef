"""DIRTH and the composite workload on simulated drives, through the real engine and run file."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import teijo
from teijo.analysis import measures
from teijo.methods.parts import found_in
from teijo.methods.pts.demand.found import DemandFound, PointRun
from teijo.methods.pts.demand.stages import POINT_NAMES
from teijo.terms.result import StepResult
from teijo.terms.step import Measure

SWEEP = {"threads": "4,1", "queue_depth": "8,1", "point_prewrite": "5"}


def runs_of(run: teijo.Run) -> Mapping[str, PointRun]:
    found = found_in(run.record)
    assert isinstance(found, DemandFound)
    return found.runs


def answer_of(point: PointRun) -> StepResult:
    assert point.histogram is not None
    return point.histogram


@pytest.fixture(scope="module")
def dirth(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("dirth") / "run"
    settings = {**SWEEP, "bs": "4KiB", "mix": "0/100"}
    return teijo.run("pts.dirth", "sim:slc-a", output=path, settings=settings, seed=1)


@pytest.fixture(scope="module")
def cbw(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("cbw") / "run"
    return teijo.run("pts.cbw", "sim:s3700", output=path, settings=SWEEP, seed=1)


def test_a_drive_of_19000_steady_writes_a_second_is_found_to_have_them(dirth: teijo.Run) -> None:
    assert dirth.record.run.ending == "steady"
    found = {each.name: each.value for each in dirth.findings.scalars}
    # The preset's calibration: 19,000 IOPS of 4 KiB writes in steady state, within 3 %.
    assert found["preconditioning, mean of its steady window"] == pytest.approx(19_000, rel=0.04)
    deepest = dirth.findings.cells[0]
    assert deepest.labels == (("threads", "4"), ("queue depth", "8"))
    assert deepest.iops == pytest.approx(19_000, rel=0.04)
    assert found["Max: IOPS"] == pytest.approx(19_000, rel=0.04)


def test_the_points_are_measured_at_the_demand_the_window_named(dirth: teijo.Run) -> None:
    points = runs_of(dirth)
    assert tuple(points) == POINT_NAMES
    assert (points["Min"].demand.threads, points["Min"].demand.queue_depth) == (1, 1)
    fastest = max(dirth.findings.cells, key=lambda cell: cell.iops)
    assert fastest.latency_ns_mean < 5_000_000, "then Max is the fastest of all"
    place = tuple(int(value) for _, value in fastest.labels)
    assert (points["Max"].demand.threads, points["Max"].demand.queue_depth) == place


def test_a_histogram_holds_every_io_of_its_ten_minutes(dirth: teijo.Run) -> None:
    for point in runs_of(dirth).values():
        answer = answer_of(point)
        assert measures.latency_of(answer).count == answer.ios
        assert answer.elapsed_ns == pytest.approx(10 * 2_000_000_000, rel=0.01)


def test_little_holds_at_every_point_of_the_sweep(dirth: teijo.Run) -> None:
    for cell in dirth.findings.cells:
        outstanding = int(cell.labels[0][1]) * int(cell.labels[1][1])
        in_flight = cell.iops * cell.latency_ns_mean / 1e9
        assert in_flight == pytest.approx(outstanding, rel=0.02)


def test_the_composite_moves_its_mix_of_sizes_and_directions(cbw: teijo.Run) -> None:
    # By hand: 4 % of 0.5 KiB, six times 1 % from 1 to 3.5, 67 % of 4, … 3 % of 64: 7.635 KiB.
    mean_bytes = 7.635 * 1024
    answers = [answer_of(point) for point in runs_of(cbw).values()]
    ios = sum(answer.ios for answer in answers)
    assert ios > 100_000
    assert sum(answer.bytes for answer in answers) / ios == pytest.approx(mean_bytes, rel=0.02)
    reads = sum(part.count for answer in answers for part in answer.of("read"))
    assert reads / ios == pytest.approx(0.40, abs=0.01)


def test_preconditioning_and_pre_writes_only_write(cbw: teijo.Run) -> None:
    seen = 0
    for each in cbw.record.steps:
        writes = isinstance(each.step, Measure) and each.step.phase in ("precondition", "pre-write")
        if writes and isinstance(each.answer, StepResult):
            assert {part.operation for part in each.answer.results if part.count} == {"write"}
            seen += 1
    assert seen >= 121 + 3 * 5


def test_a_record_of_the_flow_says_the_same_when_it_is_read_again(cbw: teijo.Run) -> None:
    assert teijo.open(cbw.path).findings == cbw.findings
