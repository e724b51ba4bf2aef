"""What other programs got wrong, each as a test that it does not happen here.

The wrong way is named in the docstring; through the method and the engine, not through a helper.
"""

import fcntl
import math
import os
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest

import teijo
from teijo.analysis import measures
from teijo.analysis.steady_state import Tracked, determine
from teijo.conformance.offsets import courses
from teijo.device import open_target
from teijo.document.model import XYChart
from teijo.engine import Lap, Plan
from teijo.engine.fio import output
from teijo.errors import HostError
from teijo.methods.parts import document_of, findings_of
from teijo.methods.pts import window_pages
from teijo.methods.pts.demand.method import DIRTH
from teijo.methods.pts.hir.method import Hir
from teijo.methods.pts.iops.method import Iops
from teijo.methods.pts.lat.method import Lat
from teijo.methods.pts.wsat.method import Wsat
from teijo.runner.compile import compile_load
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.seed import step_seed
from teijo.terms.step import Idle, Measure, Precondition, Purge, Step
from tests.engine.plans import MIB, opened
from tests.house.tree import ROOT, text
from tests.methods.canned import DRIVE, Canned, flow, play

SMALL = Geometry(capacity_bytes=64 * MIB, nominal_capacity_bytes=64 * MIB)
BLOCK = 4096
SLC_B = (346.22, 346.16, 346.61, 338.03, 296.00, 285.18, 252.63, 268.06, 235.99, 243.71, 232.93)
"""SEQ 128 KiB writes in MB/s of a published drive: a window passes by range, fails by slope."""


@pytest.fixture(scope="module")
def tp(tmp_path_factory: pytest.TempPathFactory) -> teijo.Run:
    path: Path = tmp_path_factory.mktemp("tp") / "run"
    return teijo.run("pts.tp", "sim:slc-a", output=path, spec="1.1-enterprise", seed=3)


def steps_of(method, spec: str, geometry: Geometry = DRIVE, **overrides: str) -> list[Step]:
    """Return every step of a run on a drive that is steady at once."""
    device = Canned(rate=lambda _: 1_000.0)
    return play(method, device, spec=spec, geometry=geometry, overrides=overrides).asked


def empty_file(folder: Path) -> Path:
    path = folder / "target"
    with path.open("wb") as file:
        file.truncate(SMALL.capacity_bytes)
    return path


def driven(path: Path, plan: Plan) -> Lap:
    with opened(path) as session:
        return session.run(plan)


def written_blocks(path: Path) -> set[int]:
    data = np.fromfile(path, np.uint8).reshape(-1, BLOCK)
    return set(np.flatnonzero(data.any(axis=1)).tolist())


