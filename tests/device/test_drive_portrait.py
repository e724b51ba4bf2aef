"""A drive asked who it is: what it answers is kept, what it refuses is said, what hangs is left."""

import ctypes
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.device.checks import Subject
from teijo.device.commands import scsi, seam
from teijo.device.drive.asked import Asked, reason
from teijo.device.drive.nvme_drive import NvmeDrive, ask_nvme
from teijo.device.drive.portrait import portrait
from teijo.device.drive.unfinished import refuse_unfinished, unfinished
from teijo.device.open_changes import OpenChange
from teijo.errors import DeviceError
from tests.device.test_drive_identity import nvme_controller, nvme_namespace
from tests.device.test_stack import Tree, subject

Answers = dict[tuple[int, int], bytes | int]
"""By operation code and the low 16 bits of CDW10: data, or a result, or a status above 2^16."""
REFUSED = 1 << 16


def answers(*, allocated: tuple[int, ...] = (1, 2, 9), sanitize: int = 1) -> Answers:
    controller = nvme_controller()
    return {
        (6, 0x01): bytes(controller),
        (6, 0x02): struct.pack("<1024I", *(1, 2), *[0] * 1022),
        (6, 0x10): struct.pack("<1024I", *allocated, *[0] * (1024 - len(allocated))),
        (6, 0x13): struct.pack("<3H", 2, 5, 6).ljust(4096, b"\0"),
        (6, 0x00): bytes(nvme_namespace()),
        (6, 0x11): bytes(nvme_namespace()),
        (6, 0x03): bytes((4, 1, 0, 0, 2)).ljust(4096, b"\0"),
        (2, 0x81): struct.pack("<HH", 0x4000, sanitize).ljust(512, b"\0"),
        (0x0A, 0x02): 1,
        (0x0A, 0x0C): struct.pack("<2Q", 0, 3 << 3 | 500 << 8).ljust(256, b"\0"),
        (0x82, 0x0100): bytes(512),
    }


def serve(monkeypatch: pytest.MonkeyPatch, told: Answers, numbers: list[int] | None = None) -> None:
    """Let a drive in memory answer; `numbers` hears of the namespaces it is asked for."""

    def ioctl(fd: int, request: int, command: bytearray | int = 0) -> int:
        if request == 0x4E40:
            return 1
        assert isinstance(command, bytearray)
        opcode, number = command[0], struct.unpack_from("<I", command, 4)[0]
        address, length, cdw10 = struct.unpack_from("<Q4xII", command, 24)
        answer = told.get((opcode, cdw10 & 0xFFFF), REFUSED | 0x4002)
        if numbers is not None and opcode == 6 and cdw10 in (0x00, 0x11):
            numbers.append(number)
        if isinstance(answer, bytes):
            ctypes.memmove(address, answer, min(len(answer), length))
            return 0
        if answer >= REFUSED:
            return answer & 0xFFFF
        command[68:72] = struct.pack("<I", answer)
        return 0

    monkeypatch.setattr(seam, "ioctl", ioctl)


def asked_nvme(monkeypatch: pytest.MonkeyPatch, told: Answers) -> tuple[NvmeDrive, dict[str, str]]:
    serve(monkeypatch, told)
    asked, drive = Asked(), NvmeDrive()
    ask_nvme(3, asked, drive)
    return drive, asked.not_told


def test_namespaces_that_are_not_attached_are_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: list[int] = []
    serve(monkeypatch, answers(), numbers)
    asked, drive = Asked(), NvmeDrive()
    ask_nvme(3, asked, drive)
    assert (drive.this, drive.attached, drive.allocated) == (1, (1, 2), (1, 2, 9))
    assert [(one.number, one.attached) for one in drive.namespaces] == [
        (1, True),
        (2, True),
        (9, False),
    ]
    assert [one.command_set for one in drive.namespaces] == ["zoned"] * 3
    assert numbers == [1, 2, 9]
    assert (drive.controllers, drive.power_state) == ((5, 6), 1)
    assert asked.not_told == {}


def test_a_drive_with_endless_lists_is_asked_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answers()
    # It answers the same full list wherever it is asked to go on.
    told[6, 0x10] = struct.pack("<1024I", *range(1, 1025))
    drive, not_told = asked_nvme(monkeypatch, told)
    assert drive.allocated == tuple(range(1, 1025))
    assert len(drive.namespaces) == 128
    assert not_told["namespace 1024"] == "only the first 128 are asked"


def test_a_list_that_does_not_ascend_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    drive, _ = asked_nvme(monkeypatch, answers(allocated=(4, 7, 7, 3, 9)))
    assert drive.allocated == (4, 7)


def test_a_count_of_controllers_beyond_the_page_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answers()
    told[6, 0x13] = b"\xff" * 4096
    drive, _ = asked_nvme(monkeypatch, told)
    assert drive.controllers is not None
    assert len(drive.controllers) == 2047


