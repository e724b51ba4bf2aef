"""Which command lines measure in a process of their own, and how that process's end is told."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from teijo.cli.apart import measures
from teijo.errors import HostError


@pytest.mark.parametrize(
    "line", ["run iops x", "resume x", "quick /dev/x", "--lang ja run iops x", "--lang=ja quick ."]
)
def test_a_verb_that_measures_is_found_behind_the_programs_options(line: str) -> None:
    assert measures(line.split())


@pytest.mark.parametrize("line", ["", "--version", "--lang", "--lang run", "report run", "list"])
def test_every_other_command_line_needs_no_second_process(line: str) -> None:
    assert not measures(line.split())


CHILD = """
import os, signal, sys
from pathlib import Path
from teijo.cli import apart
from teijo.device import memory_limit

root, proc = Path(sys.argv[1]), Path(sys.argv[2])
real, sys.argv = memory_limit.MemoryLimit, ["teijo", "run", "--lang", sys.argv[3]]
memory_limit.MemoryLimit = lambda pid: real(root, proc, pid)

def main():
    group = root / "beside" / f"{memory_limit.PREFIX}{os.getpid()}"
    if root.joinpath("kills").exists():
        group.mkdir()
        (group / "memory.events").write_text("max 9\\noom 1\\noom_kill 1\\n")
    os.kill(os.getpid(), signal.SIGKILL)

apart.carry_out(main)
"""


def killed(tmp_path: Path, lang: str, *, by_limit: bool) -> subprocess.CompletedProcess[str]:
    root, proc = tmp_path / "cgroup", tmp_path / "proc"
    (root / "beside" / "own").mkdir(parents=True)
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/beside/own\n")
    (root / "cgroup.controllers").write_text("memory\n")
    (root / "beside" / "cgroup.subtree_control").write_text("memory\n")
    if by_limit:
        (root / "kills").touch()
    words = [sys.executable, "-c", CHILD, str(root), str(proc), lang]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("lang", "told"), [("en", "more memory than its limit"), ("ja", "メモリが制限を超えた")]
)
def test_a_run_that_its_memory_limit_ended_is_told_of_by_the_one_that_looks_after_it(
    tmp_path: Path, lang: str, told: str
) -> None:
    ended = killed(tmp_path, lang, by_limit=True)
    assert (ended.returncode, ended.stdout) == (HostError.exit_code, "")
    assert told in ended.stderr
    assert "--set memory=" in ended.stderr


def test_a_run_that_somebody_else_killed_ends_by_that_signal_without_a_word(tmp_path: Path) -> None:
    ended = killed(tmp_path, "en", by_limit=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGKILL, "", "")
