"""NVMe Format as a way to purge: which setting is sent, to whom, and when nothing is."""

import ctypes
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device.commands import nvme, seam
from teijo.device.preflight import claim
from teijo.device.purging import nvme_format
from teijo.device.purging.offer import NotOffered
from teijo.device.watched import unwatched
from teijo.errors import DeviceError
from teijo.terms.purge import CRYPTOGRAPHIC

Send = Callable[..., list[tuple[int, int, int]]]
SERIAL = "S1"


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Send:
    """Put a drive behind the ioctl; return a list of what was sent: opcode, namespace, CDW10."""

    def made(*, attributes: int = 0, namespaces: int = 1, status: int = 0) -> list[tuple[int, ...]]:
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
def test_a_second_namespace_refuses_whatever_the_drive_says_of_its_reach(
    drive, subject, attributes
) -> None:
    sent = drive(attributes=attributes, namespaces=2)
    offer = nvme_format.USER_DATA.offer(subject)
    assert "2 namespaces" in offer.refusal
    with pytest.raises(NotOffered):
        nvme_format.USER_DATA.carry_out(subject, unwatched)
    assert sent == []


def test_a_format_that_the_drive_refuses_says_what_is_left(drive, subject) -> None:
    drive(status=0x286)
    with pytest.raises(DeviceError, match="0x286; its data may be erased in part"):
        nvme_format.USER_DATA.carry_out(subject, unwatched)
