"""The emulated NVMe drive as an NVMe/TCP controller, for the kernel of a guest.

`python -m tests.drives.nvme_tcp --port 4420 --folder DIR --log FILE [--knobs JSON]`

The folder keeps the drive (`drive.json`) and its namespaces (`1.img`, …). SIGKILL is a power cut,
SIGTERM a goodbye; the next start on the folder is the next power-on. SIGHUP turns the knobs that
the folder's `turned.json` names. Each line of the log is an admin command that the drive answered,
turned knobs, or a silence: a time without a command for its blocks. Standard library only.

Source: NVMe/TCP transport specification 1.0, NVMe over fabrics 1.1.
"""

import argparse
import itertools
import json
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from tests.drives.nvme import FORMAT, Answer, NvmeDrive
from tests.drives.nvme_features import QUEUE_PAIRS, Features
from tests.drives.nvme_identify import (
    INVALID_FIELD,
    MAXIMUM_TRANSFER,
    QUEUE_ENTRIES,
    SUBSYSTEM,
    VERSION,
)
from tests.drives.nvme_media import PIECE
from tests.drives.nvme_state import DNR, Knobs, PowerCut, RealClock, Refusal

OPEN, OPENED, HOST_GIVES_UP, DRIVE_GIVES_UP = 0, 1, 2, 3
COMMAND, ANSWER, DATA_IN, DATA_OUT, READY = 4, 5, 6, 7, 9
"""Kinds of PDU; data goes in to the drive and out to the host."""
HEAD = struct.Struct("<BBBBI")
"""Kind, flags, bytes of the header, where the data is, bytes of all."""
TRANSFER = struct.Struct("<HHII4x")
"""Command, tag, offset, bytes: the rest of a header of DATA_IN, DATA_OUT and READY."""
HEADER_BYTES = {COMMAND: 72, DATA_IN: 24}
OPEN_BYTES = 128
LAST = 1 << 2
BAD_HEADER_FIELD, OUT_OF_RANGE, SEQUENCE = 1, 3, 2
"""Why a connection is given up (fatal error status)."""
MOST_BYTES = 4096 << MAXIMUM_TRANSFER

FABRICS, EVENT_REQUEST = 0x7F, 0x0C
PROPERTY_SET, CONNECT, PROPERTY_GET = 0, 1, 4
FLUSH, WRITE, READ, WRITE_ZEROES, DATASET = 0x00, 0x01, 0x02, 0x08, 0x09
CAP, VS, CC, CSTS = 0x00, 0x08, 0x14, 0x1C
ENABLED, SHUT_DOWN, READY_BIT, SHUT_DOWN_DONE = 1, 3 << 14, 1, 2 << 2
CAPABILITIES = (QUEUE_ENTRIES - 1) | 1 << 16 | 20 << 24 | 1 << 37
"""Queue entries from 0, contiguous queues, time to be ready in 500 ms, NVM command set."""
IN_CAPSULE, IN_PDU = 0x01, 0x5A
"""SGL descriptors: an offset in the capsule; the transport's own data."""
WRONG_ORDER, WRONG_LENGTH, TOO_MANY_EVENTS = 0x0C | DNR, 0x0F | DNR, 0x105 | DNR
OTHER_CONNECT, WRONG_CONNECT = 0x180 | DNR, 0x182 | DNR
EVENTS_MOST = 4
TURNED = "turned.json"
POWER_LOST = 3
"""The program's exit code when the drive lost its power."""


class Unreadable(Exception):
    """What the host sent breaks the transport's rules; the connection ends."""

    def __init__(self, why: int) -> None:
        super().__init__(f"fatal error {why}")
        self.why = why


class Pulled:
    """A command that waits for its data, which was asked for by a tag."""

    def __init__(self, command: bytes, size: int) -> None:
        self.command, self.data, self.came = command, bytearray(size), 0


