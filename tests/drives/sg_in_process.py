"""A drive in this process, in the place of `seam.ioctl`: SG_IO as the kernel answers it.

`SataBench` and `SasBench` give a `Subject` over a made-up sysfs, whose reads and discards go to
the drive, too. Any command can be made to fail, to kill the program, or to cut the power.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.commands import seam
from teijo.device.identify import Identification, describe
from teijo.terms.geometry import Geometry, Identity
from tests.device.test_stack import Tree
from tests.drives.ata import SataDisk
from tests.drives.disk import BLOCK, Clock, Knobs, PowerLost, StepClock, TimedOut
from tests.drives.sat import SatTarget
from tests.drives.scsi import SasDisk, SasTarget
from tests.drives.sense import CHECK, Reply, by_descriptors, fixed
from tests.drives.sg_calls import FROM_DRIVE, HEADER, SG_IO, TO_DRIVE
from tests.drives.switched_on import LEFT
from tests.drives.target import Target

TIMED_OUT, NO_CONNECT = 3, 1
ABORTED_REGISTERS = bytes((0x09, 0x0C, 0, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x51))

Fault = Literal[
    "fail", "killed before", "killed after", "cut before", "cut during", "cut after", "timeout"
]


class Killed(BaseException):
    """The program was ended here, as by kill -9: nothing may be cleaned up after it."""


@dataclass(kw_only=True)
class Front:
    """Answers the SG_IO of its descriptors; `faults` are by the number of the command, from 1.

    `every`: this fault at each so many-th command. After a fault of power every command is ENODEV
    until the drive is started again.
    """

    target: Target
    fds: set[int]
    faults: dict[int, Fault] = field(default_factory=dict)
    every: tuple[int, Fault] | None = None
    count: int = 0
    before: Callable[[bytes], None] | None = None
    """Called with each command before the drive has it: what another program does meanwhile."""

    def ioctl(self, fd: int, request: int, argument: bytearray | int = 0) -> int:
        """Take the place of `seam.ioctl`."""
        if fd not in self.fds:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if request != SG_IO or not isinstance(argument, bytearray):
            raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
        self.count += 1
        fields = list(HEADER.unpack(argument))
        if fields[0] != ord("S"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        way, length = fields[1], fields[5]
        cdb = ctypes.string_at(fields[7], fields[2])
        out = ctypes.string_at(fields[6], length) if way == TO_DRIVE else b""
        host, reply = self._pass(cdb, out, fields[9] / 1000)
        data = reply.data[:length] if way == FROM_DRIVE else b""
        if data:
            ctypes.memmove(fields[6], data, len(data))
        sense = reply.sense[: fields[3]]
        if sense:
            ctypes.memmove(fields[8], sense, len(sense))
        fields[13], fields[16], fields[17] = reply.status, len(sense), host
        fields[18] = 0x08 if sense else 0  # DRIVER_SENSE
        fields[19] = length - len(data) if way == FROM_DRIVE else 0
        fields[21] = int(bool(reply.status or host))
        argument[:] = HEADER.pack(*fields)
        return 0

    def _pass(self, cdb: bytes, out: bytes, timeout: float) -> tuple[int, Reply]:
        fault = self.faults.get(self.count)
        if fault is None and self.every and self.count % self.every[0] == 0:
            fault = self.every[1]
        disk = self.target.disk
        if self.before is not None:
            self.before(cdb)
        if fault == "killed before":
            raise Killed
        if fault == "fail":
            disk.arrive(self.target.seen(cdb))
            registers = by_descriptors(0xB, 0, 0, ABORTED_REGISTERS)
            ata = cdb[0] in (0x85, 0xA1) and disk.knobs.task_file
            return 0, Reply(status=CHECK, sense=registers if ata else fixed(0xB, 0, 0))
        if fault == "cut before":
            disk.power_off()
        if fault == "timeout":
            disk.arrive(self.target.seen(cdb))
            disk.link_reset()
            return TIMED_OUT, Reply()
        disk.cut_when_busy = fault == "cut during"
        # A kernel waits for ever where it was told 0.
        disk.deadline = disk.clock.now() + timeout if timeout else None
        try:
            reply = self.target.execute(cdb, out)
        except TimedOut:
            self.target.attention = True
            return TIMED_OUT, Reply()
        except PowerLost:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV)) from None
        finally:
            disk.cut_when_busy, disk.deadline = False, None
        if fault == "killed after":
            raise Killed
        if fault in ("cut after", "cut during"):
            disk.power_off()
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        return 0, reply


class Bench:
    """A drive, the seam it answers at, and the device as Teijo sees it.

    The state and the image are files in `folder`: `power_cycle` keeps them.
    """

    interface = "SATA"

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        knobs: Knobs | None = None,
        *,
        clock: Clock | None = None,
        size: int = 1 << 20,
        **more: object,
    ) -> None:
        self.knobs = knobs or Knobs(**more)  # type: ignore[arg-type]
        self.folder, self.clock = folder, clock or StepClock()
        self.image = folder / "drive.img"
        self.target = self._target(size)
        self.target.attention = False  # the kernel's own probe has heard it
        self.disk = self.target.disk
        self.fd = os.open(self.image, os.O_RDWR)
        self.front = Front(target=self.target, fds={self.fd})
        self.tree = Tree(folder / "tree")
        self._patch(monkeypatch)
        LEFT.append(self.close)

    def _target(self, size: int) -> Target:
        disk = SataDisk(self.image, self.folder / "drive.json", self.knobs, self.clock, size=size)
        return SatTarget(disk)

    @property
    def serial(self) -> str:
        """The serial number as the drive tells it."""
        return self.target.pages()[0x80].decode().strip()

    @property
    def capacity_bytes(self) -> int:
        """What the host can address."""
        return self.target.blocks * BLOCK

    def subject(self, target: str = "/dev/sda") -> Subject:
        """Return the drive as `preflight` would hand it on."""
        folder = self.tree.roots.sys / "devices" / "pci0" / "sda"
        if not folder.exists():
            vendor, model, revision = self.target.names()
            name = int.from_bytes(self.target.pages()[0x83][4:12], "big")
            self.tree.disk(
                "sda", "8:0", device__vendor=vendor, device__model=model, device__rev=revision,
                device__wwid=f"naa.{name:016x}", size=str(self.target.blocks),
                queue__write_cache="write back" if self.knobs.wce else "write through",
                queue__logical_block_size=str(BLOCK), queue__rotational="0",
            )  # fmt: skip
            (folder / "device" / "vpd_pg80").write_bytes(self._page(0x80))
            (folder / "device" / "vpd_pg83").write_bytes(self._page(0x83))
        node = self.tree.node(folder)
        model, serial, wwid = describe(node)
        return Subject(
            fd=self.fd,
            target=target,
            found=Identification(
                identity=Identity(
                    kind="block", target=target, model=model, serial=serial, wwid=wwid,
                    interface=self.interface,
                ),
                geometry=Geometry(
                    capacity_bytes=self.capacity_bytes, nominal_capacity_bytes=self.capacity_bytes
                ),
                number=node.number,
                node=node,
                disk_sequence=1,
                own_serial=serial,
            ),
            roots=self.tree.roots,
        )  # fmt: skip

    def claimed(self) -> Subject:
        """Return the drive with a descriptor of its own, which whoever has it closes."""
        copy = os.dup(self.fd)
        self.front.fds.add(copy)
        return replace(self.subject(), fd=copy)

    def close(self) -> None:
        """Let go of the image, and of the copies whose owners were killed."""
        for fd in self.front.fds:
            # A copy that its owner closed may be another file's number by now.
            with suppress(OSError):
                if os.path.samestat(os.fstat(fd), self.image.stat()):
                    os.close(fd)

    def _page(self, page: int) -> bytes:
        body = self.target.pages()[page]
        return bytes((0, page)) + struct.pack(">H", len(body)) + body

    def power_cycle(self) -> None:
        """Take the power and give it back; the kernel probes the drive anew."""
        self.disk.power_off()
        self.target.power_on()
        self.target.attention = False
        self.front.faults.clear()
        self.front.every = None

    def write(self, offset: int, data: bytes) -> None:
        """Put data on the medium without a command."""
        os.pwrite(self.fd, data, offset)

    def names(self) -> list[str]:
        """Return the names of the commands that came, without reads and writes of blocks."""
        return self.disk.names()

    def _patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(seam, "ioctl", self.front.ioctl)
        read = kernel.read_blocks
        discard = kernel.discard

        def read_blocks(fd: int, start_bytes: int, length_bytes: int) -> bytes:
            if fd not in self.front.fds:
                return read(fd, start_bytes, length_bytes)
            block, count = start_bytes // BLOCK, -(-length_bytes // BLOCK)
            return self._ask(struct.pack(">BBQIBB", 0x88, 0, block, count, 0, 0))[:length_bytes]

        def unmap(fd: int, start: int, length: int, *, secure: bool = False) -> None:
            if fd not in self.front.fds:
                discard(fd, start, length, secure=secure)
                return
            if secure or self.knobs.trim == "none":
                raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
            ranges = struct.pack(">HHxxxxQIxxxx", 22, 16, start // BLOCK, length // BLOCK)
            self._ask(b"\x42" + bytes(6) + struct.pack(">HB", len(ranges), 0), ranges)

        monkeypatch.setattr(kernel, "read_blocks", read_blocks)
        monkeypatch.setattr(kernel, "discard", unmap)
        monkeypatch.setattr(kernel, "capacity_bytes", self._mine(kernel.capacity_bytes))
        sequence = kernel.disk_sequence
        monkeypatch.setattr(
            kernel, "disk_sequence", lambda fd: 1 if fd in self.front.fds else sequence(fd)
        )

    def _mine(self, real: Callable[[int], int]) -> Callable[[int], int]:
        return lambda fd: self.capacity_bytes if fd in self.front.fds else real(fd)

    def _ask(self, cdb: bytes, out: bytes = b"") -> bytes:
        """Do block I/O as the kernel's own: what the drive refuses is EIO."""
        try:
            reply = self.target.execute(cdb, out)
        except PowerLost:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV)) from None
        if reply.status:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return reply.data


class SataBench(Bench):
    """A SATA drive behind a translation layer."""


class SasBench(Bench):
    """A SAS drive."""

    interface = "SAS"

    def _target(self, size: int) -> Target:
        return SasTarget(
            SasDisk(self.image, self.folder / "drive.json", self.knobs, self.clock, size=size)
        )
