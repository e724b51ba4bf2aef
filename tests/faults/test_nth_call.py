"""Every act meets a failing call, one after the other: right exit codes, nothing lost, no debris.

Here each act meets a few of its calls, others on another day; `make nthcall` lets every one fail.
"""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

from tests.faults import shim

ACTS = "run,run-file,seal,export-csv"
EVERY = 601


def test_whichever_call_fails_the_exit_code_is_right_and_what_was_recorded_is_kept(
    library: Path,
) -> None:
    first = 1 + int(os.environ.get("TEIJO_FIRST", date.today().toordinal() * 29)) % EVERY
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults.warm", "--acts", ACTS),
            *("--every", str(EVERY), "--first", str(first), "--errnos", "EIO,EINTR,KILL"),
        ],
        env={**os.environ, **shim.environment(library)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"begun at call {first}:\n{done.stdout}\n{done.stderr}"
