"""Formats known by two bytes or none, and copies that lie far inside: fields beside must fit.

Two bytes are found once in 65,536 devices of random content, and Teijo writes random content. So
each rule here asks for more bits, but never for a checksum: a damaged table is still a table.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from teijo.device.contents.formats import SECTOR, Signature
from teijo.units import KIB, MIB

Read = Callable[[int, int], bytes]
"""Returns the bytes at an offset; fewer, or none, beyond the end of the device."""

ZFS_UBERBLOCKS: Final = (b"\x0c\xb1\xba\x00", b"\x00\xba\xb1\x0c")
ZFS_LABEL_BYTES: Final = 256 * KIB
ZFS_NAMES: Final = b"\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
"""How the list of names in a ZFS label begins: XDR, little-endian host, version 0, unique names."""

# Copies lie in group 1 and in the powers of 3, 5 and 7 (sparse_super).
EXT_GROUPS: Final = (1, 3)
EXT_BLOCKS: Final = (KIB, 2 * KIB, 4 * KIB, 64 * KIB)
MINIX_MAGICS: Final = (0x137F, 0x138F, 0x2468, 0x2478)
MINIX3_MAGIC: Final = 0x4D5A
ATARI_IDS: Final = frozenset(
    {b"GEM", b"BGM", b"XGM", b"LNX", b"SWP", b"RAW", b"MIX", b"MNX", b"UNX", b"QWA", b"F32"}
)


def weak_signatures(read: Read, size_bytes: int) -> Iterator[Signature]:
    """Yield what the rules find on a device of a size."""
    for fixed in (_boot_sector, _ext, _minix, _at_the_start, _sun, _mac):
        yield from fixed(read)
    for rule in (_hfs, _atari, _nilfs, _at_the_end, _zfs, _xfs_groups):
        yield from rule(read, size_bytes)


def _number(data: bytes, at: int, length: int, order: str = "<") -> int:
    """Return a field of a block that was read, or -1 where the device ended before it."""
    field = data[at : at + length]
    return (
        int.from_bytes(field, "little" if order == "<" else "big") if len(field) == length else -1
    )


def _boot_sector(read: Read) -> Iterator[Signature]:
    """Find a master boot record, a boot sector with code, and FAT without its name."""
    sector = read(0, 512)
    if sector[510:] == b"\x55\xaa":
        # 55 AA ends any boot sector; in a table each of four entries is active (80) or not (00).
        if all(sector[446 + 16 * entry] in {0x00, 0x80} for entry in range(4)):
            yield Signature(kind="dos", offset_bytes=510)
        # A jump over the parameters: code begins here.
        elif sector[0] in {0xEB, 0xE9}:
            yield Signature(kind="boot sector", offset_bytes=510)
    if _looks_like_fat(sector):
        yield Signature(kind="vfat", offset_bytes=0)


def _looks_like_fat(sector: bytes) -> bool:
    """Ask what libblkid asks of a FAT without a name (superblocks/vfat.c), but for 55 AA."""
    if len(sector) < 512:
        return False
    sector_bytes, cluster, reserved = _number(sector, 11, 2), sector[13], _number(sector, 14, 2)
    fats, media = sector[16], sector[21]
    return (
        sector_bytes in {512, 1024, 2048, 4096}
        and cluster.bit_count() == 1
        and reserved > 0
        and 1 <= fats <= 2
        and (media >= 0xF8 or media == 0xF0)
    )


def _ext(read: Read) -> Iterator[Signature]:
    """Find the superblock of ext2, ext3, ext4 or of a journal, and its first copies."""
    # A group is what one block of bitmap counts: 8 × its bytes. Blocks of 1 KiB begin at 1.
    places = [("ext2/3/4", 1024)] + [
        ("ext2/3/4 (copy)", (group * 8 * block + (1 if block == KIB else 0)) * block)
        for block in EXT_BLOCKS
        for group in EXT_GROUPS
    ]
    for kind, place in places:
        block = read(place, 128)
        if block[0x38:0x3A] != b"\x53\xef":
            continue
        # Blocks of 1 to 64 KiB (s_log_block_size), or a revision there is (s_rev_level).
        if 0 <= _number(block, 0x18, 4) <= 6 or _number(block, 0x4C, 4) in {0, 1}:
            yield Signature(kind=kind, offset_bytes=place + 0x38)


def _minix(read: Read) -> Iterator[Signature]:
    block = read(1024, 32)
    for order in ("<", ">"):
        first_two = _number(block, 16, 2, order) in MINIX_MAGICS and _number(block, 0, 2) > 0
        if first_two and _number(block, 10, 2) == 0:
            yield Signature(kind="minix", offset_bytes=1040)
        third = _number(block, 24, 2, order) == MINIX3_MAGIC and _number(block, 0, 4) > 0
        if third and _number(block, 12, 2) == 0:
            yield Signature(kind="minix", offset_bytes=1048)


def _hfs(read: Read, size_bytes: int) -> Iterator[Signature]:
    """Find HFS and HFS+, and the copy each keeps in the last sector but one."""
    for kind, place in (("", 1024), (" (copy)", size_bytes - 1024)):
        block = read(place, 64)
        name, version = block[:2], _number(block, 2, 2, ">")
        allocation, own = _number(block, 20, 4, ">"), _number(block, 40, 4, ">")
        if name == b"BD" and allocation > 0 and allocation % 512 == 0:
            yield Signature(kind=f"hfs{kind}", offset_bytes=place)
        sane = version in {4, 5} or (own >= 512 and own.bit_count() == 1)
        if name in {b"H+", b"HX"} and sane:
            yield Signature(kind=f"hfsplus{kind}", offset_bytes=place)


def _at_the_start(read: Read) -> Iterator[Signature]:
    """Find what stands in the first sector with two bytes and a version of its own."""
    sector = read(0, 512)
    if sector[:2] == b"HM" and _number(sector, 2, 2) in {1, 2}:
        yield Signature(kind="LVM1_member", offset_bytes=0)
    if sector[88:90] == b"CS" and _number(sector, 8, 2) == 1:
        yield Signature(kind="cs_fvault2", offset_bytes=88)


def _sun(read: Read) -> Iterator[Signature]:
    sector = read(0, 512)
    if sector[508:510] != b"\xda\xbe":
        return
    checksum = 0
    for word in struct.unpack("<256H", sector):
        checksum ^= word
    heads, sectors = _number(sector, 436, 2, ">"), _number(sector, 438, 2, ">")
    geometry = 0 < heads <= 255 and 0 < sectors <= 255
    if checksum == 0 or geometry or sector[188:192] == b"\x60\x0d\xde\xee":
        yield Signature(kind="sun", offset_bytes=508)


def _mac(read: Read) -> Iterator[Signature]:
    """Find an Apple partition map: the driver's block, or the first entry, or both."""
    sector = read(0, 512)
    block_size_bytes = _number(sector, 2, 2, ">")
    driver = sector[:2] == b"ER"
    if driver and (
        block_size_bytes in {512, 1024, 2048, 4096}
        or (block_size_bytes >= 136 and read(block_size_bytes, 2) in {b"PM", b"TS"})
    ):
        yield Signature(kind="mac", offset_bytes=0)
    for place in (512, 1024, 2048, 4096):
        entry = read(place, 16)
        if entry[:2] == b"PM" and 1 <= _number(entry, 4, 4, ">") <= 256:
            yield Signature(kind="mac", offset_bytes=place)


