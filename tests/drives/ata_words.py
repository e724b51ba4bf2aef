"""The 512 bytes of IDENTIFY DEVICE, word by word (ACS-4, 7.13)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.drives.disk import BLOCK

if TYPE_CHECKING:
    from tests.drives.ata import SataDisk

SERIAL, MODEL, FIRMWARE, WWN = "EMUSATA0001", "Emulated SATA SSD", "EMU1.0", 0x5000C50012345678


def text(value: str, words: int) -> bytes:
    """Return text as ATA has it: padded with spaces, the two bytes of each word swapped."""
    raw = value.ljust(words * 2).encode("ascii")[: words * 2]
    return b"".join(raw[at + 1 : at + 2] + raw[at : at + 1] for at in range(0, len(raw), 2))


def sealed(page: bytearray) -> bytes:
    """Return a page whose last byte makes the sum of all zero."""
    page[511] = -sum(page[:511]) & 0xFF
    return bytes(page)


def serial(disk: SataDisk) -> str:
    return disk.knobs.serial or SERIAL


def model(disk: SataDisk) -> str:
    return disk.knobs.model or MODEL


def firmware(disk: SataDisk) -> str:
    return disk.knobs.firmware or FIRMWARE


def wwn(disk: SataDisk) -> int:
    return disk.knobs.wwn or WWN


def security_status(disk: SataDisk) -> int:
    """Return word 128."""
    state, knobs = disk.state, disk.knobs
    if not knobs.security:
        return 0
    return (
        1 | (state["user"] is not None) << 1 | state["locked"] << 2 | state["frozen"] << 3
        | (state["attempts"] == 0) << 4 | knobs.enhanced << 5
        | (state["user"] is not None and state["maximum"]) << 8
    )  # fmt: skip


def sanitize_support(disk: SataDisk) -> int:
    """Return the sanitize bits of word 59."""
    ways = disk.knobs.sanitize
    if not ways:
        return 0
    return (
        1 << 12 | 1 << 11 | 1 << 10  # the set; commands as in ACS-3; antifreeze lock
        | ("crypto" in ways) << 13 | ("overwrite" in ways) << 14 | ("block" in ways) << 15
    )  # fmt: skip


def features(disk: SataDisk) -> dict[int, int]:
    """Return words 82 to 87 and 119, 120: what there is, and what of it is on."""
    knobs, state = disk.knobs, disk.state
    # SMART, power management, cache, look-ahead, HPA, WRITE and READ BUFFER are in 82.
    there = 1 | knobs.security << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 10
    on = (
        state["smart"] | (state["user"] is not None) << 1 | 1 << 3
        | state["wce"] << 5 | state["look_ahead"] << 6 | 1 << 10
    )  # fmt: skip
    # APM, 48 bits, FLUSH CACHE, FLUSH CACHE EXT.
    more = 1 << 3 | 1 << 10 | 1 << 12 | 1 << 13
    # SMART error log, self-test, general purpose logs, WWN.
    logs = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 8
    return {
        82: there, 83: 0x4000 | more, 84: 0x4000 | logs,
        85: on, 86: 0x8000 | (more & ~(1 << 3)) | bool(state["apm"]) << 3, 87: 0x4000 | logs,
        # READ LOG DMA EXT; ACCESSIBLE MAX ADDRESS CONFIGURATION.
        119: 0x4000 | 1 << 3 | 1 << 8, 120: 0x4000 | 1 << 3 | 1 << 8,
    }  # fmt: skip


def identify(disk: SataDisk) -> bytes:
    """Return the page, with its checksum."""
    knobs, state = disk.knobs, disk.state
    page = bytearray(BLOCK)
    blocks = disk.accessible
    words = {
        0: 0x0040, 1: 16383, 2: 0xC837, 3: 16, 6: 63, 47: 0x8001, 48: 0x4000, 49: 0x0F00,
        50: 0x4000, 53: 0x0006, 59: sanitize_support(disk), 63: 0x0007, 64: 0x0003,
        65: 120, 66: 120, 67: 120, 68: 120,
        69: 0 if knobs.trim == "none" else (knobs.trim == "zeros") * (1 << 14 | 1 << 5),
        75: 31, 76: (1 << knobs.speed + 1) - 2 | 1 << 8 | 1 << 9 | 1 << 10,
        77: knobs.speed_now << 1, 78: 1 << 3 | 1 << 6, 79: state["dipm"] << 3 | 1 << 6,
        80: 0x0FF0, 81: 0x005E, 88: 0x407F,
        89: max(1, knobs.erase_minutes // 2) if knobs.security else 0,
        90: max(1, knobs.erase_minutes // 2) if knobs.security and knobs.enhanced else 0,
        91: state["apm"], 92: state["master_id"] if knobs.security else 0,
        105: 0 if knobs.trim == "none" else 8, 106: 0x6003,
        128: security_status(disk), 168: 3 if knobs.rotation == 1 else 2,
        169: int(knobs.trim != "none"), 209: 0x4000, 217: knobs.rotation, 222: 0x11FF,
        **features(disk),
    }  # fmt: skip
    # Times over 255 units of two minutes need the long form: bit 15, and 15 bits of number.
    for word in (89, 90):
        if words[word] > 0xFE:
            words[word] = 0x8000 | min(words[word], 0x7FFE)
    for word, value in words.items():
        struct.pack_into("<H", page, word * 2, value)
    for word, value, length in (
        (10, serial(disk), 10), (23, firmware(disk), 4), (27, model(disk), 20),
    ):  # fmt: skip
        page[word * 2 : word * 2 + length * 2] = text(value, length)
    struct.pack_into("<I", page, 60 * 2, min(blocks, 0x0FFFFFFF))
    struct.pack_into("<Q", page, 100 * 2, blocks)
    for index in range(4):  # the highest part of the name comes first
        struct.pack_into("<H", page, (108 + index) * 2, wwn(disk) >> 16 * (3 - index) & 0xFFFF)
    page[510] = 0xA5
    page = bytearray(sealed(page))
    page[511] ^= knobs.damaged
    return bytes(page)
