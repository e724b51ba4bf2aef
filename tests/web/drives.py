"""Drives of this process in the place of a machine's own, for the pages of devices."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo.device import FoundDevice
from teijo.device.checks import Subject
from teijo.device.health import report
from teijo.device.target import BlockTarget, Target, parse_target
from teijo.errors import TargetError
from tests.drives.disk import Knobs
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SataBench


def found(target: str, **more: Any) -> FoundDevice:
    """Return a line of the list of devices."""
    told: dict[str, Any] = {"model": "", "serial": "", "capacity_bytes": 4 << 20, "use": ""} | more
    return FoundDevice(target=target, kernel_name=Path(target).name, **told)


def named(text: str, **more: Any) -> Target:
    """Read a target as it is read, without asking whether a block device is there."""
    block = BlockTarget(text=text, path=Path(text))
    return block if text.startswith("/dev/") else parse_target(text, **more)


@contextmanager
def plugged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Machine]":
    """Give a machine without drives, and let go of those that are plugged in meanwhile."""
    machine = Machine(folder, monkeypatch)
    try:
        yield machine
    finally:
        for bench in machine.benches:
            bench.close()


class Machine:
    """A machine with the block devices that are plugged in; each answers by its target."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the pages see this machine alone."""
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.devices: list[FoundDevice] = []
        self.claims: dict[str, Callable[[], Subject]] = {}
        self.refused: dict[str, TargetError] = {}
        self.looks: list[str] = []
        self.benches: list[NvmeBench] = []
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr("teijo.web.drives.list_devices", lambda: tuple(self.devices))
        monkeypatch.setattr("teijo.device.opening.claim", self._claim)
        monkeypatch.setattr("teijo.api.looking.parse_target", named)
        monkeypatch.setattr(report, "parse_target", named)
        monkeypatch.setattr(report, "drive_of", self._drive_of)
        monkeypatch.setattr("teijo.device.parse_target", named)

    def nvme(self, **knobs: Any) -> str:
        """Plug an NVMe drive in and return its target; one at a time."""
        self.benches.append(bench := NvmeBench(self.folder, self.monkeypatch, **knobs))

        def claim() -> Subject:
            fd = os.dup(bench.fds[1])
            bench.numbers[fd] = 1
            return replace(bench.subject(), fd=fd)

        return self._plug("/dev/nvme0n1", claim)

    def sata(self, **knobs: Any) -> str:
        """Plug a SATA drive in and return its target; one at a time."""
        bench = SataBench(self.folder, self.monkeypatch, Knobs(**knobs))

        def claim() -> Subject:
            subject = bench.subject()
            fd = os.dup(subject.fd)
            bench.front.fds.add(fd)
            return replace(subject, fd=fd)

        return self._plug("/dev/sda", claim)

    def _plug(self, target: str, claim: Callable[[], Subject]) -> str:
        subject = claim()
        identity = subject.found.identity
        os.close(subject.fd)
        self.devices.append(found(target, model=identity.model, serial=identity.serial))
        self.claims[target] = claim
        return target

    def _claim(self, path: Path, **_: Any) -> Subject:
        self.looks.append(str(path))
        if str(path) in self.refused:
            raise self.refused[str(path)]
        return self.claims[str(path)]()

    @contextmanager
    def _drive_of(self, text: str, *_: Any) -> Iterator[Subject]:
        subject = self.claims[text]()
        yield subject
        os.close(subject.fd)
