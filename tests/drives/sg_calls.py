"""SG_IO by hand, and one list of calls for both fronts of an emulated SATA or SAS drive.

`python3 -m tests.drives.sg_calls KIND NODE` asks a device of the kernel and prints the answers as
JSON; `answers` in process takes the front's own ioctl. Standard library only.
"""

import ctypes
import fcntl
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SG_IO = 0x2285
HEADER = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII0P")
"""struct sg_io_hdr of scsi/sg.h."""
TO_DRIVE, FROM_DRIVE, NO_DATA = -2, -3, -1
TIMEOUT_MS = 30_000
READY = bytes(6)

Ioctl = Callable[[int, int, bytearray], int]


@dataclass(frozen=True)
class Call:
    """A command, with the data for the drive or the length of what is expected from it."""

    cdb: bytes
    out: bytes = b""
    expect: int = 0


def ask(ioctl: Ioctl, fd: int, call: Call) -> dict[str, Any]:
    """Return status, host status, sense and data in hex, and what a good answer left unfilled."""
    cdb = ctypes.create_string_buffer(call.cdb, len(call.cdb))
    length = len(call.out) or call.expect
    data = ctypes.create_string_buffer(call.out, max(1, length))
    sense = ctypes.create_string_buffer(96)
    way = TO_DRIVE if call.out else FROM_DRIVE if call.expect else NO_DATA
    header = bytearray(HEADER.pack(
        ord("S"), way, len(call.cdb), len(sense), 0, length, ctypes.addressof(data),
        ctypes.addressof(cdb), ctypes.addressof(sense), TIMEOUT_MS, 0, 0, 0, *[0] * 9,
    ))  # fmt: skip
    ioctl(fd, SG_IO, header)
    fields = HEADER.unpack(header)
    said = sense.raw[: fields[16]]
    status = fields[13]
    return {
        "cdb": call.cdb.hex(),
        "status": status,
        "host": fields[17],
        # The kernel hands on its whole buffer; the eighth byte says how much of it counts.
        "sense": said[: 8 + said[7]].hex() if said else "",
        "data": data.raw[: call.expect].hex(),
        "left": fields[19] if status == 0 else None,
    }


def ata(command: int, *, feature: int = 0, lba: int = 0, check: bool = True, out: bytes = b"",
        expect: int = 0, count: int = 0) -> Call:  # fmt: skip
    """Return a command of ATA in PASS-THROUGH(16), 48 bits wide."""
    protocol = 5 if out else 4 if expect else 3
    blocks = (len(out) or expect) // 512 or count
    flags = check << 5 | (0 if out else 1) << 3 | (6 if out or expect else 0)
    low, high = lba & 0xFFFFFF, lba >> 24
    cdb = bytes((
        0x85, protocol << 1 | 1, flags, feature >> 8, feature & 0xFF, blocks >> 8, blocks & 0xFF,
        high & 0xFF, low & 0xFF, high >> 8 & 0xFF, low >> 8 & 0xFF, high >> 16, low >> 16,
        0x40, command, 0,
    ))  # fmt: skip
    return Call(cdb, out, expect)


