"""XSR conversations with canned answers: the groups, their stimuli, gaps, recovery, the pages."""

from dataclasses import replace

import pytest

from teijo.document.model import Table, XYChart
from teijo.errors import PlanError
from teijo.methods.parts import document_of, findings_of, watch_of
from teijo.methods.pts.xsr.method import Xsr
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Purge, Step
from teijo.terms.workload import Access
from tests.methods.canned import DRIVE, GIB, Canned, Geometry, Played, play, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of

SPECS = ("2.0.2-client", "2.0.2-enterprise", "1.1-enterprise")
SHORT = {"first_minutes": "8", "random_minutes": "6", "last_minutes": "10"}


def at_minute(mb_s):
    """A drive with these MB/s in each minute of the run."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        return mb_s(step.round_number) * 1e6 / step.workload.streams[0].block_size_bytes

    return rate


RECOVERING = at_minute(lambda m: 500 if m <= 480 else 60 if m <= 840 + 99 else 500)
"""Back at its first rate in minute 100 of group 3."""
LOST = at_minute(lambda m: 500 if m <= 480 else 60)
FRESH_AND_FAST = at_minute(lambda m: 800 if m <= 60 else 500 if m <= 480 or m > 900 else 60)
"""The first hour is faster than anything after it; at 500 again in minute 61 of group 3."""


def run(rate, *, gaps=(), purge="format", **named) -> Played:
    return play(Xsr(), Canned(rate, gaps=frozenset(gaps), purge=purge), **named)


def scalars_of(played: Played) -> dict[str, float | None]:
    return {each.name: each.value for each in findings_of(played.record).scalars}


def told_by(played: Played) -> str:
    return text_of(document_of(played.record))


# --- the steps --------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_it_writes_eight_hours_in_order_six_at_random_and_eight_in_order(spec):
    played = run(LOST, spec=spec)
    assert isinstance(played.asked[0], Purge)
    assert played.ending == "done"
    stimuli = [
        (stream.access, stream.block_size_bytes // 1024, stream.read_percent)
        for step in played.measured
        for stream in step.workload.streams
    ]
    assert stimuli == (
        [(Access.SEQUENTIAL, 1024, 0)] * 480
        + [(Access.RANDOM, 8, 0)] * 360
        + [(Access.SEQUENTIAL, 1024, 0)] * 480
    )
    assert {step.duration_ns for step in played.measured} == {60_000_000_000}
    streams = {stream for step in played.measured for stream in step.workload.streams}
    assert {(stream.threads, stream.queue_depth) for stream in streams} == {(1, 32)}


def test_only_the_first_minute_of_a_group_does_not_continue_the_one_before():
    measured = run(LOST).measured
    begun = [place for place, step in enumerate(measured, start=1) if not step.continues]
    assert begun == [1, 481, 841]
    assert all(step.open_ended for step in measured)


def test_the_sequential_stream_keeps_its_name_so_that_group_3_goes_on_where_group_1_ended():
    measured = run(LOST).measured
    names = [measured[place].workload.streams[0].name for place in (0, 480, 840)]
    assert names[0] == names[2] != names[1]


def test_a_gap_starts_again_from_the_purge():
    played = run(LOST, gaps={20}, overrides=SHORT)
    kinds = [type(step) for step in played.asked]
    assert kinds.count(Purge) == 2
    assert kinds.index(Purge, 1) == 20
    assert len(played.measured) == 19 + 24
    assert played.measured[19].round_number == 1
    assert not played.measured[19].continues
    assert findings_of(played.record).rounds == 24


def test_the_demonstrations_smaller_blocks_can_be_asked_for_and_are_deviations():
    played = run(LOST, overrides={**SHORT, "sequential": "128KiB", "random": "4KiB"})
    sizes = {stream.block_size_bytes for s in played.measured for stream in s.workload.streams}
    assert sizes == {128 * 1024, 4096}
    texts = [remark.text for remark in Xsr().deviations(played.settings, DRIVE)]
    assert "sequential 128KiB instead of 1MiB" in texts
    assert "last_minutes 10 instead of 480" in texts


# --- recovery ---------------------------------------------------------------------------------


def test_recovery_is_counted_in_minutes_of_group_3():
    found = scalars_of(run(RECOVERING))
    assert found["recovery, first minute not below group 1"] == 100
    assert found["95 % of group 1's end regained for good"] == 100
    assert found["last two hours of group 3, by those of group 1"] == pytest.approx(100)


def test_a_drive_that_stays_slow_has_not_recovered_and_the_report_says_so():
    played = run(LOST)
    assert scalars_of(played)["recovery, first minute not below group 1"] is None
    told = told_by(played)
    assert "NOT RECOVERED: in 480 min; at most 60.00 of 500.00 MB/s" in told
    assert "did not come back to stay: its last two hours have 12.0 %" in told


def test_a_fresh_fast_hour_hides_a_recovery_from_the_standard_and_the_report_says_both():
    played = run(FRESH_AND_FAST)
    found = scalars_of(played)
    assert found["recovery, first minute not below group 1"] is None
    assert found["95 % of group 1's end regained for good"] == 61
    told = told_by(played)
    assert "NOT RECOVERED" in told
    assert "It came back all the same, from minute 61 on" in told


def test_the_cells_are_the_means_of_the_groups():
    cells = findings_of(run(RECOVERING).record).cells
    assert [dict(cell.labels)["group"] for cell in cells] == ["1", "2", "3"]
    expected = (99 * 60 + 381 * 500) / 480
    assert cells[2].throughput_mb_s == pytest.approx(expected, rel=1e-3)


# --- the report -------------------------------------------------------------------------------


def test_the_plots_are_the_standards_in_its_order():
    document = document_of(run(RECOVERING).record)
    plots = [(section.label, section.title) for section in document.sections if section.label]
    assert plots == [
        ("Plot 1 of 5", "Throughput against time"),
        ("Plot 2 of 5", "Switch to random writes"),
        ("Plot 3 of 5", "Switch back to sequential writes"),
        ("Plot 4 of 5", "Average response time against time"),
        ("Plot 5 of 5", "Maximum response time against time"),
    ]


def test_a_switch_is_shown_with_two_hours_on_either_side():
    played = run(RECOVERING)
    charts = charts_of(document_of(played.record))
    for chart, switch in ((charts[1], 480), (charts[2], 840)):
        minutes = [row[0] for row in chart.table.rows]
        assert minutes == list(range(switch - 119, switch + 121))
    assert isinstance(charts[2], XYChart)
    (rule,) = [rule for rule in charts[2].rules if rule.at == "x"]
    assert (rule.name, rule.value) == ("recovered", 940)


def test_every_plotted_number_stands_in_the_charts_table():
    played = run(RECOVERING)
    for chart in charts_of(document_of(played.record)):
        assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_the_gap_at_a_switch_is_in_the_report():
    played = run(LOST, overrides=SHORT)
    steps = list(played.steps)
    answer = steps[9].answer
    assert isinstance(answer, StepResult)
    steps[9] = replace(steps[9], answer=replace(answer, gap_ns=12_345_000))
    record = record_of(Xsr(), played.settings, tuple(steps), "done")
    document = document_of(record)
    (table,) = [
        block
        for block in document.sections[0].blocks
        if isinstance(block, Table) and block.caption == "The groups"
    ]
    assert [row[3] for row in table.rows] == [0.0, 12.345, 0.0]


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 15, 16, 20])
def test_a_report_and_a_watch_can_be_had_at_any_moment_of_a_run(count):
    played = run(LOST, overrides=SHORT)
    record = record_of(Xsr(), played.settings, played.steps[:count])
    document = document_of(record)
    assert "RUNNING" in document.header.stamp
    watch = watch_of(record)
    assert watch.phase == ("purge" if count == 0 else "minute")
    assert watch.remaining_ns_least == (24 - max(0, count - 1)) * 60_000_000_000


def test_a_run_cut_short_is_not_called_unrecovered():
    played = run(at_minute(lambda m: 500 if m <= 8 else 60), overrides=SHORT)
    record = record_of(Xsr(), played.settings, played.steps[:20], "interrupted")
    told = text_of(document_of(record))
    assert "RECOVERY: not yet, in 5 min" in told
    assert "NOT RECOVERED" not in told
    assert "did not come back" not in told


# --- the settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(spec):
    settings = Xsr().settings(spec, {}, DRIVE)
    assert Xsr().deviations(settings, DRIVE) == ()
    assert Xsr().settings_from(settings.model_dump(mode="json")) == settings
    assert Xsr().writes(settings)


@pytest.mark.parametrize("spec", ["1.0-enterprise", "1.0-client"])
def test_versions_before_1_1_have_no_xsr(spec):
    with pytest.raises(PlanError, match="2\\.0\\.2-client"):
        Xsr().settings(spec, {}, DRIVE)


def test_a_scaled_drive_has_its_hours_divided():
    small = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)
    played = run(LOST, geometry=small)
    assert {step.duration_ns for step in played.measured} == {2_000_000_000}
    assert len(played.measured) == 1320
    assert not Xsr().deviations(played.settings, small)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"random": "3000"}, "multiple of 512"),
        ({"last_minutes": "0"}, "between 1 and"),
        ({"randoms": "4KiB"}, "did you mean"),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason(overrides, words):
    with pytest.raises(PlanError, match=words):
        Xsr().settings("", overrides, DRIVE)
