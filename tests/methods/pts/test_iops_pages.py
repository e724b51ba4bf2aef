"""The IOPS report: its pages in the standard's order, and every plotted number in a table."""

from dataclasses import replace

import pytest

from teijo.document.model import Bars3D, Facts, Note, Table, Verdict, XYChart
from teijo.methods.parts import document_of, findings_of
from teijo.methods.pts.iops.method import Iops
from teijo.terms.remark import Remark, RemarkKind
from tests.methods.canned import Played, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of
from tests.methods.pts.test_iops import gap_in_round_4, never, only_cell, run


def report_of(played: Played):
    return document_of(played.record)


def labelled(document) -> list[str]:
    return [section.title for section in document.sections if section.label]


def test_version_1_has_six_plots_in_the_standards_order():
    document = report_of(run(spec="1.0-enterprise"))
    assert labelled(document) == [
        "Steady state convergence",
        "Steady state measurement window",
        "Steady state window: RND 4 KiB 0/100",
        "IOPS table",
        "IOPS by block size and mix, 2-D",
        "IOPS by block size and mix, 3-D",
    ]
    assert document.sections[1].label == "Plot 1 of 6"


def test_version_2_has_eight_plots_one_window_for_each_tracking_variable():
    titles = labelled(report_of(run(spec="2.0.2-client")))
    assert len(titles) == 8
    assert titles[2:5] == [
        "Steady state window: RND 4 KiB 0/100",
        "Steady state window: RND 64 KiB 65/35",
        "Steady state window: RND 1024 KiB 100/0",
    ]


def test_every_plotted_number_stands_in_the_charts_table():
    for played in (run(), run(never), gap_in_round_4()):
        charts = charts_of(report_of(played))
        assert len(charts) >= 7
        for chart in charts:
            assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_the_table_rises_from_half_kib_and_from_all_writes_to_all_reads():
    document = report_of(run())
    (section,) = [each for each in document.sections if each.title == "IOPS table"]
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["0.5", "4", "8", "16", "32", "64", "128", "1024"]
    names = [column.name for column in table.columns[1:]]
    assert names == ["0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0"]
    assert table.rows[1][1] == pytest.approx(1e8 / 4096, rel=1e-4)


def test_the_summary_selects_from_the_same_cells_what_was_measured_of_them():
    def selected(played: Played) -> dict[object, object]:
        blocks = report_of(played).sections[0].blocks
        tables = [each for each in blocks if isinstance(each, Table)]
        return {row[0]: row[1] for row in tables[1].rows} if len(tables) > 1 else {}

    shown = selected(run())
    assert list(shown) == [
        "RND 4 KiB 0/100", "RND 4 KiB 100/0", "RND 64 KiB 65/35",
        "RND 1024 KiB 0/100", "RND 1024 KiB 100/0",
    ]  # fmt: skip
    cells = {cell.labels: cell.iops for cell in findings_of(run().record).cells}
    assert shown["RND 64 KiB 65/35"] == cells[(("r/w mix", "65/35"), ("block size", "64 KiB"))]
    few = run(spec="1.0-enterprise", overrides={"block_sizes": "4KiB"})
    assert list(selected(few)) == ["RND 4 KiB 0/100", "RND 4 KiB 100/0"]


def test_the_bars_are_the_table():
    document = report_of(run())
    (bars,) = [b for s in document.sections for b in s.blocks if isinstance(b, Bars3D)]
    assert bars.values == tuple(row[1:] for row in bars.table.rows)


def test_the_convergence_has_one_series_per_block_size_and_shades_the_window():
    rates = (500.0, 200.0, 100.0, 100.0, 100.0, 100.0, 100.0)
    chart = charts_of(report_of(run(only_cell("0/100 4 KiB", rates))))[0]
    assert isinstance(chart, XYChart)
    assert [series.name for series in chart.series] == [
        "1024 KiB", "128 KiB", "64 KiB", "32 KiB", "16 KiB", "8 KiB", "4 KiB", "0.5 KiB",
    ]  # fmt: skip
    assert [series.y for series in chart.series][6] == rates
    (span,) = chart.spans
    assert (span.first, span.last) == (3, 7)


