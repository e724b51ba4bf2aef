"""The report of DIRTH and the composite workload: fifteen plots, and words on the points."""

from dataclasses import replace

import pytest

from teijo.document.model import Table, XYChart
from teijo.methods.parts import document_of
from teijo.methods.pts.demand.method import CBW, DIRTH
from teijo.terms.histogram import Histogram
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult, Witness
from teijo.terms.step import Measure
from tests.methods.canned import Played, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of
from tests.methods.pts.test_demand import METHODS, SMALL, by_round, run, stream_of, swept

PLOTS = [
    "Pre-conditioning IOPS",
    "Pre-conditioning steady state window",
    "Pre-writes between rounds",
    "Demand Variation, IOPS tracking",
    "Steady state window: {}",
    "Demand Variation",
    "Demand Intensity",
    "System CPU",
    "MaxIOPS: pre-writes",
    "MaxIOPS: response-time histogram",
    "MidIOPS: pre-writes",
    "MidIOPS: response-time histogram",
    "MinIOPS: pre-writes",
    "MinIOPS: response-time histogram",
    "IOPS against total OIO",
]
KNEE = swept(
    at_4_8=(8_000, 4.0, 4.0),
    at_1_6=(4_400, 1.0, 1.0),
    at_1_1=(1_000, 1.0, 1.0),
)


def report_of(played: Played, method=DIRTH):
    return document_of(played.record)


def section_of(document, title: str):
    (section,) = [each for each in document.sections if each.title == title]
    return section


def chart_of(document, title: str) -> XYChart:
    (chart,) = [each for each in section_of(document, title).blocks if isinstance(each, XYChart)]
    return chart


def points_table(document) -> Table:
    (table,) = [
        block
        for block in document.sections[0].blocks
        if isinstance(block, Table) and block.caption == "Operating points"
    ]
    return table


@pytest.mark.parametrize(
    ("method", "variable"),
    [
        (DIRTH, "RND 8 KiB 65/35 TC 32 QD 32"),
        (CBW, "12 block sizes, zoned 40/60 TC 32 QD 32"),
    ],
)
def test_the_fifteen_plots_come_in_the_standards_order(method, variable):
    document = report_of(run(method), method)
    labelled = [section for section in document.sections if section.label]
    assert [each.title for each in labelled] == [title.format(variable) for title in PLOTS]
    assert labelled[0].label == "Plot 1 of 15"


def test_every_plotted_number_stands_in_the_charts_table():
    never = by_round("round", tuple(1000.0 * 1.5**n for n in range(25)), "TC 32 QD 32")
    for played in (run(), run(CBW), run(rate=never), run(overrides=SMALL, gaps={9})):
        method = CBW if played.record.run.method == "pts.cbw" else DIRTH
        charts = charts_of(report_of(played, method))
        assert len(charts) >= 14
        for chart in charts:
            assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_the_preconditioning_is_drawn_with_its_check_minutes_and_its_window():
    chart = chart_of(report_of(run()), "Pre-conditioning IOPS")
    assert chart.series[1].x == (1, 31, 61, 91, 121)
    assert (chart.spans[0].first, chart.spans[0].last) == (1, 121)
    assert len(chart.series[0].x) == 121


def test_the_pre_writes_have_a_line_a_minute_and_a_place_a_round():
    rates = (900.0, 1000.0, 1000.0, 1000.0, 1000.0)
    chart = chart_of(
        report_of(run(rate=by_round("round", rates, "pre-write minute 2"))),
        "Pre-writes between rounds",
    )
    assert [series.name for series in chart.series] == [f"minute {n}" for n in range(1, 6)]
    assert chart.series[1].y == rates


