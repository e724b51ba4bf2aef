"""How checks come to a verdict: printed numbers decide as exact ones do, and the end is awaited."""

from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teijo.conformance.requirement import Case
from teijo.conformance.verdicts import at_the_end, digits_beside, in_shares, judging, met_if

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


def case(*, is_over: bool) -> Case:
    return cast("Case", SimpleNamespace(is_over=is_over))


@pytest.mark.parametrize(("is_over", "verdict"), [(True, "deviated"), (False, "not verifiable")])
def test_a_verdict_on_a_whole_test_waits_for_its_end(is_over: bool, verdict: str) -> None:
    found = at_the_end(lambda _: met_if(False, "3 of 5"))(case(is_over=is_over))
    assert (found.verdict, found.evidence) == (verdict, "3 of 5")


def test_what_is_not_there_yet_is_not_verifiable() -> None:
    check = judging(lambda _: [], "no round yet")(lambda _, rounds: met_if(True, str(len(rounds))))
    found = check(case(is_over=True))
    assert (found.verdict, found.evidence) == ("not verifiable", "no round yet")


def test_lengths_are_as_many_as_asked_and_each_within_its_shares() -> None:
    def holds(*lengths: float) -> bool:
        return in_shares(lengths, asked=(5, 10), shares=(0.9, 1.1))

    assert holds(4.5, 11)
    assert not holds(4.5, 11.1)
    assert not holds(4.4, 11)
    assert not holds(4.5)
