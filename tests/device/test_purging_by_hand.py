"""A drive purged without a run, on the emulated drive: begun, looked at, and ended."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from teijo.device import open_changes
from teijo.device.checks import Subject
from teijo.device.drive.portrait import Portrait
from teijo.device.open_changes import OpenChange
from teijo.device.preflight import Preflight
from teijo.device.purging import by_hand, ladder, waiting
from teijo.device.purging.offer import Offer
from teijo.device.target import BlockTarget
from teijo.device.watched import Moved
from teijo.errors import DeviceError, StuckDevice, TargetError, UnsafeError
from tests.drives.in_process import NvmeBench

TARGET = "/dev/nvme0n1"
BLOCK = "nvme-sanitize-block"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[NvmeBench]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    benches: list[NvmeBench] = []

    def claimed(*_: object, **__: object) -> Subject:
        on = benches[0]
        subject = on.subject()
        copy = os.dup(subject.fd)
        on.numbers[copy] = 1
        return replace(subject, fd=copy)

    # The made-up tree has no nodes in /dev, no processes and no mounts.
    monkeypatch.setattr(by_hand, "claim", claimed)
    monkeypatch.setattr(
        by_hand, "consent", lambda subject, destroy, also: Preflight(checks=(), given=(destroy,))
    )
    parse = by_hand.parse_target
    here = BlockTarget(text=TARGET, path=Path(TARGET))
    monkeypatch.setattr(
        by_hand, "parse_target", lambda text, **how: here if text == TARGET else parse(text, **how)
    )
    monkeypatch.setattr(ladder, "confirm", lambda subject: None)
    yield benches
    for one in benches:
        one.close()


@pytest.fixture
def on(made: list[NvmeBench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NvmeBench:
    made.append(NvmeBench(tmp_path, monkeypatch, mode="fail", duration=20.0))
    monkeypatch.setattr(waiting, "rest", lambda ns, look: made[0].clock.sleep(ns / 1e9))
    return made[0]


def test_a_failure_is_refused_to_a_run_ended_and_purged_again(on: NvmeBench) -> None:
    on.fill()
    offers = by_hand.purge_state(TARGET).offers
    assert next(one.method for one in offers if not one.refusal) == BLOCK
    with pytest.raises(DeviceError, match="failed, and the drive is not purged"):
        by_hand.purge(TARGET, BLOCK, destroy="EMU0001")
    state = by_hand.purge_state(TARGET)
    assert [one.kind for one in state.seen.unfinished] == ["sanitize", "change"]
    assert [one.method for one in state.changes] == [BLOCK]
    (line,) = by_hand.finish(TARGET)
    assert "answers again" in line
    assert open_changes.open_changes() == ()
    heard: list[int] = []
    done = by_hand.purge(TARGET, BLOCK, destroy="EMU0001", progress=lambda a, b: heard.append(b))
    assert done.is_proven
    assert heard
    assert by_hand.purge_state(TARGET).seen.unfinished == ()


def test_one_that_runs_is_neither_begun_again_nor_ended(on: NvmeBench) -> None:
    from teijo.device.commands import nvme

    nvme.sanitize(on.fds[1], nvme.BLOCK_ERASE)
    with pytest.raises(DeviceError, match="a sanitize runs") as caught:
        by_hand.purge(TARGET, BLOCK, destroy="EMU0001")
    assert "--status" in caught.value.remedy
    open_changes.note(
        OpenChange(kind="purge", serial="EMU0001", wwid=_wwid(on), target=TARGET, method=BLOCK)
    )
    with pytest.raises(DeviceError, match="cannot be ended"):
        by_hand.finish(TARGET)
    assert len(open_changes.open_changes()) == 1
    assert on.opcodes(0x84) == [0x84]


def test_the_cache_is_set_back(on: NvmeBench) -> None:
    from teijo.device.commands import nvme

    nvme.set_feature(on.fds[1], nvme.VOLATILE_WRITE_CACHE, 0)
    open_changes.note(
        OpenChange(kind="cache", serial="EMU0001", wwid=_wwid(on), target=TARGET, before="enabled")
    )
    assert by_hand.finish(TARGET) == ("the write cache is enabled again",)
    assert nvme.write_cache_enabled(on.fds[1])
    assert by_hand.finish(TARGET) == ()


def note_cache_and_password(on: NvmeBench) -> None:
    """Leave two changes in the journal, of which this version cannot end the second."""
    cache = OpenChange(
        kind="cache", serial="EMU0001", wwid=_wwid(on), target=TARGET, before="enabled",
        method="06h",
    )  # fmt: skip
    open_changes.note(cache)
    open_changes.note(replace(cache, kind="password", method="of-tomorrow"))


def test_where_one_change_cannot_be_ended_the_others_are_and_each_is_told(on: NvmeBench) -> None:
    from teijo.device.commands import nvme

    nvme.set_feature(on.fds[1], nvme.VOLATILE_WRITE_CACHE, 0)
    note_cache_and_password(on)
    with pytest.raises(DeviceError) as caught:
        by_hand.finish(TARGET)
    assert caught.value.message == (
        f"{TARGET}: what of-tomorrow left open is not ended by this version. "
        "Ended: the write cache is enabled again. Still open: password by of-tomorrow."
    )
    assert nvme.write_cache_enabled(on.fds[1])
    assert [one.kind for one in open_changes.open_changes()] == ["password"]


def test_a_drive_that_hangs_is_asked_nothing_more_and_what_is_left_is_told(
    on: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object) -> str:
        raise StuckDevice("it hangs", remedy="Look.")

    note_cache_and_password(on)
    monkeypatch.setattr(by_hand, "_ended", hang)
    with pytest.raises(StuckDevice) as caught:
        by_hand.finish(TARGET)
    assert caught.value.message == (
        "it hangs. Ended: nothing. Still open: password by of-tomorrow, cache by 06h."
    )


def test_a_change_of_another_drive_or_kind_is_left(on: NvmeBench) -> None:
    other = OpenChange(
        kind="purge", serial="EMU0001", wwid="eui.other", target=TARGET, method=BLOCK
    )
    open_changes.note(other)
    assert by_hand.finish(TARGET) == ()
    open_changes.note(replace(other, kind="password", wwid=_wwid(on), method="of-tomorrow"))
    with pytest.raises(DeviceError, match="is not ended by this version"):
        by_hand.finish(TARGET)
    assert len(open_changes.open_changes()) == 2


@dataclass
class OfTest:
    """A method that ends what it left; `drive_says` whether the drive tells of it by itself."""

    drive_says: bool
    name: str = "of-test"
    ended: list[OpenChange | None] = field(default_factory=list)

    def offer(self, subject: Subject) -> Offer | None:
        return None

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        raise NotImplementedError

    def is_left(self, seen: Portrait) -> bool:
        return self.drive_says

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        self.ended.append(change)
        return "it was ended"


def test_what_a_method_left_is_ended_by_that_method(
    on: NvmeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_journal, of_drive = OfTest(drive_says=False), OfTest(drive_says=True, name="other")
    monkeypatch.setattr(ladder, "LADDER", (of_journal, of_drive))
    assert by_hand.finish(TARGET) == ("it was ended",)
    assert (of_journal.ended, of_drive.ended) == ([], [None])
    change = open_changes.note(
        OpenChange(kind="purge", serial="EMU0001", wwid=_wwid(on), target=TARGET, method="of-test")
    )
    assert by_hand.finish(TARGET) == ("it was ended",)
    assert (of_journal.ended, of_drive.ended) == ([change], [None])


def test_what_is_in_use_is_not_ended(on: NvmeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = by_hand.claim
    monkeypatch.setattr(by_hand, "claim", lambda *a, **b: replace(claimed(*a, **b), refusal="busy"))
    with pytest.raises(UnsafeError, match="in use: busy; nothing was ended"):
        by_hand.finish(TARGET)


def test_only_a_block_device_and_a_method_that_exists(on: NvmeBench) -> None:
    with pytest.raises(TargetError, match="no block device"):
        by_hand.purge_state("sim:mlc-a")
    with pytest.raises(TargetError, match="no purge by 'none'"):
        by_hand.purge(TARGET, "none")
    assert on.opcodes(0x84) == []


def _wwid(on: NvmeBench) -> str:
    return on.subject().found.identity.wwid
