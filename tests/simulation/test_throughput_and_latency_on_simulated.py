"""TP, LAT and WSAT's histogram on simulated drives, through the real engine and run file."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import teijo
from teijo.analysis import measures
from teijo.methods.pts.lat.found import SELF_CHECK_NAME, one_io_share
from teijo.methods.rounds import exchanges_of, histogram_run_of
from teijo.terms.result import StepResult
from teijo.terms.step import HISTOGRAM, ROUND, Measure, Precondition

Answered = tuple[Measure | Precondition, StepResult]


@pytest.fixture(scope="module")
def tp(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("tp") / "run"
    return teijo.run("pts.tp", "sim:slc-a", output=path, spec="1.1-enterprise", seed=1)


@pytest.fixture(scope="module")
def lat(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("lat") / "run"
    return teijo.run("pts.lat", "sim:mlc-a", output=path, seed=1)


@pytest.fixture(scope="module")
def wsat(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("wsat") / "run"
    settings = {"max_minutes": "40"}
    return teijo.run("pts.wsat", "sim:slc-a", output=path, settings=settings, seed=1)


def answered(run: teijo.Run) -> list[Answered]:
    return [
        (step, answer)
        for step, answer in exchanges_of(run.record)
        if isinstance(step, Measure | Precondition) and isinstance(answer, StepResult)
    ]


def test_tp_finds_the_published_rates_that_the_preset_is_calibrated_to(tp: teijo.Run) -> None:
    assert tp.record.run.ending == "steady"
    found = {cell.labels: cell.throughput_mb_s for cell in tp.findings.cells}
    # Whitepaper, figure 13; the preset keeps these two within 3 %.
    writes = found[("r/w mix", "0/100"), ("block size", "128 KiB")]
    reads = found[("r/w mix", "100/0"), ("block size", "1024 KiB")]
    assert writes == pytest.approx(144.5, rel=0.03)
    assert reads == pytest.approx(514.3, rel=0.03)


@pytest.mark.parametrize("stream", ["read", "main"])
def test_a_sequential_stream_goes_on_across_rounds_to_the_byte(tp: teijo.Run, stream: str) -> None:
    capacity = tp.record.geometry.capacity_bytes
    block = 1024 * 1024
    range_bytes = capacity // block * block
    mine = [
        answer
        for step, answer in answered(tp)
        if isinstance(step, Measure)
        and step.workload.streams[0].name == stream
        and step.workload.streams[0].block_size_bytes == block
    ]
    assert len(mine) == 5
    for before, after in pairwise(mine):
        moved = sum(part.bytes for part in after.results)
        goes_on = (before.cursors[stream] + moved) % range_bytes
        assert after.cursors[stream] % range_bytes == goes_on
    starts = {before.cursors[stream] for before in mine[:-1]}
    assert starts != {0}, "no round begins at LBA 0 again"


def test_each_block_size_writes_twice_the_user_capacity_before_its_rounds(tp: teijo.Run) -> None:
    written = [
        (step.workload.streams[0].block_size_bytes, measures.written_bytes(answer))
        for step, answer in answered(tp)
        if isinstance(step, Precondition)
    ]
    twice = 2 * tp.record.geometry.capacity_bytes
    assert [block for block, _ in written] == [1024 * 1024, 128 * 1024]
    assert [size for _, size in written] == pytest.approx([twice, twice], rel=1e-3)


def test_with_one_io_outstanding_average_latency_times_iops_is_one(lat: teijo.Run) -> None:
    assert lat.record.run.ending == "steady"
    shares = [one_io_share(answer) for step, answer in answered(lat) if step.phase == ROUND]
    assert len(shares) >= 45
    assert shares == pytest.approx([1.0] * len(shares), abs=1e-3)
    found = {each.name: each.value for each in lat.findings.scalars}
    assert found[SELF_CHECK_NAME] == pytest.approx(1, abs=1e-3)


def test_the_tracked_latency_is_the_mean_of_its_five_rounds(lat: teijo.Run) -> None:
    (state,) = lat.findings.steady_states
    assert state.window is not None
    means = [
        measures.latency_of(answer).mean_ns
        for step, answer in answered(lat)
        if isinstance(step, Measure) and step.cell == "0/100 4 KiB" and step.phase == ROUND
    ]
    first, last = lat.findings.window_rounds or (0, 0)
    assert state.window.average == pytest.approx(np.mean(means[first - 1 : last]) / 1e6)


@pytest.mark.parametrize("name", ["lat", "wsat"])
def test_the_histograms_run_holds_twenty_minutes_and_every_io(
    name: str, request: pytest.FixtureRequest
) -> None:
    run: teijo.Run = request.getfixturevalue(name)
    answer = histogram_run_of(exchanges_of(run.record))
    assert answer is not None
    minute_ns = int(run.record.run.settings["minute_ns"])
    # In virtual time the last minute's I/Os in flight are all that lies before it.
    assert answer.elapsed_ns == pytest.approx(20 * minute_ns, rel=0.01)
    latency = measures.latency_of(answer)
    assert latency.count == answer.ios > 100_000
    found = {each.name: each.value for each in run.findings.scalars}
    art, nines, mrt = (found[f"{each} of the histogram's run"] for each in ("ART", "5 9s", "MRT"))
    assert art is not None
    assert nines is not None
    assert mrt is not None
    assert 0 < art < nines <= mrt
    assert mrt == latency.max_ns / 1e6
    slower = latency.counts[latency.values_ns > nines * 1e6].sum()
    assert slower <= latency.count / 100_000


def test_the_histograms_run_of_wsat_is_the_saturated_drives(wsat: teijo.Run) -> None:
    steps = answered(wsat)
    assert [step.phase for step, _ in steps].count(HISTOGRAM) == 1
    (last, histogram) = steps[-1]
    assert last.phase == HISTOGRAM
    assert last.workload == steps[-2][0].workload
    assert histogram.iops == pytest.approx(steps[-2][1].iops, rel=0.15)
