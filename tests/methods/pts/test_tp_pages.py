"""The TP report: five pages for each block size, and every plotted number in a table."""

import pytest

from teijo.document.model import Table, Verdict, XYChart
from teijo.methods.parts import document_of
from teijo.methods.pts.tp.method import Tp
from tests.methods.canned import Played, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of
from tests.methods.pts.test_tp import BOTH, FIG_13, LARGE_NEVER, NEVER, SPECS, moving, run


def report_of(played: Played):
    return document_of(played.record)


def header_rows(played: Played) -> dict[str, str]:
    return {name: value for group in report_of(played).header.groups for name, value in group.rows}


@pytest.mark.parametrize("spec", SPECS)
def test_every_block_size_has_the_standards_five_plots_in_order(spec):
    labelled = [each for each in report_of(run(spec=spec)).sections if each.label]
    assert len(labelled) == 5 * len(SPECS[spec])
    for place, kib in enumerate(SPECS[spec]):
        five = labelled[5 * place : 5 * place + 5]
        assert [each.label for each in five] == [f"Plot {n} of 5" for n in range(1, 6)]
        assert [each.title for each in five] == [
            f"{kib:g} KiB: convergence of the writes",
            f"{kib:g} KiB: convergence of the reads",
            f"{kib:g} KiB: steady state measurement window",
            f"{kib:g} KiB: throughput table",
            f"{kib:g} KiB: throughput by R/W mix",
        ]


def test_every_plotted_number_stands_in_the_charts_table():
    for played in (run(spec=BOTH), run(LARGE_NEVER, spec=BOTH), run(gaps={7})):
        charts = charts_of(report_of(played))
        assert len(charts) >= 4
        for chart in charts:
            assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_figure_13_is_the_summarys_table_and_figure_14_its_bars():
    drive = moving(lambda reads, kib, _: FIG_13[reads, kib])
    blocks = report_of(run(drive, spec=BOTH)).sections[0].blocks
    table = next(
        each
        for each in blocks
        if isinstance(each, Table) and each.caption == "Throughput by block size and R/W mix"
    )
    assert [column.name for column in table.columns] == ["Block size", "0/100", "100/0"]
    shown = [(row[0], *(round(float(value or 0), 1) for value in row[1:])) for row in table.rows]
    assert shown == [("1024 KiB", 157.5, 514.3), ("128 KiB", 144.5, 409.3)]
    (bars,) = [each for each in blocks if isinstance(each, XYChart)]
    assert {series.name: series.style for series in bars.series} == {
        "R/W 0/100": "bars",
        "R/W 100/0": "bars",
    }
    assert [series.y for series in bars.series] == [
        tuple(row[place] for row in table.rows) for place in (1, 2)
    ]


@pytest.mark.parametrize(
    ("played", "verdict", "good"),
    [
        (run(), "STEADY STATE: YES, rounds 1–5", True),
        (run(NEVER), "STEADY STATE: NO, after 25 rounds; rounds 21–25 are reported", False),
        (
            run(spec=BOTH),
            "STEADY STATE: YES, 1024 KiB rounds 1–5, 128 KiB rounds 1–5",
            True,
        ),
        (
            run(LARGE_NEVER, spec=BOTH),
            "STEADY STATE: NO, 1024 KiB after 25 rounds NO, 128 KiB rounds 1–5",
            False,
        ),
    ],
)
def test_the_verdict_is_the_first_line(played, verdict, good):
    assert report_of(played).sections[0].blocks[0] == Verdict(text=verdict, good=good)


def test_the_header_tells_each_block_sizes_rounds_and_preconditioning():
    rows = header_rows(run(spec="1.1-enterprise"))
    assert rows["SS rounds"] == "1024 KiB: 1–5, 128 KiB: 1–5"
    assert rows["Pre-condition 1"] == "2X SEQ/the test's block size"
    assert rows["Block size, a test each"] == "1024 KiB, 128 KiB"
    rows = header_rows(run(spec="1.0-client"))
    assert (rows["Rounds"], rows["Workload independent"]) == ("1–5", "2X SEQ/128KiB")
    assert header_rows(run())["Pre-condition 1"] == "2X SEQ/1024KiB"
    none = run(overrides={"precondition_times": "0"})
    assert header_rows(none)["Pre-condition 1"] == "none"


def test_version_1_0_requires_it_of_both_classes():
    for spec in ("1.0-client", "1.0-enterprise"):
        assert "(REQUIRED)" in report_of(run(spec=spec)).header.title


def test_a_report_can_be_made_at_any_moment_of_a_run():
    played = run(spec=BOTH, gaps={17})
    for count in range(len(played.steps) + 1):
        record = record_of(Tp(), played.settings, played.steps[:count])
        document = document_of(record)
        assert "RUNNING" in document.header.stamp
        assert text_of(document)


def test_an_interruption_is_noted_in_the_block_size_it_fell_in_only():
    played = run(spec=BOTH, gaps={17 + 3})
    text = text_of(report_of(played)).split("== Plot 1 of 5")
    assert "interrupted after round" not in text[1]
    assert "The run was interrupted after round 2" in text[2]
