"""HIR conversations with canned answers: rounds, bursts, rests, gaps, gains, the pages."""

import math
from dataclasses import replace

import pytest

from teijo.analysis.difference import student_t_limit
from teijo.analysis.repeats import resemblance
from teijo.document.model import Facts, Table, XYChart
from teijo.errors import PlanError
from teijo.methods.parts import document_of, findings_of, watch_of
from teijo.methods.pts.hir.method import Hir
from teijo.terms.result import StepResult
from teijo.terms.step import Idle, Measure, Purge, Step
from tests.methods.canned import DRIVE, GIB, Canned, Geometry, Played, play, record_of
from tests.methods.documents import charts_of, plotted_numbers, table_numbers, text_of

SPECS = ("2.0.2-client", "2.0.2-enterprise", "1.1-enterprise")
SHORT = {"bursts": "20", "baseline_minutes": "10", "idle": "5,50", "round_minutes": "2"}
SECOND = 1_000_000_000
SCALED = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)


def drive(*, burst=lambda idle_s, number: 8_000.0, steady=2_000.0):
    """A drive with one rate without a rest, and another in bursts, by the rest before them."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        if step.phase != "burst":
            return steady
        assert step.cell is not None
        return burst(int(step.cell.split()[1]), step.round_number)

    return rate


RECOVERING = drive(burst=lambda idle_s, number: 2_000.0 * (1 + idle_s / 5) + 10 * (number % 2))
UNMOVED = drive(burst=lambda _, number: 2_000.0 + 10 * (-1) ** number)


def run(rate, *, gaps=(), **named) -> Played:
    return play(Hir(), Canned(rate, gaps=frozenset(gaps)), **named)


def scalars_of(played: Played) -> dict[str, float | None]:
    return {each.name: each.value for each in findings_of(played.record).scalars}


def report_of(played: Played):
    return document_of(played.record)


# --- the steps --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=SPECS)
def whole(request) -> Played:
    return run(RECOVERING, spec=request.param)


def test_it_purges_writes_to_steady_state_and_never_preconditions_otherwise(whole):
    assert isinstance(whole.asked[0], Purge)
    minutes = [step for step in whole.measured if step.phase == "precondition"]
    assert len(minutes) == 5 * 30
    assert whole.asked[1:151] == minutes
    assert [step.continues for step in minutes] == [False] + [True] * 149
    assert whole.ending == "steady"
    assert findings_of(whole.record).window_rounds == (1, 5)


def test_each_wait_state_is_360_bursts_of_5_s_with_its_rest_and_then_30_minutes(whole):
    steps = whole.asked[151:]
    assert len(steps) == 5 * (720 + 30)
    for place, idle_s in enumerate((5, 10, 15, 25, 50)):
        own = steps[place * 750 : (place + 1) * 750]
        for burst, rest in zip(own[:720:2], own[1:720:2], strict=True):
            assert isinstance(burst, Measure)
            assert isinstance(rest, Idle)
            assert (burst.duration_ns, rest.duration_ns) == (5 * SECOND, idle_s * SECOND)
            assert not burst.continues
            assert not burst.open_ended, "what is in flight is completed"
        last = own[720:]
        assert all(isinstance(step, Measure) and step.phase == "baseline" for step in last)
        assert {step.duration_ns for step in last} == {60 * SECOND}
        assert [getattr(step, "continues", None) for step in last] == [False] + [True] * 29


def test_after_the_preconditioning_it_takes_930_minutes(whole):
    durations = [getattr(step, "duration_ns", 0) for step in whole.asked[151:]]
    assert sum(durations) == 930 * 60 * SECOND


def test_a_drive_that_is_never_steady_is_measured_after_25_rounds_and_marked():
    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        return 1_000.0 * (1 + step.round_number % 2) if step.phase == "precondition" else 1_000.0

    played = run(rate, overrides=SHORT)
    rounds = [step for step in played.measured if step.phase == "precondition"]
    assert len(rounds) == 25 * 2
    assert played.ending == "not steady"
    assert "STEADY STATE: NO, after 25 rounds" in text_of(report_of(played))


def test_the_checked_sample_is_the_last_minute_of_each_round():
    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        if step.phase != "precondition":
            return 500.0
        rate.minutes += 1
        return 1_000.0 if rate.minutes % 2 == 0 else 1.0

    rate.minutes = 0  # type: ignore[attr-defined]
    (state,) = findings_of(run(rate, overrides=SHORT).record).steady_states
    assert state.values == (1_000.0,) * 5


@pytest.mark.parametrize("gap", [5, 14, 15, 40, 60])
def test_a_gap_anywhere_starts_again_from_the_purge(gap):
    played = run(RECOVERING, gaps={gap}, overrides=SHORT)
    kinds = [type(step) for step in played.asked]
    assert kinds.count(Purge) == 2
    assert kinds.index(Purge, 1) == gap
    findings = findings_of(played.record)
    assert findings.rounds == 5
    whole = run(RECOVERING, overrides=SHORT)
    assert findings.cells == findings_of(whole.record).cells


# --- what it finds ----------------------------------------------------------------------------


def test_the_gain_is_the_mean_of_the_bursts_over_the_baseline_after_them():
    found = scalars_of(run(RECOVERING, overrides=SHORT))
    # Bursts alternate by 10, so their mean is 5 above 4,000 and 22,000.
    assert found["idle 5 s: mean of the bursts"] == pytest.approx(4_005)
    assert found["idle 5 s: gain"] == pytest.approx(100.25)
    assert found["idle 50 s: gain"] == pytest.approx(1_000.25)


def test_the_interval_of_the_gain_stands_on_five_batches_of_bursts():
    stairs = drive(burst=lambda idle_s, number: 4_000.0 + 10 * ((number - 1) // 4 % 2))
    found = scalars_of(run(stairs, overrides=SHORT))
    low, high = found["idle 5 s: gain, low end of 95 %"], found["idle 5 s: gain, high end of 95 %"]
    assert low is not None
    assert high is not None
    # Five batches of four bursts, 0 and 10 by turns: their variance is 30; in % of 2,000 IOPS.
    factor, freedom = resemblance(5, 4)
    expected = student_t_limit(0.05, freedom) * math.sqrt(factor * 30 / 5) / 20
    assert (high - low) / 2 == pytest.approx(expected)


def test_the_baseline_is_the_second_half_of_the_minutes_without_a_rest():
    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        if step.phase == "baseline":
            return 9_000.0 if step.round_number <= 5 else 1_500.0
        return 2_000.0

    found = scalars_of(run(rate, overrides=SHORT))
    assert found["idle 5 s: baseline after"] == 1_500


def test_the_conclusion_is_drawn_from_the_interval():
    told = text_of(report_of(run(RECOVERING, overrides=SHORT)))
    assert "bursts gain up to 1,000.2 % on the baseline, after 50 s of rest" in told
    assert "After 5 s of rest bursts are faster: +100.2 % (95 %: +100.2 to +100.2 %)." in told
    told = text_of(report_of(run(UNMOVED, overrides=SHORT)))
    assert "IDLE RECOVERY: none shown in any wait state" in told
    assert "After 5 s of rest no recovery is shown" in told
    slower = drive(burst=lambda idle_s, number: 1_000.0)
    told = text_of(report_of(run(slower, overrides=SHORT)))
    assert "After 50 s of rest bursts are slower: -50.0 %" in told


def test_sentences_of_a_scaled_drive_say_that_the_seconds_of_a_rest_are_at_full_size():
    told = text_of(report_of(run(RECOVERING, overrides=SHORT, geometry=SCALED)))
    assert "on the baseline, after 50 s (at full size) of rest" in told
    assert "After 5 s (at full size) of rest bursts are faster" in told
    assert "After 5 s of rest" not in told


def test_rests_are_told_as_measured_not_as_asked():
    played = run(RECOVERING, overrides=SHORT)
    steps = list(played.steps)
    late = (
        next(
            p
            for p, e in enumerate(steps)
            if isinstance(e.step, Measure) and e.step.phase == "burst"
        )
        + 2
    )
    answer = steps[late].answer
    assert isinstance(answer, StepResult)
    steps[late] = replace(
        steps[late], answer=replace(answer, started_ns=answer.started_ns + SECOND)
    )
    record = record_of(Hir(), played.settings, tuple(steps), "steady")
    document = document_of(record)
    (facts,) = [
        block
        for block in document.sections[0].blocks
        if isinstance(block, Facts) and block.caption.startswith("Rests")
    ]
    # The first rest is 1 s longer; the second 1 s shorter, since only one start was moved.
    assert "(4,000.0 to 6,000.0), asked 5,000.0" in dict(facts.rows)["Idle 5 s"]


# --- the report -------------------------------------------------------------------------------


def test_the_plots_are_the_standards_and_one_more():
    played = run(RECOVERING, overrides=SHORT)
    assert [section.title for section in report_of(played).sections if section.label] == [
        "Preconditioning IOPS against round",
        "Steady state window: last minute of the round, RND 4 KiB 0/100",
        "IOPS against time, all wait states",
        "IOPS against burst, batch means",
    ]


def test_every_plotted_number_stands_in_the_charts_table():
    for chart in charts_of(report_of(run(RECOVERING, overrides=SHORT))):
        missing = plotted_numbers(chart) - table_numbers(chart.table)
        assert not missing, (chart.title, sorted(missing)[:5])


def test_the_time_axis_holds_all_wait_states_in_a_row_with_their_means():
    played = run(RECOVERING, overrides=SHORT)
    chart = charts_of(report_of(played))[2]
    assert isinstance(chart, XYChart)
    names = [series.name for series in chart.series]
    assert names == ["idle 5 s", "idle 50 s", "continuous", "mean of the state"]
    # 20 × 10 s and 10 min, then 20 × 55 s and 10 min.
    ends = [max(float(x or 0) for x in series.x) for series in chart.series]
    assert ends[2] == pytest.approx((20 * 10 + 600 + 20 * 55 + 600) / 60)


def test_the_table_has_a_row_for_each_wait_state(whole):
    (table,) = [
        block
        for block in report_of(whole).sections[0].blocks
        if isinstance(block, Table) and block.caption == "The wait states"
    ]
    assert [row[0] for row in table.rows] == [5, 10, 15, 25, 50]
    assert [row[1] for row in table.rows] == [360] * 5


@pytest.mark.parametrize("count", [0, 1, 2, 5, 11, 12, 13, 30, 51, 52, 61, 62, 70, 110])
def test_a_report_and_a_watch_can_be_had_at_any_moment_of_a_run(count):
    played = run(RECOVERING, overrides=SHORT)
    record = record_of(Hir(), played.settings, played.steps[:count])
    document = document_of(record)
    assert "RUNNING" in document.header.stamp
    watch = watch_of(record)
    left_ns = sum(getattr(step, "duration_ns", 0) for step in played.asked[max(1, count) :])
    resting = isinstance(played.asked[count], Idle)
    # A burst is counted with its rest: as long as the rest goes on, both are done.
    slack_ns = played.asked[count].duration_ns if resting else 0  # type: ignore[union-attr]
    assert watch.remaining_ns_least == left_ns - slack_ns


def test_the_watch_names_the_place():
    played = run(RECOVERING, overrides=SHORT)

    def place(count: int):
        watch = watch_of(record_of(Hir(), played.settings, played.steps[:count]))
        return watch.phase, watch.round_number, watch.rounds_most, watch.cell

    assert place(1) == ("precondition", 1, 25, "RND 0/100 4 KiB")
    assert place(11) == ("burst", 1, 20, "idle 5 s")
    assert place(13) == ("burst", 2, 20, "idle 5 s")
    assert place(11 + 40) == ("baseline", 1, 10, "idle 5 s")
    assert place(11 + 50) == ("burst", 1, 20, "idle 50 s")
    assert watch_of(played.record).phase == "steady"


# --- the settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(spec):
    settings = Hir().settings(spec, {}, DRIVE)
    assert Hir().deviations(settings, DRIVE) == ()
    assert Hir().settings_from(settings.model_dump(mode="json")) == settings
    assert Hir().writes(settings)


@pytest.mark.parametrize("spec", ["1.0-enterprise", "1.0-client"])
def test_versions_before_1_1_have_no_hir(spec):
    with pytest.raises(PlanError, match="1\\.1-enterprise"):
        Hir().settings(spec, {}, DRIVE)


def test_a_scaled_drive_has_bursts_and_rests_as_much_shorter():
    small = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)
    steps = run(RECOVERING, geometry=small, overrides=SHORT).asked
    durations = {type(step): getattr(step, "duration_ns", 0) for step in steps[11:13]}
    assert durations == {Measure: 166_666_666, Idle: 166_666_666}


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"idle": "5,5"}, "twice"),
        ({"idle": ""}, "no idle time"),
        ({"idle": "0"}, "between 1 and"),
        ({"max_rounds": "4"}, "between 5 and"),
        ({"burst": "x"}, "whole number"),
        ({"bs": "3000"}, "multiple of 512"),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason(overrides, words):
    with pytest.raises(PlanError, match=words):
        Hir().settings("", overrides, DRIVE)
