"""Host facts: always all of them, never a guess, never a failure."""

import subprocess
from pathlib import Path

import pytest

from teijo.runner import environment
from teijo.runner.environment import UNKNOWN, describe_host

WANTED = {
    "teijo",
    "teijo build",
    "command",
    "python",
    "fio",
    "host",
    "os",
    "kernel",
    "machine",
    "cpu",
    "cpu count",
    "cpu governor",
    "memory",
    "clocksource",
    "virtualisation",
    "system",
}


def test_every_fact_is_there_and_none_is_empty() -> None:
    facts = describe_host()
    assert facts.keys() == WANTED
    assert all(facts.values())


def test_the_kernel_is_what_uname_says() -> None:
    said = subprocess.run(["uname", "-sr"], capture_output=True, text=True, check=True)
    assert describe_host()["kernel"] == said.stdout.strip()


def test_what_cannot_be_read_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "_CPU", tmp_path)
    monkeypatch.setattr(environment, "_CLOCK", tmp_path / "none")
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    facts = describe_host()
    assert facts["cpu governor"] == UNKNOWN
    assert facts["clocksource"] == UNKNOWN
    assert facts["fio"] == "not installed"


def test_a_program_that_hangs_or_is_broken_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("x", 10)

    monkeypatch.setattr(environment.subprocess, "run", hang)
    assert environment._first_line("something that hangs") == UNKNOWN
