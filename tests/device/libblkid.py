"""What libblkid 2.40 knows, and minimal images of it: values put where its sources look.

Copied from util-linux v2.40, libblkid/src/superblocks/*.c and partitions/*.c, not from our list.
"""

import struct
from typing import Final, NamedTuple

MIB = 1024 * 1024


class Image(NamedTuple):
    """A format and the values that make it; a negative offset counts from the end."""

    name: str
    values: tuple[tuple[int, bytes], ...]
    size: int = 8 * MIB


SUPERBLOCKS: Final = """
linux_raid_member ddf_raid_member isw_raid_member lsi_mega_raid_member via_raid_member
silicon_medley_raid_member nvidia_raid_member promise_fasttrack_raid_member hpt45x_raid_member
hpt37x_raid_member adaptec_raid_member jmicron_raid_member bcache bcachefs ceph_bluestore drbd
drbdmanage_control_volume drbdproxy_datalog LVM2_member LVM1_member DM_snapshot_cow
DM_verity_hash DM_integrity crypto_LUKS VMFS_volume_member ubi vdo stratis BitLocker cs_fvault2
vfat swsuspend swap xfs xfs_external_log exfs ext4dev ext4 ext3 ext2 jbd reiserfs reiser4 jfs
udf iso9660 zfs_member hfsplus hfs ufs hpfs sysv xenix ntfs ReFS cramfs romfs minix gfs gfs2
ocfs ocfs2 oracleasm vxfs squashfs squashfs3 nss btrfs ubifs bfs VMFS befs nilfs2 exfat f2fs
mpool apfs zonefs erofs
"""
PARTITION_TABLES: Final = """
aix sgi sun dos gpt PMBR mac ultrix bsd unixware solaris minix atari
"""
NAMES: Final = frozenset((SUPERBLOCKS + PARTITION_TABLES).split())


def le(number: int, length: int = 4) -> bytes:
    return number.to_bytes(length, "little")


def be(number: int, length: int = 4) -> bytes:
    return number.to_bytes(length, "big")


def one(name: str, value: bytes, *offsets: int, size: int = 8 * MIB) -> list[Image]:
    return [Image(name, ((offset, value),), size) for offset in offsets]


def ext(incompat: int = 0, compat: int = 0, flags: int = 0) -> tuple[tuple[int, bytes], ...]:
    features = struct.pack("<III", compat, incompat, 0)
    return ((1080, b"\x53\xef"), (1024 + 92, features), (1024 + 0x160, le(flags)))


def mbr_entry(kind: int) -> bytes:
    return bytes([0x80, 0, 0, 0, kind, 0, 0, 0]) + struct.pack("<II", 2048, 8192)


FAT: Final = (
    (0, b"\xeb\x3c\x90mkfs.fat" + struct.pack("<HBHBHHBH", 512, 4, 1, 2, 512, 16384, 0xF8, 16)),
    (510, b"\x55\xaa"),
)
SWAPS: Final = (0xFF6, 0x1FF6, 0x3FF6, 0x7FF6, 0xFFF6)
UFS: Final = (0x19540119, 0x00011954, 0x00195612, 0x00095014, 0x00612195, 0x05231994)
BCACHE: Final = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"
BCACHEFS: Final = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"
STRATIS: Final = b"!Stra0tis\x86\xff\x02^\x41rh"

