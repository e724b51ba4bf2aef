"""A SATA drive behind a translation layer (SAT-4): SCSI in, registers to the drive."""

import struct

from tests.drives import ata_words
from tests.drives.ata import ABORT, NOT_FOUND, Registers, SataDisk, Task
from tests.drives.disk import Seen
from tests.drives.sense import (
    CHECK,
    INVALID_FIELD,
    OUT_OF_RANGE,
    Check,
    Reply,
    by_descriptors,
    fixed,
)
from tests.drives.target import Target, place

PASS_THROUGH = (0x85, 0xA1)
NON_DATA, IN, OUT = (3,), (4, 6, 10), (5, 6, 11)
RECOVERED, ABORTED = 0x1, 0xB


class SatTarget(Target):
    """A SATA drive as a SCSI logical unit."""

    disk: SataDisk

    def __init__(self, disk: SataDisk) -> None:
        super().__init__(disk)
        if disk.knobs.trim == "none":
            del self.commands[0x42]

    @property
    def blocks(self) -> int:
        return self.disk.accessible

    def seen(self, cdb: bytes) -> Seen:
        if cdb[0] not in PASS_THROUGH or not self.disk.knobs.pass_through:
            return super().seen(cdb)
        task = task_of(cdb)
        return Seen(at=self.clock.now(), name=task.name, code=task.command, ata=True, raw=cdb)

    def execute(self, cdb: bytes, out: bytes = b"") -> Reply:
        if cdb[0] not in PASS_THROUGH or not self.disk.knobs.pass_through:
            return super().execute(cdb, out)
        self.disk.arrive(self.seen(cdb))
        task = task_of(cdb)
        protocol = cdb[1] >> 1 & 0xF
        if protocol not in {*NON_DATA, *IN, *OUT}:
            return Reply(status=CHECK, sense=fixed(*INVALID_FIELD))
        return self.answer(self.disk.execute(task, out), task, check=bool(cdb[2] & 0x20))

    def answer(self, done: Registers, task: Task, *, check: bool) -> Reply:
        """Return what SAT makes of the registers."""
        knobs = self.disk.knobs
        failed = bool(done.status & 0x21)
        if not failed and not (check and knobs.task_file):
            return Reply(data=done.data)
        key, code, qualifier = (RECOVERED, 0x00, 0x1D) if not failed else reason(done)
        if not knobs.task_file:
            return Reply(status=CHECK, sense=fixed(key, code, qualifier))
        if knobs.fixed_sense:
            return Reply(
                status=CHECK, sense=fixed_registers(key, code, qualifier, done, task),
                data=done.data,
            )  # fmt: skip
        wide = task.extended
        count, lba = done.count, done.lba
        registers = bytes((
            0x09, 0x0C, wide, done.error, count >> 8 & 0xFF if wide else 0, count & 0xFF,
            lba >> 24 & 0xFF if wide else 0, lba & 0xFF, lba >> 32 & 0xFF if wide else 0,
            lba >> 8 & 0xFF, lba >> 40 & 0xFF if wide else 0, lba >> 16 & 0xFF,
            task.device, done.status,
        ))  # fmt: skip
        sense = by_descriptors(key, code, qualifier, registers)
        return Reply(status=CHECK, sense=sense, data=done.data)

    def ask(self, task: Task, out: bytes = b"") -> bytes:
        """Send the drive a command of the layer's own. Raises Check if it is aborted."""
        done = self.disk.execute(task, out)
        if done.status & 0x21:
            raise Check(*reason(done))
        return done.data

    # --- what is made of the drive's own words

    def names(self) -> tuple[str, str, str]:
        model, firmware = ata_words.model(self.disk), ata_words.firmware(self.disk)
        # Words 25 and 26, unless they are blank (SAT-4, 8.1.2).
        return "ATA", model, firmware.ljust(8)[4:8].strip() or firmware[:4]

    def pages(self) -> dict[int, bytes]:
        model = ata_words.model(self.disk).ljust(40)[:40]
        serial = ata_words.serial(self.disk).ljust(20)[:20]
        names = struct.pack(">BBBBQ", 1, 3, 0, 8, ata_words.wwn(self.disk))
        names += bytes((2, 1, 0, 68)) + f"ATA     {model}{serial}".encode()
        signature = bytes((0x34, 0, 0x50, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0, 0x01)).ljust(20, b"\0")
        told = bytes(4) + b"TEIJO   EMULATED SATL   1.0 " + signature
        told += bytes((0xEC, 0, 0, 0)) + ata_words.identify(self.disk)
        return super().pages() | {0x80: serial.encode(), 0x83: names, 0x89: told}

    def mode_pages(self, which: int) -> dict[int, bytes]:
        state = self.disk.state
        # Only WCE and DRA of the caching page come from the drive and go to it (SAT-4, 10.3).
        cache, ahead = {0: (state["wce"], state["look_ahead"]), 1: (True, False)}.get(
            which, (self.disk.knobs.wce, True)
        )
        caching = bytearray(20)
        caching[0], caching[1] = 0x08, 18
        caching[2] = bool(cache) << 2
        caching[12] = (not ahead) << 5
        control = bytes((0x0A, 10)) + bytes(10)
        return {0x08: bytes(caching), 0x0A: control}

    def set_mode(self, page: bytes, *, save: bool) -> None:
        if page[0] & 0x3F == 0x08:
            self.ask(Task(command=0xEF, feature=0x02 if page[2] & 4 else 0x82))
            self.ask(Task(command=0xEF, feature=0x55 if page[12] & 0x20 else 0xAA))

    def ready(self, cdb: bytes, out: bytes) -> bytes:
        self.ask(Task(command=0xE5))
        if self.disk.state["standby"]:
            raise Check(2, 4, 2)
        return b""

    def condition(self) -> tuple[int, int, int, int | None]:
        now = self.disk.progress("sanitize")
        return (2, 4, 0x1B, now.done) if now.running else (0, 0, 0, None)

    def start_stop(self, cdb: bytes, out: bytes) -> bytes:
        self.ask(Task(command=0xE1 if cdb[4] & 1 else 0xE0))
        return b""

    def flush(self, cdb: bytes, out: bytes) -> bytes:
        self.ask(Task(command=0xEA))
        return b""

    def read(self, cdb: bytes, out: bytes) -> bytes:
        block, count = place(cdb)
        self.within(block, count)
        return self.ask(Task(command=0x25, lba=block, count=count)) if count else b""

    def write(self, cdb: bytes, out: bytes) -> bytes:
        block, count = place(cdb)
        self.within(block, count)
        if count:
            self.ask(Task(command=0x35, lba=block, count=count), out)
        return b""

    def unmap(self, cdb: bytes, out: bytes) -> bytes:
        self.ask(Task(command=0xE5))
        if self.disk.state["locked"]:
            raise Check(ABORTED, 0, 0)
        return super().unmap(cdb, out)

    def write_same(self, cdb: bytes, out: bytes) -> bytes:
        if not cdb[1] & 8 or self.disk.knobs.trim != "zeros":
            raise Check(*INVALID_FIELD)
        if self.disk.state["locked"] or self.condition()[0]:
            raise Check(ABORTED, 0, 0)
        return super().write_same(cdb, out)


