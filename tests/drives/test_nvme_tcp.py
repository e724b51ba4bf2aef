"""The NVMe/TCP front, spoken to in the transport's own bytes; no socket and no kernel."""

import io
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.drives.nvme import NvmeDrive
from tests.drives.nvme_state import Knobs, PowerCut, VirtualClock
from tests.drives.nvme_tcp import (
    ANSWER,
    COMMAND,
    DATA_IN,
    DATA_OUT,
    DRIVE_GIVES_UP,
    HEAD,
    OPENED,
    READY,
    TRANSFER,
    Queue,
    power_on,
)

OPEN_PDU = HEAD.pack(0, 0, 128, 0, 128) + bytes(120)
FRESH = {"serial": "EMU0001", "namespaces": [{"size_bytes": 1 << 20}, {"size_bytes": 1 << 20}]}
ANY_CONTROLLER = 0xFFFF
Pdu = tuple[int, bytes, bytes]
"""Kind, the header behind its first 8 bytes, data."""


class Told:
    """What the drive said on one connection."""

    def __init__(self, said: bytes) -> None:
        self.pdus: list[Pdu] = []
        self.flags: list[int] = []
        while said:
            kind, flags, size, place, whole = HEAD.unpack_from(said)
            data = said[place:whole] if place else b""
            self.flags.append(flags)
            self.pdus.append((kind, said[HEAD.size : size], data))
            said = said[whole:]

    @property
    def kinds(self) -> list[int]:
        return [one[0] for one in self.pdus]

    @property
    def answers(self) -> list[tuple[int, int]]:
        """Return (status, result) of each command that ended, in order."""
        found = [struct.unpack("<QHHHH", header) for kind, header, _ in self.pdus if kind == ANSWER]
        return [(words[4] >> 1, words[0]) for words in found]

    @property
    def heads(self) -> list[int]:
        """Return how far the drive says it has come in the queue, with each answer."""
        return [struct.unpack_from("<H", one[1], 8)[0] for one in self.pdus if one[0] == ANSWER]

    @property
    def data(self) -> bytes:
        return b"".join(data for kind, _, data in self.pdus if kind == DATA_OUT)


@pytest.fixture
def drive(tmp_path: Path) -> NvmeDrive:
    return switched_on(tmp_path)


def switched_on(folder: Path, **knobs: Any) -> NvmeDrive:
    images = [folder / "1.img", folder / "2.img"]
    made = Knobs().changed(FRESH | knobs)
    return NvmeDrive(made, folder / "drive.json", images, clock=VirtualClock())


def command(
    opcode: int, *, number: int = 0, words: tuple[int, ...] = (), name: int = 7,
    length: int = 0, capsule: bytes = b"",
) -> bytes:  # fmt: skip
    """Return a command's PDU; with `capsule` its data is in it, else `length` is to be moved."""
    kind, size = (0x01, len(capsule)) if capsule else (0x5A, length)
    made = struct.pack("<BBHI16xQI3xB", opcode, 0x40, name, number, 0, size, kind)
    made += struct.pack("<6I", *words, *(0,) * (6 - len(words)))
    place = 72 if capsule else 0
    return HEAD.pack(COMMAND, 0, 72, place, 72 + len(capsule)) + made + capsule


def connect(queue: int, *, name: bytes = b"nqn.2026-01.test:EMU0001", controller: int = 1) -> bytes:
    told = struct.pack("<16sH238x256s256s256x", b"", controller, name, b"nqn.2026-01.test:host")
    return command(0x7F, number=1, words=(queue << 16, 31), capsule=told)


def configure(value: int) -> bytes:
    return command(0x7F, words=(0, 0x14, value))


def ask(place: int, size: int = 0) -> bytes:
    return command(0x7F, number=4, words=(size, place))


def data_in(data: bytes, *, tag: int = 1, offset: int = 0, name: int = 7) -> bytes:
    head = HEAD.pack(DATA_IN, 4, 24, 24, 24 + len(data))
    return head + TRANSFER.pack(name, tag, offset, len(data)) + data


def blocks(opcode: int, first: int, count: int, *, number: int = 1, shift: int = 9) -> bytes:
    words = (first & 0xFFFFFFFF, first >> 32, count - 1)
    return command(opcode, number=number, words=words, length=count << shift)


