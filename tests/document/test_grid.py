"""A grid says its numbers once: its table and its charts cannot differ."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.document.grid import (
    Beside,
    Edge,
    Fields,
    Figure,
    Grid,
    Line,
    Trace,
    listing,
    matrix,
    traced,
)
from teijo.document.model import Axis, Column, XYChart
from teijo.document.phrase import capitalised

IOPS = Figure(name="IOPS")
ROUNDS = Edge(name="Round", digits=0, places=(1, 2, 3))
LINE = Line(figure=IOPS, values=(10.0, None, 30.0))
NUMBERS = st.one_of(st.none(), st.floats(min_value=-1e9, max_value=1e9))


def test_a_grid_is_a_row_for_each_place_and_a_column_for_each_line() -> None:
    beside = Beside(column=Column(name="Check"), values=("yes", "no", "no"))
    table = Grid(rows=ROUNDS, columns=(beside, LINE)).table("By round", folded=True)
    assert [column.name for column in table.columns] == ["Round", "Check", "IOPS"]
    assert table.rows == ((1, "yes", 10.0), (2, "no", None), (3, "no", 30.0))
    assert table.caption == "By round"
    assert table.folded


def test_what_stands_beside_is_not_drawn() -> None:
    beside = Beside(column=Column(name="Check"), values=("yes", "no", "no"))
    chart = Grid(rows=ROUNDS, columns=(beside, LINE)).chart("By round", IOPS)
    assert [series.name for series in chart.series] == ["IOPS"]
    assert len(chart.table.columns) == 3


def test_a_missing_value_breaks_a_line_and_a_sparse_one_goes_on() -> None:
    (broken,) = Grid(rows=ROUNDS, columns=(LINE,)).chart("", IOPS).series
    (going_on,) = Grid(rows=ROUNDS, columns=(replace(LINE, sparse=True),)).chart("", IOPS).series
    assert (broken.x, broken.y) == ((1, 2, 3), (10.0, None, 30.0))
    assert (going_on.x, going_on.y) == ((1, 3), (10.0, 30.0))


def test_zero_is_in_the_table_and_has_no_place_on_a_log_axis() -> None:
    grid = Grid(rows=ROUNDS, columns=(replace(LINE, values=(0.0, 1.0, 2.0)),))
    chart = grid.chart("", IOPS, log=True)
    assert chart.y.scale == "log"
    assert chart.series[0].y == (None, 1.0, 2.0)
    assert chart.table.rows[0] == (1, 0.0)


def test_parts_of_one_column_are_series_of_their_own() -> None:
    grid = Grid(rows=ROUNDS, columns=(replace(LINE, parts=("a", "b", "a")),))
    chart = grid.chart("", IOPS)
    assert [(series.name, series.x) for series in chart.series] == [("a", (1, 3)), ("b", (2,))]
    assert len(chart.table.columns) == 2


def test_a_column_before_the_edge_says_whose_row_it_is() -> None:
    whose = Beside(column=Column(name="Burst"), values=("a", "b", "a"))
    table = Grid(leading=(whose,), rows=ROUNDS, columns=(LINE,)).table()
    assert [column.name for column in table.columns] == ["Burst", "Round", "IOPS"]
    assert table.rows[1] == ("b", 2, None)


def test_the_interval_of_a_value_goes_with_it_into_its_series() -> None:
    ends = ((9.0, 11.0), None, (29.0, 31.0))
    line = replace(LINE, spread=ends, parts=("a", "b", "a"))
    first, second = Grid(rows=ROUNDS, columns=(line,)).chart("", IOPS).series
    assert (first.spread, second.spread) == (((9.0, 11.0), (29.0, 31.0)), (None,))
    with pytest.raises(AssertionError, match="an interval for each value"):
        replace(LINE, spread=ends[:2])


def test_a_listing_is_a_row_for_each_thing_and_a_column_for_each_field() -> None:
    fields: Fields[str] = (
        ("Word", "", None, lambda word: word),
        ("Length", "letters", 0, lambda word: len(word)),
    )
    table = listing(("ab", "c"), fields, caption="Words", marked=((1, 0),))
    assert table.rows == (("ab", 2), ("c", 1))
    assert table.columns[1] == Column(name="Length", unit="letters", digits=0)
    assert (table.caption, table.folded, table.marked) == ("Words", False, ((1, 0),))


def test_a_table_may_show_words_where_the_axis_has_places() -> None:
    sizes = Edge(name="Block size", unit="KiB", places=(0.5, 4.0), words=("0.5", "4"))
    grid = Grid(rows=sizes, columns=(Line(figure=IOPS, values=(1.0, 2.0)),))
    assert [row[0] for row in grid.table().rows] == ["0.5", "4"]
    assert grid.chart("", IOPS).series[0].x == (0.5, 4.0)


def test_bars_in_depth_are_the_tables_numbers() -> None:
    grid = matrix(
        Edge(name="TC", places=("1", "2")),
        (1, 2),
        (10, 20, 30),
        lambda row, column: float(row * column),
        figure=lambda column: Figure(name=str(column)),
    )
    bars = grid.bars3d("", IOPS, columns=Axis(name="QD", scale="category"), table=grid.table())
    assert bars.values == ((10.0, 20.0, 30.0), (20.0, 40.0, 60.0))
    assert bars.row_places == ("1", "2")
    assert bars.column_places == ("10", "20", "30")
    assert [row[1:] for row in bars.table.rows] == list(bars.values)


def test_a_column_of_another_length_than_its_edge_is_refused() -> None:
    with pytest.raises(AssertionError, match="a value for each row"):
        Grid(rows=ROUNDS, columns=(replace(LINE, values=(1.0,)),))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=9))
def test_every_number_drawn_is_in_the_table_at_its_place(
    pairs: list[tuple[float | None, float | None]],
) -> None:
    edge = Edge(name="Round", places=tuple(range(len(pairs))))
    grid = matrix(
        edge,
        pairs,
        (0, 1),
        lambda pair, side: pair[side],
        figure=lambda side: Figure(name=f"side {side}"),
    )
    chart = grid.chart("", IOPS)
    drawn = {
        (capitalised(s.name), x): y for s in chart.series for x, y in zip(s.x, s.y, strict=True)
    }
    shown = {
        (column.name, row[0]): value
        for row in chart.table.rows
        for column, value in zip(chart.table.columns[1:], row[1:], strict=True)
    }
    assert drawn == shown


def by_set(*own: Trace, log: bool = False, beside: tuple[Column, ...] = ()) -> XYChart:
    keys, places = Column(name="Device"), Figure(name="set", unit="GB")
    return traced("By set", own, keys=keys, places=places, y=IOPS, log=log, beside=beside)


def test_lines_with_their_own_places_are_one_below_the_other_in_the_table() -> None:
    measured = Trace(key=1, name="one", rows=((1.0, 10.0, 9.0, 11.0), (2.0, 20.0, None, None)))
    model = Trace(key="model", rows=((3.0, 5.0),), style="dashed")
    chart = by_set(measured, model, log=True)
    assert [(each.name, each.x, each.y) for each in chart.series] == [
        ("one", (1.0, 2.0), (10.0, 20.0)),
        ("model", (3.0,), (5.0,)),
    ]
    assert [each.spread for each in chart.series] == [((9.0, 11.0), None), ()]
    assert (chart.x.scale, chart.y.scale, chart.table.caption) == ("log", "log", "By set")
    assert [each.name for each in chart.table.columns][1:] == [
        "Set",
        "IOPS",
        "From (95 %)",
        "To (95 %)",
    ]
    assert chart.table.rows == (
        (1, 1.0, 10.0, 9.0, 11.0),
        (1, 2.0, 20.0, None, None),
        ("model", 3.0, 5.0, None, None),
    )


def test_what_stands_beside_a_value_in_place_of_its_interval_is_not_drawn() -> None:
    error = Column(name="Error", unit="%")
    chart = by_set(Trace(key="a", rows=((1.0, 10.0, 2.0),)), beside=(error,))
    assert chart.series[0].spread == ()
    assert chart.table.columns[-1] == error
    assert chart.table.rows == (("a", 1.0, 10.0, 2.0),)
