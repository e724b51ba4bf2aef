"""An emulated SATA or SAS drive as /dev/sdX: TCMU hands the commands over, tcm_loop attaches it.

`python3 -m tests.drives.tcmu --kind sata --folder F --ready FILE`, as root and in a guest. FILE
(a FIFO makes it an event) is told the device. SIGTERM unplugs the drive; kill -9 cuts its power,
and the same words start it again with the memory in its folder. SIGHUP turns the knobs that the
folder's `turned.json` names. Standard library only.
"""

import argparse
import json
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.drives.ata import SataDisk
from tests.drives.disk import Knobs, PowerLost
from tests.drives.sat import PASS_THROUGH, SatTarget
from tests.drives.scsi import SasDisk, SasTarget
from tests.drives.sense import Reply
from tests.drives.target import Target

# linux/target_core_user.h
VERSION = 2
CAN_READ_LENGTH, READ_LENGTH, UNKNOWN = 1 << 1, 0x2, 0x1
PAD, COMMAND = 0, 1
HEAD_AT, TAIL_AT = 12, 64
AREAS_AT, SENSE_SIZE = 48, 96

LENGTHS = {0: 6, 1: 10, 2: 10, 4: 16, 5: 12}
"""The bytes of a command by its group; of another group all 16 are taken."""
TO_DRIVE = {0x04, 0x0A, 0x15, 0x1D, 0x2A, 0x41, 0x42, 0x48, 0x55, 0x8A, 0x93, 0xAA}
TARGETS = Path("/sys/kernel/config/target")
MODULES = ("target_core_user", "tcm_loop", "sd_mod", "sg")
ATTACH_SECONDS = 60
SIZE_MIB = 64
TURNED = "turned.json"


class HostClock:
    """The seconds of this machine."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def tick(self) -> None:
        """Let the host's time pass by itself."""


class Unusable(Exception):
    """The kernel does not offer what this needs."""


def has_data(cdb: bytes) -> bool:
    """Tell whether the data of a command goes to the drive."""
    if cdb[0] in PASS_THROUGH:
        return not cdb[2] & 0x08
    return cdb[0] in TO_DRIVE


class Ring:
    """The memory that the kernel and this process share: commands in a ring, beside their data."""

    def __init__(self, memory: mmap.mmap, target: Target) -> None:
        self.memory, self.target = memory, target
        version, self.flags, self.start, self.size = struct.unpack_from("<HHII", memory)
        if version != VERSION:
            raise Unusable(f"the ring is of version {version}, not {VERSION}")

    def serve(self) -> bool:
        """Answer the next command; return False if none waits. Raises PowerLost.

        Where the power is lost the command stays in the ring, without an answer.
        """
        # In native order these are one load and one store, never half of a new value.
        (head,) = struct.unpack_from("@I", self.memory, HEAD_AT)
        (tail,) = struct.unpack_from("@I", self.memory, TAIL_AT)
        if head == tail:
            return False
        entry = self.start + tail
        (length,) = struct.unpack_from("<I", self.memory, entry)
        if length & 7 == COMMAND:
            self._answer(entry)
        elif length & 7 != PAD:
            self.memory[entry + 7] |= UNKNOWN
        struct.pack_into("@I", self.memory, TAIL_AT, (tail + (length & ~7)) % self.size)
        return True

    def _answer(self, entry: int) -> None:
        memory = self.memory
        (count,) = struct.unpack_from("<I", memory, entry + 8)
        (at,) = struct.unpack_from("<Q", memory, entry + 24)
        areas = [
            struct.unpack_from("<QQ", memory, entry + AREAS_AT + 16 * each)
            for each in range(count)
        ]  # fmt: skip
        cdb = bytes(memory[at : at + LENGTHS.get(memory[at] >> 5, 16)])
        given = has_data(cdb)
        out = b"".join(bytes(memory[start : start + size]) for start, size in areas)
        reply = self.target.execute(cdb, out if given else b"")
        if not given:
            self._hand_back(reply, areas)
            # Else data beside sense would be dropped, and a short answer would count as whole.
            if reply.data and self.flags & CAN_READ_LENGTH:
                memory[entry + 7] |= READ_LENGTH
        struct.pack_into("<BBHI", memory, entry + 8, reply.status, 0, 0, len(reply.data))
        memory[entry + 16 : entry + 16 + SENSE_SIZE] = reply.sense.ljust(SENSE_SIZE, b"\0")

    def _hand_back(self, reply: Reply, areas: list[tuple[int, ...]]) -> None:
        done = 0
        for start, size in areas:
            piece = reply.data[done : done + size]
            self.memory[start : start + size] = piece.ljust(size, b"\0")
            done += size


