"""Held against the original's own functions, whose answers to made-up drives were recorded once.

`reports/original_verdicts.json` and `original_words.json` are what CheckSsdSupport, FillSmartData,
FillSmartThreshold, CheckDiskStatus, GetTransferMode and the head of AddDisk of 9.9.2 answered,
compiled alone with a stand-in for the strings of Windows. The drives were drawn, and of 60,000
those kept that reach each maker, figure, verdict and size in its own way.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from teijo.personas.crystaldiskinfo.rule import verdict_of
from teijo.personas.crystaldiskinfo.sata import sata_of
from tests.personas.crystaldiskinfo.drives import ata

MADE_OF = ("model", "firmware", "ssd", "rows", "words")
REPORTS = Path(__file__).parent / "reports"


def recorded(name: str) -> list[dict[str, Any]]:
    return json.loads((REPORTS / name).read_text("utf-8"))


def answered(one: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what the drive was made of."""
    return {key: one[key] for key in one if key not in MADE_OF}


@pytest.mark.parametrize(
    "maker", sorted({one["names"] for one in recorded("original_verdicts.json")})
)
def test_a_makers_drives_are_seen_and_judged_as_by_the_original(maker: str) -> None:
    cases = [one for one in recorded("original_verdicts.json") if one["names"] == maker]
    for one in cases:
        disk = ata(one["rows"], model=one["model"], ssd=one["ssd"], firmware=one["firmware"])
        seen, verdict = sata_of(disk), verdict_of(disk)
        assert {
            "word": verdict.word, "life": verdict.life_percent, "names": seen.maker.names,
            "mark": seen.maker.mark, "celsius": seen.celsius, "hours": seen.hours,
            "told": seen.told,
        } == answered(one), one  # fmt: skip


def test_identify_device_is_read_as_by_the_original() -> None:
    cases = recorded("original_words.json")
    for one in cases:
        more = {80: 0, 82: 0, 217: 0} | {int(key): value for key, value in one["words"].items()}
        seen = sata_of(ata([(0x09, 99, 0, 3661)], model=one["model"], more=more))
        words = seen.words
        assert {
            "standard": words.standard, "revision": words.revision,
            "modes": list(words.transfer_modes), "interface": words.interface,
            "chs_mb": words.chs_mb, "lba28_mb": words.lba28_mb, "lba48_mb": words.lba48_mb,
            "size_mb": words.size_mb, "sectors": words.sectors,
            "buffer_bytes": words.buffer_bytes, "features": list(words.features),
            "hours": seen.hours,
        } == answered(one), one  # fmt: skip
    assert len(cases) > 20


def test_what_an_ocz_vector_wrote_to_its_flash_is_counted_in_pages_of_16_kib() -> None:
    gib = 2**30 // (16 * 1024)
    disk = ata([(0xF9, 100, 0, 3 * gib)], model="OCZ-VECTOR", ssd=True)
    assert sata_of(disk).told == {"nand_writes_gb": 3}