def task_of(cdb: bytes) -> Task:
    """Return the registers in an ATA PASS-THROUGH of 12 or 16 bytes."""
    cdb = cdb.ljust(16, b"\0")
    if cdb[0] == 0xA1:
        return Task(
            command=cdb[9], feature=cdb[3], count=cdb[4], device=cdb[8], extended=False,
            lba=cdb[5] | cdb[6] << 8 | cdb[7] << 16,
        )  # fmt: skip
    wide = bool(cdb[1] & 1)
    lba = cdb[8] | cdb[10] << 8 | cdb[12] << 16
    if not wide:
        return Task(
            command=cdb[14], feature=cdb[4], count=cdb[6], device=cdb[13], extended=False, lba=lba
        )
    return Task(
        command=cdb[14], feature=cdb[3] << 8 | cdb[4], count=cdb[5] << 8 | cdb[6],
        lba=lba | cdb[7] << 24 | cdb[9] << 32 | cdb[11] << 40, device=cdb[13],
    )  # fmt: skip


def reason(done: Registers) -> tuple[int, int, int]:
    """Return the sense of an error (SAT-4, table 10)."""
    if done.error & NOT_FOUND:
        return OUT_OF_RANGE
    return (ABORTED, 0, 0) if done.error & ABORT else (0x4, 0x44, 0x00)


def fixed_registers(key: int, code: int, qualifier: int, done: Registers, task: Task) -> bytes:
    """Return the registers in fixed format sense (SAT-4, 12.2.2.7)."""
    raw = bytearray(fixed(key, code, qualifier))
    raw[3:7] = bytes((done.error, done.status, task.device, done.count & 0xFF))
    upper = (done.count >> 8 > 0) << 6 | (done.lba >> 24 > 0) << 5
    raw[8:12] = bytes((
        task.extended << 7 | upper, done.lba & 0xFF, done.lba >> 8 & 0xFF, done.lba >> 16 & 0xFF,
    ))  # fmt: skip
    return bytes(raw)
