"""The report of a comparison: what it says first, what it marks, and what every page must say."""

from dataclasses import replace
from pathlib import Path

import pytest

from teijo import api
from teijo.compare.comparison import Comparison, compared
from teijo.compare.pages import document_name, pages
from teijo.compare.sides import Side
from teijo.document.model import Document, Note, Paragraph, Table, XYChart
from teijo.document.model import Verdict as Answer
from teijo.methods.parts import document_of
from teijo.methods.scaled import scale_rule
from teijo.report import csv, html, pdf, text
from teijo.report.language import Language, translator
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from tests.compare.drawn import SMALL, drive, record, side
from tests.methods.canned import GIB
from tests.report.english import untranslated

TESTS = [*SMALL, "tp"]


def comparison(test: str = "iops", count: int = 2, iops: float = 10_000) -> Comparison:
    sides = [
        side(f"D{n}", record(n, test=test, iops=level, identity=drive(serial=f"S{n}")))
        for n, level in enumerate([10_000, *[iops] * (count - 1)], start=1)
    ]
    return compared(sides)


def tables(document: Document) -> list[Table]:
    return [b for section in document.sections for b in section.blocks if isinstance(b, Table)]


def plots(document: Document) -> list[XYChart]:
    return [b for section in document.sections for b in section.blocks if isinstance(b, XYChart)]


def texts(document: Document) -> str:
    return text.render(document, width=200)


@pytest.mark.parametrize("test", TESTS)
def test_every_test_has_its_plots_with_one_series_a_run(test: str) -> None:
    document = pages(comparison(test, count=3))
    assert plots(document)
    for plot in plots(document):
        assert [series.name for series in plot.series] == ["D1", "D2", "D3"]
        assert all(any(y is not None for y in series.y) for series in plot.series)


def test_a_directory_has_no_capacity(tmp_path: Path) -> None:
    asked = {"count": "10", "passes": "2"}
    runs = [
        api.run("files", f"dir:{tmp_path}", output=tmp_path / f"{name}.teijo", settings=asked)
        for name in "AB"
    ]
    sides = [Side(name=name, records=(run.record,)) for name, run in zip("AB", runs, strict=True)]
    (known,) = (each for each in tables(pages(compared(sides))) if "Devices" in each.caption)
    assert {name: rest for name, *rest in known.rows}["Capacity"] == ["not known"] * 2


@pytest.mark.parametrize("test", TESTS)
def test_every_printer_prints_every_test(test: str) -> None:
    document = pages(comparison(test))
    assert "<html" in html.render(document)
    assert csv.render(document)
    assert "D2 against D1" in text.render(document)


def test_it_is_printed_on_paper_with_eight_runs() -> None:
    assert pdf.render(pages(comparison(count=8))).startswith(b"%PDF")


@pytest.mark.parametrize("test", ["iops", "lat", "wsat", "xsr", "hir", "dirth"])
def test_an_axis_of_scaled_runs_is_named_as_in_a_runs_own_report(test: str) -> None:
    # A minute of a drive at 1:30 is two seconds: "Time, min" was another axis than its report's.
    scaled = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)
    records = [record(seed, test=test, geometry=scaled) for seed in (1, 2)]
    document = document_of(records[0])
    axes = {chart.title: (chart.x, chart.y) for chart in plots(document)}
    times = {(x.name, x.unit) for x, _ in axes.values() if x.unit == "min"}
    sides = [side(f"D{place}", each) for place, each in enumerate(records, start=1)]
    drawn = plots(pages(compared(sides)))
    assert drawn
    for chart in drawn:
        if chart.x.unit == "min":
            assert (chart.x.name, chart.x.unit) in times
        if chart.title in axes:
            x, y = axes[chart.title]
            assert (chart.x.name, chart.x.unit) == (x.name, x.unit)
            assert (chart.y.name, chart.y.unit) == (y.name, y.unit)


def _scaled(times: int) -> Geometry:
    return Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=times * 8 * GIB)


def test_scaled_devices_have_the_rule_of_volumes_and_times_once_on_page_one() -> None:
    scaled = _scaled(30)
    document = pages(compared([side(f"D{n}", record(n, geometry=scaled)) for n in (1, 2)]))
    rule = scale_rule(scaled)
    assert rule is not None
    assert [block for block in document.sections[0].blocks if block == rule] == [rule]
    (written,) = [
        [column.name for column in table.columns].index("Written")
        for table in tables(document)
        if table.caption == "Convergence and windows"
    ]
    (table,) = [each for each in tables(document) if each.caption == "Convergence and windows"]
    assert [table.columns[written + more].unit for more in (0, 1)] == ["GB", "GB at full size"]
    for row in table.rows:
        own, full = row[written], row[written + 1]
        assert isinstance(own, float)
        assert full == pytest.approx(30 * own)


def test_devices_of_different_scales_each_have_their_rule_by_name() -> None:
    sides = [side(f"D{times}", record(times, geometry=_scaled(times))) for times in (30, 60)]
    told = [b.text for b in pages(compared(sides)).sections[0].blocks if isinstance(b, Paragraph)]
    assert [text[:16] for text in told if "Scale 1:" in text] == [
        "D30: Scale 1:30:",
        "D60: Scale 1:60:",
    ]