RAIDS: Final = [
    *one("linux_raid_member", le(0xA92B4EFC), 0, 4096, -8192, -65536),
    *one("linux_raid_member", be(0xA92B4EFC), -65536),
    *one("ddf_raid_member", be(0xDE11DE11), -512, -257 * 512),
    *one("isw_raid_member", b"Intel Raid ISM Cfg Sig. 1.1.00", -1024),
    *one("lsi_mega_raid_member", b"$XIDE$", -512),
    *one("via_raid_member", b"\x55\xaa\x01", -512),
    *one("silicon_medley_raid_member", le(0x2F000000), -512 + 0x60),
    *one("nvidia_raid_member", b"NVIDIA  ", -1024),
    *(
        image
        for back in (63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087)
        for image in one("promise_fasttrack_raid_member", b"Promise Technology, Inc.", -back * 512)
    ),
    *one("hpt45x_raid_member", le(0x5A7816F3), -11 * 512),
    *one("hpt45x_raid_member", le(0x5A7816FD), -11 * 512),
    *one("hpt37x_raid_member", b"\xf0\x16\x78\x5a", 4640),
    *one("hpt37x_raid_member", b"\xfd\x16\x78\x5a", 4640),
    Image("adaptec_raid_member", ((-512, be(0x37FC4D1E)), (-512 + 256, be(0x4450544D)))),
    *one("jmicron_raid_member", b"JM", -512),
]

VOLUMES: Final = [
    *one("bcache", BCACHE, 4096 + 24),
    *one("bcachefs", BCACHEFS, 4096 + 24, 2 * MIB + 24, -MIB + 24),
    *one("ceph_bluestore", b"bluestore block device", 0),
    Image("drbd", ((-4096 + 60, b"\x83\x74\x02\x6b"), (-4096 + 80, be(4096)))),
    *one("drbd", b"\x83\x74\x02\x6c", -4096 + 60),
    *one("drbd", b"\x83\x74\x02\x6d", -4096 + 60),
    *one("drbdmanage_control_volume", b"$DRBDmgr=q", 0),
    *one("drbdproxy_datalog", b"DRBDdlh*", 0),
    *one("LVM2_member", b"LVM2 001", 0x218, 0x18, 1024 + 0x18, 1024 + 0x218),
    *one("LVM1_member", b"HM\x01\x00", 0),
    *one("DM_snapshot_cow", b"SnAp", 0),
    *one("DM_verity_hash", b"verity\0\0", 0),
    *one("DM_integrity", b"integrt\0", 0),
    *one("crypto_LUKS", b"LUKS\xba\xbe\x00\x01", 0),
    *(
        Image("crypto_LUKS", ((at, b"SKUL\xba\xbe\x00\x02"), (at + 256, be(at, 8))))
        for at in (0x4000 << step for step in range(9))
    ),
    *one("VMFS_volume_member", b"\x0d\xd0\x01\xc0", 1024 * 1024),
    *one("ubi", b"UBI#", 0),
    *one("vdo", b"dmvdo001", 0),
    *one("stratis", STRATIS, 516, 9 * 512 + 4),
    *one("BitLocker", b"\xeb\x52\x90-FVE-FS-", 0),
    *one("BitLocker", b"\xeb\x58\x90-FVE-FS-", 0),
    *one("BitLocker", b"\xeb\x58\x90MSWIN4.1", 0),
    Image("cs_fvault2", ((8, le(1, 2)), (88, b"CS"))),
    *one("oracleasm", b"ORCLDISK", 32),
    *(image for at in (0, 256 * 1024, -512 * 1024, -256 * 1024) for image in one(
        "zfs_member", le(0x00BAB10C, 8), at + 128 * 1024 + 5 * 1024, size=64 * MIB
    )),
]  # fmt: skip

