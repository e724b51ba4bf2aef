"""Numbers said once: as a table, as lines or bars, as bars in depth."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from teijo.document import model
from teijo.document.phrase import capitalised

R = TypeVar("R")
C = TypeVar("C")
Fields = Sequence[tuple[str, str, int | None, Callable[[R], model.Value]]]
"""The columns of a table of things: name, unit, digits, and what each of the things has there."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What a number is: its name, its only unit, and its digits after the point in a table.

    `more_is_faster` says which way a comparison reads it.
    """

    name: str
    unit: str = ""
    digits: int | None = 1
    more_is_faster: bool = True

    def column(self) -> model.Column:
        """Return the column of a table that holds it, its heading with a capital."""
        return model.Column(name=capitalised(self.name), unit=self.unit, digits=self.digits)

    def axis(self, *, log: bool = False) -> model.Axis:
        """Return the axis of a chart that it is drawn against."""
        return model.Axis(name=self.name, unit=self.unit, scale="log" if log else "linear")


@dataclass(frozen=True, kw_only=True)
class Edge:
    """What the rows of a grid are: a name, a unit, and the place of each row on the axis.

    A table shows the places with `digits`; `words` are what it shows instead, one for each.
    `drawn_as` is what the axis is called, where a column has no room for that name.
    """

    name: str
    places: tuple[model.Value, ...]
    unit: str = ""
    digits: int | None = None
    words: tuple[str, ...] = ()
    drawn_as: str = ""
    scale: model.Scale = "linear"
    from_zero: bool = False

    def __post_init__(self) -> None:
        assert len(self.words) in (0, len(self.places)), "a word for each place"

    @property
    def shown(self) -> tuple[model.Value, ...]:
        """What the first column of a table holds."""
        return self.words or self.places

    def number(self, row: int) -> float:
        """Return the place of a row, on an edge of numbers."""
        place = self.places[row]
        assert isinstance(place, float | int), place
        return float(place)

    def column(self) -> model.Column:
        """Return the first column of a table."""
        return model.Column(name=self.name, unit=self.unit, digits=self.digits)

    def axis(self) -> model.Axis:
        """Return the axis that the places are on."""
        name = self.drawn_as or self.name
        return model.Axis(name=name, unit=self.unit, scale=self.scale, from_zero=self.from_zero)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A column of numbers that is drawn too, one at each row; None where nothing was measured.

    `figure` names it in the table, and in the chart where it has no other `name` there.
    `parts` are names for each row: the chart then has a series for each of them. A row without
    a value breaks the line; a `sparse` one goes on to its next value. `spread` is the interval of
    each value, which is drawn through it.
    """

    figure: Figure
    values: tuple[float | None, ...]
    name: str = ""
    parts: tuple[str, ...] = ()
    style: model.Style = "line and points"
    sparse: bool = False
    spread: tuple[tuple[float, float] | None, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.parts) in (0, len(self.values)), "a part for each value"
        assert len(self.spread) in (0, len(self.values)), "an interval for each value"

    def series(self, places: Sequence[model.Value], *, log: bool) -> Iterator[model.Series]:
        """Return what is drawn of it; zero has no place on a log axis."""
        y = tuple(None if log and each is not None and each <= 0 else each for each in self.values)
        names = self.parts or (self.name or self.figure.name,) * len(y)
        for name in dict.fromkeys(names):
            own = [
                row
                for row, each in enumerate(names)
                if each == name and not (self.sparse and y[row] is None)
            ]
            x = tuple(places[row] for row in own)
            yield model.Series(
                name=name,
                x=x,
                y=tuple(y[row] for row in own),
                style=self.style,
                spread=tuple(self.spread[row] for row in own) if self.spread else (),
            )


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A column of the table that is not drawn."""

    column: model.Column
    values: tuple[model.Value, ...]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Lines over the rows of one edge, and the columns beside them in the table, in its order.

    `leading` are columns before the edge: whose row it is.
    """

    rows: Edge
    columns: tuple[Line | Beside, ...]
    leading: tuple[Beside, ...] = ()

    def __post_init__(self) -> None:
        places, columns = len(self.rows.places), (*self.leading, *self.columns)
        assert all(len(each.values) == places for each in columns), "a value for each row"

    @property
    def lines(self) -> tuple[Line, ...]:
        """The columns that are drawn."""
        return tuple(each for each in self.columns if isinstance(each, Line))

    def table(self, caption: str = "", *, folded: bool = False) -> model.Table:
        """Return a row for each place of the edge."""
        columns = (
            each.figure.column() if isinstance(each, Line) else each.column for each in self.columns
        )
        leading = (each.values for each in self.leading)
        values = (each.values for each in self.columns)
        return model.Table(
            columns=(*(each.column for each in self.leading), self.rows.column(), *columns),
            rows=tuple(zip(*leading, self.rows.shown, *values, strict=True)),
            caption=caption,
            folded=folded,
        )

    def chart(
        self,
        title: str,
        y: Figure,
        *,
        log: bool = False,
        table: model.Table | None = None,
        more: Iterable[model.Series] = (),
        rules: Iterable[model.Rule] = (),
        spans: Iterable[model.Span] = (),
        note: str = "",
    ) -> model.XYChart:
        """Return the lines over the rows' places, and `more` that no column of the table is."""
        return model.XYChart(
            title=title,
            x=self.rows.axis(),
            y=y.axis(log=log),
            series=(
                *(s for each in self.lines for s in each.series(self.rows.places, log=log)),
                *more,
            ),
            table=table or self.table(),
            rules=tuple(rules),
            spans=tuple(spans),
            note=note,
        )

    def bars3d(
        self, title: str, z: Figure, *, columns: model.Axis, table: model.Table
    ) -> model.Bars3D:
        """Return a bar at every row of every line; `columns` is the axis of the lines."""
        values = (each.values for each in self.lines)
        return model.Bars3D(
            title=title,
            rows=replace(self.rows.axis(), scale="category", from_zero=True),
            row_places=tuple(str(each) for each in self.rows.shown),
            columns=columns,
            column_places=tuple(each.name or each.figure.name for each in self.lines),
            z=z.axis(),
            values=tuple(zip(*values, strict=True)),
            table=replace(table, folded=True),
        )


