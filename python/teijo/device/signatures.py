"""What lies on a device without being in use: file systems, tables, members, and mere data.

Two readers look, for either may be blind: wipefs (libblkid, hundreds of formats) where it is
installed, and a small one of our own. A reader that fails is an error, never "no signature".
"""

import json
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from typing import Final

from teijo.device.kernel import edges, read_blocks
from teijo.units import KIB, MIB

PROBE_SECONDS: Final = 60
_SEARCH: Final = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One thing found. `offset_bytes` counts from the start of the device."""

    kind: str
    offset_bytes: int
    uuid: str = ""
    label: str = ""

    def __str__(self) -> str:
        parts = [self.kind]
        parts += [f"{self.label!r}"] if self.label else []
        parts += [f"UUID {self.uuid}"] if self.uuid else []
        return " ".join(parts) + f" at byte {self.offset_bytes}"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is on a device. `readers` looked; `blank` says that both ends hold only zeros."""

    signatures: tuple[Signature, ...]
    readers: tuple[str, ...]
    blank: bool


class ProbeError(Exception):
    """A reader failed, so nothing is known of the device."""


@dataclass(frozen=True, kw_only=True)
class Magic:
    """A value at a fixed place; a negative offset counts from the end of the device.

    `aligned_bytes`: the place is rounded down to it first, as the format does.
    """

    kind: str
    offset_bytes: int
    value: bytes
    aligned_bytes: int = field(default=1)

    def place(self, size_bytes: int) -> int:
        """Return the offset on a device of a size; it may lie outside of it."""
        if self.offset_bytes >= 0:
            return self.offset_bytes
        return size_bytes // self.aligned_bytes * self.aligned_bytes + self.offset_bytes


MD_MAGIC: Final = bytes.fromhex("fc4e2ba9")
MAGICS: Final = (
    Magic(kind="gpt", offset_bytes=512, value=b"EFI PART"),
    Magic(kind="gpt", offset_bytes=4096, value=b"EFI PART"),
    Magic(kind="gpt (backup)", offset_bytes=-512, value=b"EFI PART"),
    Magic(kind="gpt (backup)", offset_bytes=-4096, value=b"EFI PART"),
    Magic(kind="xfs", offset_bytes=0, value=b"XFSB"),
    Magic(kind="btrfs", offset_bytes=64 * KIB + 64, value=b"_BHRfS_M"),
    Magic(kind="f2fs", offset_bytes=1024, value=b"\x10\x20\xf5\xf2"),
    Magic(kind="ntfs", offset_bytes=3, value=b"NTFS    "),
    Magic(kind="exfat", offset_bytes=3, value=b"EXFAT   "),
    Magic(kind="vfat", offset_bytes=54, value=b"FAT"),
    Magic(kind="vfat", offset_bytes=82, value=b"FAT32"),
    Magic(kind="squashfs", offset_bytes=0, value=b"hsqs"),
    Magic(kind="iso9660", offset_bytes=32769, value=b"CD001"),
    Magic(kind="swap", offset_bytes=4086, value=b"SWAPSPACE2"),
    Magic(kind="swap", offset_bytes=65526, value=b"SWAPSPACE2"),
    Magic(kind="crypto_LUKS", offset_bytes=0, value=b"LUKS\xba\xbe"),
    Magic(kind="crypto_LUKS (second header)", offset_bytes=16 * KIB, value=b"SKUL\xba\xbe"),
    Magic(kind="LVM2_member", offset_bytes=0, value=b"LABELONE"),
    Magic(kind="LVM2_member", offset_bytes=512, value=b"LABELONE"),
    Magic(kind="LVM2_member", offset_bytes=1024, value=b"LABELONE"),
    Magic(kind="LVM2_member", offset_bytes=1536, value=b"LABELONE"),
    Magic(kind="linux_raid_member", offset_bytes=0, value=MD_MAGIC),
    Magic(kind="linux_raid_member", offset_bytes=4096, value=MD_MAGIC),
    Magic(kind="linux_raid_member", offset_bytes=-64 * KIB, value=MD_MAGIC, aligned_bytes=64 * KIB),
    Magic(kind="linux_raid_member", offset_bytes=-8 * KIB, value=MD_MAGIC, aligned_bytes=4 * KIB),
    Magic(kind="isw_raid_member", offset_bytes=-1024, value=b"Intel Raid ISM Cfg Sig. "),
    Magic(kind="ddf_raid_member", offset_bytes=-512, value=b"\xde\x11\xde\x11"),
    Magic(
        kind="bcache",
        offset_bytes=4096 + 24,
        value=bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"),
    ),
    Magic(kind="ceph_bluestore", offset_bytes=0, value=b"bluestore block device"),
    Magic(kind="VMFS_volume_member", offset_bytes=MIB, value=bytes.fromhex("0dd001c0")),
)
"""The formats most often lost, with their places from libblkid and the formats' own sources."""