@dataclass(frozen=True)
class Slot:
    """Where configfs has the drive of a name: as a store, and as a unit of an adapter."""

    name: str

    @property
    def store(self) -> Path:
        return TARGETS / "core/user_0" / self.name

    @property
    def adapter(self) -> Path:
        return TARGETS / "loopback" / f"naa.6001405{zlib.crc32(self.name.encode()):09x}"

    @property
    def group(self) -> Path:
        return self.adapter / "tpgt_1"

    @property
    def unit(self) -> Path:
        return self.group / "lun/lun_0"

    def make(self, size: int) -> None:
        """Have the kernel make the ring, unless it is there from before a power cut."""
        for module in MODULES:
            subprocess.run(["modprobe", module], check=True)
        if self.store.exists():
            return
        self.store.mkdir(parents=True)
        words = f"dev_config=teijo/{self.name},dev_size={size},hw_block_size=512"
        (self.store / "control").write_text(words + ",hw_max_sectors=128")
        # A drive that is busy, or without power, is waited for as long as its host likes.
        (self.store / "attrib/cmd_time_out").write_text("0")
        (self.store / "enable").write_text("1")

    def memory(self) -> tuple[int, mmap.mmap]:
        """Open the ring: the descriptor that tells of new commands, and the memory."""
        for found in Path("/sys/class/uio").iterdir():
            if (found / "name").read_text().strip().endswith(f"/{self.name}/teijo/{self.name}"):
                fd = os.open(Path("/dev") / found.name, os.O_RDWR | os.O_CLOEXEC)
                return fd, mmap.mmap(fd, int((found / "maps/map0/size").read_text(), 16))
        raise Unusable(f"the kernel has made no ring for {self.name}")

    def attach(self) -> None:
        """Plug it in; the kernel asks who it is, which must be answered meanwhile."""
        if (self.unit / "port").exists():
            return
        self.group.mkdir(parents=True)
        other = self.adapter.name[:-1] + ("0" if self.adapter.name[-1] == "f" else "f")
        (self.group / "nexus").write_text(other)
        self.unit.mkdir(parents=True)
        (self.unit / "port").symlink_to(self.store)

    def node(self) -> Path:
        """Return the block device, which the kernel makes after it was attached."""
        # Host, channel and target of the adapter; the unit is 0.
        address = (self.group / "address").read_text().strip()
        block = Path("/sys/bus/scsi/devices") / f"{address}:0" / "block"
        until = time.monotonic() + ATTACH_SECONDS
        while not (found := list(block.glob("*")) if block.exists() else []):
            if time.monotonic() > until:
                raise Unusable(f"no disk at {block}")
            time.sleep(0.05)
        return Path("/dev") / found[0].name

    def detach(self) -> None:
        """Pull it out; the kernel flushes first, which must be answered meanwhile."""
        (self.unit / "port").unlink(missing_ok=True)
        for folder in (self.unit, self.group, self.adapter):
            if folder.exists():
                folder.rmdir()


