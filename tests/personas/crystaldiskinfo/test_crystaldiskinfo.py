"""CrystalDiskInfo's text: its lines of what is known, none of what is not, and its verdicts."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import TargetError, UsageError
from teijo.personas.crystaldiskinfo.persona import CrystalDiskInfoPersona
from teijo.personas.crystaldiskinfo.text import Disk, health_of, text_of
from teijo.personas.persona import Call, Said
from teijo.terms.drive_warning import COUNTER
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


@pytest.mark.parametrize(
    ("counters", "verdict"),
    [
        ({}, "Unknown"),
        ({COUNTER: 0}, "Good"),
        ({"percentage_used": 89}, "Good (11 %)"),
        ({"percentage_used": 90}, "Caution (10 %)"),
        ({"percentage_used": 140}, "Caution (0 %)"),
        ({COUNTER: 4, "percentage_used": 3}, "Bad (97 %)"),
    ],
)
def test_health_is_judged_by_warnings_and_by_the_life_that_is_left(counters, verdict):
    assert health_of(counters) == verdict


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
