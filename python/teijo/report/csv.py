"""Every table of a document as CSV: full precision, one header line, nothing formatted."""

import csv
import io
import math

from teijo.document.model import Document, Table, Value
from teijo.outside.text import spreadsheet_cell
from teijo.report.numbers import heading_of
from teijo.report.shown import shown
from teijo.report.tables import numbered_tables


def render(document: Document) -> dict[str, str]:
    """Return the text of each table's file by its name, in the order of the document."""
    tables = numbered_tables(shown(document)).values()
    return {numbered.file_name: table_csv(numbered.table) for numbered in tables}


def table_csv(table: Table) -> str:
    """Return one table as CSV (RFC 4180 quoting, lines end in a line feed).

    Numbers are written to the last digit; what is not available is an empty field. A text that a
    spreadsheet would take for a formula has an apostrophe before it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([spreadsheet_cell(heading_of(column)) for column in table.columns])
    writer.writerows([_field(value) for value in row] for row in table.rows)
    return text.getvalue()


def _field(value: Value) -> Value:
    """Return what the writer is given: it writes a float to its last digit, and None as nothing."""
    match value:
        case str():
            return spreadsheet_cell(value)
        case float() if not math.isfinite(value):
            return None
        case None | int() | float():
            return value
