"""A drive that a person watches: looks at whole intervals, never more; refusals are said."""

import errno
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from teijo.device.commands import seam
from teijo.device.health.following import follow
from teijo.errors import DeviceError
from tests.drives.in_process import NvmeBench
from tests.runner.fakes import SECOND

GET_LOG = 0x02


class Time:
    """A clock that only rests, and answers that take some time, move."""

    def __init__(self) -> None:
        self.now_ns = 1000
        self.rests: list[float] = []

    def rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now_ns += round(seconds * SECOND)

    def read(self) -> int:
        return self.now_ns


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NvmeBench]:
    made = NvmeBench(tmp_path, monkeypatch)
    yield made
    made.close()


def slow(monkeypatch: pytest.MonkeyPatch, time: Time, take_ns: Callable[[], int]) -> None:
    real = seam.ioctl

    def ioctl(fd: int, request: int, argument: bytearray | int = 0) -> int:
        if isinstance(argument, bytearray) and argument[0] == GET_LOG:
            time.now_ns += take_ns()
        return real(fd, request, argument)

    monkeypatch.setattr(seam, "ioctl", ioctl)


def test_a_drive_is_asked_once_an_interval_at_whole_intervals(
    bench: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    slow(monkeypatch, time, lambda: SECOND // 2)
    looks = follow(bench.subject(), 10 * SECOND, rest=time.rest, now_ns=time.read)
    first = next(looks)
    before = bench.opcodes(GET_LOG)
    found = [first, *islice(looks, 4)]
    assert [one.at_ns for one in found] == [number * 10 * SECOND for number in range(5)]
    assert [one.cost_ns for one in found] == [SECOND] * 5
    # Of this drive a look is two logs: 02h, and C0h of OCP.
    assert len(bench.opcodes(GET_LOG)) - len(before) == 2 * 4
    assert all(one.counters["temperature_kelvin"] == 310 for one in found)


def test_a_look_that_takes_longer_than_an_interval_leaves_the_next_out(
    bench: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    slow(monkeypatch, time, lambda: 12 * SECOND)
    looks = follow(bench.subject(), 10 * SECOND, rest=time.rest, now_ns=time.read)
    assert [one.at_ns // SECOND for one in islice(looks, 3)] == [0, 30, 60]


def test_what_the_drive_refuses_is_a_look_with_its_reason(
    bench: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    looks = follow(bench.subject(), SECOND, rest=time.rest, now_ns=time.read)
    next(looks)
    real = seam.ioctl

    def refuse(fd: int, request: int, argument: bytearray | int = 0) -> int:
        if isinstance(argument, bytearray) and argument[0] == GET_LOG:
            return 0x4109
        return real(fd, request, argument)

    monkeypatch.setattr(seam, "ioctl", refuse)
    blind = next(looks)
    assert (blind.counters, "0x4109" in blind.error) == ({}, True)
    monkeypatch.setattr(seam, "ioctl", real)
    assert next(looks).error == ""


def test_a_drive_that_is_gone_ends_it(bench: NvmeBench) -> None:
    time = Time()
    looks = follow(bench.subject(), SECOND, rest=time.rest, now_ns=time.read)
    next(looks)
    bench.drive.cut()
    with pytest.raises(DeviceError, match="went away"):
        next(looks)


def test_what_tells_no_log_is_not_watched(
    bench: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOTTY, "no")

    subject = replace(bench.subject(), target="/dev/my drive")
    monkeypatch.setattr(seam, "ioctl", refuse)
    with pytest.raises(DeviceError, match="tells no log that can be watched") as refused:
        next(follow(subject, SECOND))
    assert refused.value.remedy.endswith("teijo health '/dev/my drive'")
