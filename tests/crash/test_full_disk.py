"""The disk of the run file fills up under a real run: exit 6, and the run goes on later."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import teijo.api
from teijo.errors import HostError
from teijo.runner.events import Event, StepDone
from teijo.terms.remark import RemarkKind
from tests.crash.runs import run_iops


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 6 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root, and a machine that lets it mount a tmpfs")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no free byte."""
    with (folder / "others").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    assert shutil.disk_usage(folder).free == 0


def test_the_reserve_carries_a_run_over_a_disk_that_fills_up(
    tmp_path: Path, small_disk: Path
) -> None:
    whole = run_iops(tmp_path / "whole")

    def others_write(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 5:
            fill(small_disk)

    run = run_iops(small_disk / "run", observer=others_write)
    assert run.record.steps == whole.record.steps
    assert RemarkKind.RESULTS_DISK in [remark.kind for remark in run.remarks]


def test_without_a_reserve_the_run_stops_with_all_it_has_and_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Path
) -> None:
    whole = run_iops(tmp_path / "whole")
    path = small_disk / "run.teijo"

    def others_take_all(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 5:
            path.with_name("run.teijo.reserve").unlink()
            fill(small_disk)

    with pytest.raises(HostError, match="full") as caught:
        run_iops(path, observer=others_take_all)
    assert caught.value.exit_code == 6
    kept = teijo.api.open(path).record.steps
    assert 5 <= len(kept) < len(whole.record.steps)
    assert kept == whole.record.steps[: len(kept)]
    (small_disk / "others").unlink()
    resumed = teijo.api.resume(path)
    assert resumed.record.steps == whole.record.steps
    assert resumed.findings == whole.findings
