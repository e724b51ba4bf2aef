"""The WSAT report: the curve against time, TGBW and drive fills, annotated, and its tables."""

import re

import pytest

from teijo.document.model import XYChart
from teijo.methods.parts import document_of
from teijo.methods.pts.wsat.method import Wsat
from tests.methods.canned import Played, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of
from tests.methods.pts.test_wsat import CHECKED, SATURATING, SLOW, SMALL, UNCHECKED, run


def report_of(played: Played):
    return document_of(played.record)


def titles_of(played: Played) -> list[str]:
    return [section.title for section in report_of(played).sections if section.label]


def test_version_1_0_plots_iops_against_time_and_tgbw_and_latency():
    assert titles_of(run(SATURATING, spec="1.0-enterprise", geometry=SMALL)) == [
        "IOPS against time, linear",
        "IOPS against time, log",
        "IOPS against TGBW, linear",
        "IOPS against TGBW, log",
        "Response time against time",
    ]


def test_version_2_adds_drive_fills_and_the_determination():
    titles = titles_of(run(SLOW, spec="2.0.2-client"))
    assert titles[4:] == [
        "IOPS against drive fills, log",
        "Response time against drive fills",
        "Steady state measurement window",
        "Steady state window: check minute, RND 4 KiB 0/100",
        "Response-time histogram and confidence levels",
    ]


@pytest.mark.parametrize("spec", CHECKED + UNCHECKED)
def test_every_plotted_number_stands_in_the_charts_table(spec):
    for rate in (SLOW, SATURATING):
        for chart in charts_of(report_of(run(rate, spec=spec, geometry=SMALL))):
            assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_fob_and_the_level_are_drawn_where_they_were_found():
    chart = charts_of(report_of(run(SATURATING, geometry=SMALL)))[0]
    assert isinstance(chart, XYChart)
    rules = {rule.name: (rule.at, rule.value) for rule in chart.rules}
    assert rules["FOB"] == ("y", 56_000)
    assert rules["level at the end"] == ("y", 19_000)
    assert rules["settled"] == ("x", 7)
    (span,) = chart.spans
    assert (span.name, span.last) == ("FOB plateau", 7)


def test_steady_state_is_drawn_where_its_window_begins():
    chart = charts_of(report_of(run(SLOW)))[0]
    assert isinstance(chart, XYChart)
    rules = {rule.name: (rule.at, rule.value) for rule in chart.rules}
    assert rules["steady state"] == ("y", 2_000)
    assert rules["steady state begins"] == ("x", 30)


def test_the_verdict_and_the_reason_of_the_end_are_told_honestly():
    told = text_of(report_of(run(SATURATING, geometry=SMALL)))
    assert "STEADY STATE: not determined, 2 of 5 check minutes" in told
    assert re.search(r"FROM [\d,]+ IOPS FRESH TO [\d,]+ AT THE END; STEADY STATE: not", told)
    assert "mean of the window" not in told, "what was not determined has no row"
    assert "The run ended when 4 times the user capacity had been written." in told
    told = text_of(report_of(run(SATURATING, spec="1.0-enterprise", geometry=SMALL)))
    assert "not determined by this version" in told
    told = text_of(report_of(run(SLOW)))
    assert "STEADY STATE: YES, check minutes 1–5" in told


def test_a_report_can_be_made_at_any_moment_of_a_run():
    played = run(SLOW, gaps={20})
    for count in (0, 1, 2, 20, 21, 22, 40, 60, 120, len(played.steps) - 1, len(played.steps)):
        record = record_of(Wsat(), played.settings, played.steps[:count])
        document = document_of(record)
        assert "RUNNING" in document.header.stamp


def test_a_minute_that_is_no_minute_is_said_on_the_axis():
    played = run(SLOW, overrides={"minute": "1s", "max_minutes": "12"})
    chart = charts_of(report_of(played))[0]
    assert isinstance(chart, XYChart)
    assert chart.x.name == "Time (of 1.00 s)"


def test_a_setting_that_leaves_steady_state_out_is_not_the_versions_choice():
    told = text_of(report_of(run(SATURATING, geometry=SMALL, overrides={"check_every": "none"})))
    assert "STEADY STATE: not determined, check_every=none" in told
    assert "by this version" not in told