def test_what_is_refused_is_said_and_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answers()
    for key in ((2, 0x81), (0x0A, 0x02), (6, 0x10)):
        told[key] = REFUSED | 0x4109
    drive, not_told = asked_nvme(monkeypatch, told)
    assert (drive.sanitize, drive.power_state, drive.allocated) == (None, None, None)
    assert set(not_told) == {"sanitize status", "power state", "allocated namespaces"}
    assert not_told["sanitize status"] == "the drive answered status 0x4109"
    assert drive.attached == (1, 2)


def nvme_subject(tree: Tree) -> Subject:
    return subject(tree, tree.disk("nvme0n1", "259:0", nsid="1"))


def test_without_rights_it_is_said_that_root_may_ask(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def forbidden(fd: int, request: int, argument: bytearray | int = 0) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(seam, "ioctl", forbidden)
    seen = portrait(nvme_subject(Tree(tmp_path)))
    assert seen.nvme is not None
    assert seen.nvme.controller is None
    assert seen.not_told == {"controller": "only root may ask"}


def test_a_drive_that_hangs_keeps_what_it_had_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serve(monkeypatch, answers())
    answered, stuck = seam.ioctl, threading.Event()

    def hanging(fd: int, request: int, argument: bytearray | int = 0) -> int:
        if isinstance(argument, bytearray) and argument[0] == 0x0A:
            stuck.wait()
        return answered(fd, request, argument)

    monkeypatch.setattr(seam, "ioctl", hanging)
    seen = portrait(nvme_subject(Tree(tmp_path)), patience_ns=10**9)
    stuck.set()
    assert seen.nvme is not None
    assert seen.nvme.controller is not None
    assert seen.nvme.controller.model == "Model X"
    assert seen.nvme.namespaces == ()
    assert seen.not_told["power state"].startswith("the drive did not answer within 1 s")


def test_a_loop_is_asked_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    serve(monkeypatch, {})
    tree = Tree(tmp_path)
    seen = portrait(subject(tree, tree.disk("loop0", "7:0")))
    assert (seen.nvme, seen.ata, seen.scsi, seen.not_told) == (None, None, None, {})


def scsi_answers(vendor: bytes, sense: bytes = b"") -> Callable[..., scsi.Answer]:
    """A SCSI drive with pages 80h, B1h and B2h and, behind it, ATA security that is locked."""
    identify = bytearray(512)
    struct.pack_into("<H", identify, 2 * 128, 0b111)
    struct.pack_into("<H", identify, 2 * 59, 1 << 12)

    def execute(fd: int, cdb: bytes, *, out: bytes = b"", expect: int = 0, **_: int) -> scsi.Answer:
        match cdb[0]:
            case 0x00 if sense:
                raise scsi.ScsiError(scsi.parse_sense(sense))
            case 0x03:
                return scsi.Answer(data=bytes(18))
            case 0x12 if cdb[1]:
                pages = {0: b"\x00\x80\xb1", 0x80: b"SER1", 0xB1: b"\x1c\x20\0\3"}
                body = pages[cdb[2]]
                return scsi.Answer(data=bytes((0, cdb[2], 0, len(body))) + body)
            case 0x12:
                return scsi.Answer(data=b"\0\0\6\0\0\0\0\0" + vendor.ljust(8) + b"Disk".ljust(20))
            case 0x85 if cdb[14] == 0xEC:
                return scsi.Answer(data=bytes(identify))
            case 0x85:
                registers = bytes((0x09, 0x0C, 0, 0, 0x40, 0, 0, 0x99, 0, 0x19, 0, 0, 0x40, 0x50))
                head = bytes((0x72, 1, 0, 0x1D, 0, 0, 0, 14))
                return scsi.Answer(data=b"", sense=scsi.parse_sense(head + registers))
            case 0x9E:
                return scsi.Answer(data=struct.pack(">QI20x", 99, 512))
            case 0xA3 if cdb[3] == 0x48 and cdb[5] == 3:
                refused = "70000500000000" + "0a00000000240000000000"
                raise scsi.ScsiError(scsi.parse_sense(bytes.fromhex(refused)))
            case 0xA3:
                return scsi.Answer(data=bytes((0, 3, 0, 6)))
            case _:
                return scsi.Answer(data=b"")

    return execute


def test_a_sas_drive_says_what_purges_it_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scsi, "execute", scsi_answers(b"MAKER"))
    tree = Tree(tmp_path)
    seen = portrait(subject(tree, tree.disk("sda", "8:0")))
    assert seen.ata is None
    assert seen.scsi is not None
    assert seen.scsi.inquiry is not None
    assert (seen.scsi.inquiry.vendor, seen.scsi.serial) == ("MAKER", "SER1")
    assert seen.scsi.characteristics is not None
    assert seen.scsi.characteristics.rotation_rpm == 7200
    operations = seen.scsi.operations
    assert operations is not None
    assert (operations.sanitize_block, operations.sanitize_crypto) == (True, False)
    assert (operations.format_unit, seen.not_told) == (True, {})


