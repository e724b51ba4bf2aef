"""Identify structures of an emulated NVMe drive, byte by byte (NVMe base specification 1.4)."""

import hashlib
import struct
from typing import TYPE_CHECKING

from tests.drives.nvme_state import DNR, WHOLE_SUBSYSTEM, Refusal

if TYPE_CHECKING:
    from tests.drives.nvme import NvmeDrive

PAGE = 4096
VERSION = 0x0001_0400
MAXIMUM_NAMESPACES = 32
QUEUE_ENTRIES = 128
INVALID_NAMESPACE = 0x0B | DNR
INVALID_FIELD = 0x02 | DNR
POWER_STATES = (
    # centiwatt, non-operational, entry µs, exit µs
    (900, False, 0, 0),
    (460, False, 0, 0),
    (380, False, 0, 0),
    (5, True, 2000, 2000),
    (1, True, 5000, 45000),
)
MINIMUM_THERMAL, MAXIMUM_THERMAL = 310, 350
MAXIMUM_TRANSFER = 5
"""Of 4 KiB, as a power of two."""
SUBSYSTEM = "nqn.2026-01.test:{serial}"


def identify(drive: "NvmeDrive", number: int, cdw10: int) -> bytes:
    """Return the structure that CNS names.

    Raises:
        Refusal: there is none, or the namespace is not valid for it.
    """
    cns, after = cdw10 & 0xFF, cdw10 >> 16
    if cns == 0x00:
        return _namespace(drive, number, drive.attached)
    if cns == 0x01:
        return controller(drive)
    if cns == 0x02:
        return _list(drive.attached, number)
    if cns == 0x03:
        drive.need_active(number)
        guid, eui = _guid(drive, number), _eui(drive, number)
        return (bytes((2, 16, 0, 0)) + guid + bytes((1, 8, 0, 0)) + eui).ljust(PAGE, b"\0")
    if drive.knobs.oacs & 0b1000:
        if cns == 0x10:
            return _list(drive.allocated, number)
        if cns == 0x11:
            return _namespace(drive, number, drive.allocated)
        if cns == 0x12:
            drive.need_possible(number)
            return _controllers(drive.namespaces.get(str(number), {}).get("attached", []), after)
        if cns == 0x13:
            return _controllers(list(drive.knobs.controllers), after)
    raise Refusal(INVALID_FIELD)


def controller(drive: "NvmeDrive") -> bytes:
    """Return Identify Controller."""
    knobs, page = drive.knobs, bytearray(PAGE)
    names = (drive.state[key].encode() for key in ("serial", "model", "firmware"))
    sizes = (20, 40, 8)
    padded = (name.ljust(size)[:size] for name, size in zip(names, sizes, strict=True))
    struct.pack_into("<HH20s40s8s", page, 0, 0x1AF4, 0x1AF4, *padded)
    page[73:76] = bytes((0x00, 0x54, 0x52))  # IEEE, as it is written backwards
    page[76], page[77] = knobs.cmic, MAXIMUM_TRANSFER
    struct.pack_into("<HI", page, 78, knobs.controllers[0], VERSION)
    struct.pack_into("<I", page, 96, 1 << 4)  # endurance groups
    page[111] = 1  # an I/O controller
    struct.pack_into("<H", page, 256, knobs.oacs)
    page[258:264] = bytes((3, 3, 0x02, 0x06, 63, len(POWER_STATES) - 1))
    page[265] = 1  # autonomous power state transitions
    struct.pack_into("<HH", page, 266, knobs.wctemp, knobs.cctemp)
    total = sum(one["bytes"] for one in drive.namespaces.values())
    struct.pack_into("<QQ", page, 280, total, 0)
    if knobs.oacs & 0b10000:
        struct.pack_into("<H", page, 316, 1)  # the extended self-test, minutes
    struct.pack_into("<H", page, 320, 10)  # keep alive in 100 ms
    struct.pack_into("<HHH", page, 322, 1, MINIMUM_THERMAL, MAXIMUM_THERMAL)
    struct.pack_into("<I", page, 328, knobs.sanicap)
    struct.pack_into("<H", page, 340, 1)  # the highest endurance group
    page[512], page[513] = 0x66, 0x44
    struct.pack_into("<HIH", page, 514, QUEUE_ENTRIES, MAXIMUM_NAMESPACES, knobs.oncs)
    # VWC 2:1 = 2: a flush of all namespaces at once is not taken.
    page[524], page[525] = knobs.fna, 0b100 | knobs.volatile_cache
    struct.pack_into("<I", page, 536, 1 | 1 << 20)
    struct.pack_into("<I", page, 540, MAXIMUM_NAMESPACES)
    name = SUBSYSTEM.format(serial=knobs.serial).encode()
    page[768 : 768 + len(name)] = name
    # NVMe over fabrics: 64 bytes of command and 8 KiB of data in a capsule; 16 of an answer.
    struct.pack_into("<IIHBB", page, 1792, 4 + 512, 1, 0, 0, 1)
    for index, (centiwatt, idle, entry, leave) in enumerate(POWER_STATES):
        at = 2048 + 32 * index
        struct.pack_into("<HxBII", page, at, centiwatt, idle << 1, entry, leave)
        page[at + 12 : at + 16] = bytes((index,) * 4)
    return bytes(page)


