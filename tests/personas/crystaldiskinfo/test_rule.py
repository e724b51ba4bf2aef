"""The verdict is CrystalDiskInfo's own, test by test of AtaSmart.cpp (CheckDiskStatus, 9.9.2)."""

from dataclasses import replace

import pytest

from teijo.personas.crystaldiskinfo.disk import Disk
from teijo.personas.crystaldiskinfo.rule import verdict_of
from teijo.speech import tongue
from tests.personas.crystaldiskinfo.drives import ata, nvme, with_ids

SAMSUNG = "05 09 0C B1 B3 B5 B6"
SANDFORCE = "01 05 09 0C 0D 64 AA"
MOTION = "01 05 09 0C A0 A1 A3 A4 A5 A6 A7"
PHISON = "01 09 0C A8 AA AD C0 C2 DA E7 F1"


@pytest.mark.parametrize(
    ("claim", "disk", "verdict"),
    [
        ("spare above threshold", nvme(11, 10, 3), "Good (97 %)"),
        ("spare at threshold", nvme(10, 10, 3), "Caution (97 %)"),
        ("spare below threshold", nvme(9, 10, 3), "Bad (97 %)"),
        ("spare 0, threshold 1", nvme(0, 1, 3), "Bad (97 %)"),
        ("threshold 0 is none", nvme(0, 0, 3), "Good (97 %)"),
        ("threshold 101 is none", nvme(0, 101, 3), "Good (97 %)"),
        ("threshold 255 is none", nvme(0, 255, 3), "Good (97 %)"),
        ("both 100 is no caution", nvme(100, 100, 3), "Good (97 %)"),
        ("99 below 100", nvme(99, 100, 3), "Bad (97 %)"),
        ("life 11", nvme(100, 10, 89), "Good (11 %)"),
        ("life 10", nvme(100, 10, 90), "Caution (10 %)"),
        ("life 0", nvme(100, 10, 100), "Caution (0 %)"),
        ("used beyond 100", nvme(100, 10, 255), "Caution (0 %)"),
        ("critical warning 1", nvme(100, 10, 0, warning=1), "Bad (100 %)"),
        ("critical warning of a bit unknown to it", nvme(100, 10, 0, warning=0x80), "Bad (100 %)"),
        ("the spare comes before the life", nvme(10, 10, 95), "Caution (5 %)"),
        ("QEMU", nvme(9, 10, 3, 1, "QEMU NVMe Ctrl"), "Unknown (97 %)"),
        ("VMware", nvme(9, 10, 3, 1, "VMware Virtual NVMe Disk"), "Unknown (97 %)"),
        ("Parallels", nvme(9, 10, 3, 1, "Parallels Virtual"), "Unknown (97 %)"),
        ("QEMU not at the start", nvme(9, 10, 3, 1, "Drive of QEMU"), "Bad (97 %)"),
        ("qemu in small letters", nvme(9, 10, 3, 1, "qemu"), "Bad (97 %)"),
        ("log 02h not read", replace(nvme(100, 10, 0), smart=b""), "Unknown"),
    ],
)
def test_the_verdict_on_nvme_is_the_originals(claim: str, disk: Disk, verdict: str):
    assert (claim, str(verdict_of(disk))) == (claim, verdict)


@pytest.mark.parametrize(
    ("claim", "disk", "verdict"),
    [
        ("05h raw 0", ata([(0x05, 100, 10, 0)]), "Good"),
        ("05h raw 1", ata([(0x05, 100, 10, 1)]), "Caution"),
        ("C5h raw 1", ata([(0xC5, 100, 0, 1)]), "Caution"),
        ("C6h raw 1", ata([(0xC6, 100, 0, 1)]), "Caution"),
        ("05h raw FFFFFFFFh is not counted", ata([(0x05, 100, 0, 0xFFFFFFFF)]), "Good"),
        ("C5h the same under other bytes", ata([(0xC5, 100, 0, 0x12FFFFFFFF)]), "Good"),
        ("C5h raw 10000h: two bytes are looked at", ata([(0xC5, 100, 0, 0x10000)]), "Good"),
        ("C5h raw FFFFh", ata([(0xC5, 100, 0, 0xFFFF)]), "Caution"),
        ("a value at its threshold", ata([(0x05, 10, 10, 0)]), "Good"),
        ("a value below its threshold", ata([(0x05, 9, 10, 0)]), "Bad"),
        ("bad comes before caution", ata([(0x05, 9, 10, 7)]), "Bad"),
        ("C2h never counts", ata([(0x05, 99, 10, 0), (0xC2, 1, 50, 0)]), "Good"),
        ("BEh of a hard disk counts not", ata([(0x05, 99, 0, 0), (0xBE, 1, 45, 0)]), "Good"),
        ("nor does B8h", ata([(0x05, 99, 0, 0), (0xB8, 1, 99, 0)]), "Good"),
        ("helium 16h counts", ata([(0x05, 99, 0, 0), (0x16, 1, 25, 0)]), "Bad"),
        ("BBh counts", ata([(0x05, 99, 0, 0), (0xBB, 1, 2, 0)]), "Bad"),
        ("an id twice", ata([(0x05, 9, 10, 0), (0x05, 9, 10, 0)]), "Unknown"),
        ("no 05h, C5h, C6h of a hard disk", ata([(0x09, 100, 0, 5)]), "Unknown"),
        ("no thresholds of a hard disk", ata([(0x05, 100, 0, 1)], thresholds=False), "Unknown"),
        ("no attribute", ata([]), "Unknown"),
        ("no SMART", ata([(0x05, 9, 10, 0)], more={82: 0}), "Unknown"),
        ("thresholds that are the data", None, "Unknown"),
    ],
)  # fmt: skip
def test_the_verdict_on_a_hard_disk_is_the_originals(claim: str, disk: Disk | None, verdict: str):
    if disk is None:
        told = ata([(0x05, 100, 0, 1)])
        disk = replace(told, thresholds=told.smart)
    assert (claim, str(verdict_of(disk))) == (claim, verdict)


