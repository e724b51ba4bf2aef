"""Sends NVMe admin commands through an ioctl and says what came of each.

In the guest, to a controller of the kernel: `python3 -m tests.guest.admin_commands NODE` reads the
commands as JSON and prints the answers. A test gives the same commands to another ioctl.
"""

import ctypes
import fcntl
import json
import os
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

ADMIN_COMMAND = 0xC0484E41
COMMAND = struct.Struct("<BBHIIIQQII6III")
"""struct nvme_admin_cmd of linux/nvme_ioctl.h."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One admin command: `cdw` are command dwords 10 on, `data` is what goes to the drive."""

    opcode: int
    number: int = 0
    cdw: tuple[int, ...] = ()
    length: int = 0
    data: str = ""
    """Bytes as hexadecimal digits."""


@dataclass(frozen=True)
class Answer:
    """Status (0 for success), dword 0, and the buffer as hexadecimal digits."""

    status: int
    result: int
    data: str


def answers(
    ioctl: Callable[[int, int, bytearray], int], fd: int, commands: Sequence[Command]
) -> list[Answer]:
    """Send the commands in order; a refusal of the drive is an answer."""
    found = []
    for one in commands:
        length = max(one.length, len(one.data) // 2)
        buffer = ctypes.create_string_buffer(bytes.fromhex(one.data), length or 1)
        words = (*one.cdw, *(0,) * (6 - len(one.cdw)))
        address = ctypes.addressof(buffer) if length else 0
        argument = bytearray(
            COMMAND.pack(one.opcode, 0, 0, one.number, 0, 0, 0, address, 0, length, *words, 0, 0)
        )
        status = ioctl(fd, ADMIN_COMMAND, argument)
        (result,) = struct.unpack_from("<I", argument, 68)
        found.append(Answer(status, result, buffer.raw[:length].hex()))
    return found


def main() -> None:
    """Send what standard input has to the controller that is named."""
    commands = [Command(**one) for one in json.load(sys.stdin)]
    fd = os.open(sys.argv[1], os.O_RDWR)
    found = answers(lambda *told: fcntl.ioctl(*told), fd, commands)
    print(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main()
