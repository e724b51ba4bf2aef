"""The verdict on a drive's own numbers, at and around every limit."""

import pytest

from teijo.device.health.ata_data import Attribute
from teijo.device.health.verdict import of_attributes, of_counters, of_exception
from teijo.terms.drive_warning import COUNTER


def spare(percent: int, threshold: int) -> dict[str, int]:
    return {"available_spare_percent": percent, "spare_threshold_percent": threshold}


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ({}, "unknown"),
        ({"power_on_hours": 9}, "unknown"),
        ({COUNTER: 0}, "good"),
        *(({COUNTER: 1 << bit}, "bad") for bit in range(8)),
        (spare(11, 10), "good"),
        (spare(10, 10), "caution"),
        (spare(9, 10), "bad"),
        ({"available_spare_percent": 0}, "unknown"),
        ({"percentage_used": 99}, "good"),
        ({"percentage_used": 100}, "caution"),
        ({"percentage_used": 255}, "caution"),
        ({"media_errors": 0}, "good"),
        ({"media_errors": 1}, "caution"),
        ({COUNTER: 4, "percentage_used": 100}, "bad"),
        ({COUNTER: 0, "media_errors": 1 << 100}, "caution"),
    ],
)
def test_the_worst_of_the_counters_is_the_verdict(counts, word):
    assert of_counters(counts).word == word


def attribute(
    number: int, value: int, threshold: int | None, raw: int = 0, flags: int = 1
) -> Attribute:
    return Attribute(
        number=number, flags=flags, value=value, worst=value, threshold=threshold, raw=raw
    )


@pytest.mark.parametrize(
    ("found", "passed", "word"),
    [
        ([], None, "unknown"),
        ([], True, "good"),
        ([], False, "bad"),
        ([attribute(1, 51, 50)], None, "good"),
        ([attribute(1, 50, 50)], None, "bad"),
        ([attribute(1, 50, 50, flags=0)], True, "caution"),
        ([attribute(1, 0, 0)], None, "unknown"),
        ([attribute(1, 1, 0xFF)], None, "unknown"),
        ([attribute(1, 1, None)], True, "good"),
        ([attribute(0xC2, 30, 45)], True, "caution"),
        *(([attribute(number, 100, 10, raw=1)], True, "caution") for number in (5, 0xC5, 0xC6)),
        ([attribute(5, 100, 10, raw=0)], True, "good"),
        ([attribute(5, 100, None, raw=0xFFFFFFFF)], None, "unknown"),
        ([attribute(5, 100, 10, raw=7 << 32)], None, "good"),
        ([attribute(5, 100, 10, raw=1), attribute(1, 9, 10)], True, "bad"),
    ],
)
def test_attributes_are_judged_by_their_thresholds_and_their_lost_sectors(found, passed, word):
    assert of_attributes(found, passed).word == word


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (None, "unknown"),
        ((0, 0), "good"),
        ((0x5D, 0x10), "bad"),
        ((0x0B, 1), "caution"),
        ((0x29, 0), "unknown"),
    ],
)
def test_a_scsi_drives_own_exception_is_heard(code, word):
    assert of_exception(code).word == word


def test_a_reason_has_its_numbers_and_its_source():
    (reason,) = of_counters(spare(9, 10)).reasons
    assert reason.numbers == "spare 9 %, threshold 10 %"
    assert "bytes 3 and 4" in reason.source
