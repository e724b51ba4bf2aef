"""Endurance: told, or inferred from counters, with the interval that whole percents leave."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.endurance import endurance_from, endurance_told

TB = 10**12


def test_a_drive_at_seven_percent_after_42_tb_is_rated_for_600_more_or_less() -> None:
    found = endurance_from({"percentage_used": 7, "host_writes_bytes": 42 * TB})
    assert found is not None
    assert found.rated_bytes == 600 * TB
    assert found.low_bytes == 525 * TB
    assert found.high_bytes == pytest.approx(646.15 * TB, rel=1e-4)
    assert found.source == "estimated from 7 % used after 42 TB written"
    assert found.share(6 * TB) == 0.01


@given(
    rated=st.integers(min_value=10 * TB, max_value=10**5 * TB),
    used=st.fractions(min_value=Fraction(1, 100), max_value=Fraction(254, 100)),
    nearest=st.booleans(),
)
def test_the_true_rating_is_within_the_ends_however_percents_were_rounded(
    rated: int, used: Fraction, nearest: bool
) -> None:
    percent = int(used * 100 + (Fraction(1, 2) if nearest else 0))
    found = endurance_from({"percentage_used": percent, "host_writes_bytes": int(rated * used)})
    if percent > 254:
        assert found is None
        return
    assert found is not None
    assert found.low_bytes - 1 <= rated <= found.high_bytes + 200


@pytest.mark.parametrize(
    "health",
    [
        {},
        {"percentage_used": 7},
        {"host_writes_bytes": TB},
        {"percentage_used": 0, "host_writes_bytes": TB},
        {"percentage_used": 255, "host_writes_bytes": TB},
        {"percentage_used": 5, "host_writes_bytes": 0},
    ],
)
def test_counters_that_say_too_little_imply_nothing(health: dict[str, int]) -> None:
    assert endurance_from(health) is None


def test_a_data_sheet_has_no_interval() -> None:
    told = endurance_told(600 * TB)
    assert (told.low_bytes, told.rated_bytes, told.high_bytes) == (600 * TB,) * 3
    assert told.source == "as told"