def ssd(ids: str, *rows: tuple[int, int, int, int], model: str = "Drive", **more: object) -> Disk:
    return ata(with_ids(ids, *rows), model=model, ssd=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "disk", "verdict"),
    [
        ("life 11 by B1h", ssd(SAMSUNG, (0xB1, 11, 0, 0)), "Good (11 %)"),
        ("life 10", ssd(SAMSUNG, (0xB1, 10, 0, 0)), "Caution (10 %)"),
        ("life 1", ssd(SAMSUNG, (0xB1, 1, 0, 0)), "Caution (1 %)"),
        ("life 0 is bad, and is not shown", ssd(SAMSUNG, (0xB1, 0, 0, 0)), "Bad"),
        ("life below its threshold", ssd(SAMSUNG, (0xB1, 11, 12, 0)), "Bad (11 %)"),
        ("life above 100 is good, and is not shown", ssd(SAMSUNG, (0xB1, 200, 0, 0)), "Good"),
        ("05h of an SSD is no caution", ssd(SAMSUNG, (0x05, 100, 0, 9)), "Good (100 %)"),
        ("any id of an SSD counts", ssd(SAMSUNG, (0xB3, 9, 10, 0)), "Bad (100 %)"),
        ("but C2h", ssd(SAMSUNG, (0xC2, 9, 10, 0)), "Good (100 %)"),
        ("E9h of Samsung's for servers",
         ssd(SAMSUNG, (0xE9, 10, 0, 0), model="SAMSUNG MZ7LH960"), "Caution (10 %)"),
        ("E9h of others of Samsung's is none", ssd(SAMSUNG, (0xE9, 10, 0, 0)), "Good (100 %)"),
        ("nobody's SSD without thresholds", ssd("01 02 03"), "Unknown"),
        ("nobody's SSD with one", ssd("01 02 03", (0x03, 50, 50, 0)), "Good"),
        ("a threshold of C2h alone is one", ssd("01 02", (0xC2, 1, 50, 0)), "Good"),
        ("an SSD by its name", ata([(0x05, 9, 0, 1)], model="Some SSD", more={217: 0}), "Unknown"),
        ("SSD whose thresholds were not read",
         ssd(SAMSUNG, (0xB1, 99, 0, 0), thresholds=False), "Good (99 %)"),
        ("E7h by the raw value, whatever the value",
         ssd(PHISON, (0xE7, 100, 0, 5)), "Caution (5 %)"),
        ("raw life 0", ssd(PHISON, (0xE7, 100, 0, 0)), "Bad"),
        ("raw life has no threshold", ssd(PHISON, (0xE7, 100, 50, 40)), "Good (40 %)"),
        ("A9h raw of Silicon Motion", ssd(MOTION, (0xA9, 100, 0, 10)), "Caution (10 %)"),
        ("A9h value of its exceptions",
         ssd(MOTION, (0xA9, 99, 0, 10), model="tecmiyo"), "Good (99 %)"),
        ("SK hynix counts up: 100 - raw",
         ssd("01", (0xE9, 100, 0, 0), (0xE7, 0, 0, 95), model="HFS128TND"), "Caution (5 %)"),
        ("100 - raw 101 is no life at all",
         ssd("01", (0xE7, 0, 0, 101), model="HFS128TND"), "Good"),
        ("100 - raw 102 is a caution", ssd("01", (0xE7, 0, 0, 102), model="HFS128TND"), "Caution"),
        ("E6h of WDC: 100 - the second raw byte",
         ssd("01", (0xE6, 1, 0, 90 << 8), model="WDC WDS500"), "Caution (10 %)"),
        ("E6h of WDC used up", ssd("01", (0xE6, 1, 0, 100 << 8), model="WDC WDS500"), "Bad"),
        ("E6h of SanDisk in hundredths",
         ssd("01", (0xE6, 1, 0, 8900), model="SanDisk SDSSDP064G"), "Good (11 %)"),
        ("E8h of a SanDisk stick never counts",
         ssd("01", (0xE8, 0, 5, 0), (0xE6, 1, 0, 0), model="SanDisk SSD U100"), "Good"),
        ("C9h of SanDisk for HP, life 0 is shown",
         ssd("01", (0xC9, 0, 0, 0), model="SanDisk SD9SB8W-1006"), "Bad (0 %)"),
        ("CAh of Micron", ssd("01", (0xCA, 10, 0, 0), model="Crucial_CT"), "Caution (10 %)"),
        ("E8h of Plextor", ssd("01", (0xE8, 10, 0, 0), model="PLEXTOR PX"), "Caution (10 %)"),
        ("E9h of Intel", ssd("01", (0xE9, 10, 0, 0), model="INTEL SSDSC2"), "Caution (10 %)"),
        ("E7h of Seagate is shown and not judged",
         ssd("01", (0xE7, 5, 0, 5), (0x05, 99, 1, 0), model="Seagate BarraCuda"), "Good (5 %)"),
        ("ADh of Toshiba is shown and not judged",
         ssd("01", (0xAD, 105, 0, 0), model="TOSHIBA THNSNC"), "Unknown (5 %)"),
        ("ADh of Kioxia is judged as it stands",
         ssd("01", (0xAD, 105, 0, 0), model="KIOXIA-EXCERIA"), "Good (5 %)"),
        ("01h of SandForce at 0", ssd(SANDFORCE, (0x01, 0, 50, 0)), "Good"),
        ("01h of SandForce at 0 with a count",
         ssd(SANDFORCE, (0x01, 0, 50, 1)), "Bad"),
        ("a firmware with wrong thresholds",
         ssd(SANDFORCE, (0x05, 1, 50, 0), model="OCZ-VERTEX3", firmware="2.02"), "Unknown"),
        ("another firmware of it",
         ssd(SANDFORCE, (0x05, 1, 50, 0), model="OCZ-VERTEX3", firmware="2.15"), "Bad"),
        ("JMicron 60x has no thresholds",
         ssd("0C 09 C2 E5 E8 E9", (0xE8, 1, 50, 0)), "Good"),
        ("the byte after raw is Micron's threshold where none is told", None, "Bad"),
    ],
)  # fmt: skip
def test_the_verdict_on_an_ssd_is_the_originals(claim: str, disk: Disk | None, verdict: str):
    if disk is None:
        told = ata([(0x05, 9, 0, 0)], model="MICRON P400", ssd=True)
        data = bytearray(told.smart)
        data[2 + 11] = 10
        disk = replace(told, smart=bytes(data), thresholds=bytes(512))
    assert (claim, str(verdict_of(disk))) == (claim, verdict)


