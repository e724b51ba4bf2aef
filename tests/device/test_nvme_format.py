"""NVMe Format as a way to purge: which setting is sent, to whom, and when nothing is."""

import ctypes
import errno
import os
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device import open_changes
from teijo.device.checks import Subject
from teijo.device.commands import nvme, seam
from teijo.device.preflight import claim
from teijo.device.purging import nvme_format
from teijo.device.purging.offer import NotOffered
from teijo.device.watched import unwatched
from teijo.errors import DeviceError, UnsafeError
from teijo.terms.purge import CRYPTOGRAPHIC
from tests.drives.in_process import NvmeBench

Send = Callable[..., list[tuple[int, int, int]]]
SERIAL = "S1"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Send:
    """Put a drive behind the ioctl; return a list of what was sent: opcode, namespace, CDW10."""

    def made(
        *, attributes: int = 0, namespaces: int = 1, status: int | OSError = 0
    ) -> list[tuple[int, ...]]:
        sent: list[tuple[int, ...]] = []
        controller = bytearray(4096)
        controller[4:24] = SERIAL.encode().ljust(20)
        controller[256:258] = (0b10).to_bytes(2, "little")
        controller[nvme_format.FORMAT_ATTRIBUTES] = attributes
        listing = struct.pack(f"<{namespaces}I", *range(1, namespaces + 1)).ljust(4096, b"\0")
        answers = {0: bytes(4096), 1: bytes(controller), 2: listing}

        def ioctl(fd: int, request: int, command: bytearray | None = None) -> int:
            del fd
            if request == nvme.NVME_IOCTL_ID:
                return 1
            assert command is not None
            opcode, number = command[0], int.from_bytes(command[4:8], "little")
            (cdw10,) = struct.unpack_from("<I", command, 40)
            if opcode == nvme.IDENTIFY:
                (address,) = struct.unpack_from("<Q", command, 24)
                ctypes.memmove(address, answers[cdw10], 4096)
                return 0
            sent.append((opcode, number, cdw10))
            if isinstance(status, OSError):
                raise status
            return status

        monkeypatch.setattr(seam, "ioctl", ioctl)
        return sent

    return made


@pytest.fixture
def subject(loop: Path):
    """A loop device that the kernel calls an NVMe namespace of the drive S1."""
    claimed = claim(loop, write=True)
    found = claimed.found
    node = replace(found.node, name="nvme9n1")
    yield replace(claimed, found=replace(found, node=node, own_serial=SERIAL))
    os.close(claimed.fd)


@pytest.mark.parametrize(("method", "erase"), [(nvme_format.USER_DATA, 1), (nvme_format.CRYPTO, 2)])
def test_a_format_sends_its_own_setting_to_its_own_namespace(drive, subject, method, erase) -> None:
    sent = drive(attributes=0b100)
    assert method.offer(subject).refusal == ""
    assert method.offer(subject).valid_for_pts is (method.name not in CRYPTOGRAPHIC)
    assert method.carry_out(subject, unwatched) == method.words
    assert sent == [(nvme.FORMAT_NVM, 1, erase << 9)]


def test_a_drive_without_a_key_is_not_asked_to_change_it(drive, subject) -> None:
    sent = drive(attributes=0b011)
    assert nvme_format.CRYPTO.offer(subject) is None
    with pytest.raises(NotOffered):
        nvme_format.CRYPTO.carry_out(subject, unwatched)
    assert sent == []


@pytest.mark.parametrize("attributes", [0, 0b01, 0b10, 0b111])
def test_a_second_namespace_that_nobody_here_sees_refuses_whatever_the_drive_says_of_its_reach(
    drive, subject, attributes
) -> None:
    sent = drive(attributes=attributes, namespaces=2)
    offer = nvme_format.USER_DATA.offer(subject)
    assert "namespace 2 is in use cannot be seen" in offer.refusal
    with pytest.raises(NotOffered):
        nvme_format.USER_DATA.carry_out(subject, unwatched)
    assert sent == []


def test_a_controller_of_another_drive_is_not_formatted(drive, subject) -> None:
    sent = drive()
    other = replace(subject, found=replace(subject.found, own_serial="S2"))
    with pytest.raises(UnsafeError, match="The controller says it is 'S1'"):
        nvme_format.USER_DATA.carry_out(other, unwatched)
    assert sent == []


@pytest.mark.parametrize(
    ("status", "words", "kept"),
    [
        (0x4286, "refused to format: .*0x4286; nothing was erased", 0),
        (0x4001, "refused to format", 0),
        (0x4006, "Format failed: .*0x4006; its data may be erased in part", 1),
        (
            OSError(errno.ENODEV, "No such device"),
            "was interrupted: .*; what it holds is unknown",
            1,
        ),
    ],
)
def test_a_format_that_did_not_end_says_what_is_left(
    drive, subject, status: int | OSError, words: str, kept: int
) -> None:
    drive(status=status)
    with pytest.raises(DeviceError, match=words) as caught:
        nvme_format.USER_DATA.carry_out(subject, unwatched)
    assert caught.value.exit_code == 5
    (*left,) = open_changes.open_changes()
    assert [one.method for one in left] == ["nvme-format"] * kept
    for change in left:
        assert "purge it again" in nvme_format.USER_DATA.finish(subject, change)
    assert open_changes.open_changes() == ()


def test_a_format_tells_the_drives_own_percentage_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = NvmeBench(tmp_path, monkeypatch, format_seconds=100.0)
    monkeypatch.setattr(nvme_format, "POLL_S", 0.001)
    heard: list[tuple[int, int]] = []
    told = threading.Event()

    def moved(done: int, total: int, *, allow_ns: int = 0) -> None:
        heard.append((done, total))
        assert allow_ns == nvme_format.ALLOW_NS
        told.set()

    def sleep(seconds: float) -> None:
        # Each tenth of the format ends when somebody has asked how far it is.
        for _ in range(10 if seconds == 100.0 else 1):
            told.clear()
            assert seconds != 100.0 or told.wait(30)
            on.clock.now += seconds / 10 if seconds == 100.0 else seconds

    monkeypatch.setattr(on.clock, "sleep", sleep)
    nvme_format.USER_DATA.carry_out(on.subject(), moved)
    on.close()
    shares = [done for done, total in heard if total]
    assert shares == sorted(shares)
    assert len(set(shares)) > 5
    assert {total for _, total in heard} == {0, 100}


def test_a_drive_without_an_indicator_is_formatted_all_the_same(
    drive: Send, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvme_format, "POLL_S", 0.0001)
    sent = drive()
    heard: list[tuple[int, int]] = []
    nvme_format.USER_DATA.carry_out(
        subject, lambda done, total, allow_ns=0: heard.append((done, total))
    )
    assert [one[0] for one in sent] == [nvme.FORMAT_NVM]
    assert heard == [(0, 0)]