class Server:
    """Answers the kernel in this thread while another one plugs the drive in or out."""

    def __init__(self, slot: Slot, target: Target) -> None:
        self.fd, self.memory = slot.memory()
        self.slot, self.ring = slot, Ring(self.memory, target)
        self.woken, self.wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.events: list[str] = []
        self.failure: Exception | None = None
        signal.signal(signal.SIGTERM, lambda *_: self.tell("unplug"))
        signal.signal(signal.SIGHUP, lambda *_: self.tell("turn"))
        signal.set_wakeup_fd(self.wake)

    def tell(self, event: str) -> None:
        """Have the loop look at an event."""
        self.events.append(event)
        os.write(self.wake, b"\0")

    def aside(self, work: Callable[[], None], event: str) -> None:
        """Do what makes the kernel ask the drive, and tell of its end."""

        def do() -> None:
            try:
                work()
            except (OSError, Unusable) as error:
                self.failure = error
                self.tell("over")
            else:
                self.tell(event)

        threading.Thread(target=do, daemon=True).start()

    def run(self, ready: Path, turned: Path) -> None:
        """Plug the drive in, tell `ready` its device, and serve it until it is unplugged.

        `turned` names the knobs to turn, whenever a signal asks for it.
        """

        def plug() -> None:
            self.slot.attach()
            ready.write_text(f"{self.slot.node()}\n")

        self.aside(plug, "plugged")
        for event in self.heard():
            if event == "turn":
                self.ring.target.disk.turn(**knobs_in(turned.read_text()))
            if event == "unplug":
                self.aside(self.slot.detach, "over")
            if event == "over":
                break
        if self.failure:
            raise self.failure
        self.memory.close()
        os.close(self.fd)
        self.slot.store.rmdir()

    def heard(self) -> Iterator[str]:
        """Yield each event, answering the kernel in between."""
        while True:
            while self.ring.serve():
                os.write(self.fd, bytes(4))
            readable = select.select([self.fd, self.woken], [], [])[0]
            if self.fd in readable:
                os.read(self.fd, 4)
            if self.woken in readable:
                os.read(self.woken, 512)
            while self.events:
                yield self.events.pop(0)


def knobs_in(text: str) -> dict[str, Any]:
    """Return the knobs of a JSON object by their names, in the types that they have."""
    values: dict[str, Any] = json.loads(text)
    if "sanitize" in values:
        values["sanitize"] = tuple(values["sanitize"])
    if "attributes" in values:
        values["attributes"] = {
            int(number): tuple(row) for number, row in values["attributes"].items()
        }
    return values


def knobs_of(text: str) -> Knobs:
    """Return the knobs of a drive whose other knobs are as always."""
    return Knobs(**knobs_in(text))


def made(kind: str, folder: Path, knobs: Knobs, size: int) -> Target:
    """Return a drive whose medium, memory and log of commands are files of a folder."""
    files = folder / "drive.img", folder / "drive.json"
    log, clock = folder / "commands", HostClock()
    if kind == "sata":
        return SatTarget(SataDisk(*files, knobs, clock, size=size, log=log, durable=True))
    return SasTarget(SasDisk(*files, knobs, clock, size=size, log=log, durable=True))


def main() -> int:
    """Be a drive until SIGTERM (exit code 0), or until a knob cuts its power (3)."""
    parser = argparse.ArgumentParser(description="be a drive behind TCMU")
    parser.add_argument("--kind", choices=("sata", "sas"), required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--ready", type=Path, required=True)
    parser.add_argument("--name", default="drive")
    parser.add_argument("--size-mib", type=int, default=SIZE_MIB)
    parser.add_argument("--knobs", type=knobs_of, default=Knobs())
    given = parser.parse_args()
    size = given.size_mib << 20
    slot = Slot(given.name)
    slot.make(size)
    try:
        server = Server(slot, made(given.kind, given.folder, given.knobs, size))
        server.run(given.ready, given.folder / TURNED)
    except PowerLost:
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