def test_the_close_up_draws_the_least_squares_line_and_its_levels():
    rates = (96.0, 100.0, 102.0, 100.0, 102.0)
    chart = charts_of(report_of(run(only_cell("0/100 4 KiB", rates), spec="1.1-enterprise")))[2]
    assert isinstance(chart, XYChart)
    assert chart.series[0].y == rates
    assert chart.series[1].y == pytest.approx((97.6, 98.8, 100.0, 101.2, 102.4))
    assert {rule.name: rule.value for rule in chart.rules} == pytest.approx(
        {"average": 100, "110 %": 110, "90 %": 90}
    )


def test_the_determination_prints_operands_limits_and_verdicts():
    rates = (96.0, 100.0, 102.0, 100.0, 102.0)
    document = report_of(run(only_cell("0/100 4 KiB", rates), spec="1.1-enterprise"))
    facts = next(
        block
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Facts) and block.caption == "Determination"
    )
    rows = dict(facts.rows)
    assert rows["Average"] == "100.000000 IOPS"
    assert rows["Least-squares line"] == "1.200000 · R + 96.400000"
    assert rows["Data excursion"].startswith("6.000000 (6.0000 % of the average)")
    assert rows["Slope excursion"] == (
        "4.800000 (4.8000 % of the average), allowed 10.000000: PASS"
    )


@pytest.mark.parametrize(
    ("played", "verdict", "good"),
    [
        (run(), "STEADY STATE: YES, rounds 1–5", True),
        (
            run(never),
            "STEADY STATE: NO, after 25 rounds; rounds 21–25 are reported",
            False,
        ),
        (gap_in_round_4(), "STEADY STATE: YES, rounds 4–8", True),
    ],
)
def test_the_verdict_is_the_first_line(played, verdict, good):
    first = report_of(played).sections[0].blocks[0]
    assert first == Verdict(text=verdict, good=good)


def test_a_report_can_be_made_at_any_moment_of_a_run():
    played = gap_in_round_4()
    for count in (0, 1, 2, 3, 30, 58, 59, 2 + 4 * 56, len(played.steps)):
        record = record_of(Iops(), played.settings, played.steps[:count])
        document = document_of(record)
        assert "RUNNING" in document.header.stamp
        assert "not yet" in text_of(document)


def test_a_failed_or_interrupted_run_says_that_it_is_incomplete():
    played = run()
    record = record_of(Iops(), played.settings, played.steps[:70], "failed")
    document = document_of(record)
    assert "INCOMPLETE" in document.header.stamp
    assert "STEADY STATE: not reached in the 1 round there are" in text_of(document)


def test_remarks_are_printed_once_each_with_their_remedy():
    played = run(overrides={"minute": "1s"})
    errors = tuple(
        Remark(kind=RemarkKind.IO_ERRORS, text="2 I/Os failed", step=step) for step in range(5, 25)
    )
    record = replace(played.record, remarks=(*played.record.remarks, *errors))
    document = document_of(record)
    notes = [b for s in document.sections for b in s.blocks if isinstance(b, Note)]
    assert [note.kind for note in notes] == ["deviation from the standard", "i/o errors"]
    assert notes[0].text == "minute 1s instead of 60s"
    assert notes[0].remedy
    assert "(steps 5, 6, 7, 8, 9, 10, 11, 12 and 12 more)" in notes[1].text
    assert document.header.stamp == "NON-CONFORMING"


def test_every_step_stands_in_the_folded_table():
    played = gap_in_round_4()
    (section,) = [s for s in report_of(played).sections if s.title == "Every step"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert table.folded
    assert len(table.rows) == len(played.steps)
    assert [row[0] for row in table.rows] == list(range(1, len(played.steps) + 1))
    assert any("gap: resumed" in str(row[3]) for row in table.rows)
