"""How numbers are written: known answers, and that nothing unreadable is ever printed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.document.model import Axis, Column, Table
from teijo.report.numbers import heading_of, ink, inked_rows, numeric_columns


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (29860.1, 1, "29,860.1"),
        (1660.435376, 6, "1,660.435376"),
        (16.4, 0, "16"),
        (12, None, "12"),
        (1234567, None, "1,234,567"),
        (12, 1, "12.0"),
        (0.0123456, None, "0.01235"),
        (12345.6, None, "12,346"),
        (3.14159, None, "3.142"),
        (0.0, None, "0"),
        (-0.01, 1, "0.0"),
        (-22.81809, 2, "-22.82"),
        (None, 1, "n/a"),
        (float("nan"), 1, "n/a"),
        (float("inf"), None, "n/a"),
        ("SLC", 3, "SLC"),
    ],
)
def test_a_value_is_written_so(value: str | float | None, digits: int | None, text: str) -> None:
    assert ink(value, digits) == text


@given(st.floats() | st.integers() | st.none(), st.none() | st.integers(0, 6))
def test_no_number_is_written_as_nan_or_with_an_exponent(
    value: float | None, digits: int | None
) -> None:
    text = ink(value, digits)
    assert text == "n/a" or re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?", text)


@given(st.floats(-1e15, 1e15), st.integers(0, 6))
def test_a_written_number_is_the_number_to_its_digits(value: float, digits: int) -> None:
    assert (
        abs(float(ink(value, digits).replace(",", "")) - value)
        <= 0.5000001 * 10**-digits + abs(value) * 2**-52
    )


def test_a_unit_equal_to_the_name_is_said_once() -> None:
    assert heading_of(Axis(name="IOPS", unit="IOPS")) == "IOPS"
    assert heading_of(Column(name="Block size", unit="KiB")) == "Block size (KiB)"


def test_a_column_with_missing_numbers_stays_numeric_and_one_of_texts_does_not() -> None:
    table = Table(
        columns=(Column(name="a"), Column(name="b", digits=1), Column(name="c")),
        rows=(("x", None, None), ("y", None, 2)),
    )
    assert numeric_columns(table) == (False, True, True)
    assert inked_rows(table) == [["x", "n/a", "n/a"], ["y", "n/a", "2"]]
