"""CSV holds every table to the last digit; a reader that is not ours gets the numbers back."""

import csv
import io

import pandas

from teijo.document.model import Column, Table
from teijo.report.csv import render, table_csv
from tests.report.samples import MATRIX, MIXES, iops_document, wsat_document


def test_the_matrix_comes_back_exactly() -> None:
    text = render(iops_document())["06-iops-by-block-size-and-r-w-mix.csv"]
    frame = pandas.read_csv(io.StringIO(text))
    assert list(frame.columns) == ["Block size (KiB)", *MIXES]
    assert [tuple(row) for row in frame[list(MIXES)].to_numpy().tolist()] == list(MATRIX)


def test_a_long_table_keeps_all_its_rows() -> None:
    text = render(wsat_document())["01-iops-against-time.csv"]
    assert len(text.splitlines()) == 1441


def test_what_is_missing_is_an_empty_field_and_texts_are_quoted() -> None:
    table = Table(
        columns=(Column(name='model, "old"'), Column(name="IOPS", digits=0)),
        rows=(("a,b\nc", None), ('say "x"', float("nan")), ("e", 0.1 + 0.2)),
    )
    rows = list(csv.reader(io.StringIO(table_csv(table))))
    assert rows == [
        ['model, "old"', "IOPS"],
        ["a,b\\nc", ""],
        ['say "x"', ""],
        ["e", "0.30000000000000004"],
    ]
