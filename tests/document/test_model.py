"""A document that cannot be printed is refused where it is made."""

from dataclasses import FrozenInstanceError

import pytest

from teijo.document.model import Axis, Bars3D, Column, Series, Table, Verdict, XYChart

COLUMNS = (Column(name="Round"), Column(name="IOPS", digits=1))


def test_a_row_with_a_cell_too_few_is_refused() -> None:
    with pytest.raises(AssertionError, match="a cell for each column"):
        Table(columns=COLUMNS, rows=((1,),))


def test_a_mark_outside_its_table_is_refused() -> None:
    with pytest.raises(AssertionError, match="marks lie in the table"):
        Table(columns=COLUMNS, rows=((1, 2.0),), marked=((1, 0),))


def test_a_series_with_an_x_too_many_is_refused() -> None:
    with pytest.raises(AssertionError, match="an x for each y"):
        Series(name="a", x=(1, 2), y=(1.0,))


def test_two_series_of_one_name_are_refused() -> None:
    one = Series(name="a", x=(1,), y=(1.0,))
    with pytest.raises(AssertionError, match="different names"):
        XYChart(
            title="t",
            x=Axis(name="x"),
            y=Axis(name="y"),
            series=(one, one),
            table=Table(columns=COLUMNS, rows=()),
        )


def test_a_matrix_with_a_row_too_few_is_refused() -> None:
    with pytest.raises(AssertionError, match="a row of values for each row place"):
        Bars3D(
            title="t",
            rows=Axis(name="r", scale="category"),
            row_places=("a", "b"),
            columns=Axis(name="c", scale="category"),
            column_places=("a",),
            z=Axis(name="z"),
            values=((1.0,),),
            table=Table(columns=COLUMNS, rows=()),
        )


def test_a_document_cannot_be_changed_after_it_was_made() -> None:
    verdict = Verdict(text="STEADY STATE: YES", good=True)
    with pytest.raises(FrozenInstanceError):
        verdict.good = False  # type: ignore[misc]
