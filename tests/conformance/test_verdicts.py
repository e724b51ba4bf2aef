"""Printed numbers decide as the exact ones do: against their limits."""

from hypothesis import example, given
from hypothesis import strategies as st

from teijo.conformance.verdicts import digits_beside

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