class Queue:
    """One connection: a queue of the drive, number 0 for admin commands.

    `lost` is called when the drive loses its power; it is to end all connections at once.
    """

    def __init__(
        self, drive: NvmeDrive, host: BinaryIO, to_host: BinaryIO, *, lost: Callable[[], None]
    ) -> None:
        """Speak on two streams of bytes."""
        self.drive = drive
        self._host, self._to_host, self._lost = host, to_host, lost
        self._writing = threading.Lock()
        self._number: int | None = None
        self._entries, self._head = QUEUE_ENTRIES, 0
        self._configuration = 0
        self._events = 0
        self._tags = itertools.count(1)
        self._pulled: dict[int, Pulled] = {}
        self._working: list[threading.Thread] = []

    def serve(self) -> None:
        """Answer until the host ends the connection, or breaks the rules."""
        try:
            self._open()
            while True:
                self._next()
        except Unreadable as broken:
            with suppress(OSError):
                self._send(DRIVE_GIVES_UP, struct.pack("<HI10x", broken.why, 0))
        except (EOFError, OSError):
            pass
        except PowerCut:
            self.drive.cut()
            self._lost()
        for one in self._working:
            one.join()

    def _read(self, count: int) -> bytes:
        found = self._host.read(count)
        if len(found) < count:
            raise EOFError
        return found

    def _send(self, kind: int, header: bytes, data: bytes = b"", *, flags: int = 0) -> None:
        size = HEAD.size + len(header)
        with self._writing:
            place = size if data else 0
            head = HEAD.pack(kind, flags, size, place, size + len(data))
            self._to_host.write(head + header + data)
            self._to_host.flush()

    def _open(self) -> None:
        """Agree on version 0, no digests, no padding."""
        kind, _, size, _, whole = HEAD.unpack(self._read(HEAD.size))
        if (kind, size, whole) != (OPEN, OPEN_BYTES, OPEN_BYTES):
            raise Unreadable(BAD_HEADER_FIELD)
        self._read(OPEN_BYTES - HEAD.size)
        self._send(OPENED, struct.pack("<HBBI112x", 0, 0, 0, MOST_BYTES))

    def _next(self) -> None:
        kind, _, size, place, whole = HEAD.unpack(self._read(HEAD.size))
        if kind == HOST_GIVES_UP:
            raise EOFError
        if kind not in HEADER_BYTES or size != HEADER_BYTES[kind]:
            raise Unreadable(BAD_HEADER_FIELD)
        if not size <= whole <= size + MOST_BYTES or not (place == 0 or size <= place <= whole):
            raise Unreadable(BAD_HEADER_FIELD)
        header = self._read(size - HEAD.size)
        data = self._read(whole - size)[max(place - size, 0) :]
        if kind == COMMAND:
            self._take(header, data)
        else:
            self._take_data(header, data)

    def _take(self, command: bytes, data: bytes) -> None:
        """Do a command, or ask for its data first."""
        address, length, kind = struct.unpack_from("<QI3xB", command, 24)
        direction = command[4] if command[0] == FABRICS else command[0]
        if direction & 3 != 1 or not length:
            self._do(command, b"")
        elif kind == IN_CAPSULE and address + length <= len(data):
            self._do(command, data[address : address + length])
        elif kind == IN_PDU and length <= MOST_BYTES:
            tag = next(one for one in self._tags if one & 0xFFFF not in self._pulled) & 0xFFFF
            self._pulled[tag] = Pulled(command, length)
            (name,) = struct.unpack_from("<H", command, 2)
            self._send(READY, TRANSFER.pack(name, tag, 0, length))
        else:
            self._reply(command, (WRONG_LENGTH, 0, b""))

    def _take_data(self, header: bytes, data: bytes) -> None:
        name, tag, offset, length = TRANSFER.unpack(header)
        pulled = self._pulled.get(tag)
        if pulled is None or struct.unpack_from("<H", pulled.command, 2) != (name,):
            raise Unreadable(SEQUENCE)
        if length != len(data) or offset != pulled.came or offset + length > len(pulled.data):
            raise Unreadable(OUT_OF_RANGE)
        pulled.data[offset : offset + length] = data
        pulled.came += length
        if pulled.came == len(pulled.data):
            del self._pulled[tag]
            self._do(pulled.command, bytes(pulled.data))

    def _do(self, command: bytes, data: bytes) -> None:
        if self._number == 0 and command[0] == FORMAT:
            # It takes long, and the drive answers questions meanwhile.
            self._working.append(threading.Thread(target=self._format, args=(command,)))
            self._working[-1].start()
            return
        try:
            answer = self._answer(command, data)
        except Refusal as refusal:
            answer = (refusal.status, 0, b"")
        if answer is not None:
            self._reply(command, answer)

    def _format(self, command: bytes) -> None:
        try:
            answer = self.drive.admin(command)
        except PowerCut:
            self.drive.cut()
            self._lost()
            return
        with suppress(OSError, ValueError):
            self._reply(command, answer)

    def _reply(self, command: bytes, answer: Answer) -> None:
        status, result, data = answer
        name, length = *struct.unpack_from("<H", command, 2), *struct.unpack_from("<I", command, 32)
        if data := data[:length]:
            self._send(DATA_OUT, TRANSFER.pack(name, 0, 0, len(data)), data, flags=LAST)
        self._head = (self._head + 1) % self._entries
        words = (result, self._head, self._number or 0, name, status << 1)
        self._send(ANSWER, struct.pack("<QHHHH", *words))

    def _answer(self, command: bytes, data: bytes) -> Answer | None:
        """Return what comes of a command; None for one that stays open.

        Raises:
            Refusal: the queue does not take it.
            PowerCut: as the drive.
        """
        if command[0] == FABRICS:
            return 0, self._fabrics(command, data), b""
        if self._number is None:
            raise Refusal(WRONG_ORDER)
        if self._number:
            return 0, 0, self._media(command, data)
        if command[0] == EVENT_REQUEST:
            if self._events == EVENTS_MOST:
                raise Refusal(TOO_MANY_EVENTS)
            self._events += 1
            return None  # no event ever comes
        return self.drive.admin(command, data)

    def _fabrics(self, command: bytes, data: bytes) -> int:
        kind = command[4]
        if kind == CONNECT:
            return self._connect(command, data)
        if self._number != 0:
            raise Refusal(WRONG_ORDER)
        size, place, value = struct.unpack_from("<B3xIQ", command, 40)
        if kind == PROPERTY_SET and (size & 7, place) == (0, CC):
            self._configure(value & 0xFFFFFFFF)
            return 0
        if kind != PROPERTY_GET:
            raise Refusal(INVALID_FIELD)
        state = READY_BIT * (self._configuration & ENABLED)
        state |= SHUT_DOWN_DONE * bool(self._configuration & SHUT_DOWN)
        values = {CAP: CAPABILITIES, VS: VERSION, CC: self._configuration, CSTS: state}
        if place not in values or (size & 7) != (place == CAP):
            raise Refusal(INVALID_FIELD)
        return values[place]

    def _connect(self, command: bytes, data: bytes) -> int:
        """Become the queue that the host asks for; return the controller's number."""
        form, number, entries = struct.unpack_from("<HHH", command, 40)
        if self._number is not None:
            raise Refusal(WRONG_ORDER)
        if form or len(data) != 1024:
            raise Refusal(OTHER_CONNECT)
        own = self.drive.knobs.controllers[0]
        (controller,) = struct.unpack_from("<H", data, 16)
        subsystem = SUBSYSTEM.format(serial=self.drive.knobs.serial).encode()
        if data[256:512].split(b"\0")[0] != subsystem:
            raise Refusal(WRONG_CONNECT)
        if number > QUEUE_PAIRS or not 0 < entries < QUEUE_ENTRIES:
            raise Refusal(WRONG_CONNECT)
        if controller != own and (number or controller != 0xFFFF):
            raise Refusal(WRONG_CONNECT)
        self._number, self._entries = number, entries + 1
        return own

    def _configure(self, value: int) -> None:
        """Set the controller's configuration: enabling it begins anew with the saved features."""
        before, self._configuration = self._configuration, value
        drive = self.drive
        with drive.lock:
            if value & ENABLED and not before & ENABLED:
                drive.features = Features(drive)
                drive.state["clean"] = False
                drive.save()
            elif value & SHUT_DOWN and not before & SHUT_DOWN:
                drive.purging.advance()
                drive.state["clean"] = True
                drive.save()

    def _media(self, command: bytes, data: bytes) -> bytes:
        """Do a command of a namespace's blocks."""
        opcode, number = command[0], *struct.unpack_from("<I", command, 4)
        first, word = struct.unpack_from("<QH", command, 40)
        known = {FLUSH, WRITE, READ}
        known |= {WRITE_ZEROES} if self.drive.knobs.oncs & 0b1000 else set()
        known |= {DATASET} if self.drive.knobs.oncs & 0b100 else set()
        if opcode not in known:
            raise Refusal(0x01 | DNR)
        blocks = (first, word + 1)
        with self.drive.lock:
            self.drive.note_media()
            if opcode == DATASET:
                return self._dataset(number, data, first & 0xFF, int(first >> 32))
            self._need_media(number, None if opcode == FLUSH else blocks)
            if opcode == FLUSH:
                return b""
            return self._transfer(opcode, number, blocks, command, data)

    def _need_media(self, number: int, blocks: tuple[int, int] | None) -> None:
        if status := self.drive.media_refusal(number, blocks):
            raise Refusal(status)

    def _transfer(
        self, opcode: int, number: int, blocks: tuple[int, int], command: bytes, data: bytes
    ) -> bytes:
        shift, file = self.drive.block_shift(number), self._file(number)
        start, size = blocks[0] << shift, blocks[1] << shift
        if opcode == WRITE_ZEROES:
            self._zero(number, start, size)
            return b""
        if struct.unpack_from("<I", command, 32) != (size,) or size > MOST_BYTES:
            raise Refusal(WRONG_LENGTH if size <= MOST_BYTES else INVALID_FIELD)
        if opcode == READ:
            found = os.pread(file, size, start)
            self.drive.count_media(read=size)
            return found
        os.pwrite(file, data, start)
        self.drive.count_media(written=size)
        return b""

    def _dataset(self, number: int, data: bytes, ranges: int, attributes: int) -> bytes:
        """Deallocate ranges; the other hints are taken and change nothing."""
        if len(data) < 16 * (ranges + 1):
            raise Refusal(WRONG_LENGTH)
        wanted = [(one[2], one[1]) for one in struct.iter_unpack("<IIQ", data)][: ranges + 1]
        self._need_media(number, None)
        for blocks in wanted:
            self._need_media(number, blocks)
        shift = self.drive.block_shift(number)
        for first, count in wanted if attributes & 0b100 else ():
            self._zero(number, first << shift, count << shift, certificate_stays=True)
        return b""

    def _zero(self, number: int, start: int, size: int, *, certificate_stays: bool = False) -> None:
        """Make blocks read as zeros; the drive's counters of bytes know nothing of it."""
        file, drive = self._file(number), self.drive
        for at in range(start, start + size, PIECE):
            os.pwrite(file, bytes(min(PIECE, start + size - at)), at)
        if drive.state["data_erased"] and not certificate_stays:
            drive.state["data_erased"] = False
            drive.save()

    def _file(self, number: int) -> int:
        return self.drive.media.open(number, self.drive.namespaces[str(number)]["bytes"])


