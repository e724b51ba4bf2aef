"""ATA Security Erase on a drive in memory: refusals, and a kill or a power cut at every command.

The drive is written by ACS-4 (security mode state), behind the one call of ioctl.
"""

import contextlib
import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from teijo.device.commands import ata_security as commands
from teijo.device.commands import seam
from teijo.device.drive.ata_identity import identity_of
from teijo.device.open_changes import OpenChange, open_changes
from teijo.device.purging import ata_security
from teijo.device.purging.ata_security import Drive, erase, finish, timeout_minutes
from teijo.device.watched import unwatched
from teijo.errors import DeviceError, TeijoError, UnsafeError

HEADER = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII0P")
SECTORS = 4096
IDENTIFY, SET, UNLOCK, PREPARE, ERASE, DISABLE, FREEZE = 0xEC, 0xF1, 0xF2, 0xF3, 0xF4, 0xF6, 0xF5


class Killed(BaseException):
    """Nothing of this program runs any more."""


@dataclass
class Sata:
    """A drive; `stop_at` is the command (from 1) that power or program does not outlive.

    `after`: that command still took effect. `cut`: the power went, not the program alone.
    """

    password: bytes = b""
    locked: bool = False
    frozen: bool = False
    freezes_at_start: bool = False
    tries: int = 5
    serial: bytes = b"S1"
    registers: bool = True
    native: int = SECTORS
    flags: int = 0b100001
    damaged: bool = False
    fails: bool = False
    ignores_password: bool = False
    keeps_password: bool = False
    stop_at: int = 0
    after: bool = False
    cut: bool = False
    prepared: bool = False
    erased: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    def start(self) -> None:
        """Be switched off and on."""
        self.locked, self.tries, self.prepared = bool(self.password), 5, False
        self.frozen = self.freezes_at_start
        self.stop_at = 0

    def identify(self) -> bytes:
        words = [0] * 256
        put = self.serial.ljust(20)
        for at in range(10):
            words[10 + at] = put[2 * at] << 8 | put[2 * at + 1]
        words[60], words[100], words[83], words[82] = SECTORS, SECTORS, 0x4400, 1 << 10 | 2
        words[89], words[90] = 2, 0x8000 | 1
        state = bool(self.password) << 1 | self.locked << 2 | self.frozen << 3
        words[128] = self.flags | state | (self.tries == 0) << 4
        raw = bytearray(struct.pack("<256H", *words))
        raw[510] = 0xA5
        raw[511] = (-sum(raw) + self.damaged) & 0xFF
        return bytes(raw)

    def ioctl(self, fd: int, request: int, header: bytearray) -> int:
        assert request == 0x2285
        fields = list(HEADER.unpack(header))
        cdb = ctypes.string_at(fields[7], fields[2])
        out = ctypes.string_at(fields[6], fields[5]) if fields[1] == -2 else b""
        self.seen.append(cdb[14])
        is_last = len(self.seen) == self.stop_at
        if is_last and not self.after:
            self._stop()
        answer = self.obey(cdb[14], out)
        if is_last:
            self._stop()
        error, lba, data = answer
        ctypes.memmove(fields[6], data, len(data))
        task = bytes((9, 12, 1, error, 0, 0, lba >> 24 & 255, lba & 255, 0, lba >> 8 & 255, 0,
                      lba >> 16 & 255, 0x40, 0x51 if error else 0x50))  # fmt: skip
        sense = bytes((0x72, 0xB if error else 1, 0, 0x1D, 0, 0, 0, 14)) + task
        if not self.registers and not error:
            sense = b""
        ctypes.memmove(fields[8], sense, len(sense))
        fields[13], fields[16] = (2 if sense else 0), len(sense)
        header[:] = HEADER.pack(*fields)
        return 0

    def _stop(self) -> None:
        if self.cut:
            self.start()
        raise Killed

    def obey(self, command: int, out: bytes) -> tuple[int, int, bytes]:
        was_prepared, self.prepared = self.prepared, False
        refused = (4, 0, b"")
        if command == IDENTIFY:
            return 0, 0, self.identify()
        if command == 0x27:
            return 0, self.native - 1, b""
        if command == 0xE5:
            return 0, 0, b""
        if self.frozen:
            return refused
        given = out[2:34].rstrip(b"\0")
        if command == SET and not self.locked:
            self.password = b"" if self.ignores_password else given
        elif command == PREPARE:
            self.prepared = True
        elif command == UNLOCK and self.tries:
            if given != self.password:
                self.tries -= 1
                return refused
            self.locked = False
        elif command == ERASE and was_prepared and given == self.password and not self.fails:
            self.erased.append(out[0])
            self.password = self.password if self.keeps_password else b""
            self.locked = False
        elif command == DISABLE and not self.locked and given == self.password:
            self.password = b""
        else:
            return refused
        return 0, 0, b""


