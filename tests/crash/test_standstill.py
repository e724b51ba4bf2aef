"""A program that is stopped in the middle of a step: the run goes on, and says that it stood.

Of the two processes of a run both stop where the one that a shell knows is asked to.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teijo.runfile import reader
from teijo.terms.remark import RemarkKind
from tests.crash.test_stuck_device import PATIENCE_S, Run

PROGRAM = """
import os, signal, sys
from teijo import api
from teijo.cli.signals import heard
from teijo.runner.interrupt import Interrupt

looks = []

def observe(event):
    if type(event).__name__ == "Progress" and event.elapsed_ns > 0 and not looks:
        looks.append(event)
        os.kill(os.getpid(), signal.Signals[sys.argv[3]])

settings = {"rw": "randread", "seconds": "2"}
api.run(
    "workload", sys.argv[1], output=sys.argv[2], settings=settings, observer=observe,
    interrupt=Interrupt(heard),
)
"""


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("SIGSTOP", (RemarkKind.SAMPLER_GAP, "stood still")),
        ("SIGTSTP", (RemarkKind.CLOCK_STEPPED, "The program was stopped for ")),
    ],
)
def test_a_program_that_stood_still_says_so(
    stop: str, said: tuple[RemarkKind, str], scratch: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", PROGRAM, f"{scratch}/target?size=4MiB", str(tmp_path / "run")]
    command.append(stop)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "python")}
    with subprocess.Popen(command, env=env) as program:
        # It stops itself within its step, and nobody else's delay can miss that.
        assert os.WIFSTOPPED(os.waitpid(program.pid, os.WUNTRACED)[1])
        time.sleep(1.5)
        program.send_signal(signal.SIGCONT)
    assert program.returncode == 0
    record = reader.read(tmp_path / "run.teijo")
    assert (RemarkKind.SAMPLER_GAP, 1) in [(one.kind, one.step) for one in record.remarks]
    kind, words = said
    assert any(one.kind is kind and words in one.text for one in record.remarks)


def state_of(pid: int) -> str:
    """Give the state of a process as /proc has it: T while it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(pid: int, *, stopped: bool) -> None:
    """Wait until a process is stopped, or is not any more."""
    for _ in range(10 * PATIENCE_S):
        if (state_of(pid) == "T") is stopped:
            return
        time.sleep(0.1)
    pytest.fail(f"process {pid} is {state_of(pid)}")


def test_a_stop_and_a_continue_reach_both_processes_of_a_run(scratch: Path, tmp_path: Path) -> None:
    line = ("run", "workload", f"{scratch}/target?size=4MiB", "-o", str(tmp_path / "run"))
    run = Run(*line, "--set", "rw=randread", "bs=4KiB", "seconds=1h")
    run.wait_for("progress")
    outer = run.process.pid
    (inner,) = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
    for _ in range(2):
        run.process.send_signal(signal.SIGTSTP)
        for pid in (outer, int(inner)):
            wait_for_state(pid, stopped=True)
        run.process.send_signal(signal.SIGCONT)
        for pid in (outer, int(inner)):
            wait_for_state(pid, stopped=False)
    run.process.send_signal(signal.SIGINT)
    assert run.end()[0] == 7