def test_a_locked_sata_drive_is_asked_as_ata_and_refused_by_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scsi, "execute", scsi_answers(b"ATA"))
    tree = Tree(tmp_path)
    seen = portrait(subject(tree, tree.disk("sda", "8:0")))
    assert seen.ata is not None
    assert seen.ata.identity is not None
    assert seen.ata.identity.security.locked
    assert seen.ata.sanitize is not None
    assert (seen.ata.sanitize.running, seen.scsi and seen.scsi.operations) == (True, None)
    kinds = [one.kind for one in unfinished(seen, "/dev/sda")]
    assert kinds == ["sanitize", "locked"]
    with pytest.raises(DeviceError, match="locked by a password") as caught:
        refuse_unfinished("/dev/sda", unfinished(seen, "/dev/sda"))
    assert caught.value.exit_code == 5
    assert "teijo purge /dev/sda --finish" in caught.value.remedy


@pytest.mark.parametrize(
    ("sense", "text", "percent"),
    [
        ("7002040000000a000000041b0080800000", "", None),
        ("72 02 04 1b 00 00 00 08 02 06 00 00 80 80 00 00", "a sanitize runs", 50),
        ("70 00 03 00 00 00 00 0a 00 00 00 00 31 03 00 00 00 00", "its last sanitize failed", None),
        ("70 00 03 00 00 00 00 0a 00 00 00 00 31 01 00 00 00 00", "its last format did not", None),
    ],
)
def test_a_scsi_drive_that_works_in_the_background(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sense: str, text: str, percent: float | None
) -> None:
    monkeypatch.setattr(scsi, "execute", scsi_answers(b"MAKER", bytes.fromhex(sense)))
    tree = Tree(tmp_path)
    found = unfinished(portrait(subject(tree, tree.disk("sda", "8:0"))), "/dev/sda")
    assert [one.text.startswith(text) for one in found] == ([True] if text else [])
    assert [one.percent for one in found] == ([percent] if text else [])


@pytest.mark.parametrize(
    ("status", "text", "percent"),
    [(2, "a sanitize runs", 25.0), (3, "its last sanitize failed", None), (1, "", None),
     (4, "", None), (0, "", None)],
)  # fmt: skip
def test_an_nvme_drive_whose_sanitize_is_not_over_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, text: str, percent: float | None
) -> None:
    told = answers(sanitize=status)
    told[6, 0x00] = told[6, 0x11] = bytes(4096)
    serve(monkeypatch, told)
    found = unfinished(portrait(nvme_subject(Tree(tmp_path))), "/dev/nvme0n1")
    assert [one.text.startswith(text) for one in found] == ([True] if text else [])
    assert [one.percent for one in found] == ([percent] if text else [])
    if not text:
        refuse_unfinished("/dev/nvme0n1", found)
        return
    with pytest.raises(DeviceError, match=text):
        refuse_unfinished("/dev/nvme0n1", found)


def test_a_running_format_and_a_locked_range_are_unfinished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = answers(allocated=(1,))
    feature = struct.pack(">HBBB11x", 2, 0x10, 12, 7)
    told[0x82, 0x0100] = struct.pack(">I44x", 60) + feature + bytes(448)
    serve(monkeypatch, told)
    found = unfinished(portrait(nvme_subject(Tree(tmp_path))), "/dev/nvme0n1")
    # The namespace says 40 % left.
    assert ("format", 60.0) in [(one.kind, one.percent) for one in found]
    assert "locked" in [one.kind for one in found]


@pytest.mark.parametrize(("kind", "refuses"), [("password", True), ("cache", False)])
def test_what_teijo_left_open_is_said(kind: str, refuses: bool, tmp_path: Path) -> None:
    change = OpenChange(
        kind=kind,  # type: ignore[arg-type]
        serial="S1",
        wwid="",
        target="/dev/sda",
        method="ata-security",
        began="2026-11-24",
    )
    tree = Tree(tmp_path)
    seen = portrait(subject(tree, tree.disk("loop0", "7:0")))
    (found,) = unfinished(seen, "/dev/sda", [change])
    assert found.text == f"Teijo left a change of it open: {kind} by ata-security, begun 2026-11-24"
    assert found.refuses is refuses


@pytest.mark.parametrize("data", [b"", bytes(511), bytes(512)])
def test_an_empty_answer_is_not_told_and_no_identity_of_zeros(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes
) -> None:
    answer = scsi_answers(b"ATA")

    def execute(fd: int, cdb: bytes, **more: int) -> scsi.Answer:
        if cdb[0] == 0x85 and cdb[14] == 0xEC:
            return scsi.Answer(data=data)
        return answer(fd, cdb, **more)

    monkeypatch.setattr(scsi, "execute", execute)
    tree = Tree(tmp_path)
    seen = portrait(subject(tree, tree.disk("sda", "8:0")))
    assert seen.ata is not None
    assert seen.ata.identity is None
    assert seen.not_told["ATA identity"].startswith("the drive answered")


def test_a_controller_of_zeros_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = answers()
    told[6, 0x01] = bytes(4096)
    drive, not_told = asked_nvme(monkeypatch, told)
    assert drive.controller is None
    assert not_told == {"controller": "the drive answered zeros alone"}


def test_a_reason_is_never_empty() -> None:
    assert reason(OSError(5, "Input/output error")) == "Input/output error"
    assert reason(OSError()) == "no answer"
