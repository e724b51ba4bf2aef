"""The cheap counters of a drive: each field at its place, and what is blank is not told."""

import errno
from collections.abc import Callable

import pytest

from teijo.device.commands import ata, nvme, scsi, seam
from teijo.device.health.raw import Unreadable
from teijo.device.health.reading import (
    counters_of_ata,
    counters_of_nvme,
    counters_of_scsi,
    kind_of,
    read_vendor,
)
from tests.device.test_commands import answering

OCP_TAIL = (3).to_bytes(2, "little") + bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")


def smart_log() -> bytearray:
    """A log 02h with a number of its own in each field."""
    log = bytearray(512)
    log[0:7] = bytes((2, *(311).to_bytes(2, "little"), 97, 10, 4, 0))
    for at, value in ((32, 7), (48, 11), (64, 101), (80, 102), (96, 5), (112, 6), (128, 8)):
        log[at : at + 16] = value.to_bytes(16, "little")
    for at, value in ((144, 9), (160, 3), (176, 2**100)):
        log[at : at + 16] = value.to_bytes(16, "little")
    for at, value in ((192, 21), (196, 22), (216, 31), (220, 32), (224, 33), (228, 34)):
        log[at : at + 4] = value.to_bytes(4, "little")
    log[200:204] = (310).to_bytes(2, "little") + (320).to_bytes(2, "little")
    return log


def nvme_with(monkeypatch: pytest.MonkeyPatch, pages: dict[int, bytes]) -> list[int]:
    """Let an NVMe drive have these log pages; return the pages that are asked for."""
    asked: list[int] = []

    def log_page(fd: int, page: int, length: int, **_other: int) -> bytes:
        asked.append(page)
        if page not in pages:
            raise seam.NvmeError(0x109)
        return bytes(pages[page][:length])

    monkeypatch.setattr(seam, "ioctl", lambda _fd, _request, _argument=0: 1)
    monkeypatch.setattr(nvme, "log_page", log_page)
    return asked


def no_nvme(monkeypatch: pytest.MonkeyPatch, vendor: bytes) -> None:
    """Let a drive refuse NVMe's request and answer INQUIRY as this vendor."""

    def ioctl(_fd: int, _request: int, _argument: object = 0) -> int:
        raise OSError(errno.ENOTTY, "no")

    monkeypatch.setattr(seam, "ioctl", ioctl)
    monkeypatch.setattr(scsi, "inquiry", lambda _fd: bytes(8) + vendor + bytes(80))


