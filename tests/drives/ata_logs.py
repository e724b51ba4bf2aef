"""SMART and the logs of the SATA drive: attributes, statistics, self-tests, IDENTIFY as a log."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.drives import ata, ata_words
from tests.drives.disk import BLOCK

if TYPE_CHECKING:
    from tests.drives.ata import Registers, SataDisk, Task

KEY, KEY_FAILING = 0xC24F, 0x2CF4
"""LBA 23:8 of a SMART command, and what SMART RETURN STATUS answers below a threshold."""
THRESHOLDS = {5: 10, 9: 0, 12: 0, 177: 10, 194: 0, 197: 0, 199: 0, 241: 0, 242: 0}
FLAGS = {5: 0x33, 177: 0x33}
STATISTICS = (1, 4, 5, 6, 7)
CAPTIVE = 0x80
MINUTES = {1: 1 / 30, 2: 1 / 15}
"""Length of the short and the extended self-test, as long as the clock of tests can wait."""


def attributes(disk: SataDisk) -> dict[int, tuple[int, int, int]]:
    """Return value, worst and raw by attribute."""
    state, knobs = disk.state, disk.knobs
    found = {
        5: (100, 100, 0), 9: (99, 99, state["hours"]), 12: (99, 99, state["power_cycles"]),
        177: (100 - knobs.percent_used,) * 2 + (20,),
        194: (100 - knobs.temperature, 50, knobs.temperature),
        197: (100, 100, 0), 199: (100, 100, 0),
        241: (99, 99, state["written"]), 242: (99, 99, state["read"]),
    }  # fmt: skip
    if knobs.failing:
        found[5] = (5, 5, 4711)
    return found | knobs.attributes


def failing(disk: SataDisk) -> bool:
    """Return whether a pre-failure attribute is at or below its threshold."""
    return any(
        FLAGS.get(number, 0) & 1 and value <= THRESHOLDS.get(number, 0)
        for number, (value, _, _) in attributes(disk).items()
    )


def smart(disk: SataDisk, task: Task, out: bytes) -> Registers:
    """Carry out a SMART command (B0h)."""
    feature = task.feature & 0xFF
    if task.lba >> 8 & 0xFFFF != KEY:
        raise ata.Aborted
    if not disk.state["smart"] and feature != 0xD8:
        raise ata.Aborted
    match feature:
        case 0xD0:
            return ata.Registers(data=_data(disk))
        case 0xD1:
            return ata.Registers(data=_thresholds(disk))
        case 0xD2 | 0xDB:
            return ata.Registers()
        case 0xD4:
            return _self_test(disk, task.lba & 0xFF)
        case 0xD5:
            return ata.Registers(data=_smart_log(disk, task.lba & 0xFF, task.count & 0xFF or 1))
        case 0xD6 if 0x80 <= task.lba & 0xFF <= 0x9F:
            disk.state["host_logs"][f"{task.lba & 0xFF:02x}"] = out.hex()
        case 0xD8 | 0xD9:
            disk.state["smart"] = feature == 0xD8
        case 0xDA:
            key = KEY_FAILING if failing(disk) else KEY
            return ata.Registers(lba=key << 8)
        case _:
            raise ata.Aborted
    disk.save()
    return ata.Registers()


def _data(disk: SataDisk) -> bytes:
    page = bytearray(BLOCK)
    struct.pack_into("<H", page, 0, 0x0010)
    for place, (number, (value, worst, raw)) in enumerate(attributes(disk).items()):
        at = 2 + 12 * place
        struct.pack_into("<BHBB", page, at, number, FLAGS.get(number, 0x32), value, worst)
        page[at + 5 : at + 11] = raw.to_bytes(6, "little")
    page[362] = 0x02  # offline data collection was completed
    now = disk.progress("self_test")
    tests = disk.state["self_tests"]
    last = tests[0]["status"] if tests else 0
    page[363] = 0xF0 | 10 - min(9, now.done * 10 // 65536) if now.running else last << 4
    page[367] = 0x11  # EXECUTE OFFLINE IMMEDIATE, self-tests
    struct.pack_into("<HB", page, 368, 0x0003, 0x01)
    page[372], page[373] = 1, 1  # minutes of the two self-tests
    return ata_words.sealed(page)


def _thresholds(disk: SataDisk) -> bytes:
    page = bytearray(BLOCK)
    struct.pack_into("<H", page, 0, 0x0010)
    for place, number in enumerate(attributes(disk)):
        page[2 + 12 * place] = number
        page[3 + 12 * place] = THRESHOLDS.get(number, 0)
    return ata_words.sealed(page)


def _self_test(disk: SataDisk, which: int) -> Registers:
    jobs = disk.state["jobs"]
    if which == 0x7F:
        if disk.progress("self_test").running:
            jobs["self_test"]["running"] = False
            _note(disk, jobs["self_test"]["which"], 1)
        return ata.Registers()
    if which & ~CAPTIVE not in (0, 1, 2) or which == CAPTIVE:
        raise ata.Aborted
    if which == 0:
        return ata.Registers()
    if which & CAPTIVE:
        disk.busy(disk.knobs.duration)
        _note(disk, which, 7 if disk.knobs.failing else 0)
        if disk.knobs.failing:
            raise ata.Aborted(lba=KEY_FAILING << 8)
        return ata.Registers(lba=KEY << 8)
    disk.begin("self_test", which=which, how="none", pattern="00")
    return ata.Registers()


def end_self_test(disk: SataDisk) -> None:
    """Note the end of a self-test that ran in the background."""
    _note(disk, disk.state["jobs"]["self_test"]["which"], 7 if disk.knobs.failing else 0)


def _note(disk: SataDisk, which: int, status: int) -> None:
    """Put a result in front; 21 are kept, as in the SMART log."""
    entry = {"which": which, "status": status, "hours": disk.state["hours"]}
    disk.state["self_tests"] = [entry, *disk.state["self_tests"]][:21]
    disk.save()


def _smart_log(disk: SataDisk, address: int, count: int) -> bytes:
    match address:
        case 0x00:
            page = bytearray(BLOCK)
            struct.pack_into("<H", page, 0, 1)
            for log, pages in ((0x01, 1), (0x06, 1), (0x30, 9), (0x04, 8)):
                struct.pack_into("<H", page, 2 * log, pages)
            for log in range(0x80, 0xA0):
                struct.pack_into("<H", page, 2 * log, 1)
            return bytes(page)
        case 0x01:
            page = bytearray(BLOCK)
            page[0] = 1
            return ata_words.sealed(page)
        case 0x06:
            return _self_test_log(disk)
        case 0x04 | 0x30:
            whole = _statistics if address == 0x04 else _identify_log
            return b"".join(whole(disk, number) for number in range(count))
        case _ if 0x80 <= address <= 0x9F:
            return bytes.fromhex(disk.state["host_logs"].get(f"{address:02x}", "")).ljust(
                BLOCK, b"\0"
            )
    raise ata.Aborted


def _self_test_log(disk: SataDisk) -> bytes:
    page = bytearray(BLOCK)
    struct.pack_into("<H", page, 0, 1)
    tests = disk.state["self_tests"]
    for place, test in enumerate(reversed(tests)):
        struct.pack_into(
            "<BBHB", page, 2 + 24 * place, test["which"], test["status"] << 4, test["hours"], 0
        )
    page[508] = len(tests)
    return ata_words.sealed(page)


def read_log(disk: SataDisk, task: Task) -> bytes:
    """Return pages of a general purpose log (READ LOG EXT)."""
    address = task.lba & 0xFF
    first = (task.lba >> 8 & 0xFF) | (task.lba >> 32 & 0xFF) << 8
    count = task.count or 65536
    pages = {0x00: 1, 0x03: 1, 0x04: 8, 0x07: 1, 0x10: 1, 0x11: 1, 0x30: 9}
    if address not in pages or first + count > pages[address]:
        raise ata.Aborted
    return b"".join(_page(disk, address, number, pages) for number in range(first, first + count))


def _page(disk: SataDisk, address: int, number: int, pages: dict[int, int]) -> bytes:
    page = bytearray(BLOCK)
    match address:
        case 0x00:
            struct.pack_into("<H", page, 0, 1)
            for log, length in pages.items():
                if log:
                    struct.pack_into("<H", page, 2 * log, length)
        case 0x03:
            page[0] = 1
            return ata_words.sealed(page)
        case 0x04:
            return _statistics(disk, number)
        case 0x07:
            page[0] = 1
            for place, test in enumerate(disk.state["self_tests"][:19]):
                struct.pack_into(
                    "<BBH", page, 4 + 26 * place, test["which"], test["status"] << 4, test["hours"]
                )
            return ata_words.sealed(page)
        case 0x10:
            page[0] = 0x80  # no queued command has failed
            return ata_words.sealed(page)
        case 0x11:
            for place, counter in enumerate((0x001, 0x003, 0x004, 0x009, 0x00A, 0x00B)):
                # The identifier says in bits 14:12 how many words its counter has.
                struct.pack_into("<HI", page, 4 + 6 * place, 0x2000 | counter, 0)
            return ata_words.sealed(page)
        case 0x30:
            return _identify_log(disk, number)
    return bytes(page)


def statistic(value: int, *, normalized: bool = False) -> int:
    """Return a device statistic: supported, valid, perhaps normalised, and its number."""
    return 1 << 63 | 1 << 62 | normalized << 61 | value


def _statistics(disk: SataDisk, number: int) -> bytes:
    page = bytearray(BLOCK)
    state, knobs = disk.state, disk.knobs
    if number == 0:
        struct.pack_into("<Q", page, 0, 1)
        page[8] = 1 + len(STATISTICS)
        page[9 : 10 + len(STATISTICS)] = bytes((0, *STATISTICS))
        return bytes(page)
    if number not in STATISTICS:
        return bytes(page)
    signed = knobs.temperature & 0xFF
    values = {
        1: {8: state["power_cycles"], 16: state["hours"], 24: state["written"],
            32: state["written"] // 8, 40: state["read"], 48: state["read"] // 8},
        4: {8: 0, 16: 0},
        5: {8: signed, 32: signed, 40: signed, 80: 0, 88: 70, 96: 0, 104: 0},
        6: {8: 1, 16: 1, 24: 0},
        7: {},
    }[number]  # fmt: skip
    struct.pack_into("<Q", page, 0, number << 16 | 1)
    for at, value in values.items():
        struct.pack_into("<Q", page, at, statistic(value))
    if number == 7:
        struct.pack_into("<Q", page, 8, statistic(knobs.percent_used, normalized=True))
    return bytes(page)


def _identify_log(disk: SataDisk, number: int) -> bytes:
    """Return a page of log 30h: the list of its pages, and the copy of IDENTIFY DEVICE."""
    if number == 1:
        return ata_words.identify(disk)
    page = bytearray(BLOCK)
    if number == 0:
        struct.pack_into("<Q", page, 0, 1)
        page[8:11] = bytes((2, 0, 1))
    return bytes(page)
