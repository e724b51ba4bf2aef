"""A drive's logs byte by byte, at the places of their standards, and what is cut short."""

import random
import struct

import pytest

from teijo.device.commands import ata, nvme, scsi
from teijo.device.drive.asked import Asked
from teijo.device.health import (
    ata_health,
    ata_statistics,
    nvme_health,
    nvme_more,
    scsi_health,
    scsi_pages,
    self_tests,
)
from teijo.device.health.ata_health import AtaHealth
from teijo.device.health.judgement import judge
from teijo.device.health.nvme_health import NvmeHealth
from teijo.device.health.raw import Unreadable
from teijo.device.health.scsi_health import ScsiHealth
from teijo.device.health.self_tests import SelfTest
from teijo.device.health.snapshot import Snapshot


def error_entry(number: int, *, status: int, opcode: int = 0, version: int = 0) -> bytes:
    entry = bytearray(64)
    struct.pack_into("<QHHHHQI", entry, 0, number, 3, 0x21, status << 1, 0, 777, 1)
    entry[31], entry[63] = opcode, version
    return bytes(entry)


def test_the_errors_of_nvme_have_number_command_status_and_lba() -> None:
    raw = error_entry(9, status=0x281, opcode=2, version=1) + error_entry(8, status=0x109)
    newest, older = nvme_more.errors_of(raw + bytes(64))
    assert (newest.number, newest.queue, newest.command_id, newest.opcode) == (9, 3, 0x21, 2)
    assert (newest.meaning, newest.lba, newest.namespace) == ("unrecovered read error", 777, 1)
    assert (older.meaning, older.opcode) == ("invalid log page", None)
    assert nvme_more.errors_of(raw[:63]) == ()


def test_a_status_that_no_table_names_is_given_as_its_numbers() -> None:
    assert nvme_more.meaning_of(0x7C3) == "status 7/C3h"
    assert nvme_more.meaning_of(0x4000 | 0x109) == "invalid log page"


def test_an_endurance_group_counts_in_billions_of_bytes() -> None:
    raw = bytearray(512)
    raw[0:6] = bytes((1, 0, 0, 90, 10, 4))
    for at, value in ((32, 600), (48, 3), (64, 5), (80, 8), (96, 30), (112, 50), (128, 2)):
        raw[at : at + 16] = value.to_bytes(16, "little")
    group = nvme_more.group_of(bytes(raw), 2)
    assert (group.number, group.critical_warning, group.available_spare_percent) == (2, 1, 90)
    assert (group.host_writes_bytes, group.media_writes_bytes) == (5_000_000_000, 8_000_000_000)
    assert (group.read_commands, group.write_commands, group.media_errors) == (30, 50, 2)
    with pytest.raises(Unreadable):
        nvme_more.group_of(bytes(512), 1)


def test_the_self_tests_of_nvme_are_newest_first_and_one_may_run() -> None:
    raw = bytearray(564)
    raw[0:2] = bytes((2, 40))
    for place in range(20):
        raw[4 + 28 * place] = 0xF
    raw[4], raw[6] = 0x27, 0b10
    struct.pack_into("<Q", raw, 8, 1500)
    struct.pack_into("<Q", raw, 20, 4096)
    raw[32] = 0x10
    raw[60] = 0x13
    found = self_tests.of_nvme(bytes(raw))
    assert (found.running, found.done_percent) == ("extended", 40)
    assert found.results[0] == SelfTest(
        kind="extended", ended="failed", code=7, hours=1500, failing_lba=4096
    )
    assert [one.ended for one in found.results] == ["failed", "passed", "aborted"]
    with pytest.raises(Unreadable):
        self_tests.of_nvme(bytes(563))


def test_the_self_tests_of_ata_follow_the_index_round_the_ring() -> None:
    log, data = bytearray(512), bytearray(512)
    for place, (kind, status, hours) in enumerate(((1, 0x00, 10), (2, 0x74, 30), (0x81, 0x10, 20))):
        struct.pack_into("<BBHBI", log, 2 + 24 * place, kind, status, hours, 0, 99)
    log[508] = 2
    data[363] = 0xF3
    found = self_tests.of_ata(bytes(log), bytes(data))
    assert (found.running, found.done_percent) == ("self-test", 70)
    assert [(one.kind, one.ended, one.hours) for one in found.results] == [
        ("extended", "failed", 30), ("short", "passed", 10), ("short", "aborted", 20),
    ]  # fmt: skip
    assert [one.failing_lba for one in found.results] == [99, None, None]
    assert self_tests.of_ata(bytes(512), b"").results == ()