def talk(drive: NvmeDrive, *pdus: bytes) -> Told:
    """Return what the drive says to these on one connection."""
    said, lost = io.BytesIO(), []
    Queue(
        drive, io.BytesIO(OPEN_PDU + b"".join(pdus)), said, lost=lambda: lost.append(True)
    ).serve()
    assert bool(lost) is not drive.powered
    return Told(said.getvalue())


def test_a_host_connects_enables_and_shuts_down(drive: NvmeDrive) -> None:
    told = talk(
        drive, connect(0, controller=ANY_CONTROLLER), ask(0x00, 1), ask(0x08), ask(0x1C),
        configure(0x460001), ask(0x1C), configure(0x464001), ask(0x1C), ask(0x14),
    )  # fmt: skip
    assert told.kinds == [OPENED, *(ANSWER,) * 9]
    capabilities = told.answers[1][1]
    assert (capabilities & 0xFFFF, capabilities >> 37 & 1) == (127, 1)
    assert told.answers == [
        (0, 1), (0, capabilities), (0, 0x10400), (0, 0), (0, 0), (0, 1), (0, 0), (0, 9),
        (0, 0x464001),
    ]  # fmt: skip
    assert drive.state["clean"]


def test_what_the_model_answers_comes_as_data_and_never_more_than_was_asked(
    drive: NvmeDrive,
) -> None:
    raw = bytes.fromhex("06").ljust(40, b"\0") + (1).to_bytes(24, "little")
    whole = drive.admin(raw)[2]
    told = talk(drive, connect(0), command(6, words=(1,), length=4096))
    assert told.kinds == [OPENED, ANSWER, DATA_OUT, ANSWER]
    assert told.data == whole
    assert told.flags == [0, 0, 4, 0]
    assert talk(drive, connect(0), command(6, words=(1,), length=64)).data == whole[:64]
    refused = talk(drive, connect(0), command(6, words=(0x55,), length=4096))
    assert (refused.data, refused.answers[1]) == (b"", (0x4002, 0))


def test_data_of_a_write_is_asked_for_and_read_back(drive: NvmeDrive, tmp_path: Path) -> None:
    first, second = bytes(range(256)) * 8, b"\xa5" * 2048
    told = talk(
        drive, connect(1), blocks(1, 8, 8), data_in(first), data_in(second, offset=2048),
        blocks(2, 8, 8),
    )  # fmt: skip
    assert told.kinds == [OPENED, ANSWER, READY, ANSWER, DATA_OUT, ANSWER]
    assert TRANSFER.unpack(told.pdus[2][1]) == (7, 1, 0, 4096)
    assert told.data == first + second
    assert (tmp_path / "1.img").read_bytes()[4096:8192] == first + second
    assert not any((tmp_path / "2.img").read_bytes())
    counted = drive.counters
    assert (counted["bytes_written"], counted["bytes_read"]) == (4096, 4096)


