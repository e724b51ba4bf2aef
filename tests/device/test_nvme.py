"""The write cache as it is read back: of NVMe from the drive itself, else from the kernel."""

import ctypes
import struct
from pathlib import Path

import pytest

from teijo.device.commands import nvme, seam
from teijo.device.write_cache import write_cache
from tests.device.test_stack import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def answering(monkeypatch: pytest.MonkeyPatch, result: int, status: int = 0) -> list[bytes]:
    """Let every admin command be answered so; return the commands as they are sent."""
    sent: list[bytes] = []

    def ioctl(fd: int, request: int, command: bytearray) -> int:
        assert request == nvme.NVME_IOCTL_ADMIN_CMD
        sent.append(bytes(command))
        command[68:72] = struct.pack("<I", result)
        return status

    monkeypatch.setattr(seam, "ioctl", ioctl)
    return sent


@pytest.mark.parametrize(("result", "enabled"), [(1, True), (0, False), (0xFFFFFFFE, False)])
def test_the_drive_is_asked_for_feature_6_and_its_first_bit_is_the_cache(
    monkeypatch: pytest.MonkeyPatch, result: int, enabled: bool
) -> None:
    sent = answering(monkeypatch, result)
    assert nvme.write_cache_enabled(3) is enabled
    (command,) = sent
    assert len(command) == 72
    assert command[0] == 0x0A
    assert struct.unpack_from("<I", command, 40) == (0x06,)


def test_of_nvme_the_drive_says_its_cache_and_not_the_kernel(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tree.node(tree.disk("nvme0n1", "259:0", queue__write_cache="write back"))
    answering(monkeypatch, 0)
    found = write_cache(3, disk)
    assert (found.state, found.read_by) == ("disabled", "NVMe Get Features 06h")


def test_where_the_drive_does_not_say_the_kernel_is_quoted_and_named(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tree.node(tree.disk("nvme0n1", "259:0", queue__write_cache="write through"))
    answering(monkeypatch, 0, status=0x2002)
    found = write_cache(3, disk)
    assert (found.state, found.read_by) == ("write through", "queue/write_cache")


def test_of_no_drive_nothing_is_sent(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tree.node(tree.disk("vda", "8:0", queue__write_cache="write back"))
    sent = answering(monkeypatch, 1)
    found = write_cache(3, disk)
    assert (found.state, found.read_by) == ("write back", "queue/write_cache")
    assert sent == []


def test_the_critical_warning_is_the_first_byte_of_the_controllers_smart_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []

    def ioctl(fd: int, request: int, command: bytearray) -> int:
        sent.append(bytes(command))
        address, length = struct.unpack_from("<Q8xI", command, 24)[0], 512
        ctypes.memmove(address, b"\x0c" + b"\xff" * (length - 1), length)
        return 0

    monkeypatch.setattr(seam, "ioctl", ioctl)
    assert nvme.critical_warning(3) == 0x0C
    (command,) = sent
    opcode, namespace = command[0], struct.unpack_from("<I", command, 4)[0]
    length, settings = struct.unpack_from("<II", command, 36)
    assert (opcode, namespace, length) == (0x02, 0xFFFFFFFF, 512)
    assert settings == 127 << 16 | 0x02  # 128 double words of page 02h


def test_a_drive_that_refuses_the_log_tells_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, 0, status=0x4002)
    with pytest.raises(OSError, match="0x4002"):
        nvme.critical_warning(3)