ZFS_UBERBLOCK: Final = (b"\x0c\xb1\xba\x00", b"\x00\xba\xb1\x0c")
ZFS_LABEL_BYTES: Final = 256 * KIB


def contents(fd: int, size_bytes: int) -> Contents:
    """Return what lies on an open device.

    Raises:
        ProbeError: a reader failed; the message says which and why.
    """
    found: dict[int, Signature] = {}
    readers = ["built in"]
    if shutil.which("wipefs", path=_SEARCH) is not None:
        readers.append("wipefs")
        found |= {item.offset_bytes: item for item in _wipefs(fd)}
    try:
        first, last = edges(fd, size_bytes)
        for item in read_signatures(fd, size_bytes):
            found.setdefault(item.offset_bytes, item)
    except OSError as error:
        raise ProbeError(f"the device cannot be read: {error.strerror}") from error
    blank = not any(first) and not any(last)
    return Contents(signatures=tuple(found.values()), readers=tuple(readers), blank=blank)


def read_signatures(fd: int, size_bytes: int) -> tuple[Signature, ...]:
    """Return what the built-in reader finds on an open device or file."""
    found = [
        Signature(kind=magic.kind, offset_bytes=place)
        for magic in MAGICS
        if (place := magic.place(size_bytes)) >= 0
        and place + len(magic.value) <= size_bytes
        and _bytes_at(fd, place, len(magic.value), size_bytes) == magic.value
    ]
    return (
        *found,
        *_extended_family(fd, size_bytes),
        *_partition_table(fd, size_bytes),
        *_zfs_labels(fd, size_bytes),
    )


def _extended_family(fd: int, size_bytes: int) -> tuple[Signature, ...]:
    """Two bytes of magic are found by chance in random data, so two fields must fit as well."""
    block = _bytes_at(fd, 1024, 1024, size_bytes)
    if block[0x38:0x3A] != b"\x53\xef":
        return ()
    block_size_shift, revision = block[0x18:0x1C], block[0x4C:0x50]
    fits = int.from_bytes(block_size_shift, "little") <= 6 and revision in {bytes(4), b"\1\0\0\0"}
    return (Signature(kind="ext2/3/4", offset_bytes=0x438),) if fits else ()


def _partition_table(fd: int, size_bytes: int) -> tuple[Signature, ...]:
    """Find an MBR: 55 AA and at least one entry that a partitioner could have written."""
    sector = _bytes_at(fd, 0, 512, size_bytes)
    if sector[510:] != b"\x55\xaa":
        return ()
    entries = [sector[446 + 16 * index : 462 + 16 * index] for index in range(4)]
    real = any(
        entry[0] in {0x00, 0x80} and entry[4] != 0 and struct.unpack_from("<I", entry, 12)[0] > 0
        for entry in entries
    )
    return (Signature(kind="dos", offset_bytes=510),) if real else ()


def _zfs_labels(fd: int, size_bytes: int) -> tuple[Signature, ...]:
    """Two labels at each end; the uberblocks are the label's last 128 KiB, 1 KiB or more each."""
    end = size_bytes // ZFS_LABEL_BYTES * ZFS_LABEL_BYTES
    found = []
    for start in (0, ZFS_LABEL_BYTES, end - 2 * ZFS_LABEL_BYTES, end - ZFS_LABEL_BYTES):
        if start < 0 or start + ZFS_LABEL_BYTES > size_bytes:
            continue
        ring = read_blocks(fd, start + 128 * KIB, 128 * KIB)
        if any(ring[at : at + 4] in ZFS_UBERBLOCK for at in range(0, len(ring), KIB)):
            found.append(Signature(kind="zfs_member", offset_bytes=start))
    return tuple(found)


def _bytes_at(fd: int, place: int, length: int, size_bytes: int) -> bytes:
    start = place // 4096 * 4096
    end = min(-(-(place + length) // 4096) * 4096, size_bytes)
    return read_blocks(fd, start, end - start)[place - start : place - start + length]


def _wipefs(fd: int) -> list[Signature]:
    answer = _ask(fd, "wipefs", "--no-act", "--json", f"/proc/self/fd/{fd}")
    if not answer.strip():
        return []
    try:
        rows = json.loads(answer)["signatures"]
        return [
            Signature(
                kind=row["type"],
                offset_bytes=int(row["offset"], 16),
                uuid=row["uuid"] or "",
                label=row["label"] or "",
            )
            for row in rows
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ProbeError(f"wipefs answered something unknown: {answer[:200]!r}") from error


def _ask(fd: int, program: str, *arguments: str) -> str:
    """Run a reader on our own descriptor, so that it looks at the device we claimed."""
    try:
        done = subprocess.run(
            [shutil.which(program, path=_SEARCH) or program, *arguments],
            pass_fds=[fd],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            env={"LC_ALL": "C", "PATH": _SEARCH},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProbeError(f"{program} did not answer: {error}") from error
    if done.returncode != 0:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise ProbeError(f"{program} failed: {reason}")
    return done.stdout
