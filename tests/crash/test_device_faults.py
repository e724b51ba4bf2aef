"""Real targets that go bad under a run: named errors, exit codes, and all that was measured."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import teijo.api
from teijo.device import inspect_target
from teijo.errors import DeviceError, IdentityError, TeijoError
from teijo.runfile import reader
from teijo.runner.events import Event, Progress
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult

MIB = 1024 * 1024


@pytest.fixture
def backing(tmp_path: Path) -> Path:
    """A file of 16 MiB to stand for a drive."""
    path = tmp_path / "drive.img"
    path.write_bytes(bytes(16 * MIB))
    return path


@pytest.fixture
def loop(backing: Path) -> Iterator[Path]:
    """A loop device over it."""
    yield from loop_over(backing)


@pytest.fixture
def thin_loop(tmp_path: Path) -> Iterator[Path]:
    """A loop device over a file of 16 MiB with holes, on a file system of 4 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root, and a machine that lets it mount a tmpfs")
    with (folder / "thin.img").open("wb") as file:
        file.truncate(16 * MIB)
    yield from loop_over(folder / "thin.img")
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def loop_over(path: Path) -> Iterator[Path]:
    """Yield a loop device over a file for the time of a test."""
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    command = ["losetup", "--find", "--show", str(path)]
    node = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    yield Path(node)
    subprocess.run(["losetup", "-d", node], check=True)


def once_it_runs(act: Callable[[], None]) -> Callable[[Event], None]:
    """Return an observer that acts at the first look at a running lap."""
    left = [act]
    return lambda event: left.pop()() if left and isinstance(event, Progress) else None


def test_an_unplugged_loop_ends_the_run_with_a_device_error(
    tmp_path: Path, backing: Path, loop: Path
) -> None:
    path = tmp_path / "run.teijo"
    with pytest.raises((DeviceError, IdentityError)) as caught:
        teijo.api.run(
            "workload",
            str(loop),
            output=path,
            settings={"rw": "randread", "bs": "4KiB", "qd": "4", "seconds": "1h"},
            observer=once_it_runs(lambda: os.truncate(backing, 0)),
        )
    assert_kept(path, caught.value)


def test_writes_a_thin_device_has_no_room_for_are_counted_by_errno(
    tmp_path: Path, thin_loop: Path
) -> None:
    run = teijo.api.run(
        "workload",
        str(thin_loop),
        output=tmp_path / "run",
        settings={"rw": "randwrite", "bs": "64KiB", "qd": "2", "bytes": "32MiB"},
        destroy=inspect_target(str(thin_loop)).destroy,
    )
    answer = run.record.steps[-1].answer
    assert isinstance(answer, StepResult)
    assert set(answer.results[0].errors) <= {errno.EIO, errno.ENOSPC}
    assert sum(answer.results[0].errors.values()) > 0
    assert answer.results[0].latency.count == answer.ios > 0
    assert RemarkKind.IO_ERRORS in [remark.kind for remark in run.remarks]


def assert_kept(path: Path, error: TeijoError) -> None:
    """Assert that the run's file holds what was measured until the error."""
    assert error.exit_code == 5
    record = reader.read(path)
    assert record.run.ending == "failed"
    assert record.run.error == error.message
    answer = record.steps[-1].answer
    assert isinstance(answer, StepResult)
    assert answer.ios > 0, "I/Os from before are kept"
    assert sum(answer.results[0].errors.values()) > 0
    assert RemarkKind.IO_ERRORS in [remark.kind for remark in record.remarks]


def test_reads_of_0_bytes_are_errors_not_fast_ios(tmp_path: Path) -> None:
    path, target = tmp_path / "run.teijo", tmp_path / "target.dat"
    with suppress(DeviceError):
        teijo.api.run(
            "workload",
            f"{target}?size=16MiB&direct=no",
            output=path,
            settings={"rw": "randread", "bs": "4KiB", "qd": "1", "seconds": "1h"},
            observer=once_it_runs(lambda: os.truncate(target, 0)),
        )
    answer = reader.read(path).steps[-1].answer
    assert isinstance(answer, StepResult)
    assert answer.results[0].errors.get(0, 0) > 0
    assert set(answer.results[0].errors) <= {0, errno.EIO}
    assert answer.results[0].latency.count == answer.ios