def test_demand_variation_and_intensity_have_a_line_a_thread_count():
    played = run(rate=KNEE[0], latency=KNEE[1])
    document = report_of(played)
    names = ["TC 1", "TC 2", "TC 4", "TC 6", "TC 8", "TC 16", "TC 32"]
    variation = chart_of(document, "Demand Variation")
    assert [series.name for series in variation.series] == names
    assert variation.series[0].x == (1, 2, 4, 6, 8, 16, 32)
    assert variation.series[0].y == (1_000, 100, 100, 4_400, 100, 100, 100)
    intensity = chart_of(document, "Demand Intensity")
    assert intensity.series[0].x == variation.series[0].y
    assert intensity.series[0].y == (1, 20, 20, 1, 20, 20, 20)
    rules = {rule.name: (rule.at, rule.value) for rule in intensity.rules}
    assert rules == {
        "5 ms": ("y", 5),
        "MaxIOPS": ("x", 8_000),
        "MidIOPS": ("x", 4_400),
        "MinIOPS": ("x", 1_000),
    }
    total = chart_of(document, "IOPS against total OIO")
    assert total.series[2].x == (4, 8, 16, 24, 32, 64, 128)
    assert {rule.name: rule.value for rule in total.rules} == {
        "MaxIOPS": 32,
        "MidIOPS": 6,
        "MinIOPS": 1,
    }


def test_the_operating_points_are_tabled_with_what_their_histograms_showed():
    document = report_of(run(rate=KNEE[0], latency=KNEE[1]))
    rows = points_table(document).rows
    assert [row[:5] for row in rows] == [
        ("MaxIOPS", 4, 8, 8_000, 4),
        ("MidIOPS", 1, 6, 4_400, 1),
        ("MinIOPS", 1, 1, 1_000, 1),
    ]
    assert [row[5:] for row in rows] == [
        (8_000, 4, pytest.approx(4, rel=1e-3), 4),
        (4_400, 1, pytest.approx(1, rel=1e-3), 1),
        (1_000, 1, pytest.approx(1, rel=1e-3), 1),
    ]
    told = text_of(document)
    assert "the points with an ART below 5 ms" in told
    assert "the point nearest to 4,500.0 IOPS, halfway between Max and Min" in told
    assert "other loads come before it" not in told


def test_a_histogram_is_of_the_ten_minutes_and_of_nothing_else():
    played = run(rate=KNEE[0], latency=KNEE[1])
    (step,) = [
        each
        for each in played.steps
        if isinstance(each.step, Measure) and (each.step.cell or "").startswith("Mid, ")
    ]
    assert isinstance(step.answer, StepResult)
    assert step.answer.ios == 4_400 * 600
    section = section_of(report_of(played), "MidIOPS: response-time histogram")
    assert any(
        "2,640,000 I/Os stand behind" in getattr(each, "text", "") for each in section.blocks
    )


def test_a_drive_that_never_keeps_the_limit_has_that_said_with_the_next_best():
    rate, latency = swept(at_2_1=(180, 8.0, 8.0), at_1_1=(110, 9.0, 9.0))
    told = text_of(report_of(run(rate=rate, latency=latency)))
    assert "No point of the sweep has an ART below 5 ms." in told
    assert "8.000 ms, stands in for MaxIOPS" in told


def test_points_that_are_one_and_the_same_are_said_to_be():
    rate, latency = swept(at_1_1=(110, 1.0, 1.0))
    assert "one and the same point" in text_of(report_of(run(rate=rate, latency=latency)))
    knee = report_of(run(rate=KNEE[0], latency=KNEE[1]))
    assert "one and the same point" not in text_of(knee)


def test_a_point_that_was_a_moments_burst_in_the_sweep_is_told_apart():
    def rate(step) -> float:
        return KNEE[0](step) * (0.5 if step.phase == "histogram" else 1.0)

    told = text_of(report_of(run(rate=rate, latency=KNEE[1])))
    assert "MaxIOPS: after its pre-write the drive gave 50 % of the IOPS it gave" in told


def test_a_preconditioning_that_was_not_steady_is_remarked():
    played = run(rate=by_round("precondition", tuple(1000.0 * 1.5**n for n in range(25))))
    told = text_of(report_of(played))
    assert "PRECONDITIONING: not steady in 25 check minutes" in told
    assert "not steady after its 721 minutes (25 check minutes)" in told
    told = text_of(report_of(run()))
    assert "PRECONDITIONING: steady, check minutes 1–5" in told
    assert "not steady after" not in told


