"""The emulated NVMe drive behind `seam.ioctl`, in this process; no kernel, no device, no root.

`NvmeBench` gives subjects on a made-up nvme0 whose namespaces are files, so that what sends
commands to a drive is tested with five lines.
"""

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.commands import nvme, seam
from teijo.device.identify import identify
from teijo.device.kernel import Number
from tests.device.test_stack import Tree
from tests.drives.nvme import NvmeDrive
from tests.drives.nvme_identify import SUBSYSTEM
from tests.drives.nvme_state import Knobs, PowerCut, VirtualClock
from tests.drives.switched_on import LEFT

ADMIN64_CMD = 0xC0504E47
COMMAND = struct.Struct("<BBHIIIQQIIIIIIIIII")
"""struct nvme_admin_cmd of linux/nvme_ioctl.h; the result follows."""
SECONDS_PER_COMMAND = 0.01
"""A caller that only asks, and never rests, comes to an end as well."""


DISCARD = -1
"""What stands for a discard of the kernel among the opcodes."""


class Killed(BaseException):
    """The program is killed here; no `except Exception` sees it."""


class NvmeFront:
    """`answer` stands in the place of `seam.ioctl`, as the kernel's driver answers.

    `kill_at` counts the admin commands and discards from 1: the program is killed before that one,
    or after it with `kill_after`. At `cut_at` the drive loses its power before it hears it.
    `fail_at` gives a command another status than the drive would.
    """

    def __init__(self, drive: NvmeDrive, numbers: dict[int, int]) -> None:
        """Answer on these descriptors, each that of a namespace number."""
        self.drive = drive
        self.numbers = numbers
        self.sent = 0
        self.order: list[int] = []
        self.kill_at = 0
        self.kill_after = False
        self.cut_at = 0
        self.fail_at: dict[int, int] = {}

    def answer(self, fd: int, request: int, argument: bytearray | int = 0) -> int:
        """Answer an ioctl; a status above 0 is the drive's own.

        Raises:
            OSError: as the driver: no such request, no power.
            Killed: it was told to.
        """
        if request == nvme.NVME_IOCTL_ID:
            return self.numbers[fd]
        if not self.drive.powered:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        if request not in (nvme.NVME_IOCTL_ADMIN_CMD, ADMIN64_CMD):
            raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
        assert isinstance(argument, bytearray)
        return self._admin(argument, result_at=68 if request == nvme.NVME_IOCTL_ADMIN_CMD else 72)

    def _admin(self, argument: bytearray, *, result_at: int) -> int:
        (
            opcode, flags, _, number, cdw2, cdw3, metadata, address, _, length, *words,
        ) = COMMAND.unpack_from(argument)  # fmt: skip
        if flags:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.begin(opcode)
        wire = struct.pack(
            "<BBHIIIQQQ6I", opcode, 0, 0, number, cdw2, cdw3, metadata, 0, 0, *words[:6]
        )
        to_drive, from_drive = opcode & 3 == 1, opcode & 3 == 2
        data = ctypes.string_at(address, length) if to_drive and length else b""
        if isinstance(self.drive.clock, VirtualClock):
            self.drive.clock.sleep(SECONDS_PER_COMMAND)
        if self.sent in self.fail_at:
            return self.fail_at[self.sent]
        try:
            status, result, answered = self.drive.admin(wire, data)
        except PowerCut as cut:
            self.drive.cut()
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV)) from cut
        if from_drive and length and answered:
            ctypes.memmove(address, answered, min(length, len(answered)))
        argument[result_at : result_at + 4] = (result & 0xFFFFFFFF).to_bytes(4, "little")
        self.end()
        return status

    def begin(self, opcode: int) -> None:
        """Count a command that is about to be sent.

        Raises:
            Killed: the program is to be killed before it.
            OSError: the drive loses its power.
        """
        self.sent += 1
        self.order.append(opcode)
        if self.kill_at == self.sent and not self.kill_after:
            raise Killed
        if self.cut_at == self.sent:
            self.drive.cut()
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))

    def end(self) -> None:
        """Note that a command was answered.

        Raises:
            Killed: the program is to be killed after it.
        """
        if self.kill_at == self.sent:
            raise Killed


