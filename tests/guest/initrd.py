"""What the guest boots from: Debian's kernel without its packing, and the first few programs.

A kernel that is handed over unpacked starts three seconds sooner where QEMU translates every
instruction. The archive is written here, for it is one loop (format: newc of cpio, Linux's
Documentation/driver-api/early-userspace/buffer-format.rst).
"""

import lzma
import struct
from pathlib import Path

MODULES = ("virtio_pci", "virtio_blk", "ext4", "overlay")
"""What must be loaded before the root disk can be read."""
INIT = """#!/bin/busybox sh
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev
while read module; do $bb insmod $module; done </modules
n=0
while [ ! -b /dev/vda ] && [ $n -lt 200 ]; do n=$((n+1)); $bb sleep 0.05; done
$bb mount -t ext4 -o ro /dev/vda /base || exec $bb poweroff -f
$bb mount -t tmpfs -o size=60% over /over
$bb mkdir /over/up /over/work
$bb mount -t overlay -o lowerdir=/base,upperdir=/over/up,workdir=/over/work root /new
$bb umount /proc /sys
$bb mount --move /dev /new/dev
exec $bb switch_root /new /sbin/start
"""
KERNEL_MAGIC = b"HdrS"


def uncompressed_kernel(image: bytes) -> bytes:
    """Return the ELF file inside a bzImage, or the image as it is if it is packed otherwise.

    Offsets: Linux's Documentation/arch/x86/boot.rst, protocol 2.08 (setup_sects 1F1h, header 202h,
    payload_offset 248h, payload_length 24Ch).
    """
    if len(image) < 0x250 or image[0x202:0x206] != KERNEL_MAGIC:
        return image
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = image[start : start + length]
    if not payload.startswith(b"\xfd7zXZ\0"):
        return image
    kernel = lzma.LZMADecompressor().decompress(payload)  # the last four bytes are its size
    return kernel if kernel.startswith(b"\x7fELF") else image


def archive(tree: Path, version: str) -> bytes:
    """Return the initial file system: busybox, the modules of MODULES, and the script INIT."""
    files: dict[str, bytes] = {"init": INIT.encode()}
    files["bin/busybox"] = (tree / "bin/busybox").read_bytes()
    folder = tree / "lib/modules" / version
    order = in_order(folder)
    for path in order:
        files[f"lib/{Path(path).name}"] = (folder / path).read_bytes()
    files["modules"] = "".join(f"/lib/{Path(path).name}\n" for path in order).encode()
    folders = ("bin", "lib", "proc", "sys", "dev", "base", "over", "new")
    entries = [entry(name, 0o040755, b"") for name in folders]
    entries += [entry(name, 0o100755, content) for name, content in files.items()]
    return b"".join((*entries, entry("TRAILER!!!", 0, b"")))


def in_order(folder: Path) -> list[str]:
    """Return the files of MODULES and of what they need, each after what it needs."""
    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, after = line.partition(":")
        needs[path] = after.split()
    inside = set((folder / "modules.builtin").read_text().split())
    soft = {"ext4": "crc32c_generic"}
    order: dict[str, None] = {}
    for name in (*(soft[one] for one in MODULES if one in soft), *MODULES):
        matches = [path for path in needs if Path(path).name.startswith(f"{name}.ko")]
        assert matches or any(path.endswith(f"/{name}.ko") for path in inside), name
        for path in matches:
            order.update(dict.fromkeys((*reversed(needs[path]), path)))
    return list(order)


def entry(name: str, mode: int, content: bytes) -> bytes:
    """Return one file of a cpio archive in the format newc."""
    called = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(called), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + called
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)