def _atari(read: Read, size_bytes: int) -> Iterator[Signature]:
    sector = read(0, 512)
    for at in range(454, 502, 12):
        entry = sector[at : at + 12]
        start, length = _number(entry, 4, 4, ">"), _number(entry, 8, 4, ">")
        known = entry[:1] in {b"\x01", b"\x81"} and entry[1:4] in ATARI_IDS
        if known and 0 < start < start + length <= size_bytes // SECTOR:
            yield Signature(kind="atari", offset_bytes=at)
            return


def _nilfs(read: Read, size_bytes: int) -> Iterator[Signature]:
    for kind, place in (("nilfs2", 1024), ("nilfs2 (copy)", (size_bytes // SECTOR - 8) * SECTOR)):
        block = read(place, 16)
        if block[6:8] == b"\x34\x34" and 0 < _number(block, 0, 4) < 256:
            yield Signature(kind=kind, offset_bytes=place + 6)


def _at_the_end(read: Read, size_bytes: int) -> Iterator[Signature]:
    """Find members of the arrays of simple controllers, which stand in the last sector."""
    place = (size_bytes // SECTOR - 1) * SECTOR
    sector = read(place, 512)
    if len(sector) < SECTOR:
        return
    if sector[:2] == b"\x55\xaa" and sector[2] <= 2:
        yield Signature(kind="via_raid_member", offset_bytes=place)
    if sector[:2] == b"JM" and sector[0x30] <= 5:
        yield Signature(kind="jmicron_raid_member", offset_bytes=place)
    if sector[0x60:0x64] == b"\0\0\0\x2f" and sector[0x116] < 8:
        yield Signature(kind="silicon_medley_raid_member", offset_bytes=place + 0x60)


def _zfs(read: Read, size_bytes: int) -> Iterator[Signature]:
    """Find the two labels at each end: their list of names, or one uberblock of the 128."""
    end = size_bytes // ZFS_LABEL_BYTES * ZFS_LABEL_BYTES
    starts = (0, ZFS_LABEL_BYTES, end - 2 * ZFS_LABEL_BYTES, end - ZFS_LABEL_BYTES)
    for start in dict.fromkeys(starts):
        if start < 0:
            continue
        ring = read(start + 128 * KIB, 128 * KIB)
        named = read(start + 16 * KIB, len(ZFS_NAMES)) == ZFS_NAMES
        if named or any(ring[at : at + 4] in ZFS_UBERBLOCKS for at in range(0, len(ring), KIB)):
            yield Signature(kind="zfs_member", offset_bytes=start, length_bytes=ZFS_LABEL_BYTES)


def _xfs_groups(read: Read, size_bytes: int) -> Iterator[Signature]:
    """Find the superblocks that XFS repeats, where mkfs puts four groups (the usual count)."""
    blocks = size_bytes // (4 * KIB)
    for group_blocks in dict.fromkeys((blocks // 4, -(-blocks // 4))):
        for group in (1, 2, 3):
            place = group * group_blocks * 4 * KIB
            if size_bytes >= 16 * MIB and read(place, 4) == b"XFSB":
                yield Signature(kind="xfs (copy)", offset_bytes=place)
