"""A program that is stopped in the middle of a step: the run goes on, and says that it stood."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from teijo.runfile import reader
from teijo.terms.remark import RemarkKind

PROGRAM = """
import os, signal, sys
from teijo import api

looks = []

def observe(event):
    if type(event).__name__ == "Progress" and event.elapsed_ns > 0 and not looks:
        looks.append(event)
        os.kill(os.getpid(), signal.SIGSTOP)

settings = {"rw": "randread", "seconds": "2"}
api.run("workload", sys.argv[1], output=sys.argv[2], settings=settings, observer=observe)
"""


def test_a_program_that_stood_still_says_so(scratch: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, f"{scratch}/target?size=4MiB", str(tmp_path / "run")]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "python")}
    with subprocess.Popen(command, env=env) as program:
        # It stops itself within its step, and nobody else's delay can miss that.
        assert os.WIFSTOPPED(os.waitpid(program.pid, os.WUNTRACED)[1])
        time.sleep(1.5)
        program.send_signal(signal.SIGCONT)
    assert program.returncode == 0
    record = reader.read(tmp_path / "run.teijo")
    assert (RemarkKind.SAMPLER_GAP, 1) in [(one.kind, one.step) for one in record.remarks]
    assert any("stood still" in one.text for one in record.remarks)
