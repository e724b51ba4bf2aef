"""The write cache by the drive's own word: read, switched, read back, and set back."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from teijo.device import open_changes
from teijo.device.cache_hold import CacheHold, CacheWish, restore
from teijo.device.checks import Subject
from teijo.device.commands import ata, nvme, scsi
from teijo.device.commands.seam import NvmeError
from teijo.device.identify import Identification
from teijo.device.write_cache import WriteCache, switch, write_cache
from teijo.errors import DeviceError, HostError
from teijo.terms.geometry import Geometry, Identity
from tests.device.test_stack import Tree

ILLEGAL = bytes.fromhex("700005000000000a00000000200000000000")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@dataclass
class Drive:
    """A drive that has a write cache and speaks one command set; `told` is each change."""

    speaks: str = "scsi"
    is_on: bool = True
    has_one: bool = True
    obeys: bool = True
    long_form: bool = True
    told: list[bool] = field(default_factory=list)
    before_change: Callable[[], None] = lambda: None

    def set(self, is_on: bool) -> None:
        self.before_change()
        self.told.append(is_on)
        if self.obeys:
            self.is_on = is_on

    def scsi(self, fd: int, cdb: bytes, *, out: bytes = b"", expect: int = 0) -> scsi.Answer:
        if self.speaks != "scsi" or (cdb[0] in (0x5A, 0x55) and not self.long_form):
            raise scsi.ScsiError(scsi.parse_sense(ILLEGAL))
        page = bytes((0x88, 0x12, 4 if self.is_on else 0)) + bytes(17)
        match cdb[0]:
            case 0x5A:
                return scsi.Answer(data=bytes((0, 34, 0, 0x10, 0, 0, 0, 8)) + bytes(8) + page)
            case 0x1A:
                return scsi.Answer(data=bytes((31, 0, 0x10, 8)) + bytes(8) + page)
            case 0x55 | 0x15:
                sent = out[8:] if cdb[0] == 0x55 else out[4:]
                # The bit "can be saved" is reserved here, and nothing is asked to be saved.
                assert (sent[0], sent[1], cdb[1], len(sent)) == (0x08, 0x12, 0x10, 20)
                self.set(bool(sent[2] & 4))
                return scsi.Answer(data=b"")
        raise AssertionError(cdb.hex())

    def ata(self, fd: int, command: int, *, feature: int = 0, expect: int = 0) -> ata.Answer:
        if self.speaks != "ata":
            raise scsi.ScsiError(scsi.parse_sense(ILLEGAL))
        if command == 0xEF:
            self.set({0x02: True, 0x82: False}[feature])
            return ata.Answer(data=b"", registers=None)
        assert (command, expect) == (0xEC, 512)
        words = bytearray(512)
        struct.pack_into("<H", words, 2 * 82, 0x20 if self.has_one else 0)
        struct.pack_into("<H", words, 2 * 85, 0x20 if self.is_on else 0)
        return ata.Answer(data=bytes(words), registers=None)

    def nvme(
        self, fd: int, *, opcode: int, number: int, cdw10: int, cdw11: int = 0, **more: object
    ) -> int:
        if opcode == 0x06:
            more["data"][525] = int(self.has_one)  # type: ignore[index]
            return 0
        if self.speaks != "nvme" or not self.has_one:
            raise NvmeError(0x4002)
        assert cdw10 == 0x06
        if opcode == 0x09:
            self.set(bool(cdw11 & 1))
        return int(self.is_on)


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Drive]:
    def plugged(**knobs: object) -> Drive:
        drive = Drive(**knobs)  # type: ignore[arg-type]
        monkeypatch.setattr(scsi, "execute", drive.scsi)
        monkeypatch.setattr(ata, "execute", drive.ata)
        monkeypatch.setattr(nvme, "admin", drive.nvme)
        return drive

    return plugged


Plug = Callable[..., Drive]
NODES = {
    "scsi": ("sda", "8:0", {"device__vendor": "TESTCO"}),
    "ata": ("sda", "8:0", {"device__vendor": "ATA"}),
    "nvme": ("nvme0n1", "259:0", {}),
}
SAYS = {
    "scsi": "SCSI caching mode page",
    "ata": "ATA IDENTIFY DEVICE word 85",
    "nvme": "NVMe Get Features 06h",
}


def subject(tree: Tree, speaks: str, *, kernel: str = "write back", serial: str = "S1") -> Subject:
    name, number, attributes = NODES[speaks]
    node = tree.node(tree.disk(name, number, queue__write_cache=kernel, **attributes))
    found = Identification(
        identity=Identity(kind="block", target="/dev/x", serial=serial, wwid="eui.1"),
        geometry=Geometry(capacity_bytes=4096, nominal_capacity_bytes=4096),
        number=node.number,
        node=node,
        disk_sequence=1,
        own_serial=serial,
    )
    return Subject(fd=3, target="/dev/x", found=found, roots=tree.roots)


def state(one: Subject) -> tuple[str, str, str]:
    found = write_cache(one.fd, one.found.node)
    return found.state, found.read_by, found.disagreement


@pytest.mark.parametrize("speaks", NODES)
@pytest.mark.parametrize("is_on", [True, False])
def test_the_drive_says_its_state_whatever_the_kernel_believes(
    tree: Tree, plug: Plug, speaks: str, is_on: bool
) -> None:
    plug(speaks=speaks, is_on=is_on)
    word = "enabled" if is_on else "disabled"
    assert state(subject(tree, speaks)) == (word, SAYS[speaks], "" if is_on else "write back")


def test_a_flag_that_somebody_wrote_is_not_believed(tree: Tree, plug: Plug) -> None:
    plug(speaks="scsi", is_on=True)
    found = state(subject(tree, "scsi", kernel="write through"))
    assert found == ("enabled", SAYS["scsi"], "write through")


def test_a_sat_layer_that_passes_no_ata_has_the_mode_page(tree: Tree, plug: Plug) -> None:
    plug(speaks="scsi", is_on=False)
    assert state(subject(tree, "ata"))[:2] == ("disabled", SAYS["scsi"])


def test_where_no_drive_answers_the_kernel_is_quoted_and_named(tree: Tree, plug: Plug) -> None:
    plug(speaks="nothing")
    assert state(subject(tree, "scsi")) == ("write back", "queue/write_cache", "")


def test_where_nobody_answers_nothing_is_told(tree: Tree, plug: Plug) -> None:
    plug(speaks="nothing")
    assert state(subject(tree, "scsi", kernel="")) == ("", "", "")


def test_a_controller_without_a_cache_says_so(tree: Tree, plug: Plug) -> None:
    plug(speaks="nvme", has_one=False)
    one = subject(tree, "nvme", kernel="write through")
    assert state(one)[:2] == ("disabled", "NVMe Identify Controller: it has none")
    with pytest.raises(DeviceError, match="the drive has none"):
        switch(3, one.found.node, "enabled", "/dev/x")


@pytest.mark.parametrize("speaks", NODES)
@pytest.mark.parametrize("is_on", [True, False])
def test_it_is_switched_by_the_command_set_it_was_read_by(
    tree: Tree, plug: Plug, speaks: str, is_on: bool
) -> None:
    drive = plug(speaks=speaks, is_on=is_on)
    wanted = "disabled" if is_on else "enabled"
    now: WriteCache = switch(3, subject(tree, speaks).found.node, wanted, "/dev/x")
    assert (now.state, drive.is_on, drive.told) == (wanted, not is_on, [not is_on])


def test_an_old_drive_is_switched_by_the_short_form(tree: Tree, plug: Plug) -> None:
    drive = plug(speaks="scsi", long_form=False)
    switch(3, subject(tree, "scsi").found.node, "disabled", "/dev/x")
    assert not drive.is_on


@pytest.mark.parametrize("speaks", NODES)
def test_a_drive_that_answers_and_does_not_obey_is_found_out(
    tree: Tree, plug: Plug, speaks: str
) -> None:
    plug(speaks=speaks, obeys=False)
    with pytest.raises(DeviceError, match="answered without error, and says that it is enabled"):
        switch(3, subject(tree, speaks).found.node, "disabled", "/dev/x")


def test_a_kernel_flag_switches_nothing(tree: Tree, plug: Plug) -> None:
    plug(speaks="nothing")
    with pytest.raises(DeviceError, match="the kernel's flag switches nothing"):
        switch(3, subject(tree, "scsi").found.node, "disabled", "/dev/x")


@pytest.mark.parametrize("speaks", NODES)
def test_a_run_has_it_as_asked_and_gives_it_back(tree: Tree, plug: Plug, speaks: str) -> None:
    drive = plug(speaks=speaks, is_on=True)
    hold = CacheHold(subject(tree, speaks), CacheWish(state="disabled", must=False))
    assert not drive.is_on
    shown = hold.shown_in(Identity(kind="block", target="/dev/x", facts={"link": "x"}))
    assert shown.write_cache == "disabled"
    assert shown.facts == {
        "link": "x",
        "write cache read by": SAYS[speaks],
        "write cache by the kernel": "write back",
        "write cache before": "enabled",
    }
    hold.give_back()
    hold.give_back()
    assert (drive.is_on, drive.told) == (True, [False, True])
    assert open_changes.open_changes() == ()


def test_what_is_so_already_is_not_touched(tree: Tree, plug: Plug) -> None:
    drive = plug(is_on=False)
    hold = CacheHold(subject(tree, "scsi"), CacheWish(state="disabled", must=True))
    hold.give_back()
    assert (drive.told, hold.before) == ([], "")


@pytest.mark.parametrize("speaks", NODES)
def test_it_is_on_the_disk_before_the_drive_is_told(tree: Tree, plug: Plug, speaks: str) -> None:
    seen: list[tuple[str, ...]] = []
    drive = plug(speaks=speaks, is_on=True)
    drive.before_change = lambda: seen.append(
        tuple(one.before for one in open_changes.open_changes("S1"))
    )
    CacheHold(subject(tree, speaks), CacheWish(state="disabled", must=False)).give_back()
    assert seen == [("enabled",), ("enabled",)]


@pytest.mark.parametrize("speaks", NODES)
def test_the_run_after_a_kill_goes_back_to_the_oldest_state(
    tree: Tree, plug: Plug, speaks: str
) -> None:
    drive = plug(speaks=speaks, is_on=True)
    one = subject(tree, speaks)
    CacheHold(one, CacheWish(state="disabled", must=False))  # and the program is killed
    again = CacheHold(one, CacheWish(state="disabled", must=False))
    assert again.before == "enabled"
    again.give_back()
    assert drive.is_on
    assert open_changes.open_changes() == ()


def test_finish_sets_back_what_the_journal_says(tree: Tree, plug: Plug) -> None:
    drive = plug(is_on=True)
    one = subject(tree, "scsi")
    CacheHold(one, CacheWish(state="disabled", must=False))
    (change,) = open_changes.open_changes("S1")
    assert restore(3, one.found.node, change, "/dev/x").state == "enabled"
    assert drive.is_on
    assert open_changes.open_changes() == ()


def test_a_drive_that_does_not_go_back_stays_in_the_journal(tree: Tree, plug: Plug) -> None:
    drive = plug(is_on=True)
    hold = CacheHold(subject(tree, "scsi"), CacheWish(state="disabled", must=False))
    drive.obeys = False
    with pytest.raises(DeviceError, match="could not be set back to enabled"):
        hold.give_back()
    assert [one.before for one in open_changes.open_changes("S1")] == ["enabled"]


def test_a_journal_that_names_no_state_changes_nothing(tree: Tree, plug: Plug) -> None:
    drive = plug(is_on=True)
    change = open_changes.OpenChange(
        kind="cache", serial="S1", wwid="", target="/dev/x", before="sideways"
    )
    with pytest.raises(DeviceError, match="which is no state"):
        restore(3, subject(tree, "scsi").found.node, change, "/dev/x")
    assert drive.told == []


@pytest.mark.parametrize("knobs", [{"obeys": False}, {"speaks": "nothing"}])
def test_a_standard_leaves_what_cannot_be_switched_and_a_person_is_told(
    tree: Tree, plug: Plug, knobs: dict[str, object]
) -> None:
    plug(**knobs)
    one = subject(tree, "scsi")
    left = CacheHold(one, CacheWish(state="disabled", must=False))
    assert left.before == ""
    with pytest.raises(DeviceError):
        CacheHold(one, CacheWish(state="disabled", must=True))
    assert open_changes.open_changes() == ()


def test_without_a_journal_nothing_is_switched(
    tree: Tree, plug: Plug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = plug(is_on=True)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HostError, match="nothing was changed"):
        CacheHold(subject(tree, "scsi"), CacheWish(state="disabled", must=False))
    assert drive.told == []


@pytest.mark.parametrize("raw", [b"", bytes(8), b"\0\x20\0\0\0\0\xff\xff" + bytes(24), bytes(28)])
def test_a_mode_page_that_is_none_is_not_believed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, raw: bytes
) -> None:
    monkeypatch.setattr(scsi, "execute", lambda fd, cdb, **more: scsi.Answer(data=raw))
    assert state(subject(tree, "scsi"))[:2] == ("write back", "queue/write_cache")
