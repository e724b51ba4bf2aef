"""The determination of numbers from anywhere, against the whitepaper's worked example."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from teijo import api
from teijo.document.model import Facts, Table, Verdict
from teijo.errors import UsageError
from teijo.methods.pts.determination import determination_document, determination_of

FIGURE_9 = (1706.071556, 1614.799196)
"""The least-squares line at rounds 14 and 18 (whitepaper figure 9)."""


def test_the_worked_example_of_figure_nine_has_its_slope_excursion() -> None:
    first, last = FIGURE_9
    line = [first + (last - first) * step / 4 for step in range(5)]
    (state,) = determination_of({"RND 4 KiB": line}, "IOPS")
    window = state.windows[0]
    assert window.average == pytest.approx(1660.435376, abs=1e-6)
    assert window.slope == pytest.approx(-22.81809, abs=1e-6)
    assert window.slope_excursion / window.average * 100 == pytest.approx(5.497, abs=5e-4)
    assert window.steady


def test_a_document_has_a_row_for_each_window_with_what_failed() -> None:
    states = determination_of({"x": [1, 1, 1, 1, 1.3, 1, 1, 1, 1, 1]}, "ms")
    document = determination_document(states)
    blocks = document.sections[0].blocks
    (verdict,) = [block for block in blocks if isinstance(block, Verdict)]
    (table,) = [block for block in blocks if isinstance(block, Table)]
    assert verdict.good
    assert [row[0] for row in table.rows] == ["1–5", "2–6", "3–7", "4–8", "5–9", "6–10"]
    beside, middle = "no: range, slope", "no: range"
    expected = [beside, beside, middle, beside, beside, "yes"]
    assert [row[-1] for row in table.rows] == expected


def test_a_share_that_failed_is_printed_beyond_its_limit() -> None:
    # "20.00 %: no" would be read as an error of judgement.
    over = [Fraction(9), Fraction(11), Fraction(10), Fraction(11), Fraction(9) - Fraction(1, 10**6)]
    document = determination_document(determination_of({"x": over}, "IOPS"))
    table = next(block for block in document.sections[0].blocks if isinstance(block, Table))
    digits = table.columns[4].digits
    assert digits is not None
    (share,) = [row[4] for row in table.rows]
    assert isinstance(share, float)
    assert float(f"{share:.{digits}f}") > 20
    assert table.rows[0][-1] == "no: range"
    facts = next(block for block in document.sections[-1].blocks if isinstance(block, Facts))
    told = dict(facts.rows)["Data excursion"]
    assert "20.0000 %" not in told
    assert "FAIL" in told


def test_a_share_on_its_limit_is_printed_with_two_digits_and_passes() -> None:
    document = determination_document(determination_of({"x": [0.9, 1.1, 1.0, 1.1, 0.9]}, "s"))
    table = next(block for block in document.sections[0].blocks if isinstance(block, Table))
    assert (table.columns[4].digits, table.rows[0][-1]) == (2, "yes")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({}, "No values"),
        ({"a": []}, "a has no values"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "a has 2, b has 1"),
        ({"a": [1.0, math.nan]}, "'nan' (round 2 of a)"),
        ({"a": [1.0, math.inf]}, "'inf' (round 2 of a)"),
        ({"a": [Decimal("sNaN")]}, "'sNaN' (round 1 of a)"),
        ({"a": [1e101]}, "'1e+101' (round 1 of a)"),
        ({"a": [1e-300]}, "'1e-300' (round 1 of a)"),
        ({"a": [10**5000]}, "(round 1 of a)"),
        ({"a": ["12"]}, "'12' (round 1 of a)"),
        ({"a": [1 + 2j]}, "(round 1 of a)"),
        ([1.0, 2.0], "not named"),
    ],
)
def test_what_no_measurement_has_is_an_error_that_names_its_place(
    values: dict[str, list[float]], complaint: str
) -> None:
    with pytest.raises(UsageError) as told:
        api.steady(values, "IOPS")
    assert complaint in told.value.message
    assert told.value.remedy


def test_values_of_zero_are_never_steady() -> None:
    document = determination_document(determination_of({"x": [0.0] * 5}, "IOPS"))
    verdict, _, table = document.sections[0].blocks
    assert isinstance(verdict, Verdict)
    assert isinstance(table, Table)
    assert verdict.good is False
    assert table.rows[0][-1] == "no: nothing was measured"