def test_no_minute_repeats_the_offsets_of_another(tmp_path: Path) -> None:
    """The same random list was replayed every minute, so ten minutes touched one minute's LBAs."""
    cells = [
        (seq, step)
        for seq, step in enumerate(steps_of(Iops(), "1.1-enterprise", SMALL), start=1)
        if isinstance(step, Measure) and step.cell == "0/100 4 KiB"
    ]
    touched = []
    for number, (seq, step) in enumerate(cells[:3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = empty_file(folder)
        seed = step_seed(9, seq, step.round_number, step.cell)
        plan = compile_load(step, SMALL, {}, seed)
        driven(path, replace(plan, duration_ns=None, total_bytes=1_000 * BLOCK))
        touched.append(written_blocks(path))
    for one, other in pairwise(touched):
        # Two draws of 1,000 among 16,384 blocks share about 57 of them.
        assert len(one) > 900
        assert len(one & other) < 150


@pytest.mark.parametrize("spec", ["1.1-enterprise", "2.0.2-enterprise", "2.0.2-client"])
def test_preconditioning_writes_twice_the_capacity_over_every_lba_and_not_per_thread(
    tmp_path: Path, spec: str
) -> None:
    """Each of TC threads wrote the whole device, or all began at LBA 0 and half was never written.

    Here four threads share one cursor: the bytes are twice the capacity, and no block is left.
    """
    steps = steps_of(Iops(), spec, SMALL, threads="4")
    step = next(each for each in steps if isinstance(each, Precondition))
    path = empty_file(tmp_path)
    lap = driven(path, compile_load(step, SMALL, {}, 7))
    assert sum(part.bytes for part in lap.result.results) == 2 * SMALL.capacity_bytes
    share = step.workload.streams[0].active_range.share_percent
    in_range = SMALL.capacity_bytes * share // 100 // BLOCK
    assert written_blocks(path) == set(range(in_range))


def test_a_slope_is_compared_unrounded() -> None:
    """The slope was rounded to 3 decimals, so below half a millisecond no slope could fail."""

    def stops_at(factor: float) -> int | None:
        values = tuple(value * factor for value in (*SLC_B, 258.44))
        (state,) = determine(range(1, 13), [Tracked(variable="y", unit="ms", values=values)])
        return None if state.window is None or state.reached is None else state.window.last_round

    assert [stops_at(10.0**power) for power in (0, -3, -6)] == [12, 12, 12]


def test_the_line_in_the_plot_is_the_least_squares_line() -> None:
    """It was drawn from the first point to the last."""
    values = (100.0, 90.0, 96.0, 91.0, 99.0)
    states = determine(range(1, 6), [Tracked(variable="y", unit="IOPS", values=values)])
    section = window_pages.close_up_section(states[0], "Round")
    (chart,) = [block for block in section.blocks if isinstance(block, XYChart)]
    (line,) = [each for each in chart.series if each.style == "dashed"]
    slope, intercept = np.polyfit(range(1, 6), values, 1)
    assert line.y == pytest.approx([slope * x + intercept for x in range(1, 6)])
    assert line.y[0] != pytest.approx(values[0])


def mixed() -> StepResult:
    """A second at 65/35: 650 quick reads, 350 slow writes, the slowest of them 90 ms."""
    reads = flow("read", 650, BLOCK, mean_ns=1_000_000)
    writes = flow("write", 350, BLOCK, mean_ns=11_000_000, max_ns=90_000_000)
    return StepResult(started_ns=0, elapsed_ns=1_000_000_000, results=(reads, writes))


def test_a_mixed_cells_iops_are_reads_plus_writes_unweighted() -> None:
    """They were 0.65 R + 0.35 W, which about halves them."""
    assert measures.cell_over((), [mixed()] * 5).iops == 1_000.0


def test_a_mixed_cells_latency_counts_each_io_once_and_its_maximum_is_the_maximum() -> None:
    """The mean was (R + W) / 2, the maximum the mean of two maxima, and then of the rounds'."""
    longest = replace(mixed(), results=(flow("write", 10, BLOCK, mean_ns=10**9),))
    cell = measures.cell_over((), [mixed()] * 4 + [longest])
    exact = (650 * 1e6 + 349 * 11e6 + 90e6) / 1000
    assert measures.latency_ns_mean(mixed()) == pytest.approx(exact)
    assert cell.latency_ns_max == 10**9
    assert measures.latency_ns_max(mixed()) == 90_000_000


def test_threads_are_threads_and_depth_is_depth_and_a_point_counts_reads_and_writes() -> None:
    """They were swapped on the way to the load generator; points went by the writes alone."""
    played = play(
        DIRTH, Canned(rate=lambda step: 1_000.0 * step.workload.streams[0].outstanding_ios),
        spec="2.0.2-enterprise",
    )  # fmt: skip
    step = next(each for each in played.measured if each.cell == "TC 32 QD 8")
    (plan,) = compile_load(step, DRIVE, {}, 1).streams
    assert (plan.stream.threads, plan.stream.queue_depth) == (32, 8)
    cells = {cell.labels: cell.iops for cell in findings_of(played.record).cells}
    assert cells[("threads", "32"), ("queue depth", "8")] == pytest.approx(256_000.0)


@pytest.mark.parametrize("spec", ["2.0.2-client", "2.0.2-enterprise"])
def test_the_cache_state_is_read_back_and_the_page_cache_answers_in_no_version(
    tmp_path: Path, spec: str
) -> None:
    """The state was printed from the version; for a client, direct I/O was left away."""
    device = open_target(f"{tmp_path}/target?size=4MiB", write=True)
    try:
        links = Path("/proc/self/fd")
        fds = [int(link.name) for link in links.iterdir()
               if os.path.realpath(link) == str(tmp_path / "target")]  # fmt: skip
        assert fds
        assert all(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT for fd in fds)
        identity = device.identity
    finally:
        device.close()
    played = play(Iops(), Canned(rate=lambda _: 1_000.0), spec=spec, identity=identity)
    header = document_of(played.record).header
    rows = {name: value for group in header.groups for name, value in group.rows}
    assert rows["Write cache"].startswith("not known (asked: ")


@pytest.mark.parametrize("engine", ["native", "fio"])
def test_bytes_written_are_bytes(tmp_path: Path, engine: str) -> None:
    """Bytes were taken for KiB, so that TGBW was 1024 times too large."""
    step = next(each for each in steps_of(Iops(), "", SMALL) if isinstance(each, Precondition))
    path = empty_file(tmp_path)
    plan = compile_load(replace(step, total_bytes=8 * MIB), SMALL, {}, 7)
    with opened(path, engine) as session:
        lap = session.run(plan)
    assert sum(part.bytes for part in lap.result.results) == 8 * MIB
    assert len(written_blocks(path)) == 8 * MIB // BLOCK


def test_tgbw_is_what_the_drive_counted_itself(tp: teijo.Run) -> None:
    """As above, against the simulated drive's own counter."""
    answers = [a for _, a in tp.record.measured()] + [
        each.answer
        for each in tp.record.steps
        if isinstance(each.step, Precondition) and isinstance(each.answer, StepResult)
    ]
    own = sum(measures.written_bytes(answer) for answer in answers)
    assert measures.counted(answers, measures.HOST_WRITES) == own
    (written,) = [each for each in tp.findings.scalars if each.name == "written in the run"]
    assert written.value == pytest.approx(own / 1e9)


def test_a_sequential_minute_goes_on_where_the_last_ended_and_reads_what_was_written(
    tp: teijo.Run,
) -> None:
    """Every minute began at LBA 0, without preconditioning, and read what was never written."""
    found = courses(tp.record.steps, tp.record.geometry)
    assert all(each.in_order for each in found)
    minutes = [each for each in found if not each.is_precondition]
    assert sum(each.start_bytes == 0 for each in minutes) <= len(minutes) // 2
    blocks = [
        (step.workload.streams[0].block_size_bytes, step.kind)
        for step in (each.step for each in tp.record.steps)
        if isinstance(step, Measure | Precondition)
    ]
    for block, kinds in groupby(blocks, key=lambda each: each[0]):
        first, *others = [kind for _, kind in kinds]
        assert first == "precondition", block
        assert set(others) == {"measure"}
    states = tp.findings.steady_states
    assert len(states) == len({block for block, _ in blocks}), "each size has its own verdict"


@pytest.mark.parametrize("spec", ["1.0-client", "1.1-enterprise", "2.0.2-enterprise"])
def test_a_round_is_the_whole_matrix_and_not_one_cell_until_it_is_steady(spec: str) -> None:
    """Block sizes, then mixes, then rounds: steady state was determined cell by cell."""
    cells = [each for each in steps_of(Iops(), spec) if isinstance(each, Measure)]
    rounds = [list(group) for _, group in groupby(cells, key=lambda each: each.round_number)]
    assert len(rounds) == 5
    for one in rounds:
        assert len({each.cell for each in one}) == len(one) == 56
        mixes = [each.workload.streams[0].read_percent for each in one]
        assert mixes == sorted(mixes, reverse=True), "mixes are the outer loop"


def test_the_rest_before_every_cell_is_measured_and_recorded(tmp_path: Path) -> None:
    """A program was started for every minute, and nobody knew how long the drive had rested."""
    settings = {"minute": "10ms", "rounds": "5", "histogram": "none"}
    target = f"{tmp_path}/target?size=16MiB"
    run = teijo.run("pts.lat", target, output=tmp_path / "run", settings=settings, seed=5)
    answers = [each.answer for each in run.record.steps if isinstance(each.answer, StepResult)]
    for before, after in pairwise(answers):
        assert after.gap_ns == after.started_ns - before.started_ns - before.elapsed_ns
        assert after.gap_ns > 0
    (line,) = [each for each in run.findings.ledger if each.requirement == "stimulus.rests"]
    longest = max(answer.gap_ns for _, answer in run.record.measured()[1:])
    assert f"{longest / 1e6:,.3f} ms at most" in line.evidence


def test_lat_has_three_sizes_and_hir_does_not_rest_in_its_baseline() -> None:
    """LAT had a fourth size; the baseline of HIR slept between its writes."""
    lat = [each for each in steps_of(Lat(), "2.0.2-enterprise") if isinstance(each, Measure)]
    assert {each.workload.streams[0].block_size_bytes for each in lat} == {8192, 4096, 512}
    hir = steps_of(Hir(), "2.0.2-enterprise", bursts="3", idle="5,10")
    baseline = [n for n, each in enumerate(hir) if each.phase == "baseline"]
    groups = np.split(baseline, np.flatnonzero(np.diff(baseline) > 1) + 1)
    assert [len(group) for group in groups] == [30, 30], "without an idle time between"
    for group in groups:
        minutes = [hir[n] for n in group]
        assert all(isinstance(each, Measure) for each in minutes)
        assert all(each.continues for each in minutes[1:] if isinstance(each, Measure))
    assert any(isinstance(each, Idle) for each in hir)


def test_wsat_ends_by_its_limits_and_not_by_steady_state_alone() -> None:
    """The limits of 24 h and 4 × the capacity were replaced by steady state."""
    steps = steps_of(Wsat(), "1.0-enterprise")
    assert len(steps) == 1 + 24 * 60, "1.0 determines no steady state"
    quick = Geometry(capacity_bytes=MIB * 1024, nominal_capacity_bytes=MIB * 1024)
    written = sum(
        round(1_000.0 * each.duration_ns / 1e9) * 4096
        for each in steps_of(Wsat(), "1.0-enterprise", quick)
        if isinstance(each, Measure)
    )
    assert written / quick.capacity_bytes == pytest.approx(4, abs=0.25)


def test_what_cannot_be_purged_is_never_filled_with_zeros_in_silence(tmp_path: Path) -> None:
    """Where no purge was possible zeros were written, which is a preconditioning."""
    target = f"{tmp_path}/target?size=4MiB"
    device = open_target(target, write=True)
    try:
        before = (tmp_path / "target").read_bytes()
        assert device.purge() is None
        assert (tmp_path / "target").read_bytes() == before
    finally:
        device.close()
    played = play(Iops(), Canned(rate=lambda _: 1_000.0, purge="none"))
    document = document_of(played.record)
    assert document.header.stamp == "NON-CONFORMING: not purged"


def test_fio_is_read_by_the_names_of_its_json_and_an_old_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns were counted, units guessed; where a figure was missing zeros were the result."""
    figures = {"total_ios": 5, "io_bytes": 20480, "runtime": 10, "lat": {"mean": 3}}
    with pytest.raises(KeyError, match="lat_ns"):
        output.groups({"jobs": [{"jobname": "a", "read": figures, "write": figures}]})
    old = tmp_path / "fio"
    old.write_text("#!/bin/sh\necho fio-2.19\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(HostError, match="no fio of version"), opened(empty_file(tmp_path), "fio"):
        pass


def test_wsat_begins_at_its_purge_and_a_purge_is_printed_only_if_it_took_place() -> None:
    """WSAT was preconditioned first; a purge that was commented out was logged as done."""
    for method in (Wsat(), Hir()):
        first, second, *_ = steps_of(method, "1.1-enterprise")
        assert isinstance(first, Purge)
        assert isinstance(second, Measure)
    played = play(Wsat(), Canned(rate=lambda _: 1_000.0, purge="none"), spec="1.1-enterprise")
    header = document_of(played.record).header
    rows = {name: value for group in header.groups for name, value in group.rows}
    assert rows["Purge method"] == "not possible"


def test_the_documents_give_the_limits_that_the_program_uses() -> None:
    """The page said "deviation at most 20 %" and "slope per round": neither is what is computed."""
    (state,) = determine(range(5), [Tracked(variable="y", unit="", values=(1.0, 2, 3, 4, 5))])
    assert state.window is not None
    window = state.window
    assert math.isclose(window.range_limit, 0.2 * window.average)
    assert math.isclose(window.slope_limit, 0.1 * window.average)
    assert window.slope_excursion == 4 * window.slope
    page = " ".join(text(ROOT / "docs" / "methods" / "pts-iops.md").split())
    assert "its highest minus its lowest value is at most 20 % of its average" in page
    assert "at most 10 % of its average over the window, that is over four intervals" in page