def test_the_first_line_is_the_answer_and_the_second_says_who_is_compared() -> None:
    first, second, *_ = pages(comparison(iops=30_000)).sections[0].blocks
    assert isinstance(first, Answer)
    assert first.text.startswith("D2 against D1: +20")
    assert "9 of 9 figures faster, 0 slower, 0 not decidable" in first.text
    assert isinstance(second, Paragraph)
    assert second.text == "2 different devices."


def test_what_is_open_says_how_many_runs_are_missing_and_how_they_are_counted() -> None:
    found = comparison(iops=10_600)
    told = texts(pages(found))
    overall = found.tests[0].pairings[0].overall
    assert overall is not None
    assert overall.needed is not None
    more = overall.needed.more
    assert (
        f"not decidable from one run each: at least {more} more needed; 0 of 9 figures faster"
        in told
    )
    assert "A side of one run shows how its rounds scatter" in told
    assert f"{more + 1} runs of each show it four times in five: at least {more} more" in " ".join(
        told.split()
    )
    assert "Figures not decidable from one run each: 9, since they are closer than one" in told


def test_values_have_the_digits_that_their_difference_needs() -> None:
    found = comparison("lat", iops=10_003)
    (table,) = [each for each in tables(pages(found)) if each.caption == "D2 against D1"]
    for row in table.rows:
        values = [cell for cell in row if isinstance(cell, float)][:3]
        digits = next(column.digits for column in table.columns if column.name == "D1")
        first, second = (round(value, digits) for value in values[:2])
        assert (second / first - 1) * 100 == pytest.approx(values[2], abs=0.05)


def test_sides_of_several_runs_need_no_such_warning() -> None:
    sides = [
        side(name, *(record(n, identity=drive(serial=name)) for n in numbers))
        for name, numbers in (("old", (1, 2)), ("new", (3, 4)))
    ]
    told = texts(pages(compared(sides)))
    assert "A side of one run" not in told
    assert "each run is one batch" in told


def test_marks_stand_on_the_cells_that_differ_and_on_no_others() -> None:
    found = comparison(iops=30_000)
    (matrix,) = [t for t in tables(pages(found)) if t.caption.startswith("IOPS of D2")]
    assert len(matrix.marked) == 9
    assert [column.name for column in matrix.columns] == ["Block size", "0/100", "65/35", "100/0"]
    (same,) = [t for t in tables(pages(comparison())) if t.caption.startswith("IOPS of D2")]
    assert not same.marked


def test_latencies_are_not_compared_as_a_matrix_of_iops() -> None:
    assert not [t for t in tables(pages(comparison("lat"))) if t.caption.startswith("IOPS of")]


def test_a_row_has_both_values_the_interval_and_the_verdict() -> None:
    document = pages(comparison("lat", iops=30_000))
    (table,) = [each for each in tables(document) if each.caption == "D2 against D1"]
    names = [column.name for column in table.columns]
    assert names[-4:] == ["Difference", "Low end", "High end", "Verdict"]
    first = table.rows[0]
    assert isinstance(first[-4], float)
    assert isinstance(first[-3], float)
    assert isinstance(first[-2], float)
    assert first[-3] < first[-4] < first[-2] < 0
    assert first[-1] == "faster", "less time is faster"


def test_what_was_allowed_to_differ_stands_on_every_page_and_in_a_table() -> None:
    sides = [side("a", record(1)), side("b", record(2, overrides={"qd": "8"}))]
    document = pages(compared(sides, ["oio"]))
    assert "NOT MADE ALIKE: oio" in document.header.stamp
    (table,) = [t for t in tables(document) if t.caption.startswith("Not made alike")]
    assert table.rows == (("iops", "queue_depth", "oio", "a: 16, b: 8"),)


def test_a_remark_of_several_runs_is_said_once_with_their_names() -> None:
    remark = Remark(kind=RemarkKind.FOREIGN_IO, text="something else wrote")
    sides: list[Side] = []
    for name, seed in (("a", 1), ("b", 2)):
        run = record(seed)
        sides.append(side(name, replace(run, remarks=(*run.remarks, remark))))
    document = pages(compared(sides))
    notes = [b for section in document.sections for b in section.blocks if isinstance(b, Note)]
    assert [n.text for n in notes if n.kind == "foreign i/o"] == ["a, b: something else wrote"]


def test_runs_that_have_measured_nothing_yet_say_so() -> None:
    sides = []
    for name, seed in (("a", 1), ("b", 2)):
        run = record(seed)
        begun = replace(run, steps=run.steps[:2], run=replace(run.run, ending="running"))
        sides.append(side(name, begun))
    told = texts(pages(compared(sides)))
    assert "Nothing of it is measured on two sides yet." in told
    assert "INCOMPLETE" in told


def test_the_file_is_named_after_the_sides() -> None:
    assert document_name([side("MLC-A", record(1)), side("Ä b", record(2))]) == "compare-mlc-a-b"


@pytest.mark.parametrize("test", TESTS)
def test_every_text_of_a_comparison_is_translated_or_is_data(test: str) -> None:
    sides = [side("D1", record(1, test=test)), side("D2", record(2, test=test, iops=11_000))]
    document = replace(pages(compared(sides)), name="")
    data = {"Example Drive", "format", "two cores"}
    assert untranslated(document, translator(Language.JAPANESE)) <= data


def test_a_report_in_japanese_has_the_verdicts_in_japanese() -> None:
    told = text.render(pages(comparison(iops=30_000)), language=Language.JAPANESE)
    assert "速い" in told
    assert "faster" not in told
