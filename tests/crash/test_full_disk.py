"""The disk of the run file fills up under a real run: exit 6, and the run goes on later."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import teijo.api
from teijo.errors import HostError
from teijo.runner.events import Event, StepDone
from teijo.terms.remark import RemarkKind
from tests.crash.runs import fill, run_iops


@pytest.fixture
def results_disk(small_disk: Callable[[int], Path]) -> Path:
    """Mount a file system of 6 MiB."""
    return small_disk(6)


def test_the_reserve_carries_a_run_over_a_disk_that_fills_up(
    tmp_path: Path, results_disk: Path
) -> None:
    whole = run_iops(tmp_path / "whole")

    def others_write(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 5:
            fill(results_disk)

    run = run_iops(results_disk / "run", observer=others_write)
    assert run.record.steps == whole.record.steps
    assert RemarkKind.RESULTS_DISK in [remark.kind for remark in run.remarks]


def test_without_a_reserve_the_run_stops_with_all_it_has_and_goes_on_when_there_is_room(
    tmp_path: Path, results_disk: Path
) -> None:
    whole = run_iops(tmp_path / "whole")
    path = results_disk / "run.teijo"

    def others_take_all(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 5:
            os.truncate(path.with_name("run.teijo.reserve"), 0)
            fill(results_disk)

    with pytest.raises(HostError, match="full") as caught:
        run_iops(path, observer=others_take_all)
    assert caught.value.exit_code == 6
    kept = teijo.api.open(path).record.steps
    assert 5 <= len(kept) < len(whole.record.steps)
    assert kept == whole.record.steps[: len(kept)]
    (results_disk / "others").unlink()
    resumed = teijo.api.resume(path)
    assert resumed.record.steps == whole.record.steps
    assert resumed.findings == whole.findings