def test_a_device_that_answers_nothing_has_a_report():
    told = text_of(report_of(run(rate=lambda step: 0.0)))
    assert "no point of a whole round completed an I/O" in told
    assert "STEADY STATE: NO" in told


@pytest.mark.parametrize("method", METHODS)
def test_a_report_can_be_made_at_any_moment_of_a_run(method):
    played = run(method, overrides=SMALL, gaps={4, 20})
    for count in range(len(played.steps)):
        record = record_of(method, played.settings, played.steps[:count])
        document = document_of(record)
        assert "RUNNING" in document.header.stamp
        assert len([each for each in document.sections if each.label]) == 15


# --- CPU --------------------------------------------------------------------------------------


def witnessed(played: Played) -> Played:
    """Return the run with an account of its steps: 1 % of a processor per outstanding I/O."""

    def seen(each: StepRecord) -> StepRecord:
        if not isinstance(each.step, Measure) or not isinstance(each.answer, StepResult):
            return each
        witness = Witness(
            wall_ns=1_000_000,
            cpu_ns=10_000 * stream_of(each.step).outstanding_ios,
            worker_cpu_ns=0,
            worker_delay_ns=0,
            busiest_worker=0.0,
            workers=1,
            in_flight_mean=1.0,
            in_flight_asked=1,
            look_gap_ns_max=0,
            turn_gap_ns_max=0,
            turns=1,
            submit_calls=1,
            min_complete=1,
            io_wq_workers=0,
            techniques=(),
        )
        return replace(each, answer=replace(each.answer, witness=witness))

    steps = tuple(seen(each) for each in played.steps)
    return replace(played, record=replace(played.record, steps=steps))


def test_the_cpu_is_the_programs_own_by_queue_depth_and_not_known_where_nobody_told():
    told = section_of(report_of(run()), "System CPU")
    assert "CPU: not known" in told.blocks[0].text  # type: ignore[union-attr]
    chart = chart_of(report_of(witnessed(run())), "System CPU")
    assert chart.series[0].y == pytest.approx((1, 2, 4, 6, 8, 16, 32))
    assert chart.series[-1].y == pytest.approx(
        tuple(32 * depth for depth in (1, 2, 4, 6, 8, 16, 32))
    )
    assert plotted_numbers(chart) <= table_numbers(chart.table)


def test_levels_beyond_the_ios_there_are_stay_empty_in_the_points_table():
    played = run(rate=lambda step: 10.0, latency=lambda step, direction: 1_000_000)
    row = points_table(report_of(played)).rows[0]
    assert row[7] is None, "6,000 I/Os do not resolve 99.999 %"
    assert isinstance(played.steps[-1].answer, StepResult)
    assert isinstance(played.steps[-1].answer.results[0].latency, Histogram)


RESTED = swept(
    at_4_4=(3_000, 4.0, 4.0),
    at_4_1=(2_000, 2.0, 2.0),
    at_1_4=(6_300, 0.6, 0.6),
    at_1_1=(300, 3.0, 3.0),
)
"""TC 1 QD 4 comes right after TC 2 QD 1 where TC 2 is measured too."""


def summary_of(played: Played) -> str:
    document = report_of(played)
    return text_of(replace(document, sections=document.sections[:1]))


def test_page_one_says_that_the_order_made_a_light_demand_look_fast():
    threads = {**SMALL, "threads": "4,2,1"}
    text = summary_of(run(DIRTH, *RESTED, overrides=threads))
    assert "TC 1 QD 4 gave 2.1 times the IOPS of TC 4 QD 4" in text
    assert "it follows TC 2 QD 1" in text
    assert "1 of the 6 points" in text
    assert "threads=4,1, queue_depth=4" in text
    # The canned drive writes two bytes for each, wherever: that is no proof.
    assert "The order of the sweep may do that" in text
    assert "2.0 bytes at TC 2 QD 1, 2.0 at TC 1 QD 4, 2.0 at TC 4 QD 4" in text


def test_nothing_is_said_of_the_order_where_more_demand_gives_more():
    assert "order of the sweep" not in summary_of(run(DIRTH, *KNEE, overrides=SMALL))
