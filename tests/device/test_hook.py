"""The hook: what it is given, what is kept of it, and every way in which it fails."""

import os
import stat
import time
from pathlib import Path

import pytest

from teijo.device import hook as hooks
from teijo.device.hook import TAIL_BYTES, environment_of
from teijo.device.hook_consent import Hook
from teijo.errors import HostError
from teijo.terms.step import Configure

SETTINGS = (("read-ahead", "128"), ("scheduler", "none"))


def hook(tmp_path: Path, body: str) -> str:
    program = tmp_path / "hook"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


def run_hook(asked: Configure, target: str) -> dict[str, str]:
    """Run a hook by consent to what it is now."""
    return hooks.run_hook(asked, target, Hook.of(asked.hook))


def step(*argv: str, timeout_ns: int = 60 * 10**9) -> Configure:
    return Configure(settings=SETTINGS, hook=argv, timeout_ns=timeout_ns)


def test_it_is_told_the_target_and_every_setting_by_name(tmp_path: Path) -> None:
    body = 'echo "$TEIJO_TARGET $TEIJO_SET_READ_AHEAD $TEIJO_SET_SCHEDULER $1"; echo no >&2'
    told = run_hook(step(hook(tmp_path, body), "now"), "/dev/x")
    assert told["hook_stdout"] == "/dev/x 128 none now"
    assert told["hook_stderr"] == "no"
    assert told["hook_exit_code"] == "0"
    assert environment_of(step("x"), "/dev/x") == {
        "TEIJO_TARGET": "/dev/x",
        "TEIJO_SET_READ_AHEAD": "128",
        "TEIJO_SET_SCHEDULER": "none",
    }


def test_the_program_and_the_scripts_it_is_given_are_known_by_their_digests(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script"
    script.write_text("")
    told = run_hook(step("sh", str(script)), "/dev/x")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert told[f"sha256 {script}"] == empty
    assert len(told["sha256 sh"]) == 64


def test_of_much_it_prints_the_end_is_kept(tmp_path: Path) -> None:
    told = run_hook(step(hook(tmp_path, "yes | head -c 100000; echo last")), "/dev/x")
    assert told["hook_stdout"].endswith("y\nlast")
    assert len(told["hook_stdout"]) <= TAIL_BYTES


def test_its_failure_is_told_with_the_code_the_settings_and_what_it_said_last(
    tmp_path: Path,
) -> None:
    argv = hook(tmp_path, "echo first >&2; echo No such scheduler. >&2; exit 3")
    with pytest.raises(HostError) as caught:
        run_hook(step(argv), "/dev/x")
    assert "exit code 3 for read-ahead=128, scheduler=none: No such scheduler." in str(caught.value)
    assert "resume" in caught.value.remedy


def test_a_hook_that_dies_of_a_signal_is_told(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="killed by signal 9"):
        run_hook(step(hook(tmp_path, "kill -9 $$")), "/dev/x")


def test_a_hook_that_is_not_there_is_told() -> None:
    with pytest.raises(HostError, match="cannot be started: No such file"):
        run_hook(step("/nowhere/hook"), "/dev/x")


def test_a_hook_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    argv = hook(tmp_path, f"sleep 100 & echo $! > {mark}; wait")
    with pytest.raises(HostError, match="not done after"):
        run_hook(step(argv, timeout_ns=300_000_000), "/dev/x")
    child = Path("/proc") / mark.read_text().strip()
    for _ in range(100):
        if not child.exists() or "Z" in (child / "stat").read_text().rpartition(")")[2].split()[0]:
            return
        time.sleep(0.02)
    pytest.fail("the child still runs")


def test_it_has_no_input_and_a_session_of_its_own(tmp_path: Path) -> None:
    told = run_hook(step(hook(tmp_path, "cat; ps -o sid= -p $$")), "/dev/x")
    assert int(told["hook_stdout"]) != os.getsid(0)


def test_a_service_it_leaves_behind_does_not_hold_it_up(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    run_hook(step(hook(tmp_path, f"sleep 100 & echo $! > {mark}"), timeout_ns=10 * 10**9), "/dev/x")
    os.kill(int(mark.read_text()), 9)
