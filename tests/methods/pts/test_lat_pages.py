"""The LAT report: its pages in the standard's order, and every plotted number in a table."""

import pytest

from teijo.document.model import Bars3D, Paragraph, Table, Verdict, XYChart
from teijo.methods.parts import document_of
from teijo.methods.pts.lat.method import Lat
from tests.methods.canned import Played, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of
from tests.methods.pts.test_lat import SPECS_1, SPECS_2, flat, never, run

SIX = [
    "Steady state convergence: average latency",
    "Steady state convergence: maximum latency",
    "Steady state window: average latency, RND 4 KiB 0/100",
    "Average and maximum latency",
    "Average latency by block size and mix, 3-D",
    "Maximum latency by block size and mix, 3-D",
]


def report_of(played: Played):
    return document_of(played.record)


def figures_of(played: Played) -> Table:
    (table,) = [
        block
        for block in report_of(played).sections[0].blocks
        if isinstance(block, Table) and block.caption == "Latency over the measurement window"
    ]
    return table


@pytest.mark.parametrize("spec", SPECS_1)
def test_version_1_has_six_plots_in_the_standards_order(spec):
    document = report_of(run(spec=spec))
    assert [section.title for section in document.sections if section.label] == SIX
    assert document.sections[6].label == "Plot 6 of 6"


@pytest.mark.parametrize("spec", SPECS_2)
def test_version_2_has_the_histogram_as_its_seventh(spec):
    document = report_of(run(spec=spec))
    seventh = "Response-time histogram and confidence levels"
    assert [section.title for section in document.sections if section.label] == [*SIX, seventh]
    assert document.sections[7].label == "Plot 7 of 7"


def test_every_plotted_number_stands_in_the_charts_table():
    for played in (run(spike=7), run(never), run(gaps={20})):
        charts = charts_of(report_of(played))
        assert len(charts) == 7
        for chart in charts:
            assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_the_table_has_average_five_nines_both_maxima_and_iops():
    def us(cell: str, number: int) -> float:
        return flat(cell, 1) * (1.1 if number == 3 else 1.0)

    table = figures_of(run(us, spike=10))
    assert [column.name for column in table.columns] == [
        "Workload", "Average", "99.999 % (5 9s)", "Maximum", "Mean of the maxima", "IOPS",
        "Average × IOPS",
    ]  # fmt: skip
    rows = {row[0]: row[1:] for row in table.rows}
    average, nines, maximum, maxima, iops, share = rows["RND 4 KiB 0/100"]
    assert average == pytest.approx(0.025 * 1.02, rel=1e-4)
    assert nines == pytest.approx(0.0275, rel=1e-3)
    assert maximum == pytest.approx(0.275)
    assert maxima == pytest.approx(0.25 * 1.02)
    assert iops == pytest.approx((4 + 1 / 1.1) / 5 / 25e-6, rel=1e-4)
    assert share == pytest.approx(1, abs=1e-6)
    assert "99.999 % (5 9s)" not in [
        column.name for column in figures_of(run(spec="1.1-enterprise")).columns
    ]


@pytest.mark.parametrize(("spec", "histogram"), [("2.0.2-client", "none"), ("1.0-client", "2")])
def test_the_version_decides_on_the_table_and_the_settings_on_the_seventh_plot(spec, histogram):
    played = run(spec=spec, overrides={"histogram": histogram})
    names = [column.name for column in figures_of(played).columns]
    assert ("99.999 % (5 9s)" in names) is (spec == "2.0.2-client")
    plots = [section for section in report_of(played).sections if section.label]
    assert len(plots) == (6 if histogram == "none" else 7)


def test_five_nines_of_too_few_ios_are_left_out():
    # A minute of I/Os of 10 ms is 6,000 of them: five rounds are 30,000.
    table = figures_of(run(lambda cell, number: 10_000.0))
    assert all(row[2] is None for row in table.rows)


def test_the_table_rises_from_half_kib_and_from_all_writes_to_all_reads():
    (section,) = [each for each in report_of(run()).sections if each.title == SIX[3]]
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["0.5", "4", "8"]
    assert [column.name for column in table.columns[1:]] == ["0/100", "65/35", "100/0"]
    assert table.rows[1][1:] == pytest.approx((0.025, 0.07, 0.09))


def test_the_bars_are_the_tables():
    bars = [b for s in report_of(run()).sections for b in s.blocks if isinstance(b, Bars3D)]
    assert [each.z.name for each in bars] == ["Average latency", "Maximum latency"]
    for each in bars:
        assert each.values == tuple(row[1:] for row in each.table.rows)


def test_the_convergence_draws_all_block_sizes_at_0_100_and_shades_the_window():
    average, maximum = charts_of(report_of(run(spike=7)))[:2]
    assert isinstance(average, XYChart)
    assert isinstance(maximum, XYChart)
    assert [series.name for series in average.series] == ["8 KiB", "4 KiB", "0.5 KiB"]
    assert average.series[1].y == pytest.approx((0.025,) * 5, rel=1e-4)
    assert maximum.series[1].y == pytest.approx((0.175,) * 5)
    assert [(span.first, span.last) for span in average.spans] == [(1, 5)]


def test_a_passed_self_check_is_said_and_a_failed_one_stands_out():
    def words(played: Played) -> str:
        blocks = report_of(played).sections[0].blocks
        return next(
            b.text for b in blocks if isinstance(b, Paragraph) and "-check" in b.text.lower()
        )

    passed, failed = run(), run(pause_ns=5_000)
    assert words(passed).startswith("Self-check passed")
    assert figures_of(passed).marked == ()
    assert words(failed).startswith("SELF-CHECK FAILED in 9 of 9 cells")
    assert "0.8333 for RND" in words(failed)
    assert figures_of(failed).marked == tuple((place, 6) for place in range(9))


@pytest.mark.parametrize(
    ("played", "verdict", "good"),
    [
        (run(), "STEADY STATE: YES, rounds 1–5", True),
        (run(never), "STEADY STATE: NO, after 25 rounds; rounds 21–25 are reported", False),
    ],
)
def test_the_verdict_is_the_first_line(played, verdict, good):
    assert report_of(played).sections[0].blocks[0] == Verdict(text=verdict, good=good)


def test_the_header_tells_the_loads_of_preparation_and_test_apart():
    rows = [
        row for group in report_of(run(spec="2.0.2-enterprise")).header.groups for row in group.rows
    ]
    assert [value for name, value in rows if name == "TOIO, TC/QD"] == [
        "128, TC 4 / QD 32",
        "1, TC 1 / QD 1",
    ]
    assert dict(rows)["Stimulus 2"] == "RND 4 KiB 0/100, 20 min 00 s"


def test_a_report_can_be_made_at_any_moment_of_a_run():
    played = run(gaps={20, 57})
    for count in range(len(played.steps) + 1):
        record = record_of(Lat(), played.settings, played.steps[:count])
        document = document_of(record)
        assert "RUNNING" in document.header.stamp
        assert text_of(document)
