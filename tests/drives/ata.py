"""The SATA drive: its commands by their registers (ACS-4), security and sanitize with their states.

What its words and logs hold is in ata_words.py and ata_logs.py; SCSI reaches it through sat.py.
"""

import struct
from dataclasses import dataclass
from typing import Any, ClassVar

from tests.drives import ata_logs, ata_words
from tests.drives.disk import BLOCK, Disk, Progress

OK, ERROR = 0x50, 0x51
ABORT, NOT_FOUND = 0x04, 0x10
CRYPTO_KEY, BLOCK_KEY, OVERWRITE_KEY = 0x43727970, 0x426B4572, 0x4F57
FREEZE_KEY, ANTIFREEZE_KEY = 0x46724C6B, 0x416E7469
ATTEMPTS = 5

NAMES = {
    0x00: "NOP", 0x06: "DATA SET MANAGEMENT", 0x20: "READ(SECTORS)", 0x24: "READ(SECTORS EXT)",
    0x25: "READ(DMA EXT)", 0x27: "READ NATIVE MAX ADDRESS EXT", 0x2F: "READ LOG EXT",
    0x30: "WRITE(SECTORS)", 0x34: "WRITE(SECTORS EXT)", 0x35: "WRITE(DMA EXT)",
    0x40: "READ(VERIFY)", 0x42: "READ(VERIFY EXT)", 0x47: "READ LOG DMA EXT",
    0x78: "ACCESSIBLE MAX ADDRESS", 0xB0: "SMART", 0xB4: "SANITIZE DEVICE", 0xC8: "READ(DMA)",
    0xCA: "WRITE(DMA)", 0xE0: "STANDBY IMMEDIATE", 0xE1: "IDLE IMMEDIATE", 0xE2: "STANDBY",
    0xE3: "IDLE", 0xE5: "CHECK POWER MODE", 0xE6: "SLEEP", 0xE7: "SYNCHRONIZE CACHE ATA",
    0xEA: "SYNCHRONIZE CACHE ATA EXT", 0xEC: "IDENTIFY DEVICE", 0xEF: "SET FEATURES",
    0xF1: "SECURITY SET PASSWORD", 0xF2: "SECURITY UNLOCK", 0xF3: "SECURITY ERASE PREPARE",
    0xF4: "SECURITY ERASE UNIT", 0xF5: "SECURITY FREEZE LOCK", 0xF6: "SECURITY DISABLE PASSWORD",
    0xF8: "READ NATIVE MAX ADDRESS",
}  # fmt: skip
SANITIZE_NAMES = {
    0x0000: "SANITIZE STATUS", 0x0011: "CRYPTO SCRAMBLE", 0x0012: "BLOCK ERASE",
    0x0014: "OVERWRITE", 0x0020: "SANITIZE FREEZE LOCK", 0x0040: "SANITIZE ANTIFREEZE LOCK",
}  # fmt: skip
# ACS-4, what a drive still takes while a sanitize runs or has failed (besides B4h itself).
IN_SANITIZE = {0xEC, 0xE5, 0xE0, 0xE1, 0xE2, 0xE3, 0xE6}
LOGS_IN_SANITIZE = {0x10, 0x30, 0xE0}
# ACS-4, security command actions: what a locked drive aborts.
NOT_LOCKED = {
    0x06, 0x20, 0x24, 0x25, 0x30, 0x34, 0x35, 0x40, 0x42, 0xC8, 0xCA, 0xE7, 0xEA, 0xF1, 0xF5, 0xF6,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Task:
    """The registers of a command."""

    command: int
    feature: int = 0
    count: int = 0
    lba: int = 0
    device: int = 0x40
    extended: bool = True

    @property
    def name(self) -> str:
        """Return the command's name; of SANITIZE DEVICE the one of its subcommand."""
        if self.command == 0xB4:
            return SANITIZE_NAMES.get(self.feature, "SANITIZE DEVICE")
        return NAMES.get(self.command, "unknown")


@dataclass(frozen=True, kw_only=True)
class Registers:
    """The registers after a command, and the data it gave."""

    status: int = OK
    error: int = 0
    count: int = 0
    lba: int = 0
    data: bytes = b""


class Aborted(Exception):
    """The command ends with an error; `lba` has the extended code of a sanitize."""

    def __init__(self, error: int = ABORT, lba: int = 0) -> None:
        super().__init__(error)
        self.registers = Registers(status=ERROR, error=error, lba=lba)


class SataDisk(Disk):
    """A SATA drive that is handed registers."""

    VOLATILE: ClassVar[dict[str, Any]] = {
        "locked": False, "frozen": False, "attempts": ATTEMPTS, "prepared": False,
        "sanitize_frozen": False, "antifreeze": False, "wce": True, "look_ahead": True,
        "standby": False, "sleeping": False,
    }  # fmt: skip
    KEPT: ClassVar[dict[str, Any]] = {
        "user": None, "master": bytes(32).hex(), "maximum": False, "master_id": 0xFFFE,
        "smart": True, "sanitized": False, "apm": 0, "self_tests": [], "hours": 1234,
        "host_logs": {}, "hpa": 0, "dipm": False, "written": 0, "read": 0,
    }  # fmt: skip

    # --- power

    def first_start(self) -> None:
        self.state["hpa"] = self.knobs.hpa_sectors
        if self.knobs.password:
            self.state["user"] = self.knobs.password.encode().ljust(32, b"\0").hex()
            self.state["maximum"] = self.knobs.maximum

    def started(self) -> None:
        state = self.state
        state["wce"] = self.knobs.wce
        state["locked"] = state["user"] is not None
        if self.knobs.unlocked and self.knobs.password:
            state["locked"] = False
        # The BIOS freezes; by ACS a locked drive aborts that.
        if self.knobs.frozen and self.knobs.security:
            state["frozen"] = not state["locked"] or self.knobs.freezes_locked

    def link_reset(self) -> None:
        # Software settings are preserved (word 79 bit 6), the count of attempts begins anew.
        self.state["prepared"] = False
        self.state["attempts"] = ATTEMPTS

    @property
    def accessible(self) -> int:
        """Sectors that can be addressed; the host protected area is above."""
        return self.medium.blocks - int(self.state["hpa"])

    # --- commands

    def execute(self, task: Task, out: bytes = b"") -> Registers:
        """Carry out one command."""
        try:
            return self._execute(task, out)
        except Aborted as aborted:
            return aborted.registers

    def _execute(self, task: Task, out: bytes) -> Registers:
        state, command = self.state, task.command
        prepared, state["prepared"] = state["prepared"], False
        sanitizing = self.progress("sanitize")
        self.progress("self_test")
        if (sanitizing.running or sanitizing.failed) and not self._in_sanitize(task):
            raise Aborted
        if state["locked"] and command in NOT_LOCKED:
            raise Aborted
        if state["sleeping"]:
            raise Aborted
        if 0xF1 <= command <= 0xF6:
            return self._security(task, out, prepared)
        match command:
            case 0xEC:
                return Registers(data=ata_words.identify(self))
            case 0xB4:
                return self._sanitize(task, sanitizing)
            case 0xEF:
                return self._set_features(task)
            case 0xB0:
                return ata_logs.smart(self, task, out)
            case 0x2F | 0x47:
                return Registers(data=ata_logs.read_log(self, task))
            case 0x06:
                return self._trim(task, out)
            case 0x27 | 0xF8 | 0x78:
                return self._max_address(task)
            case 0xE0 | 0xE2:
                state["standby"] = True
                return Registers()
            case 0xE1 | 0xE3:
                state["standby"] = False
                return Registers()
            case 0xE5:
                return Registers(count=0x00 if state["standby"] else 0xFF)
            case 0xE6:
                state["sleeping"] = True
                return Registers()
            case 0xE7 | 0xEA:
                return Registers()
        return self._transfer(task, out)

    def _in_sanitize(self, task: Task) -> bool:
        match task.command:
            case 0xB4:
                return True
            case 0x2F | 0x47:
                return task.lba & 0xFF in LOGS_IN_SANITIZE
            case 0xB0:
                return task.feature & 0xFF == 0xDA
        return task.command in IN_SANITIZE

    def _transfer(self, task: Task, out: bytes) -> Registers:
        reading = task.command in (0x20, 0x24, 0x25, 0xC8)
        writing = task.command in (0x30, 0x34, 0x35, 0xCA)
        if not (reading or writing or task.command in (0x40, 0x42)):
            raise Aborted
        count = task.count or (65536 if task.extended else 256)
        if task.lba + count > self.accessible:
            raise Aborted(NOT_FOUND, task.lba)
        self.state["standby"] = False
        if writing:
            self.medium.write(task.lba, out[: count * BLOCK])
            self.state["written"] += count
            return Registers()
        if not reading:
            return Registers()
        self.state["read"] += count
        return Registers(data=self.medium.read(task.lba, count))

    def _trim(self, task: Task, out: bytes) -> Registers:
        if task.feature & 0xFF != 1 or self.knobs.trim == "none":
            raise Aborted
        ranges = [
            (entry & 0xFFFFFFFFFFFF, entry >> 48)
            for (entry,) in struct.iter_unpack("<Q", out[: len(out) // 8 * 8])
        ]
        if any(count and block + count > self.accessible for block, count in ranges):
            raise Aborted(NOT_FOUND | ABORT)
        for block, count in ranges:
            if count and self.knobs.trim == "zeros":
                self.medium.unmap(block, count)
        return Registers()

    def _max_address(self, task: Task) -> Registers:
        if task.command == 0x78 and task.feature != 0:
            raise Aborted  # only GET NATIVE MAX ADDRESS EXT
        last = self.medium.blocks - 1
        return Registers(lba=min(last, 0x0FFFFFFF) if task.command == 0xF8 else last)

    def _set_features(self, task: Task) -> Registers:
        state, count = self.state, task.count & 0xFF
        match task.feature & 0xFF:
            case 0x02 | 0x82:
                state["wce"] = task.feature & 0xFF == 0x02
            case 0xAA | 0x55:
                state["look_ahead"] = task.feature & 0xFF == 0xAA
            case 0x05 if 1 <= count <= 0xFE:
                state["apm"] = count
            case 0x85:
                state["apm"] = 0
            case 0x03 if count in (0x00, 0x01, 0x08, *range(0x20, 0x23), *range(0x40, 0x47)):
                pass  # transfer mode: SATA takes it without effect
            case 0x10 | 0x90 if count == 0x03:
                state["dipm"] = task.feature & 0xFF == 0x10
            case 0x66 | 0xCC:
                pass  # keep or revert at a software reset; there is none here
            case _:
                raise Aborted
        self.save()
        return Registers()

    # --- security (ACS-4, 4.18)

    def _security(self, task: Task, out: bytes, prepared: bool) -> Registers:
        state = self.state
        if not self.knobs.security:
            raise Aborted
        if state["frozen"] and task.command != 0xF5:
            raise Aborted
        if task.command == 0xF3:
            state["prepared"] = True
            return Registers()
        if task.command == 0xF5:
            state["frozen"] = True
            return Registers()
        data = out.ljust(BLOCK, b"\0")
        master, password = bool(data[0] & 1), data[2:34].hex()
        match task.command:
            case 0xF1:
                self._set_password(data, master=master, password=password)
            case 0xF2:
                self._unlock(master=master, password=password)
            case 0xF4:
                if not prepared or (data[0] & 2 and not self.knobs.enhanced):
                    raise Aborted
                self._erase_unit(master=master, password=password)
            case 0xF6 if state["user"] is not None:
                if (master and state["maximum"]) or not self._matches(master, password):
                    raise Aborted
                state["user"], state["maximum"] = None, False
        self.save()
        return Registers()

    def _matches(self, master: bool, password: str) -> bool:
        return bool(password == self.state["master" if master else "user"])

    def _set_password(self, data: bytes, *, master: bool, password: str) -> None:
        if master:
            self.state["master"] = password
            revision = int.from_bytes(data[34:36], "little")
            if 1 <= revision <= 0xFFFE:
                self.state["master_id"] = revision
        elif self.knobs.keeps != "none":
            self.state["user"], self.state["maximum"] = password, bool(data[1] & 1)

    def _unlock(self, *, master: bool, password: str) -> None:
        state = self.state
        if state["user"] is None or state["attempts"] == 0:
            raise Aborted
        if master and state["maximum"] and state["locked"]:
            raise Aborted
        if self._matches(master, password):
            state["locked"], state["attempts"] = False, ATTEMPTS
            return
        if state["locked"]:
            state["attempts"] -= 1
        raise Aborted

    def _erase_unit(self, *, master: bool, password: str) -> None:
        state = self.state
        if state["locked"] and state["attempts"] == 0:
            raise Aborted
        if not self._matches(master, password):
            raise Aborted
        self.busy(self.knobs.duration)
        if not self.erase("block"):
            raise Aborted
        state["locked"], state["attempts"] = False, ATTEMPTS
        if self.knobs.keeps != "always":
            state["user"], state["maximum"] = None, False

    # --- sanitize (ACS-4, 4.17)

    def _sanitize(self, task: Task, now: Progress) -> Registers:
        state = self.state
        if not self.knobs.sanitize:
            raise Aborted
        if task.feature == 0x0000:
            if now.failed:
                allowed = state["jobs"]["sanitize"]["exit"]
                if not (task.count & 1 and allowed):
                    raise Aborted(lba=1)
                del state["jobs"]["sanitize"]
                self.save()
            return self._sanitize_status()
        if task.feature == 0x0020:
            if task.lba & 0xFFFFFFFF != FREEZE_KEY:
                raise Aborted(lba=2)
            if state["antifreeze"]:
                raise Aborted(lba=4)
            if now.running or now.failed:
                raise Aborted
            state["sanitize_frozen"] = True
            return self._sanitize_status()
        if state["sanitize_frozen"]:
            raise Aborted(lba=3)
        if task.feature == 0x0040:
            if task.lba & 0xFFFFFFFF != ANTIFREEZE_KEY:
                raise Aborted(lba=2)
            state["antifreeze"] = True
            return self._sanitize_status()
        how, pattern = self._sanitize_how(task)
        if now.running or state["locked"] or self.knobs.refuses:
            raise Aborted
        state["sanitized"] = False
        self.begin("sanitize", how=how, pattern=pattern, exit=bool(task.count & 0x10))
        return self._sanitize_status()

    def _sanitize_how(self, task: Task) -> tuple[str, str]:
        low, high = task.lba & 0xFFFFFFFF, task.lba >> 32
        match task.feature:
            case 0x0011 if low == CRYPTO_KEY:
                how = "crypto"
            case 0x0012 if low == BLOCK_KEY:
                how = "block"
            case 0x0014 if high == OVERWRITE_KEY:
                how = "overwrite"
                passes = task.count & 0xF or 16
                if task.count & 0x80 and passes % 2 == 0:
                    low ^= 0xFFFFFFFF  # inverted between passes; the first is inverted if even
            case _:
                raise Aborted(lba=2)
        if how not in self.knobs.sanitize:
            raise Aborted(lba=2)
        return how, low.to_bytes(4, "little").hex()

    def _sanitize_status(self) -> Registers:
        now = self.progress("sanitize")
        count = (
            self.state["sanitized"] << 15 | now.running << 14
            | self.state["sanitize_frozen"] << 13 | self.state["antifreeze"] << 12
        )  # fmt: skip
        return Registers(count=count, lba=now.done if now.running else 0xFFFF)

    def progress(self, name: str) -> Progress:
        was = self.state["jobs"].get(name, {}).get("running", False)
        now = super().progress(name)
        if was and not now.running:
            if name == "sanitize":
                self.state["sanitized"] = not now.failed
                self.save()
            else:
                ata_logs.end_self_test(self)
        return now
