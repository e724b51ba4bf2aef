"""The values by which formats are known, and where each stands: file systems, members, tables.

All that libblkid 2.40 knows by a value of three bytes and more (util-linux, libblkid/src), with
the copies it does not look at, and formats it does not know. Shorter values: weak_formats.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from teijo.units import GIB, KIB, MIB

SECTOR: Final = 512
SECTOR_SIZES: Final = (512, 1024, 2048, 4096)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One thing found. `offset_bytes` counts from the start of the device.

    `length_bytes` is what has to go for it to be gone. `erased_by` is "wipefs" where that sees it.
    """

    kind: str
    offset_bytes: int
    uuid: str = ""
    label: str = ""
    length_bytes: int = 1
    erased_by: str = "dd"

    def __str__(self) -> str:
        parts = [self.kind]
        parts += [f"{self.label!r}"] if self.label else []
        parts += [f"UUID {self.uuid}"] if self.uuid else []
        return " ".join(parts) + f" at byte {self.offset_bytes}"


@dataclass(frozen=True, kw_only=True)
class Magic:
    """A value at a fixed place; a negative offset counts from the end of the device.

    `aligned_bytes`: the end is rounded down to it first, as the format does. `steps` more places
    follow, `step_bytes` apart.
    """

    kind: str
    offset_bytes: int
    value: bytes
    aligned_bytes: int = 1
    steps: int = 0
    step_bytes: int = 0

    def place(self, size_bytes: int) -> int:
        """Return the first offset on a device of a size; it may lie outside of it."""
        if self.offset_bytes >= 0:
            return self.offset_bytes
        return size_bytes // self.aligned_bytes * self.aligned_bytes + self.offset_bytes

    def places(self, size_bytes: int) -> Iterator[int]:
        """Yield every offset on a device of a size at which the value fits."""
        first = self.place(size_bytes)
        for step in range(self.steps + 1):
            place = first + step * self.step_bytes
            if place >= 0 and place + len(self.value) <= size_bytes:
                yield place


def _at(kind: str, value: bytes, *offsets: int, aligned: int = 1) -> tuple[Magic, ...]:
    return tuple(
        Magic(kind=kind, offset_bytes=offset, value=value, aligned_bytes=aligned)
        for offset in offsets
    )


def _either(kind: str, number: int, *offsets: int, aligned: int = 1) -> tuple[Magic, ...]:
    """Return a number of 32 bits in both byte orders."""
    orders = (number.to_bytes(4, "little"), number.to_bytes(4, "big"))
    return tuple(magic for value in orders for magic in _at(kind, value, *offsets, aligned=aligned))


def _hex(text: str) -> bytes:
    return bytes.fromhex(text)


BCACHE: Final = _hex("c68573f64e1a45ca8265f57f48ba6d81")
BCACHEFS: Final = _hex("c68573f666ce90a9d96a60cf803df7ef")
STRATIS: Final = b"!Stra0tis\x86\xff\x02^\x41rh"
# Behind the first header, whose size is one of nine from 16 KiB to 4 MiB.
LUKS2_SECOND_HEADERS: Final = tuple(16 * KIB << power for power in range(9))
# The places at which libblkid looks (superblocks/promise_raid.c).
PROMISE_SECTORS: Final = (63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087)
# The signature ends the first page, and pages are of 4 to 64 KiB, as the machine has them.
SWAP_PAGES: Final = tuple(4 * KIB << power for power in range(5))
UFS_MAGICS: Final = (0x00011954, 0x19540119, 0x00195612, 0x00095014, 0x00612195, 0x05231994)
# The blocks in which libblkid looks (superblocks/sysv.c).
SYSV_BLOCKS: Final = (0, 9, 15, 18)

TABLES: Final = (
    *_at("gpt", b"EFI PART", *SECTOR_SIZES),
    *_at("gpt (backup)", b"EFI PART", *(-size for size in SECTOR_SIZES)),
    *_at("aix", _hex("c9c2d4c1"), 0),
    *_at("sgi", _hex("0be5a941"), 0),
    *_either("bsd", 0x82564557, 64, 128, 512),
    *_at("disklabel64", _hex("594c46c4"), 512),
    *_at("solaris", _hex("eede0d60"), 524),
    *_at("unixware", _hex("0d60e5ca"), 29 * SECTOR + 4),
    *_at("unixware", _hex("eede0d60"), 29 * SECTOR + 156),
    *_at("ultrix", _hex("57290300"), 16384 - 72),
    *_at("Windows dynamic disk", b"PRIVHEAD", 6 * SECTOR, -SECTOR),
    # The block may be any of the first 16.
    Magic(kind="Amiga RDB", offset_bytes=0, value=b"RDSK", steps=15, step_bytes=SECTOR),
)

