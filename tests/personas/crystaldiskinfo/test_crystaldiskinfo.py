"""CrystalDiskInfo's text: its lines of what is known, none of what is not, and its verdicts."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.device.health import Unreadable, read_counters
from teijo.device.tiers import AskedCounters
from teijo.errors import TargetError, UsageError
from teijo.personas.crystaldiskinfo import persona
from teijo.personas.crystaldiskinfo.persona import CrystalDiskInfoPersona
from teijo.personas.crystaldiskinfo.text import Disk, health_of, text_of
from teijo.personas.persona import Call, Said
from teijo.terms.drive_warning import COUNTER
from tests.device.test_reading import nvme_with, smart_log
from tests.methods.canned import IDENTITY

NOW = datetime(2026, 11, 23, 8, 0, 10)
COUNTERS = {
    COUNTER: 0,
    "temperature_kelvin": 313,
    "percentage_used": 1,
    "host_reads_bytes": 512_000 * 0x1234,
    "host_writes_bytes": 10 * 1024**3,
    "power_on_hours": 1234,
}
TEXT = """\
----------------------------------------------------------------------------
CrystalDiskInfo 8.12.7 (C) 2008-2021 hiyohiyo
                                Crystal Dew World: https://crystalmark.info/
----------------------------------------------------------------------------

    OS : Linux
  Date : 2026/11/23 8:00:10

-- Disk List ---------------------------------------------------------------
 (01) Example Drive : 200.0 GB

----------------------------------------------------------------------------
 (01) Example Drive
----------------------------------------------------------------------------
           Model : Example Drive
        Firmware : F1
   Serial Number : S1
       Disk Size : 200.0 GB
       Interface : NVM Express
  Power On Hours : 1234 hours
      Host Reads : 2 GB
     Host Writes : 10 GB
     Temperature : 40 C (104 F)
   Health Status : Good (99 %)

-- S.M.A.R.T. --------------------------------------------------------------
ID RawValues(6) Attribute Name
01 000000000000 Critical Warning
02 000000000139 Composite Temperature
05 000000000001 Percentage Used
06 000000001234 Data Units Read
07 0000000051EB Data Units Written
0C 0000000004D2 Power On Hours

"""


def told(*words: str) -> Said:
    call = Call(words=words, like="", folder=Path(), now=NOW)
    said = CrystalDiskInfoPersona().order("crystaldiskinfo", call)
    assert isinstance(said, Said)
    return said


def test_every_line_of_what_is_known_is_where_the_original_has_it():
    disk = Disk(identity=IDENTITY, capacity_bytes=200_000_000_000, counters=COUNTERS)
    text = text_of([disk], version="8.12.7", system="Linux", date=NOW)
    assert text.replace("\r\n", "\n") == TEXT


def vector(spare: int, threshold: int, used: int, warning: int = 0) -> dict[str, int]:
    return {
        COUNTER: warning,
        "available_spare_percent": spare,
        "spare_threshold_percent": threshold,
        "percentage_used": used,
    }


@pytest.mark.parametrize(
    ("counters", "verdict"),
    [
        ({}, "Unknown"),
        ({COUNTER: 0}, "Good"),
        ({COUNTER: 1}, "Bad"),
        ({"percentage_used": 89}, "Good (11 %)"),
        ({"percentage_used": 90}, "Caution (10 %)"),
        ({"percentage_used": 99}, "Caution (1 %)"),
        ({"percentage_used": 140}, "Caution (0 %)"),
        ({COUNTER: 4, "percentage_used": 3}, "Bad (97 %)"),
        (vector(100, 10, 0), "Good (100 %)"),
        (vector(100, 10, 0, warning=1), "Bad (100 %)"),
        (vector(100, 10, 0, warning=0x80), "Bad (100 %)"),
        (vector(11, 10, 3), "Good (97 %)"),
        (vector(10, 10, 3), "Caution (97 %)"),
        (vector(9, 10, 3), "Bad (97 %)"),
        (vector(0, 1, 3), "Bad (97 %)"),
        (vector(0, 0, 3), "Good (97 %)"),
        (vector(0, 101, 3), "Good (97 %)"),
        (vector(0, 255, 3), "Good (97 %)"),
        (vector(100, 100, 3), "Good (97 %)"),
        (vector(99, 100, 3), "Bad (97 %)"),
        (vector(10, 10, 95), "Caution (5 %)"),
        (vector(9, 10, 255), "Bad (0 %)"),
        (vector(100, 10, 255), "Caution (0 %)"),
    ],
)
def test_the_verdict_is_the_originals(counters, verdict):
    assert health_of(counters) == verdict


@pytest.mark.parametrize(
    ("model", "verdict"),
    [
        ("QEMU NVMe Ctrl", "Unknown (97 %)"),
        ("VMware Virtual NVMe Disk", "Unknown (97 %)"),
        ("Parallels Virtual NVMe", "Unknown (97 %)"),
        ("Drive of QEMU", "Bad (97 %)"),
        ("qemu", "Bad (97 %)"),
    ],
)
def test_of_a_virtual_drive_the_original_says_nothing(model, verdict):
    assert health_of(vector(9, 10, 3, warning=1), model) == verdict


def test_the_whole_log_of_an_nvme_drive_is_in_the_table(monkeypatch):
    nvme_with(monkeypatch, {2: smart_log()})
    disk = Disk(identity=IDENTITY, capacity_bytes=1, counters=read_counters(3).counts)
    lines = text_of([disk], version="1", system="Linux", date=NOW).split("\r\n")
    start = lines.index("ID RawValues(6) Attribute Name") + 1
    ids = [line.split()[0] for line in lines[start:] if line]
    # The drive has two sensors, 12h and 13h; 1Ah is the first of thermal management.
    assert ids == [f"{n:02X}" for n in (*range(0x01, 0x14), *range(0x1A, 0x1E))]
    assert "0F 000000000000 Number of Error Information Log Entries" in lines  # 2^100, cut
    assert "13 000000000140 Temperature Sensor 2" in lines
    assert "1D 000000000022 Total Time For Thermal Management Temperature 2" in lines
    assert "  Power On Count : 6 count" in lines


def test_a_drive_that_tells_nothing_itself_is_asked_by_another_program(monkeypatch):
    def refuses(_fd):
        raise Unreadable("no")

    monkeypatch.setattr(persona, "read_counters", refuses)
    monkeypatch.setattr(persona, "asked_counters", lambda _fd: AskedCounters({COUNTER: 2}))
    assert persona._counters(3) == {COUNTER: 2}


def test_what_is_not_known_of_a_simulated_drive_is_left_out():
    said = told("sim:mlc-a")
    assert "           Model : Simulated MLC-A\r\n" in said.stdout
    assert "Power On Hours" not in said.stdout
    assert "S.M.A.R.T." not in said.stdout
    assert said.files == (("CrystalDiskInfo_20261123080010.txt", said.stdout.encode()),)


def test_what_is_no_drive_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 2**20)
    for words in ((), (str(tmp_path / "file"),)):
        with pytest.raises((UsageError, TargetError)) as refused:
            told(*words)
        assert refused.value.remedy
    assert "Usage" in told("--help").stdout