def _namespace(drive: "NvmeDrive", number: int, listed: list[int]) -> bytes:
    if number == WHOLE_SUBSYSTEM and drive.knobs.oacs & 0b1000:
        page = bytearray(PAGE)  # what all namespaces have in common
        _formats(drive, page)
        return bytes(page)
    drive.need_possible(number)
    if number not in listed:
        return bytes(PAGE)
    values, page = drive.namespaces[str(number)], bytearray(PAGE)
    shift = drive.knobs.lba_formats[values["lba_format"]][0]
    blocks = values["bytes"] >> shift
    used = min(blocks, drive.media.allocated_bytes(number) >> shift) if drive.knobs.thin else blocks
    struct.pack_into("<QQQ", page, 0, blocks, blocks, used)
    page[24] = drive.knobs.thin
    page[26] = values["lba_format"] & 0xF | (values["lba_format"] >> 4 & 0b11) << 5
    page[32] = drive.purging.percent_left(number)
    page[33] = 0b1001  # deallocated blocks read as zeros; write zeroes may deallocate
    struct.pack_into("<QQ", page, 48, values["bytes"] & 0xFFFFFFFFFFFFFFFF, 0)
    struct.pack_into("<H", page, 102, 1)  # its endurance group
    page[104:120], page[120:128] = _guid(drive, number), _eui(drive, number)
    _formats(drive, page)
    return bytes(page)


def _formats(drive: "NvmeDrive", page: bytearray) -> None:
    page[25] = len(drive.knobs.lba_formats) - 1
    for index, (shift, metadata, performance) in enumerate(drive.knobs.lba_formats):
        struct.pack_into("<HBB", page, 128 + 4 * index, metadata, shift, performance)


def _guid(drive: "NvmeDrive", number: int) -> bytes:
    """The same after a start, a format and a sanitize; another for each drive and namespace."""
    named = drive.knobs.serial.encode()[-11:].rjust(11, b"\0")
    return bytes((number,)) + b"\x52\x54\x00\0"[:4] + named


def _eui(drive: "NvmeDrive", number: int) -> bytes:
    """As `_guid`: a kernel takes no second namespace of an EUI-64 that it has."""
    return bytes((number,)) + hashlib.sha256(drive.knobs.serial.encode()).digest()[:7]


def _list(numbers: list[int], after: int) -> bytes:
    if after >= 0xFFFFFFFE:
        raise Refusal(INVALID_NAMESPACE)
    found = [number for number in numbers if number > after][:1024]
    return struct.pack(f"<{len(found)}I", *found).ljust(PAGE, b"\0")


def _controllers(numbers: list[int], least: int) -> bytes:
    found = sorted(number for number in numbers if number >= least)[:2047]
    return struct.pack(f"<{len(found) + 1}H", len(found), *found).ljust(PAGE, b"\0")
