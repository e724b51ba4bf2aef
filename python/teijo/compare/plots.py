"""The plots of a comparison: the curves of all its runs over one pair of axes, one colour a run."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.compare.sides import Entry, Match
from teijo.document.curve import Curve
from teijo.document.model import Axis, Column, Paragraph, Series, Table, Value, XYChart
from teijo.document.phrase import Verbatim, say

Points = Sequence[tuple[Value, float | None]]
_BARS_MOST = 12
"""As many bars as have room for their numbers."""
CURVES_MOST = 8
"""As many as a chart has colours for."""
_DIGITS = {"MB/s": 2, "ms": 4, "%": 2}


def plots_of(match: Match) -> tuple[XYChart, ...]:
    """Return the plots of one test: those that people read its reports for.

    Of more runs than a chart has colours for the first ones of each side are drawn.
    """
    entries = _drawn(match).entries
    by_run = [{str(curve.title): curve for curve in _curves(entry)} for entry in entries]
    plots = []
    tracks = False
    for title, curve in by_run[0].items():
        own = [curves.get(title) for curves in by_run]
        if curve.tracks:
            if tracks or not all(own):
                continue
            tracks = True
            if not all(each.points for each in own if each is not None):
                continue
        plots.append(_plot(entries, curve, own))
    return tuple(plots)


def plots_notes(match: Match) -> list[Paragraph]:
    """Return what must be known to read the plots of a test."""
    notes = [curve.note for curve in _curves(match.entries[0]) if curve.note]
    if len(match.entries) > CURVES_MOST:
        text = say(
            "Of {count} runs the first ones of each side are drawn, {most} in all.",
            count=len(match.entries),
            most=CURVES_MOST,
        )
        notes.insert(0, text)
    return [Paragraph(text=note) for note in dict.fromkeys(notes)]


def _curves(entry: Entry) -> Sequence[Curve]:
    return entry.part.found.comparison_curves


def _drawn(match: Match) -> Match:
    """Return the match with so many runs as can be drawn, in turns from each side."""
    if len(match.entries) <= CURVES_MOST:
        return match
    by_side = [match.of(side) for side in match.sides]
    in_turns = [
        entries[place]
        for place in range(max(map(len, by_side)))
        for entries in by_side
        if place < len(entries)
    ]
    kept = {entry.label for entry in in_turns[:CURVES_MOST]}
    return replace(match, entries=tuple(e for e in match.entries if e.label in kept))


def _plot(entries: Sequence[Entry], curve: Curve, own: Sequence[Curve | None]) -> XYChart:
    """Return the curves of one title; a run that lacks it has a name and no points."""
    curves = [
        (entry.label, () if each is None else each.points)
        for entry, each in zip(entries, own, strict=True)
    ]
    x, y, style = curve.x, curve.y, curve.style
    # The minutes of devices at different scales are of different length, and named by it.
    if len({each.x.name for each in own if each is not None}) > 1:
        x = replace(x, name="Time (of each run's minute)")
    if style == "bars" and sum(len(points) for _, points in curves) > _BARS_MOST:
        y, style = replace(y, scale="log"), "points"
    tables = [
        each.table(entry.label)
        for entry, each in zip(entries, own, strict=True)
        if each is not None and each.table is not None
    ]
    table = _joined(tables or _tables(x, y, curves))
    series = tuple(
        Series(
            name=Verbatim(name),
            x=tuple(place for place, _ in points),
            # A logarithmic axis has no place for zero.
            y=tuple(None if y.scale == "log" and not value else value for _, value in points),
            style=style,
        )
        for name, points in curves
    )
    return XYChart(title=curve.title, x=x, y=y, series=series, table=table)


def _joined(tables: Sequence[Table]) -> Table:
    """Return the tables of all runs side by side, a row for each place that one of them has."""
    first = tables[0]
    found = [{row[0]: row[1:] for row in table.rows} for table in tables]
    places = sorted(
        dict.fromkeys(place for rows in found for place in rows),
        # Names all count as 0 and so keep their order: the sort is stable.
        key=lambda place: place if isinstance(place, int | float) else 0.0,
    )
    nothing = (None,) * (len(first.columns) - 1)
    return Table(
        columns=(
            first.columns[0],
            *(column for table in tables for column in table.columns[1:]),
        ),
        rows=tuple(
            (place, *(value for rows in found for value in rows.get(place, nothing)))
            for place in places
        ),
        caption=first.caption,
        folded=True,
    )


def _tables(x: Axis, y: Axis, curves: Sequence[tuple[str, Points]]) -> list[Table]:
    """Return a table of each run's points."""
    places = Column(
        name=x.name, unit=x.unit, digits=_digits([at for _, points in curves for at, _ in points])
    )
    unit, digits = y.unit or y.name, _DIGITS.get(y.unit, 1)
    return [
        Table(columns=(places, Column(name=Verbatim(name), unit=unit, digits=digits)),
              rows=tuple(points))
        for name, points in curves
    ]  # fmt: skip


def _digits(places: Sequence[Value]) -> int | None:
    """Return the digits that places on an axis need, at most three; None where they are names."""
    numbers = [place for place in places if isinstance(place, int | float)]
    if len(numbers) < len(places):
        return None
    return next((n for n in range(3) if all(round(at, n) == at for at in numbers)), 3)