def test_zeroes_and_deallocated_ranges_read_as_zeros_and_count_no_bytes(
    drive: NvmeDrive, tmp_path: Path
) -> None:
    (tmp_path / "1.img").write_bytes(b"\xff" * (1 << 20))
    drive.state["data_erased"] = True
    ranges = struct.pack("<IIQIIQ", 0, 2, 4, 0, 1, 100)
    deallocate = command(9, number=1, words=(1, 4), capsule=ranges)
    assert talk(drive, connect(1), deallocate).answers[1] == (0, 0)
    assert drive.state["data_erased"]
    assert talk(drive, connect(1), command(8, number=1, words=(16, 0, 7))).answers[1] == (0, 0)
    assert not drive.state["data_erased"]
    beyond = struct.pack("<IIQIIQ", 0, 1, 50, 0, 1, 2048)
    for words, told, status in (((1, 4), beyond, 0x4080), ((0, 3), beyond[:16], 0)):
        hint = command(9, number=1, words=words, capsule=told)
        assert talk(drive, connect(1), hint).answers[1] == (status, 0)
    content = (tmp_path / "1.img").read_bytes()
    zeroed = [at for at in range(0, 1 << 20, 512) if not any(content[at : at + 512])]
    assert zeroed == [512 * block for block in (4, 5, *range(16, 24), 100)]
    assert drive.counters["bytes_written"] == 0


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (blocks(2, 2047, 2), 0x4080),
        (blocks(2, 2**63, 1), 0x4080),
        (blocks(2, 0, 1, number=9), 0x400B),
        (blocks(2, 0, 1, number=0xFFFFFFFF), 0x400B),
        (blocks(2, 0, 1, shift=12), 0x400F),
        (command(1, number=1, words=(0, 0, 7), capsule=b"x" * 512), 0x400F),
        (command(9, number=1, words=(1, 4), capsule=bytes(16)), 0x400F),
        (command(5, number=1, capsule=bytes(512)), 0x4001),
        (command(1, number=1, length=1 << 30), 0x400F),
        (command(0, number=0xFFFFFFFF), 0x400B),
        (connect(1), 0x400C),
    ],
    ids=[
        "end",
        "far",
        "namespace",
        "every namespace",
        "length",
        "short write",
        "short ranges",
        "compare",
        "huge",
        "flush of all",
        "connect again",
    ],
)
def test_a_media_command_that_is_not_possible_is_refused_and_the_queue_goes_on(
    drive: NvmeDrive, sent: bytes, status: int
) -> None:
    told = talk(drive, connect(1), sent, command(0, number=1))
    assert [one[0] for one in told.answers] == [0, status, 0]
    assert told.data == b""


def test_while_a_sanitize_runs_media_commands_are_refused(drive: NvmeDrive) -> None:
    assert talk(drive, connect(0), command(0x84, words=(2,))).answers[1] == (0, 0)
    write = command(1, number=1, words=(0, 0, 0), capsule=b"x" * 512)
    told = talk(drive, connect(1), blocks(2, 0, 1, number=2), write)
    assert [one[0] for one in told.answers] == [0, 0x1D, 0x1D]
    drive.clock.sleep(5)
    assert not any(talk(drive, connect(1), blocks(2, 0, 1, number=2)).data)
    assert drive.state["data_erased"]
    talk(drive, connect(1), write)
    assert not drive.state["data_erased"]


def test_a_format_ends_with_its_answer_and_the_new_block_size_holds(drive: NvmeDrive) -> None:
    told = talk(drive, connect(0), command(0x80, number=1, words=(0x201,)))
    assert told.answers[1] == (0, 0)
    told = talk(drive, connect(1), blocks(2, 255, 1, shift=12), blocks(2, 256, 1, shift=12))
    assert [one[0] for one in told.answers] == [0, 0, 0x4080]
    assert len(told.data) == 4096


def test_the_head_of_the_queue_comes_round_after_its_entries(drive: NvmeDrive) -> None:
    told = talk(drive, connect(1), *(command(0, number=1),) * 33)
    assert told.heads == [*range(1, 32), 0, 1, 2]


def test_a_reset_of_the_controller_brings_the_saved_features_back(drive: NvmeDrive) -> None:
    enabled = (connect(0), configure(1))
    off, look = command(9, words=(6, 0)), command(0x0A, words=(6,))
    assert talk(drive, *enabled, off, look).answers[3] == (0, 0)
    assert talk(drive, *enabled, look).answers[2] == (0, 1)
    talk(drive, *enabled, command(9, words=(1 << 31 | 6, 0)))
    assert talk(drive, *enabled, look).answers[2] == (0, 0)


def test_an_event_request_stays_open_and_the_fifth_is_refused(drive: NvmeDrive) -> None:
    told = talk(drive, connect(0), *(command(0x0C),) * 5)
    assert [one[0] for one in told.answers] == [0, 0x4105]
    assert drive.commands == []


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (connect(0, name=b"nqn.2026-01.test:other"), 0x4182),
        (connect(1, controller=ANY_CONTROLLER), 0x4182),
        (connect(5), 0x4182),
        (command(0x7F, number=1, words=(0, 31), capsule=bytes(1000)), 0x4180),
        (command(0x7F, number=1, words=(0, 0), capsule=connect(0)[72:]), 0x4182),
        (ask(0x08), 0x400C),
        (command(6, words=(1,), length=4096), 0x400C),
        (blocks(2, 0, 1), 0x400C),
    ],
    ids=["name", "controller", "queue", "short", "no entries", "property", "admin", "read"],
)
def test_nothing_is_done_without_a_right_connect(
    drive: NvmeDrive, sent: bytes, status: int
) -> None:
    told = talk(drive, sent)
    assert told.answers == [(status, 0)]
    assert drive.commands == []


