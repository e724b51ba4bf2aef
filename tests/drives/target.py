"""What a SATA drive behind a translation layer and a SAS drive answer alike (SPC-5, SBC-4)."""

import struct
from collections.abc import Callable

from tests.drives.disk import BLOCK, Clock, Disk, Seen
from tests.drives.sense import (
    INVALID_FIELD,
    INVALID_OPCODE,
    INVALID_PARAMETER,
    LIST_LENGTH,
    OUT_OF_RANGE,
    POWER_ON,
    Check,
    Reply,
    by_descriptors,
    fixed,
)

NAMES = {
    0x00: "TEST UNIT READY", 0x03: "REQUEST SENSE", 0x04: "FORMAT UNIT", 0x08: "READ(6)",
    0x0A: "WRITE(6)", 0x12: "INQUIRY", 0x15: "MODE SELECT(6)", 0x1A: "MODE SENSE(6)",
    0x1B: "START STOP UNIT", 0x1D: "SEND DIAGNOSTIC", 0x25: "READ CAPACITY(10)", 0x28: "READ(10)",
    0x2A: "WRITE(10)", 0x35: "SYNCHRONIZE CACHE(10)", 0x37: "READ DEFECT DATA(10)",
    0x41: "WRITE SAME(10)", 0x42: "UNMAP", 0x48: "SANITIZE", 0x4D: "LOG SENSE",
    0x55: "MODE SELECT(10)", 0x5A: "MODE SENSE(10)", 0x85: "ATA PASS-THROUGH(16)",
    0x88: "READ(16)", 0x8A: "WRITE(16)", 0x91: "SYNCHRONIZE CACHE(16)", 0x93: "WRITE SAME(16)",
    0x9E: "SERVICE ACTION IN(16)", 0xA0: "REPORT LUNS", 0xA1: "ATA PASS-THROUGH(12)",
    0xA3: "MAINTENANCE IN", 0xA8: "READ(12)", 0xAA: "WRITE(12)",
}  # fmt: skip
READS, WRITES = (0x08, 0x28, 0xA8, 0x88), (0x0A, 0x2A, 0xAA, 0x8A)
WITHOUT_ATTENTION = (0x03, 0x12, 0xA0)


def place(cdb: bytes) -> tuple[int, int]:
    """Return the first block and the number of blocks that a read, write or WRITE SAME names."""
    if cdb[0] in (0x08, 0x0A):
        return int.from_bytes(cdb[1:4], "big") & 0x1FFFFF, cdb[4] or 256
    if cdb[0] in (0x28, 0x2A, 0x41):
        return int.from_bytes(cdb[2:6], "big"), int.from_bytes(cdb[7:9], "big")
    if cdb[0] in (0xA8, 0xAA):
        return int.from_bytes(cdb[2:6], "big"), int.from_bytes(cdb[6:10], "big")
    return int.from_bytes(cdb[2:10], "big"), int.from_bytes(cdb[10:14], "big")


