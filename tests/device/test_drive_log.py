"""A drive's log as a watch reads it: byte by byte from a drive in memory, and none of others."""

import ctypes
import os
import struct
from pathlib import Path

import pytest

from teijo.device.commands import nvme, seam
from teijo.device.health import drive_log
from teijo.device.health.nvme_logs import OCP_GUID
from tests.drives.disk import Knobs
from tests.drives.sg_in_process import SasBench


class Drive:
    """Answers Get Log Page 02h and C0h, and Identify Controller, at the one ioctl."""

    def __init__(self, *, ocp: bool) -> None:
        self.smart = bytearray(512)
        self.smart[1:3] = (310).to_bytes(2, "little")
        self.smart[48] = 7
        self.smart[216] = 3
        self.vendor = bytearray(512)
        self.vendor[0:16] = (12_345_678).to_bytes(16, "little")
        self.vendor[96:98] = bytes([4, 1])
        self.vendor[494:496] = (3).to_bytes(2, "little")
        self.vendor[496:] = OCP_GUID if ocp else bytes(16)
        self.pages: list[int] = []

    def ioctl(self, fd: int, request: int, argument: bytearray | int = 0) -> int:
        if request == nvme.NVME_IOCTL_ID:
            return 1
        assert isinstance(argument, bytearray)
        opcode, address, length, cdw10 = (
            argument[0],
            *struct.unpack_from("<Q", argument, 24),
            *struct.unpack_from("<I", argument, 36),
            *struct.unpack_from("<I", argument, 40),
        )
        if opcode == nvme.IDENTIFY:
            page = bytearray(4096)
            page[266:268] = (350).to_bytes(2, "little")
        else:
            self.pages.append(cdw10 & 0xFF)
            page = self.smart if cdw10 & 0xFF == nvme.SMART_LOG else self.vendor
        ctypes.memmove(address, bytes(page), min(length, len(page)))
        return 0


@pytest.mark.parametrize("ocp", [True, False])
def test_a_reading_has_the_logs_the_drive_has(monkeypatch: pytest.MonkeyPatch, ocp: bool) -> None:
    drive = Drive(ocp=ocp)
    monkeypatch.setattr(seam, "ioctl", drive.ioctl)
    read = drive_log.log_reader(0)
    assert read is not None
    drive.pages.clear()
    told = read()
    assert told["temperature_kelvin"] == 310
    assert told["host_writes_bytes"] == 7 * 512_000
    assert told["thermal_1_transitions"] == 3
    assert told["warning_limit_kelvin"] == 350
    assert sorted(drive.pages) == ([0x02, 0xC0] if ocp else [0x02])
    vendor = {
        name: told[name] for name in ("media_writes_bytes", "throttle_status") if name in told
    }
    assert vendor == ({"media_writes_bytes": 12_345_678, "throttle_status": 1} if ocp else {})


def test_what_is_no_drive_has_no_log() -> None:
    with open(os.devnull, "rb") as file:  # noqa: PTH123 — a descriptor is what is asked for
        assert drive_log.log_reader(file.fileno()) is None


def test_a_scsi_disk_that_tells_nothing_is_not_asked_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = SasBench(tmp_path, monkeypatch, Knobs())
    del bench.target.commands[0x4D]
    assert drive_log.log_reader(bench.fd) is None