@pytest.fixture(autouse=True)
def _journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


Plug = Callable[[Sata], Drive]


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Plug:
    """Put a drive behind the call."""

    def into(sata: Sata) -> Drive:
        monkeypatch.setattr(seam, "ioctl", sata.ioctl)
        return DRIVE

    return into


DRIVE = Drive(
    fd=3, target="/dev/sdx", serial="S1", own_serial="S1", wwid="naa.5", size_bytes=SECTORS * 512
)


@pytest.mark.parametrize("enhanced", [False, True])
def test_an_erase_sends_these_commands_and_leaves_no_password(plug: Plug, enhanced: bool) -> None:
    sata = Sata()
    erase(plug(sata), unwatched, enhanced=enhanced)
    assert sata.seen == [IDENTIFY, 0xE5, 0x27, SET, IDENTIFY, PREPARE, ERASE, IDENTIFY]
    assert sata.erased == [0b10 if enhanced else 0]
    assert (sata.password, sata.locked, open_changes()) == (b"", False, ())


REFUSED = {
    "damaged": (Sata(damaged=True), "checksum"),
    "another": (Sata(serial=b"S2"), "'S2'"),
    "unsupported": (Sata(flags=0b100000), "no ATA security"),
    "registers": (Sata(registers=False, native=SECTORS), "does not come through"),
    "locked": (Sata(password=b"theirs", locked=True), "locked by a password"),
    "enabled": (Sata(password=b"theirs"), "a password already"),
    "used up": (Sata(tries=0), "used up"),
    "frozen": (Sata(frozen=True), "frozen"),
    "hidden": (Sata(native=SECTORS + 8), "8 sectors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_drive_that_could_be_left_locked_is_never_told_a_password(plug: Plug, name: str) -> None:
    sata, words = REFUSED[name]
    sata.seen.clear()
    with pytest.raises(UnsafeError, match=words):
        erase(plug(sata), unwatched, enhanced=False)
    assert not {SET, UNLOCK, PREPARE, ERASE, DISABLE, FREEZE} & set(sata.seen)
    assert open_changes() == ()


@pytest.mark.parametrize("name", REFUSED)
def test_each_check_is_what_refuses(plug: Plug, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B14: without one check the drive that it refuses is sent a password.

    A locked drive is enabled too, so that check is taken out together with the one after it.
    """
    sata, _ = REFUSED[name]
    sata.seen.clear()
    gone = {name, "enabled"} if name == "locked" else {name}
    gone |= {"hidden"} if name == "registers" else set()
    left = {key: check for key, check in ata_security.CHECKS.items() if key not in gone}
    monkeypatch.setattr(ata_security, "CHECKS", left)
    with contextlib.suppress(TeijoError):
        erase(plug(sata), unwatched, enhanced=False)
    assert SET in sata.seen


def test_a_bridge_and_a_partition_are_asked_nothing(plug: Plug) -> None:
    sata = Sata()
    plug(sata)
    for changed in ({"between": "a USB bridge (uas)"}, {"is_partition": True}):
        with pytest.raises(UnsafeError, match=r"bridge|partition"):
            erase(Drive(**(vars(DRIVE) | changed)), unwatched, enhanced=False)
    assert sata.seen == []


def test_an_enhanced_erase_is_asked_only_of_a_drive_that_has_it(plug: Plug) -> None:
    sata = Sata(flags=1)
    with pytest.raises(UnsafeError, match="no enhanced"):
        erase(plug(sata), unwatched, enhanced=True)
    assert SET not in sata.seen


@pytest.mark.parametrize(
    ("sata", "words"),
    [
        (Sata(fails=True), "no password is set"),
        (Sata(ignores_password=True), "no effect; no password is set"),
        (Sata(keeps_password=True), "the password stayed; no password is set"),
    ],
)
def test_a_failure_takes_the_password_off_again(plug: Plug, sata: Sata, words: str) -> None:
    with pytest.raises(DeviceError, match=words):
        erase(plug(sata), unwatched, enhanced=False)
    assert (sata.password, open_changes()) == (b"", ())


COMMANDS = 8
POINTS = [
    (number, after, cut, frozen, enhanced)
    for number in range(1, COMMANDS + 1)
    for after in (False, True)
    for cut in (False, True)
    for frozen in (False, True)
    for enhanced in (False, True)
]


@pytest.mark.parametrize(("number", "after", "cut", "frozen", "enhanced"), POINTS)
def test_whatever_ends_at_any_command_is_finished_or_told_with_its_password(
    plug: Plug, number: int, after: bool, cut: bool, frozen: bool, enhanced: bool
) -> None:
    """B5: 8 commands, before and after each, kill and power cut, frozen or not, both erases: 128.

    With `frozen` the BIOS freezes at the next start; a kill alone is followed by one as well.
    """
    sata = Sata(stop_at=number, after=after, cut=cut, freezes_at_start=frozen)
    with pytest.raises(Killed):
        erase(plug(sata), unwatched, enhanced=enhanced)
    if not cut and frozen:
        sata.start()
    sata.stop_at = 0
    was_set, was_locked = sata.password, sata.locked
    left = open_changes("S1")
    # No password without a journal that has it.
    assert not was_set or [one.secret.encode() for one in left] == [was_set]
    sata.seen.clear()
    for change in left:
        if was_set and sata.frozen:
            with pytest.raises(DeviceError, match="'teijo'") as told:
                finish(DRIVE, change)
            assert "suspend" in told.value.remedy
            assert UNLOCK not in sata.seen
            sata.frozen = False
            sata.seen.clear()
        finish(DRIVE, change)
    assert sata.seen.count(UNLOCK) == bool(was_locked)
    assert (sata.password, sata.locked, open_changes()) == (b"", False, ())


def journalled(**changed: str) -> OpenChange:
    told = {"serial": "S1", "wwid": "naa.5", "target": "/dev/sdx", "secret": "teijo"} | changed
    return OpenChange(kind="password", **told)  # type: ignore[arg-type]


def test_a_wrong_password_is_tried_once(plug: Plug) -> None:
    sata = Sata(password=b"theirs", locked=True)
    with pytest.raises(DeviceError, match="still has the password"):
        finish(plug(sata), journalled())
    assert (sata.seen.count(UNLOCK), sata.tries) == (1, 4)


@pytest.mark.parametrize(
    ("sata", "change"),
    [
        (Sata(password=b"teijo", locked=True), journalled(serial="S2")),
        (Sata(password=b"teijo", locked=True), journalled(wwid="naa.6")),
        (Sata(password=b"teijo", locked=True, serial=b"S2"), journalled()),
    ],
)
def test_another_drives_password_is_let_be(plug: Plug, sata: Sata, change: OpenChange) -> None:
    with pytest.raises(UnsafeError):
        finish(plug(sata), change)
    assert UNLOCK not in sata.seen
    assert sata.locked


def test_no_try_is_made_where_none_is_left(plug: Plug) -> None:
    sata = Sata(password=b"teijo", locked=True, tries=0)
    with pytest.raises(DeviceError, match="used up"):
        finish(plug(sata), journalled())
    assert UNLOCK not in sata.seen


@pytest.mark.parametrize(
    ("word", "minutes"), [(2, 64), (0, 720), (0xFF, 1016), (0x8000 | 400, 860)]
)
def test_an_erase_is_waited_for_longer_than_the_drive_says(word: int, minutes: int) -> None:
    raw = bytearray(Sata().identify())
    raw[178:180] = word.to_bytes(2, "little")
    assert timeout_minutes(identity_of(bytes(raw)), enhanced=False) == minutes


def test_the_password_is_one_for_all_in_small_letters() -> None:
    assert commands.PASSWORD == "teijo"
    assert commands.PASSWORD.islower()