FILE_SYSTEMS: Final = [
    Image("vfat", FAT),
    *one("vfat", b"MSWIN", 0x52),
    *one("vfat", b"FAT32   ", 0x52),
    *(
        image
        for name in (b"MSDOS", b"FAT16   ", b"FAT12   ", b"FAT     ")
        for image in one("vfat", name, 0x36)
    ),
    *(image for name in (b"SWAP-SPACE", b"SWAPSPACE2") for image in one("swap", name, *SWAPS)),
    *one("swsuspend", b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c", 0),
    *(
        image
        for name in (b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001")
        for image in one("swsuspend", name, *SWAPS)
    ),
    *one("xfs", b"XFSB", 0),
    *one("xfs_external_log", be(0xFEEDBABE), 0, 511 * 512, size=16 * MIB),
    *one("exfs", b"EXFS", 0),
    Image("ext2", ext()),
    Image("ext3", ext(compat=4)),
    Image("ext4", ext(incompat=0x40, compat=4)),
    Image("ext4dev", ext(incompat=0x40, compat=4, flags=4)),
    Image("jbd", ext(incompat=8)),
    *one("reiserfs", b"ReIsErFs", 8 * 1024 + 0x34, 64 * 1024 + 0x34, 8 * 1024 + 20),
    *one("reiserfs", b"ReIsEr2Fs", 64 * 1024 + 0x34),
    *one("reiserfs", b"ReIsEr3Fs", 64 * 1024 + 0x34),
    *one("reiser4", b"ReIsEr4", 64 * 1024),
    *one("jfs", b"JFS1", 32 * 1024, size=16 * MIB),
    *(
        image
        for name in (b"BEA01", b"BOOT2", b"CD001", b"CDW02", b"NSR02", b"NSR03", b"TEA01")
        for image in one("udf", name, 32 * 1024 + 1)
    ),
    *one("iso9660", b"CD001", 32 * 1024 + 1),
    *one("iso9660", b"CDROM", 32 * 1024 + 9),
    Image("hfsplus", ((1024, b"H+\x00\x04"), (1064, be(4096)))),
    Image("hfsplus", ((1024, b"HX"), (1064, be(4096)))),
    Image("hfs", ((1024, b"BD"), (1044, be(4096)))),
    *(
        image
        for number in UFS
        for order in (le, be)
        for image in one("ufs", order(number), *(at * 1024 + 0x55C for at in (0, 8, 64, 256)))
    ),
    *one("hpfs", b"\x49\xe8\x95\xf9", 0x2000),
    *(
        image
        for order in (le, be)
        for image in one("sysv", order(0xFD187E20), *(b * 1024 + 512 + 504 for b in (0, 9, 15, 18)))
    ),
    *one("xenix", b"\x2b\x55\x44", 1024 + 0x400),
    *one("xenix", b"\x44\x55\x2b", 1024 + 0x400),
    *one("ntfs", b"NTFS    ", 3),
    *one("ReFS", b"\0\0\0ReFS\0", 0),
    *one("cramfs", b"\x45\x3d\xcd\x28", 0),
    *one("cramfs", b"\x28\xcd\x3d\x45", 0),
    *one("romfs", b"-rom1fs-", 0),
    *(
        Image("minix", ((1024, order(32, 2)), (1028, order(1, 2)), (1040, order(magic, 2))))
        for magic in (0x137F, 0x138F, 0x2468, 0x2478)
        for order in (le, be)
    ),
    *(
        Image("minix", ((1024, order(32)), (1030, order(1, 2)), (1048, order(0x4D5A, 2))))
        for order in (le, be)
    ),
    *one("gfs", b"\x01\x16\x19\x70", 64 * 1024),
    *one("gfs2", b"\x01\x16\x19\x70", 64 * 1024),
    *one("ocfs", b"OracleCFS", 8 * 1024),
    *one("ocfs2", b"OCFSV2", 1024, 2048, 4096, 8192),
    *one("vxfs", b"\xf5\xfc\x01\xa5", 1024),
    *one("vxfs", b"\xa5\x01\xfc\xf5", 8 * 1024),
    *one("squashfs", b"hsqs", 0),
    *one("squashfs3", b"sqsh", 0),
    *one("nss", b"SPB5", 4096),
    *one("btrfs", b"_BHRfS_M", 64 * 1024 + 64, 64),
    *one("ubifs", b"\x31\x18\x10\x06", 0),
    *one("bfs", b"\xce\xfa\xad\x1b", 0),
    *one("VMFS", b"\x5e\xf1\xab\x2f", 2048 * 1024),
    *one("befs", b"BFS1", 0x20, 0x220),
    *one("befs", b"1SFB", 0x20, 0x220),
    Image("nilfs2", ((1024, le(2)), (1030, le(0x3434, 2)))),
    Image("nilfs2", ((-4096, le(2)), (-4090, le(0x3434, 2)))),
    *one("exfat", b"EXFAT   ", 3),
    *one("f2fs", b"\x10\x20\xf5\xf2", 1024),
    *one("mpool", b"\x6d\x70\x6f\x6f\x6c\x44\x65\x76", 0),
    *one("apfs", b"NXSB", 32),
    *one("zonefs", b"SFOZ", 0),
    *one("erofs", b"\xe2\xe1\xf5\xe0", 1024),
]

TABLES: Final = [
    *one("aix", b"\xc9\xc2\xd4\xc1", 0),
    *one("sgi", b"\x0b\xe5\xa9\x41", 0),
    Image("sun", ((508, b"\xda\xbe\xda\xbe"),)),
    Image("sun", ((436, be(255, 2) + be(63, 2)), (508, b"\xda\xbe\x12\x34"))),
    Image("dos", ((446, mbr_entry(0x83)), (510, b"\x55\xaa"))),
    Image("dos", ((440, b"abcd"), (510, b"\x55\xaa"))),
    *one("gpt", b"EFI PART", 512, 4096, -512, -4096),
    Image("PMBR", ((446, mbr_entry(0xEE)), (510, b"\x55\xaa"))),
    Image("mac", ((0, b"ER" + be(512, 2)), (512, b"PM\0\0" + be(1)))),
    Image("mac", ((0, b"ER" + be(1000, 2)), (1000, b"TS"))),
    Image("ultrix", ((16384 - 72, le(0x032957) + le(1)),)),
    *one("bsd", b"\x57\x45\x56\x82", 64, 128, 512),
    *one("unixware", b"\x0d\x60\xe5\xca", 29 * 512 + 4),
    *one("unixware", le(0x600DDEEE), 29 * 512 + 156),
    *one("solaris", b"\xee\xde\x0d\x60", 524),
    Image("minix", ((446, mbr_entry(0x81)), (510, b"\x55\xaa"))),
    Image("atari", ((0x1C2, be(8192)), (454, b"\x01GEM" + be(2) + be(4096)))),
]

KNOWN: Final = (*RAIDS, *VOLUMES, *FILE_SYSTEMS, *TABLES)

LATER: Final = (
    *one("geli", b"GEOM::ELI", -512, -4096),
    *one("GEOM member", b"GEOM::MIRROR", -512),
    *one("scoutfs", b"\x8b\x42\x3c\x10", 64 * 1024 + 4),
    *one("btrfs (mirror)", b"_BHRfS_M", 64 * MIB + 64, size=65 * MIB),
    *one("gpt (backup)", b"EFI PART", -512, -4096),
    *one("LVM2_member", b"LABELONE", 512),
    *one("jfs", b"JFS1", 0xF000),
    *one("f2fs", b"\x10\x20\xf5\xf2", 5120),
    *one("ntfs (copy)", b"NTFS    ", -509),
    *one("vfat (copy)", b"FAT32   ", 6 * 512 + 82),
    *one("hammer2", b"\x11\x20\x17\x05\x32\x4d\x41\x48", 0),
    *one("softraid", b"marcCRAM", 8192),
    *one("qcow2", b"QFI\xfb", 0),
    *one("zfs_member", b"\x01\x01" + bytes(9) + b"\x01", 16 * 1024, size=64 * MIB),
    Image("ext2/3/4 (copy)", ((32768 * 4096 + 56, b"\x53\xef"),), 129 * MIB),
    Image("ext2/3/4 (copy)", ((8193 * 1024 + 56, b"\x53\xef"),), 9 * MIB),
    *one("xfs (copy)", b"XFSB", 80 * MIB, size=320 * MIB),
    Image("hfsplus (copy)", ((-1024, b"H+\x00\x04"),)),
    Image("boot sector", ((0, b"\xeb\x63\x90"), (446, b"text"), (510, b"\x55\xaa"))),
)
"""What libblkid 2.40 does not know, or does not look for there."""
