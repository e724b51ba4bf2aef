"""A run on a file, killed: whoever wrote to the file since keeps what he wrote."""

import os
from pathlib import Path

import pytest

import teijo.api
from teijo.errors import UnsafeError
from teijo.terms.remark import RemarkKind
from tests.crash.runs import in_a_child, kill_me, killed_after, run_iops
from tests.device.test_marker import wait_for_the_keeper


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    return tmp_path / "disk.img"


def target(disk: Path) -> str:
    return f"{disk}?size=4MiB&direct=no"


def killed_run(tmp_path: Path, disk: Path) -> Path:
    path = tmp_path / "run.teijo"
    assert in_a_child(lambda: run_iops(path, target(disk), observer=killed_after(3))) == -9
    return path


def test_a_killed_run_goes_on_at_once_without_another_consent(tmp_path: Path, disk: Path) -> None:
    path = killed_run(tmp_path, disk)
    resumed = teijo.api.resume(path)
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]
    assert disk.exists()


def test_what_was_written_after_the_kill_stays_until_it_is_given_up(
    tmp_path: Path, disk: Path
) -> None:
    path = killed_run(tmp_path, disk)
    wait_for_the_keeper(disk)
    with disk.open("r+b") as file:
        file.write(b"my thesis")
    mine = disk.read_bytes()
    for again in (
        lambda: run_iops(tmp_path / "again", target(disk)),
        lambda: teijo.api.resume(path),
    ):
        with pytest.raises(UnsafeError, match="somebody wrote to it since") as caught:
            again()
        assert caught.value.exit_code == 3
        assert disk.read_bytes() == mine
    assert {one.name for one in tmp_path.iterdir()} == {"disk.img", "run.teijo.open"} | {
        one.name for one in tmp_path.glob("run.teijo.open-*")
    }
    teijo.api.resume(path, overwrite=True)
    assert disk.read_bytes() != mine


def test_another_run_is_told_which_one_can_go_on(tmp_path: Path, disk: Path) -> None:
    path = killed_run(tmp_path, disk)
    with pytest.raises(UnsafeError, match="killed") as caught:
        run_iops(tmp_path / "again", target(disk))
    assert f"teijo resume {path}.open" in caught.value.remedy


def test_a_copy_in_the_place_of_the_file_is_not_taken_up(tmp_path: Path, disk: Path) -> None:
    path = killed_run(tmp_path, disk)
    wait_for_the_keeper(disk)
    copy = tmp_path / "copy"
    copy.write_bytes(disk.read_bytes())
    os.setxattr(copy, "user.teijo", os.getxattr(disk, "user.teijo"))
    copy.replace(disk)
    with pytest.raises(UnsafeError):
        teijo.api.resume(path)


def test_a_run_killed_before_its_first_step_leaves_a_file_with_a_way_out(
    tmp_path: Path, disk: Path
) -> None:
    path = tmp_path / "run.teijo"

    def act() -> None:
        run_iops(path, target(disk), observer=lambda event: kill_me())

    assert in_a_child(act) == -9
    with pytest.raises(UnsafeError) as caught:
        run_iops(tmp_path / "again", target(disk))
    assert "--overwrite" in caught.value.remedy
    run_iops(tmp_path / "again", target(disk), overwrite=True)