def matrix(
    rows: Edge,
    keys: Sequence[R],
    columns: Sequence[C],
    at: Callable[[R, C], float | None],
    *,
    figure: Callable[[C], Figure],
    name: Callable[[C], str] = lambda _: "",
    style: model.Style = "line and points",
    sparse: bool = False,
) -> Grid:
    """Return the grid of a number at every pair of keys, a line for each of the columns."""
    lines = (
        Line(
            figure=figure(column),
            name=name(column),
            values=tuple(at(row, column) for row in keys),
            style=style,
            sparse=sparse,
        )
        for column in columns
    )
    return Grid(rows=rows, columns=tuple(lines))


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A line over its own places. A row has the place, the value, and what is beside it in the
    table. `key` is what the table calls it, and the chart where it has no `name` there.
    """

    key: str | int
    rows: tuple[tuple[float | None, ...], ...]
    name: str = ""
    style: model.Style = "line and points"


def traced(
    title: str,
    traces: Sequence[Trace],
    *,
    keys: model.Column,
    places: Figure,
    y: Figure,
    beside: tuple[model.Column, ...] = (),
    caption: str = "",
    log: bool = False,
    rules: Iterable[model.Rule] = (),
    spans: Iterable[model.Span] = (),
    note: str = "",
) -> model.XYChart:
    """Return lines over each other, each with its own places on a logarithmic axis.

    The table has them one below the other, and the column `keys` names them. Beside
    a value are both ends of its interval at 95 %, which are drawn, or what `beside` names.
    """
    value = y.column()
    ends = (replace(value, name="From (95 %)"), replace(value, name="To (95 %)"))
    columns = (keys, places.column(), value, *(beside or ends))
    rows = tuple(
        (each.key, *row, *(None,) * (len(columns) - 1 - len(row)))
        for each in traces
        for row in each.rows
    )
    return model.XYChart(
        title=title,
        x=places.axis(log=True),
        y=y.axis(log=log),
        series=tuple(
            model.Series(
                name=each.name or str(each.key),
                x=tuple(row[0] for row in each.rows),
                y=tuple(row[1] for row in each.rows),
                spread=() if beside else tuple(_ends(row) for row in each.rows if row[2:]),
                style=each.style,
            )
            for each in traces
        ),
        table=model.Table(columns=columns, rows=rows, caption=caption or title, folded=True),
        rules=tuple(rules),
        spans=tuple(spans),
        note=note,
    )


def _ends(row: Sequence[float | None]) -> tuple[float, float] | None:
    """Return the interval in a row of a trace, None where it is not known."""
    low, high = row[2:]
    return None if low is None or high is None else (low, high)


def listing(
    things: Iterable[R],
    fields: Fields[R],
    *,
    caption: str = "",
    folded: bool = False,
    marked: Iterable[tuple[int, int]] = (),
) -> model.Table:
    """Return a row for each thing, a column for each field."""
    return model.Table(
        columns=tuple(
            model.Column(name=name, unit=unit, digits=digits) for name, unit, digits, _ in fields
        ),
        rows=tuple(tuple(of(each) for *_, of in fields) for each in things),
        caption=caption,
        folded=folded,
        marked=tuple(marked),
    )
