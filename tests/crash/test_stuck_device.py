"""A device that does not answer: the run says which I/Os it left, ends, and can be resumed."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import pytest

from teijo import api
from teijo.errors import StuckDevice
from teijo.runfile import reader
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from tests.crash.test_stall import FIFREEZE, FITHAW, tell
from tests.crash.test_stall import file_system as file_system

PROGRAM = (sys.executable, "-c", "from teijo.cli import program; program()")
SETTINGS = ("qd=4", "seconds=2", "bs=4KiB")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "python")}
PATIENCE_S = 120
"""For what takes a second on an idle machine."""


class Run:
    """A run of the command line, told as JSON lines."""

    def __init__(self, *line: str) -> None:
        command = [*PROGRAM, *line, "--progress", "ndjson", "--report", "none"]
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for(self, event: str) -> dict[str, object]:
        """Read what it tells up to the first event of this name."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            told = json.loads(line)
            if told["event"] == event:
                return told
        pytest.fail(f"it ended with {self.process.wait()} and without {event}")

    def end(self) -> tuple[int, str]:
        """Wait for its end; give its exit code and the message it ended with."""
        message = str(self.wait_for("error")["message"])
        code = self.process.wait(PATIENCE_S)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code, message


@contextmanager
def frozen(folder: Path) -> Iterator[None]:
    """Let nothing be written to a file system meanwhile."""
    tell(folder, FIFREEZE)
    try:
        yield
    finally:
        tell(folder, FITHAW)


def stuck_of(path: Path) -> tuple[Record, str]:
    """Give the record that was left, and what it says of stuck I/Os."""
    record = reader.read(path)
    assert record.run.ending == "interrupted"
    (text,) = [each.text for each in record.remarks if each.kind is RemarkKind.IO_STUCK]
    return record, text


@pytest.mark.parametrize("signals", [2, 0], ids=["two signals", "the time limit"])
def test_a_run_on_a_frozen_file_system_ends_names_what_is_stuck_and_resumes(
    signals: int, file_system: Path, tmp_path: Path
) -> None:
    target = f"{file_system}/target?size=16MiB"
    line = ["workload", target, "-o", str(tmp_path / "run"), "--set", "rw=randwrite"]
    limit = ["--io-timeout", "1s"] if not signals else []
    run = Run("run", *line, *SETTINGS, *limit)
    run.wait_for("progress")
    with frozen(file_system):
        for _ in range(signals):
            sleep(0.5)
            run.process.send_signal(signal.SIGINT)
        code, message = run.end()
        assert code == (7 if signals else 5)
        assert "write of 4,096 B at byte" in message
    left = tmp_path / "run.teijo.open"
    _, text = stuck_of(left)
    assert text in message
    assert api.resume(left, overwrite=True).record.run.ending not in ("interrupted", "failed")


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Mount a file system whose file is read a hundred times, and then never again."""
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.skip("needs root and FUSE")
    folder = tmp_path / "mounted"
    folder.mkdir()
    command = [sys.executable, str(Path(__file__).with_name("hanging_fuse.py")), str(folder), "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        if server.stdout.readline() != "mounted\n":
            pytest.skip("needs to mount a FUSE file system")
        try:
            yield folder / "target", server
        finally:
            server.kill()
            subprocess.run(["umount", "-l", folder], check=False)


def test_a_file_system_that_hangs_ends_the_run_by_the_time_limit(hanging, tmp_path: Path) -> None:
    target, server = hanging
    line = ["workload", str(target), "-o", str(tmp_path / "run"), "--set", "rw=randread"]
    run = Run("run", *line, *SETTINGS, "--io-timeout", "1s")
    ready, _, _ = select.select([server.stdout], [], [], PATIENCE_S)
    assert ready
    assert server.stdout.readline() == "hangs\n"
    code, message = run.end()
    assert code == 5
    assert "I/Os without an answer: 4" in message
    _, text = stuck_of(tmp_path / "run.teijo.open")
    assert text.count("read of 4,096 B at byte") == 4


SILENT = "sim:faulty(mlc-a?capacity=64MiB&dies=2)?hang_after_ios=100&timeout_ms=1000000"


def test_a_simulated_device_that_falls_silent_is_left_after_the_limit_in_virtual_time(
    tmp_path: Path,
) -> None:
    settings = {"rw": "randread", "qd": "4", "seconds": "1"}
    with pytest.raises(StuckDevice, match="I/Os without an answer: 4") as left:
        api.run("workload", SILENT, output=tmp_path / "run", settings=settings, seed=1)
    assert left.value.exit_code == 5
    record, text = stuck_of(tmp_path / "run.teijo.open")
    assert "for 2 min" in text
    assert record.steps == ()
    with pytest.raises(StuckDevice, match="does not answer"):
        api.resume(tmp_path / "run.teijo.open")


def test_a_longer_limit_waits_for_a_device_that_comes_back(tmp_path: Path) -> None:
    settings = {"rw": "randread", "qd": "4", "seconds": "1"}
    target = f"{SILENT}&hang_ms=200000"
    with pytest.raises(StuckDevice):
        api.run("workload", target, output=tmp_path / "run", settings=settings, seed=1)
    run = api.resume(tmp_path / "run.teijo.open", io_timeout_ns=300 * 10**9)
    assert run.record.run.ending not in ("interrupted", "failed")
