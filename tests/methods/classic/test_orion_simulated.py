"""ORION's test on a simulated drive: run, reported, exported, compared, resumed and previewed."""

from pathlib import Path

import pytest

from teijo import api
from teijo.errors import Interrupted
from teijo.methods.classic.orion.unsaid import entries
from teijo.runner.events import Event, StepDone
from teijo.runner.interrupt import Interrupt
from tests.methods.documents import text_of

DRIVE = "sim:mlc-a?capacity=1GiB"
FEW = {"run": "advanced", "small_loads": "1,4", "large_loads": "2", "duration": "250ms"}
MIXED = {**FEW, "matrix": "point", "num_small": "2", "num_large": "1", "write": "30"}


def measured(path: Path, seed: int = 1, target: str = DRIVE, **settings: str):
    return api.run("classic.orion", target, output=path, settings=settings, seed=seed)


def test_a_mixed_point_moves_small_and_large_io_in_its_share_of_writes(tmp_path: Path) -> None:
    found = measured(tmp_path / "a.teijo", **MIXED).found
    (small,), (large,) = found.small.values(), found.large.values()
    for side, size in ((small, 8192), (large, 2**20)):
        moved = {part.operation: part.moved_bytes for part in side.first.results}
        assert sum(moved.values()) == side.first.ios * size
        assert {"read", "write"} >= set(moved)
    share = next(p.count for p in small.first.results if p.operation == "write") / small.first.ios
    assert share == pytest.approx(0.3, abs=0.1)
    assert small.by_little == pytest.approx(2, rel=0.1)
    assert {each.stream for each in small.first.census} <= {"small", "large"}


def test_sequential_streams_run_each_from_a_place_of_its_own(tmp_path: Path) -> None:
    run = measured(
        tmp_path / "a.teijo",
        **{**FEW, "type": "seq", "cache_size": "64MiB", "num_streamio": "2"},
    )
    phases = [step.phase for step, _ in run.record.measured()]
    assert phases == ["measure"] * 3
    (large,) = run.found.large.values()
    assert large.by_little == pytest.approx(4, rel=0.1)


def test_a_short_point_has_a_course_and_an_interval(tmp_path: Path) -> None:
    run = measured(tmp_path / "a.teijo", **FEW)
    told = text_of(run.document())
    assert "chart IOPS over time" in told
    assert "chart Small IOPS by load" in told
    for quantity in run.found.quantities:
        assert len(quantity.batches) == 5
    assert {figure.figure.name for figure in run.found.quantities} == {
        "IOPS", "Mean latency", "Throughput"
    }  # fmt: skip


def test_a_strict_run_may_be_compared_with_the_originals_way(tmp_path: Path) -> None:
    usual = measured(tmp_path / "a.teijo", **FEW)
    strict = measured(tmp_path / "b.teijo", seed=2, **FEW, strict="on", deeper="off", ramp="0s")
    allowed = ("strict", "passes", "order", "prepare")
    told = text_of(api.comparison_document(api.compare([usual, strict], allow=allowed)))
    assert "Small=4 Large=0, small" in told


def test_an_interrupted_run_goes_on_with_the_point_that_was_missing(tmp_path: Path) -> None:
    whole = measured(tmp_path / "whole.teijo", **FEW, strict="on", deeper="off")
    stop = Interrupt()

    def observer(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 4:
            stop.request("SIGINT")

    with pytest.raises(Interrupted):
        api.run(
            "classic.orion", DRIVE, output=tmp_path / "cut.teijo", seed=1,
            settings={**FEW, "strict": "on", "deeper": "off"}, observer=observer, interrupt=stop,
        )  # fmt: skip
    (left,) = tmp_path.glob("cut.teijo.open")
    resumed = api.resume(left)
    assert [step.cell for step, _ in resumed.record.measured("measure")] == [
        step.cell for step, _ in whole.record.measured("measure")
    ]
    assert resumed.found.most_small.iops == whole.found.most_small.iops


def test_a_preview_knows_what_a_run_will_write(tmp_path: Path) -> None:
    ahead = api.preview("classic.orion", DRIVE, settings={**FEW, "strict": "on"})
    assert ahead.expected.written_bytes >= 2**30


def hides(run) -> set[str]:
    return {each.kind for each in entries(run.found) if each.found == "hidden"}


def test_the_page_of_what_is_hidden_names_each_defect_and_is_empty_of_a_strict_run(
    tmp_path: Path,
) -> None:
    short = {"duration": "250ms", "write": "20"}
    target = "sim:s3700?capacity=2GiB"
    usual = measured(tmp_path / "a.teijo", target=target, **short)
    assert hides(usual) >= {"order", "medium", "tail"}
    told = text_of(usual.document())
    assert "one small I/O in a thousand took" in told
    assert "of its medium" in told
    strict = measured(tmp_path / "b.teijo", target=target, **short, strict="on", passes="2")
    assert hides(strict) == set()
    assert "Nothing that was looked for is hidden" in text_of(strict.document())
