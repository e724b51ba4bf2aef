"""The ring of TCMU over plain memory: what goes in, what comes back, and where it lies."""

import json
import mmap
import struct
from pathlib import Path

import pytest

from tests.drives import tcmu
from tests.drives.disk import BLOCK, Knobs, PowerLost, StepClock
from tests.drives.scsi import SasDisk, SasTarget
from tests.drives.sg_calls import ata
from tests.drives.target import Target

START, RING, CDBS, DATA = 128, 512, 1024, 2048
NO_READ_LENGTH = 1


class Kernel:
    """The other side: lays commands in the ring as target_core_user does."""

    def __init__(self, target: Target, *, flags: int = 3, first: int = 0) -> None:
        self.memory = mmap.mmap(-1, 16384)
        struct.pack_into("<HHII", self.memory, 0, 2, flags, START, RING)
        self.head = first
        struct.pack_into("<I", self.memory, tcmu.TAIL_AT, first)
        self._tell()
        self.ring = tcmu.Ring(self.memory, target)

    def _tell(self) -> None:
        struct.pack_into("<I", self.memory, tcmu.HEAD_AT, self.head)

    def entry(self, code: int, length: int) -> int:
        at = START + self.head
        self.memory[at : at + length] = bytes(length)
        struct.pack_into("<I", self.memory, at, length | code)
        self.head = (self.head + length) % RING
        self._tell()
        return at

    def lay(self, cdb: bytes, *sizes: int, out: bytes = b"") -> int:
        """Lay a command whose data is in pieces that do not touch; return where it is."""
        at = self.entry(tcmu.COMMAND, 128)
        struct.pack_into("<I", self.memory, at + 8, len(sizes))
        struct.pack_into("<Q", self.memory, at + 24, CDBS)
        self.memory[CDBS : CDBS + 16] = cdb.ljust(16, b"\xee")
        place = DATA
        for number, size in enumerate(sizes):
            struct.pack_into("<QQ", self.memory, at + 48 + 16 * number, place, size)
            self.memory[place : place + size] = out[:size].ljust(size, b"\xdd")
            out, place = out[size:], place + size + 64
        return at

    def answer(self, at: int) -> tuple[int, int, int, bytes]:
        """Return flags, status, length of what was read, and sense."""
        status, length = self.memory[at + 8], struct.unpack_from("<I", self.memory, at + 12)[0]
        return self.memory[at + 7], status, length, bytes(self.memory[at + 16 : at + 112])

    def tail(self) -> int:
        return int(struct.unpack_from("<I", self.memory, tcmu.TAIL_AT)[0])


@pytest.fixture
def sata(tmp_path: Path) -> Target:
    target = tcmu.made("sata", tmp_path, Knobs(serial="RING"), 1 << 20)
    target.attention = False
    return target


def test_data_goes_out_and_comes_back_in_pieces(sata: Target) -> None:
    kernel = Kernel(sata)
    text = bytes(range(256)) * 4
    at = kernel.lay(struct.pack(">BBIBHB", 0x2A, 0, 8, 0, 2, 0), 300, 724, out=text)
    assert kernel.ring.serve()
    assert kernel.answer(at)[:2] == (0, 0)
    at = kernel.lay(struct.pack(">BBIBHB", 0x28, 0, 8, 0, 2, 0), 1000, 24)
    assert kernel.ring.serve()
    assert not kernel.ring.serve()
    assert kernel.answer(at)[:3] == (tcmu.READ_LENGTH, 0, 1024)
    back = kernel.memory[DATA : DATA + 1000] + kernel.memory[DATA + 1064 : DATA + 1088]
    assert bytes(back) == text


def test_registers_come_as_sense_beside_the_data(sata: Target) -> None:
    kernel = Kernel(sata)
    at = kernel.lay(ata(0xEC, expect=512).cdb, 512)
    kernel.ring.serve()
    flags, status, length, sense = kernel.answer(at)
    assert (flags, status, length) == (tcmu.READ_LENGTH, 2, BLOCK)
    assert (sense[0], sense[1], sense[3], sense[8], sense[21]) == (0x72, 1, 0x1D, 9, 0x50)
    assert kernel.memory[DATA + 20 : DATA + 24] == b"IRGN"


def test_a_short_answer_tells_its_length_and_leaves_no_stale_bytes(sata: Target) -> None:
    kernel = Kernel(sata)
    at = kernel.lay(b"\x12\1\x80\0\xff\0", 255)
    kernel.ring.serve()
    assert kernel.answer(at)[:3] == (tcmu.READ_LENGTH, 0, 24)
    assert bytes(kernel.memory[DATA + 4 : DATA + 255]) == b"RING".ljust(20).ljust(251, b"\0")
    older = Kernel(sata, flags=NO_READ_LENGTH)
    at = older.lay(b"\x12\1\x80\0\xff\0", 255)
    older.ring.serve()
    assert older.answer(at)[:2] == (0, 0)


def test_the_ring_is_walked_around_its_end_past_what_is_no_command(sata: Target) -> None:
    kernel = Kernel(sata, first=RING - 64)
    kernel.entry(tcmu.PAD, 64)
    at = kernel.lay(bytes(6))
    strange = kernel.entry(5, 16)
    assert [kernel.ring.serve() for _ in range(4)] == [True, True, True, False]
    assert (at, kernel.tail()) == (START, 144)
    assert kernel.answer(at)[:2] == (0, 0)
    assert kernel.memory[strange + 7] == tcmu.UNKNOWN


def test_a_command_that_found_no_power_is_not_answered(sata: Target) -> None:
    kernel = Kernel(sata)
    kernel.lay(bytes(6))
    sata.disk.power_off()
    with pytest.raises(PowerLost):
        kernel.ring.serve()
    assert kernel.tail() == 0


def test_a_ring_of_another_version_is_refused(sata: Target) -> None:
    memory = mmap.mmap(-1, 4096)
    memory[0] = 3
    with pytest.raises(tcmu.Unusable, match="version 3"):
        tcmu.Ring(memory, sata)


def test_the_drive_keeps_its_memory_and_logs_its_commands_in_its_folder(tmp_path: Path) -> None:
    knobs = tcmu.knobs_of('{"sanitize": ["block"], "attributes": {"5": [1, 2, 3]}}')
    assert (knobs.sanitize, knobs.attributes) == (("block",), {5: (1, 2, 3)})
    for starts in (1, 2):
        target = tcmu.made("sas", tmp_path, knobs, 1 << 20)
        assert target.execute(bytes(6)).sense[12] == 0x29
        assert json.loads((tmp_path / "drive.json").read_text())["power_cycles"] == starts
    lines = (tmp_path / "commands").read_text().splitlines()
    assert [line.split(" ", 3)[3] for line in lines] == ["TEST UNIT READY 000000000000"] * 2


def test_memory_is_durable_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(fd: int) -> None:
        synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)

    monkeypatch.setattr("tests.drives.disk.os.fsync", fsync)
    files = tmp_path / "drive.img", tmp_path / "drive.json"
    SasTarget(SasDisk(*files, Knobs(), StepClock()))
    assert synced == []
    SasTarget(SasDisk(*files, Knobs(), StepClock(), durable=True))
    assert synced == ["drive.img", "drive.new", tmp_path.name]
