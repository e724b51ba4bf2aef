"""The tables of a comparison: differences with their intervals and verdicts, and how many."""

import math
from collections.abc import Sequence

from teijo.analysis.repeats import RUNS_MOST
from teijo.compare.comparison import Comparison
from teijo.compare.judged import SHOWN, Judged, Pairing, Verdict
from teijo.compare.sides import Match
from teijo.document.grid import Fields, listing
from teijo.document.model import Column, Table, Value
from teijo.document.phrase import Verbatim, say
from teijo.terms.cell import MatrixCell, mix_name
from teijo.units import KIB

_FIGURES_PRINTED = 5
"""How many figures of the smallest value in a column are printed, so that the difference beside
two values can be made again from them."""
_DIGITS_MOST = 9


def difference_table(pairing: Pairing, *, folded: bool = False) -> Table:
    """Return every figure of a pairing as a row; what differs is marked."""
    rows = [*pairing.rows, *([] if pairing.overall is None else [pairing.overall])]
    units = list(dict.fromkeys(_name(row) for row in rows))
    digits = _digits(rows)
    alone = units[0] if len(units) == 1 else ""
    fields: Fields[Judged] = (
        ("Place", "", None, lambda row: row.place),
        *([("Figure", "", None, _name)] if len(units) > 1 else []),
        (Verbatim(pairing.first), alone, digits, lambda row: row.first),
        (Verbatim(pairing.second), alone, digits, lambda row: row.second),
        ("Difference", "%", 2, lambda row: row.percents[0]),
        ("Low end", "%", 2, lambda row: row.percents[1]),
        ("High end", "%", 2, lambda row: row.percents[2]),
        ("Verdict", "", None, verdict_words),
    )
    place = len(fields) - 4  # "Difference", with or without the column of figures before it
    marked = [(number, place) for number, row in enumerate(rows) if row.verdict in SHOWN]
    return listing(rows, fields, caption=against(pairing), folded=folded, marked=marked)


def matrix_table(match: Match, pairing: Pairing) -> Table | None:
    """Return the differences of a matrix in percent, block sizes by mixes; None of no matrix."""
    keys = match.of(pairing.first)[0].part.found.matrix
    if not keys:
        return None
    found = {str(row.place): row for row in pairing.rows}
    # The order of the standard's table: 0.5 KiB on top, writes alone on the left.
    blocks = sorted({key.block_size_bytes for key in keys})
    mixes = sorted({key.read_percent for key in keys})
    cells = [
        [found.get(MatrixCell(read_percent=mix, block_size_bytes=block).stimulus) for mix in mixes]
        for block in blocks
    ]
    return Table(
        columns=(
            Column(name="Block size", unit="KiB"),
            *(Column(name=mix_name(mix), unit="%", digits=1) for mix in mixes),
        ),
        rows=tuple(
            (f"{block / KIB:g}", *(None if one is None else one.percents[0] for one in line))
            for block, line in zip(blocks, cells, strict=True)
        ),
        caption=say("IOPS of {second} against {first}, in %", **pairing.names),
        marked=tuple(
            (place, column + 1)
            for place, line in enumerate(cells)
            for column, one in enumerate(line)
            if one is not None and one.verdict in SHOWN
        ),
    )


def counts_table(comparison: Comparison) -> Table:
    """Return, for each test and pairing, how many figures differ, and all cells together."""
    first = comparison.sides[0].name
    fields: Fields[tuple[str, Pairing]] = (
        ("Test", "", None, lambda row: Verbatim(row[0])),
        ("Side", "", None, lambda row: _side(row[1], first)),
        ("Figures", "", 0, lambda row: row[1].judged),
        ("Faster", "", 0, lambda row: row[1].count(Verdict.FASTER)),
        ("Slower", "", 0, lambda row: row[1].count(Verdict.SLOWER)),
        ("No difference shown", "", 0, lambda row: row[1].count(Verdict.NOT_SHOWN)),
        ("Not decidable", "", 0, lambda row: row[1].count(Verdict.NOT_DECIDABLE)),
        ("All cells together", "", None, lambda row: _overall(row[1])),
    )
    rows = [(one.match.name, pairing) for one in comparison.tests for pairing in one.pairings]
    caption = say("What the comparison shows, against {first}", first=Verbatim(first))
    return listing(rows, fields, caption=caption)


def _side(pairing: Pairing, first: str) -> str:
    return Verbatim(pairing.second) if pairing.first == first else against(pairing)


def _overall(pairing: Pairing) -> str:
    return "n/a" if pairing.overall is None else overall_words(pairing.overall)


def against(pairing: Pairing) -> str:
    """Return which side is compared with which."""
    return say("{second} against {first}", **pairing.names)


def overall_words(row: Judged) -> str:
    """Return one difference with its interval and verdict, in words."""
    if row.difference is None:
        return "not comparable"
    percent, low, high = row.percents
    return say(
        "{percent:+.1f} % ({low:+.1f} to {high:+.1f} %): {verdict}",
        percent=percent,
        low=low,
        high=high,
        verdict=verdict_words(row),
    )


def verdict_words(row: Judged) -> str:
    """Return a verdict in words, with the runs that are missing where one each does not decide."""
    if row.verdict is None:
        return "not comparable"
    if row.verdict is not Verdict.NOT_DECIDABLE or row.needed is None:
        return row.verdict.value
    if row.needed.more is None:
        return say(
            "{verdict}: more than {more} more needed", verdict=row.verdict.value, more=RUNS_MOST - 1
        )
    return say(
        "{verdict}: at least {more} more needed", verdict=row.verdict.value, more=row.needed.more
    )


def _digits(rows: Sequence[Judged]) -> int:
    """Return the digits after the point that both columns of values need."""
    known = [value for row in rows for value in (row.first, row.second) if value > 0]
    least = max((row.figure.digits or 0 for row in rows), default=1)
    if not known:
        return least
    return min(_DIGITS_MOST, max(least, _FIGURES_PRINTED - 1 - math.floor(math.log10(min(known)))))


def _name(row: Judged) -> str:
    return with_unit(row.figure.name, row.figure.unit)


def with_unit(name: str, unit: str) -> str:
    """Return the name of a number with its unit."""
    return say("{name} ({unit})", name=name, unit=unit) if unit else name


def labelled(names: Sequence[str], caption: str, rows: Sequence[tuple[Value, ...]]) -> Table:
    """Return a table whose first column names something and whose others are runs."""
    return Table(
        columns=(Column(name="Figure"), *(Column(name=Verbatim(name), digits=3) for name in names)),
        rows=tuple(rows),
        caption=caption,
    )