def of_both() -> Iterator[Call]:
    """Yield what a drive of either kind is asked."""
    for page in (0, 0x80, 0x83, 0x89, 0xB0, 0xB1, 0xB2, 0xC7):
        yield Call(struct.pack(">BBBHB", 0x12, 1, page, 700, 0), expect=700)
    yield Call(b"\x12\0\0\0\x60\0", expect=96)
    yield Call(b"\x12\0\0\0\x24\0", expect=36)
    yield Call(b"\x25" + bytes(9), expect=8)
    yield Call(struct.pack(">BBQIH", 0x9E, 0x10, 0, 32, 0), expect=32)
    for which in range(4):
        yield Call(bytes((0x1A, 0, which << 6 | 0x3F, 0, 252, 0)), expect=252)
    yield Call(b"\x5a\x08\x08\0\0\0\0\0\xfc\0", expect=252)
    yield Call(b"\x1a\0\x1c\0\xfc\0", expect=252)
    yield Call(b"\x03\0\0\0\xfc\0", expect=252)
    yield Call(b"\x03\1\0\0\xfc\0", expect=252)
    yield Call(struct.pack(">BBBBHIBB", 0xA3, 0x0C, 0, 0, 0, 2048, 0, 0), expect=2048)
    yield Call(struct.pack(">BBBBHIBB", 0xA3, 0x0C, 3, 0x48, 3, 64, 0, 0), expect=64)
    yield Call(b"\x01" + bytes(5))
    text = bytes(range(256)) * 16
    yield Call(struct.pack(">BBIBHB", 0x2A, 0, 2048, 0, 8, 0), text)
    yield Call(struct.pack(">BBQIH", 0x88, 0, 2048, 8, 0), expect=4096)
    yield Call(struct.pack(">BBQIH", 0x9E, 0x12, 0, 96, 0), expect=96)
    yield Call(struct.pack(">BBQIH", 0x88, 0, 1 << 40, 8, 0), expect=4096)
    hole = struct.pack(">HHxxxxQIxxxx", 22, 16, 2048, 8)
    yield Call(b"\x42" + bytes(6) + struct.pack(">HB", len(hole), 0), hole)
    yield Call(struct.pack(">BBIBHB", 0x28, 0, 2048, 0, 8, 0), expect=4096)
    yield Call(struct.pack(">BBQIH", 0x93, 0, 2048, 8, 0), text[:512])
    yield Call(b"\x35" + bytes(9))
    yield Call(b"\x15\x10\0\0\x18\0", bytes(4) + b"\x08\x12" + bytes(18))
    yield Call(b"\x1a\0\x08\0\xfc\0", expect=252)
    yield Call(b"\x15\x10\0\0\x18\0", bytes(4) + b"\x08\x12" + b"\xff" * 18)


def of_sata() -> Iterator[Call]:
    """Yield registers: what is given back with an error, with a check, and not at all."""
    password = (bytes(2) + b"front").ljust(512, b"\0")
    yield ata(0xEC, expect=512)
    yield ata(0xEC, expect=512, check=False)
    yield Call(b"\xa1\x08\x2e\0\1\0\0\0\0\xec\0\0", expect=512)
    for page in (0, 3, 8):
        yield ata(0x2F, lba=page << 8 | 0x30, expect=512)
    yield ata(0xE5)
    yield ata(0xE5, check=False)
    yield ata(0x27)
    yield ata(0xB0, feature=0xDA, lba=0xC24F00)
    yield ata(0xF2, out=password)
    yield ata(0xF1, out=password)
    yield ata(0xEC, expect=512)
    yield ata(0xF6, out=bytes(512))
    yield ata(0xF4, out=password)
    yield ata(0xF6, out=password)
    yield ata(0xB4, feature=0x0000)
    yield ata(0xB4, feature=0x0012, lba=1)
    yield ata(0x00)
    yield Call(b"\x85\x0e\x20" + bytes(13))
    yield Call(b"\x48\x02" + bytes(8))


def of_sas() -> Iterator[Call]:
    """Yield log pages, and erasing commands that are refused."""
    for page in (0x00, 0x06, 0x0D, 0x11, 0x2F, 0x3E):
        yield Call(struct.pack(">BBBBBHHB", 0x4D, 0, 0x40 | page, 0, 0, 0, 512, 0), expect=512)
    yield Call(b"\x37\0\x1d\0\0\0\0\0\x08\0", expect=8)
    yield Call(b"\x48\x1f" + bytes(8))
    yield Call(b"\x48\x05" + bytes(8))
    yield Call(b"\x04\x2f" + bytes(4))
    yield Call(b"\x04\x10" + bytes(4), b"\0\x08\0\0")
    yield Call(b"\x85\x09\x2e" + bytes(11) + b"\xec\0", expect=512)


CALLS = {"sata": of_sata, "sas": of_sas}


def answers(kind: str, ioctl: Ioctl, fd: int) -> list[dict[str, Any]]:
    """Ask all of the list, of a drive that has nothing more to say of its start."""
    return [ask(ioctl, fd, call) for call in (*of_both(), *CALLS[kind]())]


def main() -> int:
    """Ask a device, once it has told the kernel and us what is new."""
    kind, node = sys.argv[1:]
    fd = os.open(node, os.O_RDWR)
    while ask(fcntl.ioctl, fd, Call(READY))["status"]:
        pass
    print(json.dumps(answers(kind, fcntl.ioctl, fd)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
