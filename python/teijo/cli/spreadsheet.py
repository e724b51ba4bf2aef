"""Columns of numbers out of somebody's CSV file, with the line named where one is not a number."""

import csv
import io
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from teijo import units
from teijo.cli.options import meant
from teijo.errors import UsageError
from teijo.outside.file import MIB, Unreadable, read_bytes

DELIMITERS = ",;\t|"
SHEET_MOST = 64 * MIB
LONGEST = 400
"""No number is written in more characters."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


def columns_of(path: Path, names: Sequence[str]) -> dict[str, tuple[Decimal, ...]]:
    """Return the named columns of a CSV file, "-" for stdin; `names` as in its first line.

    Commas, semicolons, tabs and bars part the cells; where commas do not, a comma may be the
    decimal sign. Empty lines, and those after the last value, do not count.

    Raises:
        UsageError: no such file or column, a cell that is no number, a value missing between two.
    """
    delimiter, table = _rows(_text(path), path)
    head = [cell.strip() for cell in table[0][1]]
    for name in names:
        if head.count(name) != 1:
            twice = f"{path} has the column {name!r} twice"
            raise UsageError(
                twice if name in head else f"{path} has no column {name!r}{meant(name, head)}",
                remedy=f"Its first line names: {', '.join(head)}",
            )
    columns: dict[str, tuple[Decimal, ...]] = {}
    for name in names:
        place = head.index(name)
        cells = [(line, row[place].strip() if place < len(row) else "") for line, row in table[1:]]
        while cells and not cells[-1][1]:
            cells.pop()
        columns[name] = tuple(
            number_of(cell, place=f"line {line}, column {name}", decimal_comma=delimiter != ",")
            for line, cell in cells
        )
    return columns


def number_of(text: str, *, place: str, decimal_comma: bool = False) -> Decimal:
    """Return the number of a text as it is written, if it can be of a measurement.

    Raises:
        UsageError: it is none, or may be two; `place` says where it is.
    """
    written = text.strip()
    if decimal_comma and "," in written:
        if _THOUSANDS.fullmatch(written):
            digits = written.replace(",", "")
            raise UsageError(
                f"{written} ({place}) may be {digits} or {written.replace(',', '.', 1)}",
                remedy="Save the sheet with decimal points and no marks between thousands.",
            )
        written = written.replace(",", ".")
    try:
        value = Decimal(written if len(written) <= LONGEST else "nan")
    except ArithmeticError:
        value = Decimal("nan")
    # Decimal reads 1_000 as a number, and nobody's sheet means that.
    if not units.measurable(value) or "_" in written:
        raise UsageError(
            f"{text[:80]!r} ({place}) is not a number",
            remedy="Write numbers as 1234.5, without units and without marks between thousands.",
        )
    return value


def _text(path: Path) -> str:
    try:
        data = _stdin() if str(path) == "-" else read_bytes(path, most_bytes=SHEET_MOST)
    except Unreadable as error:
        raise UsageError(
            f"{path} {error}", remedy="Name a CSV file, or - and send it to stdin."
        ) from error
    # Spreadsheet programs put a mark before UTF-8 too; it would be part of the first name.
    encoding = "utf-16" if data[:2] in _WIDE else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not a text in {encoding}", remedy="Save the sheet as CSV in UTF-8."
        ) from error


def _stdin() -> bytes:
    data = sys.stdin.buffer.read(SHEET_MOST + 1)
    if len(data) > SHEET_MOST:
        raise Unreadable(f"is larger than {SHEET_MOST // MIB} MiB")
    return data


def _rows(text: str, path: Path) -> tuple[str, list[tuple[int, list[str]]]]:
    """Return the delimiter, and (line number, cells) of each line that is not empty."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise UsageError(
            f"{path} is not a CSV file: line {reader.line_num} cannot be read",
            remedy="Save the sheet as CSV once more.",
        ) from error
    if not rows:
        raise UsageError(f"{path} is empty", remedy="Name a sheet with a first line of names.")
    return delimiter, rows