@pytest.mark.parametrize(
    "sent",
    [
        HEAD.pack(COMMAND, 0, 72, 0, 0xFFFFFFFF),
        HEAD.pack(COMMAND, 0, 72, 0, 71) + bytes(64),
        HEAD.pack(COMMAND, 0, 72, 200, 73) + bytes(65),
        HEAD.pack(COMMAND, 0, 71, 0, 72) + bytes(64),
        HEAD.pack(9, 0, 24, 0, 24) + bytes(16),
        data_in(b"x" * 512),
        connect(1) + blocks(1, 0, 1) + data_in(b"x" * 513),
        connect(1) + blocks(1, 0, 1) + data_in(b"x" * 8, offset=8),
        connect(1) + blocks(1, 0, 1) + data_in(b"x" * 512, name=8),
    ],
    ids=[
        "huge",
        "too small",
        "data place",
        "header size",
        "kind",
        "no command",
        "too long",
        "offset",
        "other command",
    ],
)
def test_a_host_that_breaks_the_rules_is_told_so_and_left(drive: NvmeDrive, sent: bytes) -> None:
    told = talk(drive, sent, connect(0))
    assert told.kinds[-1] == DRIVE_GIVES_UP
    assert drive.counters["bytes_written"] == 0


def test_a_drive_that_loses_its_power_answers_nothing_more(tmp_path: Path) -> None:
    drive = switched_on(tmp_path, power_cut_at_command=2)
    look = command(0x0A, words=(6,))
    assert talk(drive, connect(0), *(look,) * 3).answers == [(0, 1), (0, 1)]
    assert not drive.powered
    cut = switched_on(tmp_path, cut_in_format=True)
    assert talk(cut, connect(0), command(0x80, number=1, words=(0x200,))).answers == [(0, 1)]
    assert cut.state["formatting"]
    with pytest.raises(PowerCut):
        switched_on(tmp_path, power_cut_at_command=1).admin(bytes(64))


def test_no_two_namespaces_have_one_name(tmp_path: Path) -> None:
    names = []
    for serial in ("EMU0001", "EMU0002"):
        (tmp_path / serial).mkdir()
        drive = switched_on(tmp_path / serial, serial=serial)
        for number in (1, 2):
            look = command(6, number=number, words=(0,), length=4096)
            page = talk(drive, connect(0, name=f"nqn.2026-01.test:{serial}".encode()), look).data
            names += [page[104:120], page[120:128]]
    assert len(set(names)) == 8


def test_the_folder_keeps_the_drive_and_each_admin_command_is_a_line_of_the_log(
    tmp_path: Path,
) -> None:
    log = io.StringIO()
    drive = power_on(tmp_path, Knobs().changed(FRESH), log)
    talk(drive, connect(0), command(0x0A, words=(6,)), command(0x0A, words=(0x99,)))
    entries = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(one["opcode"], one["cdw"][0], one["status"]) for one in entries] == [
        (0x0A, 6, 0), (0x0A, 0x99, 0x4002),
    ]  # fmt: skip
    drive.cut()
    again = power_on(tmp_path, Knobs().changed(FRESH))
    assert again.counters["unsafe_shutdowns"] == drive.counters["unsafe_shutdowns"] + 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["1.img", "2.img", "drive.json"]


def test_a_silence_is_told_from_the_last_command_for_blocks_to_the_next(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    clock = VirtualClock()
    drive = NvmeDrive(
        Knobs(silence_seconds=2.0), tmp_path / "d.json", [tmp_path / "1.img"],
        clock=clock, told=told.append,
    )  # fmt: skip
    for seconds in (1.0, 1.9, 2.0, 5.0):
        clock.sleep(seconds)
        drive.note_media()
    drive.cut()
    assert told == [
        {"silence": [2.9, 4.9], "media_commands": 2}, {"silence": [4.9, 9.9], "media_commands": 3}
    ]  # fmt: skip
