"""Held against a report that the original itself wrote: line by line, and its verdicts."""

from dataclasses import replace
from datetime import datetime

import pytest

from teijo.personas.crystaldiskinfo.disk import Disk
from teijo.personas.crystaldiskinfo.rule import verdict_of
from teijo.personas.crystaldiskinfo.text import text_of
from tests.personas.crystaldiskinfo import published
from tests.personas.crystaldiskinfo.drives import ata, nvme, with_ids

DATE = datetime(2026, 1, 24, 18, 22, 22)


def written() -> str:
    return text_of(
        published.disks(), system="Windows", date=DATE, version="9.7.2", years="2008-2025"
    )


def test_the_text_is_the_published_one_line_by_line():
    ours = published.without_host(written().split("\r\n"))
    assert ours.pop() == ""
    theirs = published.lines()
    assert ours == [*theirs, ""]
    assert len(theirs) > 360


def test_every_line_ends_as_the_original_ends_it():
    assert written().count("\n") == written().count("\r\n")


def test_the_verdicts_are_those_that_were_published():
    assert [str(verdict_of(disk)) for disk in published.disks()] == [
        "Good (97 %)", "Good (100 %)", "Good (99 %)",
    ]  # fmt: skip


def text_of_one(disk: Disk) -> str:
    return text_of([disk], system="Linux", date=DATE)


def test_one_line_ends_in_lf_alone_where_the_queue_depth_is_out_of_range():
    text = text_of_one(ata([(0x05, 100, 0, 0)], more={75: 32}))
    assert "     Queue Depth : 1\n    # of Sectors" in text
    assert text.count("\n") == text.count("\r\n") + 1
    assert "     Queue Depth : 32\r\n" in text_of_one(ata([], more={75: 31}))


@pytest.mark.parametrize(
    ("ids", "row", "title", "line"),
    [
        ("", (0x05, 99, 7, 0x1234), "ID Cur Wor Thr RawValues(6) Attribute Name",
         "05 _99 _99 __7 000000001234 Reallocated Sectors Count"),
        ("01 05 09 0C 0D 64 AA", (0x05, 100, 3, 0xAB),
         "ID Cur Wor Thr Raw Values (7) Attribute Name",
         "05 100 100 __3 000000000000AB Retired Block Count"),
        ("0C 09 C2 E5 E8 E9", (0xE9, 0x64, 0, 0xAB), "ID Raw Values (8)   Attribute Name",
         "E9 100 000000000000AB32 ECC Fail Record"),
        ("01 09 0C B8 C3 C4", (0x0C, 0x64, 0, 0xAB), "ID Raw Values (8)   Attribute Name",
         "0C 0000000000AB3264 Power Cycle Count"),
    ],
)  # fmt: skip
def test_a_table_has_the_columns_of_its_maker(
    ids: str, row: tuple[int, int, int, int], title: str, line: str
):
    disk = ata(with_ids(ids, row), ssd=bool(ids))
    if title.startswith("ID Raw"):
        # The byte after the value is the worst; here it is another one.
        data = bytearray(disk.smart)
        data[2 + 12 * ids.split().index(f"{row[0]:02X}") + 4] = 0x32
        disk = replace(disk, smart=bytes(data))
    lines = text_of_one(disk).split("\r\n")
    assert title in lines
    assert line in lines


def test_thresholds_that_were_not_read_are_dashes_and_have_no_dump():
    text = text_of_one(ata([(0x05, 99, 7, 0)], thresholds=False))
    assert "\r\n05 _99 _99 --- 000000000000 Reallocated Sectors Count\r\n" in text
    assert "SMART_READ_THRESHOLD" not in text


def test_what_an_old_drive_tells_is_said_as_the_original_says_it():
    hours = (0x09, 99, 0, 6000)
    assert "Power On Hours : 100 hours (?)\r\n" in text_of_one(ata([hours], model="MAXTOR 6Y"))
    assert "Power On Hours : 6000 hours\r\n" in text_of_one(ata([hours], model="Drive"))
    large = {21: 0xFFFF}
    assert "Buffer Size : >= 32767 KB\r\n" in text_of_one(ata([], ssd=True, more=large))
    assert "Buffer Size : 32767 KB\r\n" in text_of_one(ata([], more=large))
    assert "Rotation Rate : 7200 RPM\r\n" in text_of_one(ata([]))
    with_cache = {80: 1 << 9, 214: 1, 215: 0x2000, 216: 1}
    assert "   NV Cache Size : 36 MB\r\n" in text_of_one(ata([], more=with_cache))
    assert "APM Level : 0101h [ON]" in text_of_one(ata([], more={83: 8, 86: 8, 91: 0x101}))


def test_a_temperature_below_zero_is_cut_towards_zero():
    cold = nvme(100, 10, 0)
    log = bytearray(cold.smart)
    log[1:3] = (273 - 7).to_bytes(2, "little")
    # -63 fifths are -12.
    text = text_of_one(replace(cold, smart=bytes(log)))
    assert "     Temperature : -7 C (20 F)\r\n" in text


def test_rows_that_an_nvme_drive_has_not_are_left_out():
    plain = nvme(100, 10, 0)
    able = bytearray(plain.identify)
    able[266:268], able[324:326] = b"\x66\x01", b"\x41\x01"
    heads = [f"\r\n{number:02X} 000000000000 " for number in (0x10, 0x11, 0x1A, 0x1D)]
    text = text_of_one(plain)
    assert [head for head in heads if head in text] == []
    text = text_of_one(replace(plain, identify=bytes(able)))
    assert [head for head in heads if head in text] == heads


def test_a_drive_behind_a_bridge_has_its_enclosure():
    disk = replace(
        ata([(0x05, 100, 0, 0)]), enclosure="Maker Box", usb_ids=("152d", "0578"), command="sa1",
        interface="USB (Serial ATA)", address="2/X/X", adapter="xhci_hcd",
    )  # fmt: skip
    text = text_of_one(disk)
    assert " [2/X/X, sa1] (V=152D, P=0578)\r\n" in text
    assert "       Enclosure : Maker Box (V=152D, P=0578, sa1)\r\n" in text
    assert "       Interface : USB (Serial ATA)\r\n" in text
    assert " + xhci_hcd [ATA]\r\n   - Drive\r\n" in text


def test_what_a_drive_sends_moves_no_cursor():
    hostile = nvme(100, 10, 0, model="A\x1b[2J\r\nB")
    text = text_of_one(hostile)
    assert "\x1b" not in text
    assert text.count("\n") == text.count("\r\n")
    assert r"Model : A\x1b[2J\r\nB" in text
