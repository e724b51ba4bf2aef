"""A switched write cache on the emulated drives: killed, or its power cut, at every command."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo.device import open_changes
from teijo.device.cache_hold import CacheHold, CacheWish, restore
from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.health import asked
from teijo.errors import DeviceError
from tests.drives import in_process, sg_in_process
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SasBench, SataBench

KILLED = (in_process.Killed, sg_in_process.Killed)
WISH = CacheWish(state="disabled", must=False)
MOST = 40
"""More commands than switching and setting back take; the last of them is never reached."""


@dataclass
class Rig:
    """A drive of one kind, the way to break off its n-th command, and its cache as it is."""

    subject: Callable[[], Subject]
    kill: Callable[[int, bool], None]
    cut: Callable[[], None]
    is_on: Callable[[], bool]


def sg(bench: SataBench | SasBench) -> Rig:
    def kill(number: int, after: bool) -> None:
        bench.front.count = 0
        bench.front.faults = {number: "killed after" if after else "killed before"}

    return Rig(bench.subject, kill, bench.power_cycle, lambda: bool(bench.disk.state["wce"]))


def of_nvme(bench: NvmeBench) -> Rig:
    subject = bench.subject()

    def kill(number: int, after: bool) -> None:
        bench.front.kill_at, bench.front.kill_after = bench.front.sent + number, after

    def is_on() -> bool:
        bench.front.kill_at = 0
        return nvme.write_cache_enabled(subject.fd)

    return Rig(lambda: subject, kill, bench.power_cycle, is_on)


@pytest.fixture(params=["nvme", "sata", "sas"])
def rig(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rig]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "drive"
    folder.mkdir()
    match request.param:
        case "nvme":
            bench = NvmeBench(folder, monkeypatch)
            yield of_nvme(bench)
            bench.close()
        case "sata":
            yield sg(SataBench(folder, monkeypatch))
        case _:
            yield sg(SasBench(folder, monkeypatch))


def test_the_drive_has_it_in_the_run_and_not_after(rig: Rig) -> None:
    assert rig.is_on()
    hold = CacheHold(rig.subject(), WISH)
    assert not rig.is_on()
    hold.give_back()
    assert rig.is_on()
    assert open_changes.open_changes() == ()


def test_the_looks_during_a_run_say_the_drives_own_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "drive").mkdir()
    bench = NvmeBench(tmp_path / "drive", monkeypatch)
    subject = bench.subject()
    monkeypatch.setattr(asked, "HOST", subject.roots)
    monkeypatch.setattr(asked, "number_of", lambda fd: subject.found.number)
    counts = [asked.asked_counters(subject.fd).counts["write_cache_enabled"]]
    hold = CacheHold(subject, WISH)
    counts.append(asked.asked_counters(subject.fd).counts["write_cache_enabled"])
    hold.give_back()
    counts.append(asked.asked_counters(subject.fd).counts["write_cache_enabled"])
    assert counts == [1, 0, 1]
    bench.close()


def run_through(rig: Rig) -> None:
    CacheHold(rig.subject(), WISH).give_back()


def points(rig: Rig, *, after: bool, power: bool) -> int:
    """Break off at every command in turn; return how many there were."""
    for number in range(1, MOST):
        rig.kill(number, after)
        try:
            run_through(rig)
        except KILLED:
            pass
        else:
            return number - 1
        if power:
            rig.cut()
        rig.kill(MOST * MOST, after)
        left = open_changes.open_changes()
        # A drive that is not as it was has a note that says so: nothing else knows of it.
        assert rig.is_on() or [one.before for one in left] == ["enabled"]
        for one in left:
            restore(rig.subject().fd, rig.subject().found.node, one, "/dev/x")
        assert rig.is_on()
        assert open_changes.open_changes() == ()
    raise AssertionError("it does not end")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("power", [False, True])
def test_a_kill_at_any_command_leaves_a_note_that_finish_ends(
    rig: Rig, after: bool, power: bool
) -> None:
    # Asked, told, asked again; and the same on the way back.
    assert points(rig, after=after, power=power) >= 6


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_command_is_mended_by_the_next_run(rig: Rig, after: bool) -> None:
    for number in range(1, MOST):
        rig.kill(number, after)
        with suppress(*KILLED):
            run_through(rig)
            break
        rig.kill(MOST * MOST, after)
        run_through(rig)
        assert rig.is_on()
        assert open_changes.open_changes() == ()
    assert number >= 6


def test_a_drive_that_is_gone_keeps_its_note(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = CacheHold(rig.subject(), WISH)

    def gone(fd: int, request: int, argument: bytearray | int = 0) -> int:
        raise OSError(19, "No such device")

    monkeypatch.setattr("teijo.device.commands.seam.ioctl", gone)
    with pytest.raises(DeviceError, match="could not be set back to enabled"):
        hold.give_back()
    assert [one.before for one in open_changes.open_changes()] == ["enabled"]
