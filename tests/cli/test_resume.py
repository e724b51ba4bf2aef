"""The verb `resume`: what was left goes on to its report; what is done is not touched."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Teijo
from tests.house.tree import PACKAGE


def test_a_killed_run_on_a_simulated_drive_goes_on_to_its_verdict(
    teijo: Teijo, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [
            sys.executable, "-c", "from teijo.cli import main; main()", "run", "iops", "sim:mlc-a",
            "-o", tmp_path / "a", "--progress", "ndjson",
        ],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if '"round": 2' in line:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    code, out, err = teijo("resume", tmp_path / "a.teijo.open", "--report", "text")
    assert code == 0
    assert out.split() == [str(tmp_path / "a.teijo"), str(tmp_path / "a.txt")]
    assert "replaying" in err
    assert "STEADY STATE: YES" in err


def test_a_run_that_is_done_is_not_resumed(teijo: Teijo, tmp_path: Path) -> None:
    teijo("run", "workload", "sim:mlc-a", "seconds=1", "-o", tmp_path / "a", "--report", "none")
    code, out, err = teijo("resume", tmp_path / "a.teijo")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
