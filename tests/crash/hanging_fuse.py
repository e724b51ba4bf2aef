"""A file system of one file on /dev/fuse that stops answering reads, until it is killed.

    python hanging_fuse.py FOLDER READS

prints "mounted" and "hangs". Nothing of libfuse is needed.
"""

import ctypes
import os
import stat
import struct
import sys

SIZE_BYTES = 16 << 20
ROOT, FILE = 1, 2
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
FLUSH, INIT, OPENDIR, RELEASEDIR, INTERRUPT = 25, 26, 27, 29, 36
SILENT = (FORGET, INTERRUPT)
ENOENT, ENOSYS = 2, 38


def attributes(node: int) -> bytes:
    """Give a struct fuse_attr."""
    mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o644, SIZE_BYTES)
    times = (0,) * 6
    return struct.pack("<6Q10I", node, size, size // 512, *times[:3], *times[:3], mode, 1,
                       0, 0, 0, 4096, 0)  # fmt: skip


def answer(opcode: int, node: int, body: bytes) -> tuple[int, bytes]:
    """Give (error, body) of the reply to a request."""
    match opcode:
        case 26:
            return 0, struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, *(0,) * 8)
        case 1 if body.rstrip(b"\0") == b"target":
            return 0, struct.pack("<4Q2I", FILE, 0, 1, 1, 0, 0) + attributes(FILE)
        case 1:
            return -ENOENT, b""
        case 3:
            return 0, struct.pack("<QII", 1, 0, 0) + attributes(node)
        case 14 | 27:
            return 0, struct.pack("<QII", 0, 0, 0)
        case 15:
            return 0, bytes(struct.unpack_from("<QQI", body)[2])
        case 17:
            return 0, struct.pack(
                "<5Q4I6I", 1 << 20, 1 << 20, 1 << 20, 9, 9, 4096, 255, 4096, *(0,) * 7
            )
        case 18 | 25 | 29:
            return 0, b""
    return -ENOSYS, b""


def main() -> None:
    """Mount, and answer."""
    folder, reads = sys.argv[1], int(sys.argv[2])
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"hanging", folder.encode(), b"fuse", 0, options):
        sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")
    print("mounted", flush=True)
    while True:
        request = os.read(device, 1 << 17)
        _length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        if opcode in SILENT:
            continue
        reads -= opcode == READ
        if reads < 0 and opcode == READ:
            if reads == -1:
                print("hangs", flush=True)
            continue
        error, body = answer(opcode, node, request[40:])
        os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


if __name__ == "__main__":
    main()
