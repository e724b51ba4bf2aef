"""A number's ink: how a cell of a table is written. No number is computed here."""

import math
from typing import Final

from teijo.document.model import Axis, Column, Table, Value

NOT_AVAILABLE: Final = "n/a"


def ink(value: Value, digits: int | None = None) -> str:
    """Return a cell's text: 1234.5 with 1 digit → "1,234.5", None and NaN → "n/a".

    Without `digits` an integer is whole and a float has four significant digits, never an
    exponent: 0.01234 → "0.01234", 12345.6 → "12,346".
    """
    match value:
        case None:
            return NOT_AVAILABLE
        case str():
            return value
        case int() if digits is None:
            return f"{value:,d}"
        case int() | float():
            if not math.isfinite(value):
                return NOT_AVAILABLE
            text = f"{value:,.{_digits_shown(value) if digits is None else digits}f}"
            # -0.004 in two digits would be -0.00.
            return text.removeprefix("-") if _is_zero(text) else text


def heading_of(named: Column | Axis) -> str:
    """Return a name with its unit: "Block size (KiB)"; "IOPS (IOPS)" is said once."""
    return f"{named.name} ({named.unit})" if named.unit not in ("", named.name) else named.name


def numeric_columns(table: Table) -> tuple[bool, ...]:
    """Return for each column whether it holds numbers (and is aligned right)."""
    return tuple(
        column.digits is not None or any(isinstance(row[place], int | float) for row in table.rows)
        for place, column in enumerate(table.columns)
    )


def inked_rows(table: Table) -> list[list[str]]:
    """Return every cell of a table as text, in its column's digits."""
    digits = [column.digits for column in table.columns]
    return [[ink(value, digits[place]) for place, value in enumerate(row)] for row in table.rows]


def _digits_shown(value: float) -> int:
    if value == 0:
        return 0
    return max(0, 3 - math.floor(math.log10(abs(value))))


def _is_zero(text: str) -> bool:
    return text.startswith("-") and not text.strip("-0.,")
