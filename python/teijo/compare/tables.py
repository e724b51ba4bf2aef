"""The tables of a comparison: differences with their intervals and verdicts, and how many."""

import math
from collections.abc import Sequence

from teijo.analysis.repeats import RUNS_MOST
from teijo.compare.comparison import Comparison
from teijo.compare.judged import SHOWN, Judged, Pairing, Verdict
from teijo.compare.sides import Match
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
    units = list(dict.fromkeys(_unit(row) for row in rows))
    digits = _digits(rows)
    name = "Figure" if len(units) > 1 else units[0] if units else ""
    columns = (
        Column(name="Place"),
        *([Column(name=name)] if len(units) > 1 else []),
        Column(name=Verbatim(pairing.first), unit="" if len(units) > 1 else name, digits=digits),
        Column(name=Verbatim(pairing.second), unit="" if len(units) > 1 else name, digits=digits),
        Column(name="Difference", unit="%", digits=2),
        Column(name="Low end", unit="%", digits=2),
        Column(name="High end", unit="%", digits=2),
        Column(name="Verdict"),
    )
    place = len(columns) - 4
    return Table(
        columns=columns,
        rows=tuple(_row(row, with_figure=len(units) > 1) for row in rows),
        caption=against(pairing),
        marked=tuple((number, place) for number, row in enumerate(rows) if row.verdict in SHOWN),
        folded=folded,
    )


def matrix_table(match: Match, pairing: Pairing) -> Table | None:
    """Return the differences of a matrix in percent, block sizes by mixes; None of no matrix."""
    keys = match.of(pairing.first)[0].part.found.matrix
    if not keys:
        return None
    found = {str(row.place): row for row in pairing.rows}
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
            (f"{block / KIB:g}", *(None if one is None else percent(one) for one in line))
            for block, line in zip(blocks, cells, strict=True)
        ),
        caption=say(
            "IOPS of {second} against {first}, in %",
            second=Verbatim(pairing.second),
            first=Verbatim(pairing.first),
        ),
        marked=tuple(
            (place, column + 1)
            for place, line in enumerate(cells)
            for column, one in enumerate(line)
            if one is not None and one.verdict in SHOWN
        ),
    )


def counts_table(comparison: Comparison) -> Table:
    """Return, for each test and pairing, how many figures differ, and all cells together."""
    columns = (
        Column(name="Test"),
        Column(name="Side"),
        Column(name="Figures", digits=0),
        Column(name="Faster", digits=0),
        Column(name="Slower", digits=0),
        Column(name="No difference shown", digits=0),
        Column(name="Not decidable", digits=0),
        Column(name="All cells together"),
    )
    first = comparison.sides[0].name
    caption = say("What the comparison shows, against {first}", first=Verbatim(first))
    rows = tuple(
        _counts_row(one.match.name, pairing, first)
        for one in comparison.tests
        for pairing in one.pairings
    )
    return Table(columns=columns, rows=rows, caption=caption)


def against(pairing: Pairing) -> str:
    """Return who is held against whom."""
    return say(
        "{second} against {first}",
        second=Verbatim(pairing.second),
        first=Verbatim(pairing.first),
    )


def percent(row: Judged) -> float | None:
    """Return how far the second lies above the first, in percent of it."""
    return None if row.difference is None else (row.difference.ratio - 1) * 100


def overall_words(row: Judged) -> str:
    """Return one difference with its interval and verdict, in words."""
    found = row.difference
    if found is None:
        return "not comparable"
    return say(
        "{percent:+.1f} % ({low:+.1f} to {high:+.1f} %): {verdict}",
        percent=(found.ratio - 1) * 100,
        low=(found.low - 1) * 100,
        high=(found.high - 1) * 100,
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


def _counts_row(test: str, pairing: Pairing, first: str) -> tuple[Value, ...]:
    return (
        Verbatim(test),
        Verbatim(pairing.second) if pairing.first == first else against(pairing),
        pairing.judged,
        pairing.count(Verdict.FASTER),
        pairing.count(Verdict.SLOWER),
        pairing.count(Verdict.NOT_SHOWN),
        pairing.count(Verdict.NOT_DECIDABLE),
        "n/a" if pairing.overall is None else overall_words(pairing.overall),
    )


def _row(row: Judged, *, with_figure: bool) -> tuple[Value, ...]:
    found = row.difference
    return (
        row.place,
        *([_unit(row)] if with_figure else []),
        row.first,
        row.second,
        percent(row),
        None if found is None else (found.low - 1) * 100,
        None if found is None else (found.high - 1) * 100,
        verdict_words(row),
    )


def _unit(row: Judged) -> str:
    figure = row.figure
    return (
        say("{name} ({unit})", name=figure.name, unit=figure.unit) if figure.unit else figure.name
    )


def labelled(names: Sequence[str], caption: str, rows: Sequence[tuple[Value, ...]]) -> Table:
    """Return a table whose first column names something and whose others are runs."""
    return Table(
        columns=(Column(name="Figure"), *(Column(name=Verbatim(name), digits=3) for name in names)),
        rows=tuple(rows),
        caption=caption,
    )