def test_the_self_tests_of_scsi_are_by_their_parameter() -> None:
    entry = struct.pack(">BBHQBBBB", 2 << 5 | 5, 1, 700, 12345, 3, 0x11, 0, 0)
    page = {2: struct.pack(">BBHQ4x", 1 << 5, 0, 600, 2**64 - 1), 1: entry, 3: bytes(16)}
    found = self_tests.of_scsi(page)
    assert [(one.kind, one.ended, one.hours, one.failing_lba) for one in found.results] == [
        ("extended", "failed", 700, 12345), ("short", "passed", 600, None),
    ]  # fmt: skip


def statistic(value: int, flags: int = 0xC0) -> bytes:
    return (flags << 56 | value).to_bytes(8, "little")


def test_the_statistics_of_ata_are_those_that_the_drive_supports() -> None:
    page = bytearray(512)
    page[0:3] = bytes((1, 0, 5))
    page[0x08:0x10] = statistic(0xFE)
    page[0x20:0x28] = statistic(61)
    page[0x50:0x58] = statistic(7, 0x80)
    found = {one.name: one.value for one in ata_statistics.statistics_of(bytes(page), 5)}
    assert found == {"now_celsius": -2, "highest_celsius": 61, "over_limit_minutes": None}
    with pytest.raises(Unreadable):
        ata_statistics.statistics_of(bytes(page), 7)


def test_only_pages_that_are_known_are_asked_for() -> None:
    page = bytearray(512)
    page[8:14] = bytes((5, 0, 1, 7, 5, 0xFF))
    assert ata_statistics.listed_pages(bytes(page)) == (1, 5, 7)
    with pytest.raises(Unreadable):
        ata_statistics.listed_pages(bytes(512))


def test_the_other_pages_of_scsi_are_read_by_their_parameters() -> None:
    assert scsi_pages.error_counters({3: b"\x05", 5: b"\1\0", 6: b"\x02", 9: b"x"}) == {
        "corrected": 5, "processed_bytes": 256, "uncorrected": 2,
    }  # fmt: skip
    assert scsi_pages.start_stop({1: b"202607", 4: (9).to_bytes(4, "big")}) == {
        "made_year": 2026, "made_week": 7, "start_stop_cycles": 9,
    }  # fmt: skip
    assert scsi_pages.start_stop({1: b"20\xffx07"}) == {}
    status = struct.pack(">IBBHHH", 600, 0, 8, 3, 0, 2)
    assert scsi_pages.background_scan({0: status, 1: b"", 2: b""}) == {
        "powered_on_minutes": 600, "scan_status": 8, "scans": 3, "medium_scans": 2,
        "places_found": 2,
    }  # fmt: skip
    assert scsi_pages.performance({1: struct.pack(">4Q", 1, 2, 3, 4)}) == {
        "read_commands": 1, "write_commands": 2, "blocks_written": 3, "blocks_read": 4,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["nvme", "ata", "scsi"])
@pytest.mark.parametrize("seed", range(12))
def test_no_bytes_of_a_drive_break_its_health(
    monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    chance = random.Random(f"{kind} {seed}")

    def drawn(length: int) -> bytes:
        """Return bytes as a drive could send them: of any length, sparse or dense."""
        size = chance.choice((length, length, length, chance.randrange(length), 0))
        some = chance.choice((b"\0", b"\xff", b""))
        return some * size if some else chance.randbytes(size)

    def filled(length: int) -> bytes:
        raw = bytearray(drawn(length))
        raw[2:3] = bytes((chance.randrange(8),))[: len(raw[2:3])]
        return bytes(raw)

    monkeypatch.setattr(nvme, "identify", lambda *_, **__: drawn(4096).ljust(4096, b"\0"))
    monkeypatch.setattr(nvme, "log_page", lambda _fd, _page, length, **_: drawn(length))
    monkeypatch.setattr(ata, "smart_sector", lambda *_, **__: drawn(512))
    monkeypatch.setattr(ata, "smart_fails", lambda *_: chance.choice((None, True, False)))
    monkeypatch.setattr(ata, "log_pages", lambda *_, **__: filled(512))
    monkeypatch.setattr(scsi, "_log_page", lambda *_: drawn(chance.randrange(1, 4096)))
    asked, seen = Asked(), Snapshot()
    match kind:
        case "nvme":
            seen.nvme = NvmeHealth()
            nvme_health.ask(0, asked, seen.nvme)
        case "ata":
            seen.ata = AtaHealth()
            ata_health.ask(0, asked, seen.ata)
        case _:
            seen.scsi = ScsiHealth()
            scsi_health.ask(0, asked, seen.scsi)
    seen.not_told.update(asked.not_told)
    assert judge(seen).word in ("good", "caution", "bad", "unknown")
    assert all(isinstance(count, int) for count in seen.counts.values())
    assert all(bool(log.not_told) == (log.told is None) for log in seen.logs)
