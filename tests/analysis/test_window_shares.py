"""Percentages of a window decide, as they are printed, as its whole numbers do."""

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from teijo.analysis.steady_state import window_of
from teijo.analysis.window_shares import (
    range_percent,
    share_digits,
    share_percent,
    slope_percent,
)


def test_a_share_of_nothing_is_not_known() -> None:
    assert share_percent(1.0, 0.0) is None
    assert share_percent(1.0, 8.0) == 12.5


@given(st.lists(st.integers(1, 10**12), min_size=5, max_size=5), st.integers(1, 10**9))
@example([9_000_001, 11_000_002, 10_000_001, 11_000_000, 9_000_001], 1)
@example([9 * 10**15, 11 * 10**15, 10**16, 11 * 10**15 + 1, 9 * 10**15], 7)
@example([9 * 10**15, 11 * 10**15, 10**16, 11 * 10**15, 9 * 10**15], 3)
def test_printed_percentages_of_a_window_decide_as_its_whole_numbers_do(
    values: list[int], unit: int
) -> None:
    window = window_of(1, [Fraction(value, unit) for value in values])
    digits = share_digits([window], least=3)
    spread, rise = range_percent(window), slope_percent(window)
    assert spread is not None
    assert rise is not None
    assert (float(f"{spread:.{digits}f}") <= 20) == window.range_ok
    assert (float(f"{rise:.{digits}f}") <= 10) == window.slope_ok