class Target:
    """A logical unit: hands each command to its method; a subclass says how it has each thing."""

    disk: Disk
    commands: dict[int, Callable[[bytes, bytes], bytes]]

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.attention = True
        self.commands = {
            0x00: self.ready, 0x03: self.request_sense, 0x12: self.inquiry,
            0x15: self.mode_select, 0x55: self.mode_select,
            0x1A: self.mode_sense, 0x5A: self.mode_sense, 0x1B: self.start_stop,
            0x25: self.capacity, 0x9E: self.service_action_in,
            0x35: self.flush, 0x91: self.flush, 0x41: self.write_same, 0x93: self.write_same,
            0x42: self.unmap, 0xA0: self.report_luns, 0xA3: self.maintenance_in,
            **dict.fromkeys(READS, self.read), **dict.fromkeys(WRITES, self.write),
        }  # fmt: skip
        if disk.knobs.operations == "none":
            del self.commands[0xA3]

    @property
    def clock(self) -> Clock:
        return self.disk.clock

    @property
    def blocks(self) -> int:
        return self.disk.medium.blocks

    def execute(self, cdb: bytes, out: bytes = b"") -> Reply:
        """Answer one command. Raises PowerLost or TimedOut where no answer comes."""
        self.disk.arrive(self.seen(cdb))
        try:
            if self.attention and cdb[0] not in WITHOUT_ATTENTION:
                self.attention = False
                raise Check(*POWER_ON)
            if cdb[0] not in self.commands:
                raise Check(*INVALID_OPCODE)
            self.admit(cdb)
            return Reply(data=self.commands[cdb[0]](cdb, out))
        except Check as check:
            return check.reply

    def power_on(self) -> None:
        """Give the drive power; the first command learns of it."""
        self.disk.power_on()
        self.attention = True

    def seen(self, cdb: bytes) -> Seen:
        name = NAMES.get(cdb[0], "unknown")
        return Seen(at=self.clock.now(), name=name, code=cdb[0], ata=False, raw=cdb)

    def admit(self, cdb: bytes) -> None:
        """Refuse what the state of the drive does not take now."""

    # --- of the primary command set

    def ready(self, cdb: bytes, out: bytes) -> bytes:
        return b""

    def request_sense(self, cdb: bytes, out: bytes) -> bytes:
        key, code, qualifier, progress = self.condition()
        if self.attention:
            self.attention = False
            key, code, qualifier, progress = *POWER_ON, None
        if cdb[1] & 1:
            specific = () if progress is None else (
                bytes((2, 6, 0, 0, 0x80, progress >> 8, progress & 0xFF, 0)),
            )  # fmt: skip
            return by_descriptors(key, code, qualifier, *specific)[: cdb[4]]
        return fixed(key, code, qualifier, progress)[: cdb[4]]

    def condition(self) -> tuple[int, int, int, int | None]:
        """Return the sense of the state the drive is in: key, codes, progress."""
        return 0, 0, 0, None

    def inquiry(self, cdb: bytes, out: bytes) -> bytes:
        length = int.from_bytes(cdb[3:5], "big")
        if cdb[1] & 1:
            body = self.vital(cdb[2])
            return (bytes((0, cdb[2])) + struct.pack(">H", len(body)) + body)[:length]
        if cdb[2]:
            raise Check(*INVALID_FIELD)
        vendor, model, revision = self.names()
        versions = struct.pack(">3H", 0x00A0, 0x0460, 0x04C0)  # SAM-5, SPC-4, SBC-3
        head = bytes((0, 0, 6, 0x12, 91, 0, 0, 2))
        text = (vendor.ljust(8)[:8] + model.ljust(16)[:16] + revision.ljust(4)[:4]).encode()
        return (head + text + bytes(22) + versions).ljust(96, b"\0")[:length]

    def names(self) -> tuple[str, str, str]:
        """Return vendor, product and revision."""
        raise NotImplementedError

    def vital(self, page: int) -> bytes:
        """Return a page of vital product data without its head."""
        found = self.pages()
        if page == 0:
            return bytes(sorted((0, *found)))
        if page not in found:
            raise Check(*INVALID_FIELD)
        return found[page]

    def pages(self) -> dict[int, bytes]:
        """Return the pages that SATA and SAS have alike: limits, kind, provisioning."""
        knobs = self.disk.knobs
        limits = bytearray(60)
        struct.pack_into(">H", limits, 2, 8)
        trims = knobs.trim != "none"
        if trims:
            # Blocks and ranges of one UNMAP, its granularity, the most of a WRITE SAME.
            struct.pack_into(">IIIIQ", limits, 16, 0xFFFF, 64, 8, 0x80000000, 0xFFFF)
        kind = bytearray(60)
        struct.pack_into(">HBB", kind, 0, knobs.rotation, 0, 3 if knobs.rotation == 1 else 2)
        zeros = (knobs.trim == "zeros") << 2
        provisioning = bytes((0, (0xE0 if trims else 0) | zeros, 2 if trims else 0, 0))
        return {0xB0: bytes(limits), 0xB1: bytes(kind), 0xB2: provisioning}

    def report_luns(self, cdb: bytes, out: bytes) -> bytes:
        return (struct.pack(">II", 8, 0) + bytes(8))[: int.from_bytes(cdb[6:10], "big")]

    def mode_pages(self, which: int) -> dict[int, bytes]:
        """Return mode pages: 0 current, 1 changeable, 2 default, 3 saved."""
        raise NotImplementedError

    def mode_sense(self, cdb: bytes, out: bytes) -> bytes:
        which, page, short = cdb[2] >> 6, cdb[2] & 0x3F, cdb[0] == 0x1A
        length = cdb[4] if short else int.from_bytes(cdb[7:9], "big")
        found = self.mode_pages(which)
        if cdb[3] not in (0x00, 0xFF) or (page != 0x3F and page not in found):
            raise Check(*INVALID_FIELD)
        body = b"".join(found[each] for each in sorted(found) if page in (0x3F, each))
        block = (
            b""
            if cdb[1] & 8
            else struct.pack(
                ">II", min(self.blocks, 0xFFFFFFFF), self.disk.knobs.next_block or BLOCK
            )
        )
        if short:
            head = bytes((3 + len(block) + len(body), 0, 0x10, len(block)))
        else:
            head = struct.pack(">HBBHH", 6 + len(block) + len(body), 0, 0x10, 0, len(block))
        return (head + block + body)[:length]

    def mode_select(self, cdb: bytes, out: bytes) -> bytes:
        if not cdb[1] & 0x10:
            raise Check(*INVALID_FIELD)
        if not out:
            return b""
        head = 4 if cdb[0] == 0x15 else 8
        if len(out) < head:
            raise Check(*LIST_LENGTH)
        at = head + (out[3] if head == 4 else int.from_bytes(out[6:8], "big"))
        now, changeable = self.mode_pages(0), self.mode_pages(1)
        taken = []
        while at < len(out):
            end = at + 2 + (out[at + 1] if at + 1 < len(out) else 0)
            if end > len(out):
                raise Check(*LIST_LENGTH)
            page = out[at:end]
            old = now.get(page[0] & 0x3F)
            if old is None or len(page) != len(old):
                raise Check(*INVALID_PARAMETER)
            mask = changeable[page[0] & 0x3F]
            for new, was, may in zip(page[2:], old[2:], mask[2:], strict=True):
                if (new ^ was) & ~may & 0xFF:
                    raise Check(*INVALID_PARAMETER)
            taken.append(page)
            at = end
        for page in taken:
            self.set_mode(page, save=bool(cdb[1] & 1))
        return b""

    def set_mode(self, page: bytes, *, save: bool) -> None:
        """Take a mode page, of which only what may change does."""
        raise NotImplementedError

    def maintenance_in(self, cdb: bytes, out: bytes) -> bytes:
        """REPORT SUPPORTED OPERATION CODES, by the commands there are."""
        told = self.disk.knobs.operations
        if cdb[1] & 0x1F != 0x0C or cdb[2] & 7 > 3 or told == "other":
            raise Check(*INVALID_FIELD)
        length = int.from_bytes(cdb[6:10], "big")
        if told == "untold":
            return bytes(4)[:length]
        code, action = cdb[3], int.from_bytes(cdb[4:6], "big")
        actions = self.service_actions()
        if cdb[2] & 7 == 0:
            rows = [
                (each, one) for each in sorted(self.commands) for one in actions.get(each, (None,))
            ]
            body = b"".join(
                struct.pack(">BBHBBH", each, 0, one or 0, 0, one is not None, size(each))
                for each, one in rows
            )
            return (struct.pack(">I", len(body)) + body)[:length]
        if (cdb[2] & 7 == 1 and code in actions) or (cdb[2] & 7 == 2 and code not in actions):
            raise Check(*INVALID_FIELD)
        there = code in self.commands and (code not in actions or action in actions[code])
        if not there:
            return bytes((0, 1, 0, 0))[:length]
        usage = bytearray(b"\xff" * size(code))
        usage[0], usage[-1] = code, 0
        if code in actions:
            usage[1] = (0xE0 if code == 0x48 else 0) | action
        return (bytes((0, 3)) + struct.pack(">H", len(usage)) + usage)[:length]

    def service_actions(self) -> dict[int, tuple[int, ...]]:
        """Return the service actions of the commands that have some."""
        return {0x9E: (0x10, 0x12), 0xA3: (0x0C,)}

    # --- of the block command set

    def capacity(self, cdb: bytes, out: bytes) -> bytes:
        return struct.pack(">II", min(self.blocks - 1, 0xFFFFFFFF), BLOCK)

    def service_action_in(self, cdb: bytes, out: bytes) -> bytes:
        length = int.from_bytes(cdb[10:14], "big")
        if cdb[1] & 0x1F == 0x10:
            knobs = self.disk.knobs
            thin = (knobs.trim != "none") << 7 | (knobs.trim == "zeros") << 6
            guard = (knobs.protection - 1) << 1 | 1 if knobs.protection else 0
            head = struct.pack(">QIBBBB", self.blocks - 1, BLOCK, guard, 3, thin, 0)
            return head.ljust(32, b"\0")[:length]
        if cdb[1] & 0x1F != 0x12:
            raise Check(*INVALID_FIELD)
        start = int.from_bytes(cdb[2:10], "big")
        if start >= self.blocks:
            raise Check(*OUT_OF_RANGE)
        body = b""
        for block, count, allocated in self.disk.medium.extents(start):
            if 8 + len(body) + 16 > length:
                break
            body += struct.pack(">QIB3x", block, count, 0 if allocated else 1)
        return (struct.pack(">I4x", 4 + len(body)) + body)[:length]

    def start_stop(self, cdb: bytes, out: bytes) -> bytes:
        self.disk.state["standby"] = not cdb[4] & 1
        return b""

    def flush(self, cdb: bytes, out: bytes) -> bytes:
        return b""

    def within(self, block: int, count: int) -> None:
        """Refuse what lies beyond the last block."""
        if block + count > self.blocks:
            raise Check(*OUT_OF_RANGE)

    def read(self, cdb: bytes, out: bytes) -> bytes:
        block, count = place(cdb)
        self.within(block, count)
        return self.disk.medium.read(block, count)

    def write(self, cdb: bytes, out: bytes) -> bytes:
        block, count = place(cdb)
        self.within(block, count)
        self.disk.medium.write(block, out[: count * BLOCK])
        return b""

    def write_same(self, cdb: bytes, out: bytes) -> bytes:
        block, count = place(cdb)
        count = count or self.blocks - block
        self.within(block, count)
        data = bytes(BLOCK) if cdb[0] == 0x93 and cdb[1] & 1 else out[:BLOCK]
        if len(data) < BLOCK:
            raise Check(*INVALID_FIELD)
        if cdb[1] & 8 and not any(data) and self.disk.knobs.trim == "zeros":
            self.disk.medium.unmap(block, count)
        else:
            self.disk.medium.write(block, data * count)
        return b""

    def unmap(self, cdb: bytes, out: bytes) -> bytes:
        if self.disk.knobs.trim == "none":
            raise Check(*INVALID_OPCODE)
        ranges = [
            struct.unpack_from(">QI", out, at)
            for at in range(8, min(len(out), 8 + int.from_bytes(out[2:4], "big")) - 15, 16)
        ]
        if len(ranges) > 64:
            raise Check(*INVALID_PARAMETER)
        for block, count in ranges:
            self.within(block, count)
        for block, count in ranges:
            if count and self.disk.knobs.trim == "zeros":
                self.disk.medium.unmap(block, count)
        return b""


def size(code: int) -> int:
    """Return the length of a command by its group."""
    return {0: 6, 1: 10, 2: 10, 4: 16, 5: 12}[code >> 5]