def test_every_field_of_the_nvme_log_by_one_log_page(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = nvme_with(monkeypatch, {2: smart_log()})
    told = counters_of_nvme(3)
    assert (asked, kind_of(3)) == ([2], "nvme")
    assert told.counts == {
        "critical_warning": 2,
        "temperature_kelvin": 311,
        "sensor_1_kelvin": 310,
        "sensor_2_kelvin": 320,
        "available_spare_percent": 97,
        "spare_threshold_percent": 10,
        "percentage_used": 4,
        "host_reads_bytes": 7 * 512_000,
        "host_writes_bytes": 11 * 512_000,
        "read_commands": 101,
        "write_commands": 102,
        "busy_minutes": 5,
        "power_cycles": 6,
        "power_on_hours": 8,
        "unsafe_shutdowns": 9,
        "media_errors": 3,
        "error_log_entries": 2**100,
        "warning_temperature_minutes": 21,
        "critical_temperature_minutes": 22,
        "thermal_1_transitions": 31,
        "thermal_2_transitions": 32,
        "thermal_1_seconds": 33,
        "thermal_2_seconds": 34,
    }


@pytest.mark.parametrize("threshold", [0, 101, 255])
def test_a_threshold_that_is_none_tells_nothing_of_the_spare(
    monkeypatch: pytest.MonkeyPatch, threshold: int
) -> None:
    log = smart_log()
    log[1:3], log[4] = b"\0\0", threshold
    nvme_with(monkeypatch, {2: log})
    told = counters_of_nvme(3)
    assert told.spare_threshold_percent is None
    assert told.available_spare_percent is None
    assert told.temperature_kelvin is None  # 0 K


@pytest.mark.parametrize("filling", [b"\0", b"\xff"])
def test_a_blank_log_is_no_health(monkeypatch: pytest.MonkeyPatch, filling: bytes) -> None:
    nvme_with(monkeypatch, {2: filling * 512})
    with pytest.raises(Unreadable, match="blank"):
        counters_of_nvme(3)


def test_the_ocp_log_is_read_by_its_guid_and_version_only(monkeypatch: pytest.MonkeyPatch) -> None:
    log = bytearray(494) + OCP_TAIL
    log[0:16] = (5 * 10**12).to_bytes(16, "little")
    log[96:98] = b"\x04\x02"
    log[128:130] = b"\xff\xff"
    asked = nvme_with(monkeypatch, {0xC0: log})
    told = read_vendor(3)
    assert (told.media_writes_bytes, told.throttle_events, told.throttle_status) == (
        5 * 10**12,
        4,
        2,
    )
    assert told.capacitor_health_percent is None
    assert "capacitor_health_percent" not in told.counts
    assert asked == [0xC0]


@pytest.mark.parametrize("at", [494, 496, 511])
def test_another_vendors_log_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    log = bytearray(494) + OCP_TAIL
    log[at] ^= 0x40
    nvme_with(monkeypatch, {0xC0: log})
    with pytest.raises(Unreadable, match="C0h"):
        read_vendor(3)


def statistics() -> bytearray:
    pages = bytearray(8 * 512)

    def put(page: int, at: int, value: int, flags: int = 0xC0) -> None:
        pages[page * 512 + 2] = page
        start = page * 512 + at
        pages[start : start + 8] = value.to_bytes(7, "little") + bytes((flags,))

    put(1, 0x08, 12)
    put(1, 0x10, 345)
    put(1, 0x18, 10)
    put(1, 0x28, 20, flags=0x80)  # supported, not valid now
    put(4, 0x08, 2)
    put(5, 0x08, 0xFB)  # −5 °C
    put(7, 0x08, 6)
    return pages


def test_ata_tells_by_its_device_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    no_nvme(monkeypatch, b"ATA     ")
    monkeypatch.setattr(ata, "log_pages", lambda *_a, **_k: bytes(statistics()))
    assert kind_of(3) == "ata"
    told = counters_of_ata(3)
    assert told.source == "ATA device statistics"
    assert told.counts == {
        "power_cycles": 12,
        "power_on_hours": 345,
        "host_writes_bytes": 5120,
        "media_errors": 2,
        "temperature_kelvin": 268,
        "percentage_used": 6,
    }


def smart_sector(*entries: tuple[int, int, int, int]) -> bytes:
    """SMART data of entries (id, value, worst, raw)."""
    body = b"".join(
        bytes((number, 0x32, 0, value, worst)) + raw.to_bytes(6, "little") + b"\0"
        for number, value, worst, raw in entries
    )
    return (b"\x10\0" + body).ljust(512, b"\0")


def aborts(*_given: object, **_named: object) -> bytes:
    raise ata.AtaError(ata.READ_LOG_EXT, None)


def test_ata_without_statistics_tells_by_its_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    no_nvme(monkeypatch, b"ATA     ")
    monkeypatch.setattr(ata, "log_pages", aborts)
    data = smart_sector((9, 99, 99, 77), (0xC2, 70, 60, 0x003C_0014_001E))
    monkeypatch.setattr(ata, "smart_sector", lambda *_a: data)
    assert kind_of(3) == "ata"
    told = counters_of_ata(3)
    assert told.counts == {"power_on_hours": 77, "temperature_kelvin": 303}
    assert told.source == "ATA SMART data"


def page_of(parameters: dict[int, bytes]) -> Callable[[int, int], dict[int, bytes]]:
    return lambda _fd, page: parameters if page == 0x0D else aborts()  # type: ignore[return-value]


def test_scsi_tells_by_its_log_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    no_nvme(monkeypatch, b"SEAGATE ")
    monkeypatch.setattr(scsi, "log_parameters", page_of({0: b"\0\x1e", 1: b"\0\x41"}))
    assert kind_of(3) == "scsi"
    assert counters_of_scsi(3).counts == {"temperature_kelvin": 303}
    monkeypatch.setattr(scsi, "log_parameters", aborts)
    with pytest.raises(Unreadable, match="log pages"):
        counters_of_scsi(3)


def test_log_parameters_are_cut_where_the_page_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second parameter claims 255 bytes, of which two are there.
    answering(monkeypatch, data=bytes.fromhex("0d00000c 00000302 001e 0001 03ff 0041"))
    assert scsi.log_parameters(3, 0x0D) == {0: b"\0\x1e", 1: b"\0\x41"}
    with pytest.raises(seam.CommandError, match="another page"):
        scsi.log_parameters(3, 0x2F)


def test_a_smart_command_is_of_28_bits_and_has_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = answering(monkeypatch, data=bytes(512))
    ata.smart_sector(3, ata.SMART_READ_DATA)
    ata.smart_fails(3)
    ata.log_pages(3, 4, first=0x0102, count=2)
    assert [cdb.hex() for cdb, _ in sent] == [
        "85080e00d000010000004f00c240b000",
        "85062000da00000000004f00c240b000",
        "85090e00000002000401020000402f00",
    ]


def test_a_device_that_takes_no_commands_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def ioctl(_fd: int, _request: int, _argument: object = 0) -> int:
        raise OSError(errno.ENOTTY, "Inappropriate ioctl for device")

    monkeypatch.setattr(seam, "ioctl", ioctl)
    with pytest.raises(Unreadable, match="Inappropriate"):
        kind_of(3)


def test_a_device_that_is_gone_is_no_device_without_health(monkeypatch: pytest.MonkeyPatch) -> None:
    def ioctl(_fd: int, _request: int, _argument: object = 0) -> int:
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(seam, "ioctl", ioctl)
    with pytest.raises(OSError, match="No such device") as caught:
        kind_of(3)
    assert not isinstance(caught.value, Unreadable)
