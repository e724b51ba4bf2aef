"""Sense data as a drive makes it (SPC-5, 4.4), and the answer of a SCSI command."""

import struct
from dataclasses import dataclass

GOOD, CHECK = 0x00, 0x02


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What goes back to the host: status, sense data, data."""

    status: int = GOOD
    sense: bytes = b""
    data: bytes = b""


class Check(Exception):
    """A command ends with CHECK CONDITION: key, additional code and qualifier, progress."""

    def __init__(self, key: int, code: int, qualifier: int, progress: int | None = None) -> None:
        super().__init__(f"{key:X}/{code:02X}/{qualifier:02X}")
        self.reply = Reply(status=CHECK, sense=fixed(key, code, qualifier, progress))


def fixed(key: int, code: int, qualifier: int, progress: int | None = None) -> bytes:
    """Return sense data in the fixed format, 18 bytes."""
    raw = bytearray(18)
    raw[0], raw[2], raw[7], raw[12], raw[13] = 0x70, key, 10, code, qualifier
    if progress is not None:
        raw[15] = 0x80
        struct.pack_into(">H", raw, 16, progress)
    return bytes(raw)


def by_descriptors(key: int, code: int, qualifier: int, *descriptors: bytes) -> bytes:
    """Return sense data in the descriptor format."""
    body = b"".join(descriptors)
    return bytes((0x72, key, code, qualifier, 0, 0, 0, len(body))) + body


INVALID_OPCODE = (0x5, 0x20, 0x00)
INVALID_FIELD = (0x5, 0x24, 0x00)
INVALID_PARAMETER = (0x5, 0x26, 0x00)
LIST_LENGTH = (0x5, 0x1A, 0x00)
OUT_OF_RANGE = (0x5, 0x21, 0x00)
POWER_ON = (0x6, 0x29, 0x00)