def power_on(folder: Path, knobs: Knobs, log: TextIO | None = None) -> NvmeDrive:
    """Return the drive that a folder keeps; `log` gets a line for each admin command."""
    images = [folder / f"{number}.img" for number in range(1, len(knobs.namespaces) + 1)]

    def told(entry: dict[str, Any]) -> None:
        if log is not None:
            print(json.dumps(entry), file=log, flush=True)

    return NvmeDrive(knobs, folder / "drive.json", images, clock=RealClock(), told=told)


def listen(drive: NvmeDrive, port: int) -> None:
    """Take connections for ever, on this machine's own address only."""
    with socket.create_server(("127.0.0.1", port)) as door:
        print("listening on", door.getsockname()[1], flush=True)
        while True:
            way, _ = door.accept()
            way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=converse, args=(drive, way), daemon=True).start()


def converse(drive: NvmeDrive, way: socket.socket) -> None:
    """Serve one connection to its end."""
    with way, way.makefile("rb") as host, way.makefile("wb") as to_host, suppress(OSError):
        Queue(drive, host, to_host, lost=lambda: os._exit(POWER_LOST)).serve()


def main() -> None:
    """Run the drive until a signal ends it."""
    words = argparse.ArgumentParser(prog="python -m tests.drives.nvme_tcp")
    words.add_argument("--port", type=int, required=True, help="0 for any that is free")
    words.add_argument("--folder", type=Path, required=True, help="what keeps the drive")
    words.add_argument("--knobs", type=Knobs.from_json, default=Knobs(), help="as JSON")
    words.add_argument("--log", type=Path, required=True, help="a line for each admin command")
    told = words.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with told.log.open("a") as log:
        drive = power_on(told.folder, told.knobs, log)
        turned = told.folder / TURNED
        signal.signal(
            signal.SIGHUP, lambda number, frame: drive.control(**json.loads(turned.read_text()))
        )
        try:
            listen(drive, told.port)
        finally:
            drive.shut_down()


if __name__ == "__main__":
    main()