def test_a_verdict_says_which_numbers_decided_it():
    assert verdict_of(ata([(0xC5, 100, 0, 3)])).rule == "C5h: raw 3 >= 1"
    assert verdict_of(nvme(9, 10, 3)).rule == "spare 9 % < threshold 10 %"
    several = ata([(0x05, 1, 10, 0), (0x16, 1, 25, 0)])
    assert verdict_of(several).rule == "05h: value 1 < threshold 10; 16h: value 1 < threshold 25"


def test_of_a_drive_whose_own_bytes_it_does_not_know_it_says_nothing():
    verdict = verdict_of(Disk(kind="other", model="SAS"))
    assert (verdict.word, verdict.life_percent) == ("Unknown", None)


def test_what_decided_is_said_in_japanese() -> None:
    told = [
        verdict_of(disk).rule
        for disk in (
            nvme(9, 10, 3), nvme(10, 10, 3), nvme(100, 10, 0), nvme(100, 10, 95),
            nvme(100, 10, 0, warning=1), nvme(100, 10, 0, model="QEMU"),
            replace(nvme(100, 10, 0), smart=b""), Disk(kind="other", model="SAS"),
            ata([]), ata([(0x05, 9, 0, 0)], thresholds=False), ata([(0x05, 9, 10, 0)]),
            ata([(0x05, 99, 0, 0)]), ata([(0x05, 99, 0, 1)]), ata([(0x09, 9, 0, 0)]),
            ata([(0x05, 9, 10, 0), (0x05, 9, 10, 0)]),
            ssd(SANDFORCE, model="OCZ-VERTEX3", firmware="2.02"),
            ssd(SAMSUNG, (0xB1, 5, 0, 0)), ssd(PHISON, (0xE7, 100, 0, 0)),
        )
    ]  # fmt: skip
    tongue.speak("ja")
    try:
        left = [rule for rule in told if tongue.said(rule) == rule]
    finally:
        tongue.speak("en")
    assert left == []
