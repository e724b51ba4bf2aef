"""Real block devices to be refused or destroyed, taken down after each test."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.device.loops import LOOP_CTL_REMOVE, Loops, control


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    made = Loops(folder=tmp_path, made=[])
    yield made
    for node in reversed(made.made):
        for command in (["umount", "-A", node], ["swapoff", node], ["losetup", "-d", node]):
            subprocess.run(command, capture_output=True, check=False)
        with suppress(OSError):
            control(LOOP_CTL_REMOVE, int(node.removeprefix("/dev/loop")))


@pytest.fixture
def loop(loops: Loops) -> Path:
    """A free, blank loop device."""
    return loops.new()


@pytest.fixture
def helper() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts a process that prints a line when it is ready; ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*command: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        return process

    yield start
    for process in started:
        with suppress(OSError):
            process.communicate(timeout=10)  # its standard input ends, so it ends


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder
