"""Warnings of a drive: NVMe's bits by name, and the names a person may type."""

import pytest

from teijo.errors import UsageError
from teijo.terms.drive_warning import (
    MEANINGS,
    REFUSING,
    DriveWarning,
    accepted,
    named_in_bits,
    shown_in,
    told_in,
)


def test_each_bit_of_the_standard_has_its_name() -> None:
    assert named_in_bits(0) == ()
    names = [named_in_bits(1 << bit) for bit in range(8)]
    assert [each for (each,) in names] == [
        "spare-low",
        "temperature",
        "reliability-degraded",
        "read-only",
        "backup-failed",
        "persistent-memory",
        "unnamed",
        "unnamed",
    ]
    assert len(named_in_bits(0xFF)) == len(DriveWarning) == len(MEANINGS)


def test_a_run_is_refused_by_the_third_and_the_fourth_bit_alone() -> None:
    refusing = [bit for bit in range(8) if set(named_in_bits(1 << bit)) & REFUSING]
    assert refusing == [2, 3]


def test_warnings_are_read_out_of_counters_with_the_member_that_gives_them() -> None:
    assert shown_in({"critical_warning": 10, "media_errors": 4}) == {
        ("", DriveWarning.TEMPERATURE),
        ("", DriveWarning.READ_ONLY),
    }
    assert shown_in({"critical_warning_member_2": 1, "critical_warning_member_x": 255}) == {
        ("2", DriveWarning.SPARE_LOW)
    }


def test_a_name_inside_another_word_is_not_taken_for_it() -> None:
    assert told_in("warns: persistent-memory, read-only (smartctl)") == {
        DriveWarning.PERSISTENT_MEMORY,
        DriveWarning.READ_ONLY,
    }
    assert told_in("no warning (NVMe SMART log)") == frozenset()
    assert told_in("unknown: /dev/not-read-only is another drive") == frozenset()


def test_names_may_be_given_apart_or_with_commas_in_either_case() -> None:
    both = {DriveWarning.READ_ONLY, DriveWarning.TEMPERATURE}
    assert accepted(["read-only,temperature"]) == both
    assert accepted(["Read-Only", " temperature "]) == both
    assert accepted([]) == frozenset()


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("readonly", "read-only"), ("reliability", "reliability-degraded"), ("spare", "spare-low")],
)
def test_a_wrong_name_is_met_with_the_nearest_and_the_whole_list(wrong: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}'") as caught:
        accepted([wrong])
    assert caught.value.exit_code == 2
    assert all(one.value in caught.value.remedy for one in DriveWarning)


@pytest.mark.parametrize("wrong", ["", "all", "read-only,", "x" * 10**6, "\x1b[2J"])
def test_what_is_no_name_is_a_short_refusal(wrong: str) -> None:
    with pytest.raises(UsageError) as caught:
        accepted([wrong])
    assert len(str(caught.value)) < 1000
