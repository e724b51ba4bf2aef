"""Asking a program: it may hang, leave children, never end, or print without end."""

import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.device.asking import NoAnswer, ask


def script(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_what_a_program_prints_is_its_answer_whatever_its_exit_code(tmp_path: Path) -> None:
    program = script(tmp_path, "import sys\nprint('{}', end='')\nsys.exit(4)")
    assert ask([program], seconds=60, limit_bytes=100) == b"{}"


def test_a_program_that_hangs_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match=r"did not answer within 0\.2 s"):
        ask([script(tmp_path, "import time\ntime.sleep(600)")], seconds=0.2, limit_bytes=100)


def test_what_is_given_up_is_ended_with_its_children(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    program = script(
        tmp_path,
        "import os, time\n"
        "child = os.fork()\n"
        "if child:\n"
        f"    open({str(told)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n"
        "    os.write(1, b'x' * 101)\n"
        "time.sleep(600)",
    )
    with pytest.raises(NoAnswer, match="more than 100 bytes"):
        ask([program], seconds=60, limit_bytes=100)
    own, child = map(int, told.read_text().split())
    until(lambda: gone(own) and gone(child))


def until(holds: Callable[[], bool]) -> None:
    """Wait for what must come, with an end that only a fault reaches."""
    for _ in range(6000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it did not come")


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody waited for yet has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("size", [10 * 2**20, None], ids=["10 MiB", "without end"])
def test_a_program_that_prints_too_much_is_cut_off(tmp_path: Path, size: int | None) -> None:
    text = "import os\nos.write(1, b'x' * 10485760)" if size else "while True: print('x' * 4096)"
    with pytest.raises(NoAnswer, match="more than 4096 bytes"):
        ask([script(tmp_path, text)], seconds=60, limit_bytes=4096)


def test_a_program_that_is_not_there_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(NoAnswer, match="cannot be started"):
        ask([str(tmp_path / "nothing")], seconds=60, limit_bytes=100)


def test_a_program_gets_no_input_and_speaks_english(tmp_path: Path) -> None:
    program = script(tmp_path, "import os, sys\nprint(sys.stdin.read(), os.environ['LC_ALL'])")
    assert ask([program], seconds=60, limit_bytes=100) == b" C\n"