MEMBERS: Final = (
    # md metadata 1.1 and 1.2 at the start, 0.90 and 1.0 at the end.
    *_either("linux_raid_member", 0xA92B4EFC, 0, 4096),
    *_either("linux_raid_member", 0xA92B4EFC, -64 * KIB, aligned=64 * KIB),
    *_either("linux_raid_member", 0xA92B4EFC, -8 * KIB, aligned=4 * KIB),
    *_at("ddf_raid_member", _hex("de11de11"), -SECTOR, -257 * SECTOR, -4096, -257 * 4096),
    *_at("isw_raid_member", b"Intel Raid ISM Cfg Sig. ", -2 * SECTOR, -2 * 4096),
    *_at("lsi_mega_raid_member", b"$XIDE$", -SECTOR),
    *_at("nvidia_raid_member", b"NVIDIA  ", -2 * SECTOR),
    *_at("adaptec_raid_member", _hex("37fc4d1e"), -SECTOR),
    *_at("hpt45x_raid_member", _hex("f316785a"), -11 * SECTOR),
    *_at("hpt45x_raid_member", _hex("fd16785a"), -11 * SECTOR),
    *_at("hpt37x_raid_member", _hex("f016785a"), 9 * SECTOR + 32),
    *_at("hpt37x_raid_member", _hex("fd16785a"), 9 * SECTOR + 32),
    *_at(
        "promise_fasttrack_raid_member",
        b"Promise Technology, Inc.",
        *(-count * SECTOR for count in PROMISE_SECTORS),
    ),
    *_at("LVM2_member", b"LABELONE", 0, 512, 1024, 1536),
    *_at("LVM2_member", b"LVM2 001", 24, 536, 1048, 1560),
    *_at("bcache", BCACHE, 4096 + 24),
    *_at("stratis", STRATIS, SECTOR + 4, 9 * SECTOR + 4),
    *_at("drbd", _hex("8374026b"), -4096 + 60),
    *_at("drbd", _hex("8374026c"), -4096 + 60),
    *_at("drbd", _hex("8374026d"), -4096 + 60),
    *_at("drbdmanage_control_volume", b"$DRBDmgr=q", 0),
    *_at("drbdproxy_datalog", b"DRBDdlh*", 0),
    *_at("vdo", b"dmvdo001", 0),
    *_at("ceph_bluestore", b"bluestore block device", 0),
    *_at("VMFS_volume_member", _hex("0dd001c0"), MIB),
    *_at("ubi", b"UBI#", 0),
    *_at("oracleasm", b"ORCLDISK", 32),
    *_at("oracleasm", _hex("01820101"), 0),
    *(magic for size in SECTOR_SIZES for magic in _at("GEOM member", b"GEOM::", -size)),
    *_at("softraid", b"marcCRAM", 16 * SECTOR),
    *_at("DM_snapshot_cow", b"SnAp", 0),
    *_at("DM_thin_metadata", (27022010).to_bytes(8, "little"), 32),
    *_at("DM_cache_metadata", (6142003).to_bytes(8, "little"), 32),
    *_at("DM_era_metadata", (2126579579).to_bytes(8, "little"), 32),
    *_at("DM_writecache", (0x23489321).to_bytes(4, "little"), 0),
    *_at("DM_zoned", b"DBZD", 0),
)

ENCRYPTED: Final = (
    *_at("crypto_LUKS", b"LUKS\xba\xbe", 0),
    *_at("crypto_LUKS (second header)", b"SKUL\xba\xbe", *LUKS2_SECOND_HEADERS),
    *_at("BitLocker", b"-FVE-FS-", 3),
    *_at("BitLocker", b"\xeb\x58\x90MSWIN4.1", 0),
    *(magic for size in SECTOR_SIZES for magic in _at("geli", b"GEOM::ELI", -size)),
    *_at("DM_verity_hash", b"verity\0\0", 0),
    *_at("DM_integrity", b"integrt\0", 0),
)

