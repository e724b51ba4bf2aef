"""Printed numbers decide as the exact ones do: against their limits, and of steady state."""

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from teijo.analysis.steady_state import window_of
from teijo.methods.pts.ledger.figures import digits_beside
from teijo.methods.pts.window_pages import range_percent, share_digits, slope_percent

NEAR = st.integers(-(10**9), 10**9)


@given(limit=st.sampled_from((1.01, 20.0, 252.0, 0.99)), off=NEAR, least=st.integers(2, 4))
@example(limit=252.0, off=0, least=3)
@example(limit=252.0, off=-1, least=3)
@example(limit=20.0, off=1, least=3)
def test_a_printed_number_is_on_the_side_of_its_limit_where_it_is(
    limit: float, off: int, least: int
) -> None:
    value = limit + off * 1e-9
    digits = digits_beside([(value, limit)], least=least)
    printed, beside = (float(f"{number:.{digits}f}") for number in (value, limit))
    assert (printed < beside, printed > beside) == (value < limit, value > limit)
    assert digits >= least


def test_a_number_far_from_its_limit_has_the_usual_digits() -> None:
    assert digits_beside([(0.9987, 1.01), (0.9, 0.5)], least=4) == 4
    assert digits_beside([(1.01004, 1.01)], least=4) == 5
    assert digits_beside([], least=3) == 3


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