class NvmeBench:
    """A drive, its image files, a made-up sysfs, and the calls of this process led to them.

    `clock` is the drive's time: `monkeypatch` the pauses of what is tested with `clock.sleep`.
    Reads and writes of the descriptors go by the drive's state (a sanitize that runs refuses
    them). A program's own threads in Rust are not led here.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **knobs: Any) -> None:
        """Switch a drive of these knobs on, with the tree of `tests.device.test_stack`."""
        self._folder = folder
        self.knobs = Knobs().changed(knobs)
        self.clock = VirtualClock()
        self.tree = Tree(folder)
        self.fds: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self._images = [
            folder / f"nvme0n{number}.img" for number in range(1, len(self.knobs.namespaces) + 1)
        ]
        self.front = self._powered_on()
        for number in self.drive.attached:
            fd = os.open(self._images[number - 1], os.O_RDWR)
            self.fds[number], self.numbers[fd] = fd, number
            self._plug(number)
        self._lead_here(monkeypatch)
        LEFT.append(self.close)

    @property
    def drive(self) -> NvmeDrive:
        """The drive since its last power-on."""
        return self.front.drive

    @property
    def sent(self) -> list[dict[str, Any]]:
        """Every admin command the drive saw since its last power-on."""
        return self.drive.commands

    def opcodes(self, *opcodes: int) -> list[int]:
        """Return what was sent of these commands, in order; without any, all."""
        return [one["opcode"] for one in self.sent if not opcodes or one["opcode"] in opcodes]

    def subject(self, number: int = 1) -> Subject:
        """Return a namespace as `claim` would: open, identified, on the made-up tree."""
        target = f"/dev/nvme0n{number}"
        found = identify(self.fds[number], target, self.tree.roots)
        return Subject(fd=self.fds[number], target=target, found=found, roots=self.tree.roots)

    def image(self, number: int = 1) -> bytes:
        """Return all that a namespace holds by now."""
        if self.drive.powered:
            self.drive.purging.advance()
        return self._images[number - 1].read_bytes()

    def fill(self, *numbers: int) -> None:
        """Write random bytes over whole namespaces (all that are attached)."""
        for number in numbers or tuple(self.fds):
            os.pwrite(self.fds[number], os.urandom(len(self.image(number))), 0)

    def power_cycle(self, *, clean: bool = False) -> None:
        """Take the power away, at once or after a goodbye, and give it back."""
        if clean:
            self.drive.shut_down()
        else:
            self.drive.cut()
        self.front = self._powered_on()

    def close(self) -> None:
        """Let go of the descriptors and of the images."""
        self.drive.cut()
        while self.fds:
            os.close(self.fds.popitem()[1])

    def _powered_on(self) -> NvmeFront:
        state = self._folder / "drive.json"
        return NvmeFront(NvmeDrive(self.knobs, state, self._images, clock=self.clock), self.numbers)

    def _plug(self, number: int) -> None:
        """Put a namespace and its controller into the tree, as the kernel prints them."""
        state, knobs = self.drive.state, self.knobs
        folder = self.tree.disk(
            f"nvme0n{number}", f"259:{number - 1}", nsid=str(number),
            wwid=f"eui.{number:016x}",
            device__serial=state["serial"].ljust(20), device__model=state["model"].ljust(40),
            device__firmware_rev=state["firmware"].ljust(8), device__transport="tcp",
            device__subsysnqn=SUBSYSTEM.format(serial=knobs.serial),
            device__cntlid=str(knobs.controllers[0]),
            size=str(state["namespaces"][str(number)]["bytes"] // 512),
            queue__logical_block_size=str(1 << self.drive.block_shift(number)),
            queue__physical_block_size=str(1 << self.drive.block_shift(number)),
            queue__write_cache="write back" if knobs.volatile_cache else "write through",
            queue__rotational="0", queue__zoned="none",
        )  # fmt: skip
        assert folder.exists()

    def _lead_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plain = fcntl.ioctl

        def request(fd: Any, code: int, argument: Any = 0, mutate: bool = True) -> Any:
            if fd in self.numbers:
                return self._block_request(fd, code, argument)
            return plain(fd, code, argument, mutate)

        monkeypatch.setattr(seam, "ioctl", lambda *told: self.front.answer(*told))
        monkeypatch.setattr(fcntl, "ioctl", request)
        number_of = kernel.number_of
        monkeypatch.setattr(
            kernel,
            "number_of",
            lambda fd: Number(259, self.numbers[fd] - 1) if fd in self.numbers else number_of(fd),
        )
        self._pwrite = os.pwrite
        for name in ("pread", "preadv", "pwrite", "pwritev"):
            monkeypatch.setattr(os, name, self._guarded(getattr(os, name), write="w" in name))

    def _guarded(self, call: Callable[..., Any], *, write: bool) -> Callable[..., Any]:
        """A read or write goes by the drive's state where it is on one of its descriptors."""

        def guarded(fd: int, what: Any, *others: Any) -> Any:
            number = self.numbers.get(fd)
            if number is None:
                return call(fd, what, *others)
            with self.drive.lock:
                if not self.drive.powered or self.drive.media_refusal(number):
                    # A traceback that holds the buffer would keep its owner from closing it.
                    del what, others
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                done = call(fd, what, *others)
                count = done if isinstance(done, int) else len(done)
                self.drive.count_media(**{"written" if write else "read": count})
            return done

        return guarded

    def _block_request(self, fd: int, code: int, argument: Any) -> Any:
        """Answer what is asked of any block device, into the buffer or by the value."""
        number = self.numbers[fd]
        shift = self.drive.block_shift(number)
        size = self.drive.size_blocks(number) << shift
        if code == kernel.BLKDISCARD:
            return self._discard(number, *struct.unpack("QQ", argument))
        told = {
            kernel.BLKGETSIZE64: struct.pack("Q", size),
            kernel.BLKROGET: struct.pack("i", 0),
            kernel.BLKSSZGET: struct.pack("i", 1 << shift),
            kernel.BLKPBSZGET: struct.pack("I", 1 << shift),
            kernel.BLKGETDISKSEQ: struct.pack("Q", 40 + number),
        }.get(code)
        if told is None:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        if isinstance(argument, bytearray):
            argument[: len(told)] = told
            return 0
        return told

    def _discard(self, number: int, start: int, length: int) -> int:
        self.front.begin(DISCARD)
        if not self.drive.powered or self.drive.media_refusal(number):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        pieces: Sequence[int] = range(start, start + length, 1 << 20)
        for at in pieces:
            self._pwrite(self.fds[number], bytes(min(1 << 20, start + length - at)), at)
        self.front.end()
        return 0