SWAPS: Final = (
    *(
        magic
        for text in (b"SWAP-SPACE", b"SWAPSPACE2")
        for magic in _at("swap", text, *(page - 10 for page in SWAP_PAGES))
    ),
    *(
        magic
        for text in (b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001")
        for magic in _at("swsuspend", text, *(page - 10 for page in SWAP_PAGES))
    ),
    *_at("swsuspend", _hex("edc302e99856e50c"), 0),
)

UNIX_FILE_SYSTEMS: Final = (
    *_at("xfs", b"XFSB", 0),
    Magic(
        kind="xfs_external_log",
        offset_bytes=0,
        value=_hex("feedbabe"),
        # libblkid looks for a record of the log in each of the first 512 sectors.
        steps=511,
        step_bytes=SECTOR,
    ),
    *_at("exfs", b"EXFS", 0),
    *_at("btrfs", b"_BHRfS_M", 64, 64 * KIB + 64),
    *_at("btrfs (mirror)", b"_BHRfS_M", 64 * MIB + 64, 256 * GIB + 64),
    *_at("bcachefs", BCACHEFS, 7 * SECTOR, 4096 + 24, 2 * MIB + 24, -MIB + 24),
    *_at("f2fs", _hex("1020f5f2"), 1024, 5120),
    *_at("reiserfs", b"ReIsErFs", 8 * KIB + 52, 64 * KIB + 52, 8 * KIB + 20),
    *_at("reiserfs", b"ReIsEr2Fs", 64 * KIB + 52),
    *_at("reiserfs", b"ReIsEr3Fs", 64 * KIB + 52),
    *_at("reiser4", b"ReIsEr4", 64 * KIB),
    *_at("jfs", b"JFS1", 32 * KIB, 60 * KIB),
    *(
        magic
        for number in UFS_MAGICS
        for magic in _either("ufs", number, *(KIB * at + 1372 for at in (0, 8, 64, 256)))
    ),
    *_either("sysv", 0xFD187E20, *(KIB * block + 512 + 504 for block in SYSV_BLOCKS)),
    *_either("xenix", 0x002B5544, 2040),
    *_at("xenix", _hex("2b5544"), 2048),
    *_at("xenix", _hex("44552b"), 2048),
    *_at("vxfs", _hex("f5fc01a5"), 1024),
    *_at("vxfs", _hex("a501fcf5"), 8 * KIB),
    *_at("qnx6", _hex("22111968"), 8 * KIB),
    *_at("efs", _hex("00072959"), 540),
    *_at("efs", _hex("0007295a"), 540),
    *_at("hammer", _hex("313052c54d4d41c8"), 0),
    *_at("hammer2", _hex("11201705324d4148"), 0),
    *_at("zonefs", b"SFOZ", 0),
)

FLASH_AND_ROM_FILE_SYSTEMS: Final = (
    *_at("erofs", _hex("e2e1f5e0"), 1024),
    *(magic for text in (b"hsqs", b"sqsh", b"shsq", b"qshs") for magic in _at("squashfs", text, 0)),
    *_either("cramfs", 0x28CD3D45, 0, 512),
    *_at("romfs", b"-rom1fs-", 0),
    *_at("ubifs", _hex("31181006"), 0),
    Magic(kind="iso9660", offset_bytes=32769, value=b"CD001", steps=7, step_bytes=2048),
    *_at("iso9660", b"CDROM", 32777),
    *(
        Magic(kind="udf", offset_bytes=32769, value=text, steps=7, step_bytes=2048)
        for text in (b"BEA01", b"BOOT2", b"CDW02", b"NSR02", b"NSR03", b"TEA01")
    ),
)

FOREIGN_FILE_SYSTEMS: Final = (
    *_at("ntfs", b"NTFS    ", 3),
    *_at("ntfs (copy)", b"NTFS    ", *(3 - size for size in SECTOR_SIZES)),
    *_at("exfat", b"EXFAT   ", 3),
    # The backup of exFAT's boot region begins at sector 12, that of FAT32 (below) at 6.
    *_at("exfat (copy)", b"EXFAT   ", *(12 * size + 3 for size in SECTOR_SIZES)),
    *_at("vfat", b"MSWIN", 82),
    *_at("vfat", b"FAT32   ", 82),
    *_at("vfat (copy)", b"FAT32   ", *(6 * size + 82 for size in SECTOR_SIZES)),
    *(
        magic
        for text in (b"MSDOS", b"FAT16   ", b"FAT12   ", b"FAT     ")
        for magic in _at("vfat", text, 54)
    ),
    *_at("ReFS", b"\0\0\0ReFS\0", 0),
    *_at("apfs", b"NXSB", 32),
    *_at("hpfs", _hex("49e895f9"), 8 * KIB),
    *_at("befs", b"BFS1", 32, 544),
    *_at("befs", b"1SFB", 32, 544),
    *_at("nss", b"SPB5", 4 * KIB),
    *_at("VMFS", _hex("5ef1ab2f"), 2 * MIB),
    *(magic for dos in range(8) for magic in _at("Amiga DOS", b"DOS" + bytes([dos]), 0)),
)

SHARED_FILE_SYSTEMS: Final = (
    *_at("gfs/gfs2", _hex("01161970"), 64 * KIB),
    *_at("ocfs", b"OracleCFS", 8 * KIB),
    *_at("ocfs2", b"OCFSV2", KIB, 2 * KIB, 4 * KIB, 8 * KIB),
    *_at("mpool", b"mpoolDev", 0),
    *_at("scoutfs", _hex("8b423c10"), 64 * KIB + 4),
    *_at("bfs", _hex("cefaad1b"), 0),
)

IMAGES: Final = (
    *_at("qcow2", b"QFI\xfb", 0),
    *_at("vmdk", b"KDMV", 0),
    *_at("vhd", b"conectix", 0, -SECTOR),
    *_at("vhdx", b"vhdxfile", 0),
    *_at("tar", b"ustar", 257),
)
"""What a tool wrote onto a bare device: the disk of a virtual machine, an archive."""

MAGICS: Final = (
    *TABLES,
    # Before the members: GEOM::ELI begins with GEOM::, and the longer value names it.
    *ENCRYPTED,
    *MEMBERS,
    *SWAPS,
    *UNIX_FILE_SYSTEMS,
    *FLASH_AND_ROM_FILE_SYSTEMS,
    *FOREIGN_FILE_SYSTEMS,
    *SHARED_FILE_SYSTEMS,
    *IMAGES,
)
"""Every format known by its value alone; the first of two at one place names it."""
