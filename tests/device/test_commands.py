"""SCSI and ATA commands byte by byte, against what SPC and SAT say of their bytes."""

import ctypes
import struct

import pytest

from teijo.device.commands import ata, scsi, seam

HEADER = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII0P")
TASK_FILE = bytes.fromhex("720b00000000000e090c000400010003000000004051")
"""Sense by descriptors: aborted, and the ATA return descriptor (SAT-3, table 172)."""


def answering(
    monkeypatch: pytest.MonkeyPatch, *, sense: bytes = b"", data: bytes = b"", host: int = 0
) -> list[tuple[bytes, bytes]]:
    """Let every command be answered so; return each with what was sent to the drive."""
    sent: list[tuple[bytes, bytes]] = []

    def ioctl(fd: int, request: int, header: bytearray) -> int:
        assert request == 0x2285
        fields = list(HEADER.unpack(header))
        way, length, length_data = fields[1], fields[2], fields[5]
        out = ctypes.string_at(fields[6], length_data) if way == -2 else b""
        sent.append((ctypes.string_at(fields[7], length), out))
        if way == -3:
            ctypes.memmove(fields[6], data, min(len(data), length_data))
            fields[19] = length_data - len(data)
        ctypes.memmove(fields[8], sense, len(sense))
        fields[13], fields[16], fields[17] = (2 if sense else 0), len(sense), host
        header[:] = HEADER.pack(*fields)
        return 0

    monkeypatch.setattr(seam, "ioctl", ioctl)
    return sent


def test_the_header_is_as_long_as_the_kernels() -> None:
    assert HEADER.size == 88


def test_data_comes_back_as_long_as_the_drive_sent_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answering(monkeypatch, data=b"abc")
    assert scsi.execute(3, b"\x12\0\0\0\x40\0", expect=64).data == b"abc"
    assert sent == [(b"\x12\0\0\0\x40\0", b"")]


def test_data_goes_to_the_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answering(monkeypatch)
    scsi.execute(3, b"\x15\x10\0\0\x04\0", out=b"\1\2\3\4")
    assert sent == [(b"\x15\x10\0\0\x04\0", b"\1\2\3\4")]


@pytest.mark.parametrize(
    "raw",
    [
        bytes.fromhex("700002000000000a00000000041b00808000"),
        bytes.fromhex("72 02 04 1b 00 00 00 08 02 06 00 00 80 80 00 00"),
    ],
)
def test_both_formats_of_sense_tell_the_same(raw: bytes) -> None:
    found = scsi.parse_sense(raw)
    assert (found.triple, found.progress, found.text) == ((2, 4, 0x1B), 0x8000, "2/04/1B")


@pytest.mark.parametrize("raw", [b"", b"\x70", b"\x72\x0b", b"\x72\x0b\0\0\0\0\0\xff\x09"])
def test_sense_that_is_cut_short_is_no_error(raw: bytes) -> None:
    assert scsi.parse_sense(raw).progress is None


def test_a_refusal_says_its_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, sense=bytes.fromhex("700005000000000a00000000200000000000"))
    with pytest.raises(scsi.ScsiError, match="5/20/00") as refused:
        scsi.execute(3, b"\x48" + bytes(9))
    assert refused.value.strerror == "the drive answered sense 5/20/00"


@pytest.mark.parametrize(("host", "error"), [(3, TimeoutError), (1, OSError)])
def test_a_lost_adapter_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, host: int, error: type[OSError]
) -> None:
    answering(monkeypatch, host=host)
    with pytest.raises(error):
        scsi.execute(3, bytes(6))


def test_an_ata_command_in_a_scsi_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answering(monkeypatch)
    ata.execute(3, 0xB4, feature=0x0012, lba=0x426B4572)
    ((cdb, _),) = sent
    # SANITIZE BLOCK ERASE: no data, CK_COND, the key "BkEr" in the LBA, high bytes first.
    assert cdb.hex(" ") == "85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00"


def test_sectors_of_an_ata_command_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answering(monkeypatch, data=bytes(512))
    assert len(ata.identify(3)) == 512
    assert sent[0][0].hex(" ") == "85 09 0e 00 00 00 01 00 00 00 00 00 00 40 ec 00"


def test_an_abort_brings_its_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, sense=TASK_FILE)
    with pytest.raises(ata.AtaError, match="B4h") as aborted:
        ata.execute(3, 0xB4)
    found = aborted.value.registers
    assert found == ata.TaskFile(error=4, status=0x51, count=1, lba=3)


@pytest.mark.parametrize(
    "error",
    [
        scsi.ScsiError(scsi.parse_sense(b"\x70\0\5")),
        ata.AtaError(0xEC, None),
        seam.NvmeError(0x401D),
    ],
)
def test_a_refusal_is_no_errno_and_says_what_the_drive_said(error: OSError) -> None:
    assert error.errno is None
    assert error.strerror == str(error)
    assert str(error).startswith("the drive ")


def test_an_nvme_status_has_its_parts() -> None:
    error = seam.NvmeError(0x4286)
    assert (error.code_type, error.code) == (2, 0x86)


@pytest.mark.parametrize(
    ("sense", "lba"),
    [
        # Seen of libata in Linux 6.1: an aborted SANITIZE STATUS EXT, its reason in byte 17.
        ("70 00 0b 00 00 00 00 0a 04 41 40 00 00 00 00 00 80 01", 1),
        ("70 00 0b 04 51 40 00 0a 80 01 00 00 00 00 00 00 00 00", 1),
        ("70 00 0b 04 51 40 00 0a 80 03 02 01", 0x010203),
    ],
)
def test_registers_of_a_failed_command_are_in_the_fixed_format_too(
    monkeypatch: pytest.MonkeyPatch, sense: str, lba: int
) -> None:
    answering(monkeypatch, sense=bytes.fromhex(sense))
    registers, aborted = ata.sanitize_status(3)
    assert aborted
    assert (registers.error, registers.lba) == (4, lba)


def test_fixed_sense_without_registers_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, sense=bytes.fromhex("70000b00000000000000000000000000000000"))
    with pytest.raises(seam.CommandError, match="keeps the drive's registers"):
        ata.sanitize_status(3)
