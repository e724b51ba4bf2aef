"""WSAT conversations from purge to the stop rules, with canned answers; findings and watches."""

from collections.abc import Callable

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import findings_of, watch_of
from teijo.methods.pts.wsat.method import Wsat
from teijo.terms.geometry import Geometry
from teijo.terms.step import HISTOGRAM, MINUTE, Measure, Purge, Step
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

CHECKED = ("1.1-enterprise", "2.0.2-enterprise", "2.0.2-client")
UNCHECKED = ("1.0-enterprise", "1.0-client")
AFTER_ALL = 100_000
"""The minute that the histogram's run is, to a drive whose rate goes by minutes."""
SMALL = Geometry(capacity_bytes=100 * GIB, nominal_capacity_bytes=100 * GIB)


def minutes(iops: Callable[[int], float]):
    """A drive with these IOPS in each minute."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        return iops(step.round_number or AFTER_ALL)

    return rate


SLOW = minutes(lambda _: 2_000.0)
"""Steady, and too slow to write four capacities in 24 hours."""
SATURATING = minutes(lambda minute: 56_000.0 if minute <= 7 else 19_000.0)
"""Whitepaper, figure 10, in little: a plateau, then the level."""
ERRATIC = minutes(lambda minute: 1_000.0 * (1 + minute // 31 % 2))
"""Every other check minute is twice as fast."""


def run(rate, *, gaps=(), purge: str = "format", **named) -> Played:
    return play(Wsat(), Canned(rate, gaps=frozenset(gaps), purge=purge), **named)


def asked_minutes(played: Played) -> list[Measure]:
    return [step for step in played.measured if step.phase == MINUTE]


def scalars_of(played: Played) -> dict[str, float | None]:
    return {each.name: each.value for each in findings_of(played.record).scalars}


# --- the steps --------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", CHECKED + UNCHECKED)
def test_it_purges_and_never_preconditions(spec):
    played = run(SATURATING, spec=spec)
    assert isinstance(played.asked[0], Purge)
    assert all(isinstance(step, Measure) for step in played.asked[1:])


def test_every_minute_continues_the_one_before_without_a_gap():
    measured = asked_minutes(run(SATURATING))
    assert [step.continues for step in measured] == [False] + [True] * (len(measured) - 1)
    assert all(step.open_ended for step in measured)
    assert [step.round_number for step in measured] == list(range(1, len(measured) + 1))
    assert len({step.workload for step in measured}) == 1


def test_the_stimulus_is_random_4_kib_writes():
    for step in asked_minutes(run(SATURATING)):
        (stream,) = step.workload.streams
        assert (stream.read_percent, stream.block_size_bytes) == (0, 4096)
        assert step.duration_ns == 60_000_000_000


# --- when it stops ----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", CHECKED)
def test_it_stops_at_five_steady_check_minutes(spec):
    played = run(SLOW, spec=spec)
    assert played.ending == "steady"
    assert len(asked_minutes(played)) == 5 * 31
    findings = findings_of(played.record)
    assert findings.converged is True
    assert findings.window_rounds == (1, 5)
    assert scalars_of(played)["minutes to steady state"] == 30


@pytest.mark.parametrize("spec", CHECKED)
def test_check_minutes_are_31_62_93_and_so_on(spec):
    checks = {31: 1.0, 62: 2.0, 93: 3.0, 124: 4.0, 155: 5.0}
    played = run(minutes(lambda minute: 1_000.0 * checks.get(minute, 0.5)), spec=spec)
    (state,) = findings_of(played.record).steady_states
    assert state.values[:5] == (1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0)


@pytest.mark.parametrize("spec", CHECKED + UNCHECKED)
def test_it_stops_at_four_times_the_user_capacity_without_claiming_steady_state(spec):
    played = run(SATURATING, spec=spec, geometry=SMALL)
    written = scalars_of(played)["drive fills"]
    assert written is not None
    assert 4 <= written < 4 + 19_000 * 60 * 4096 / SMALL.capacity_bytes
    assert played.ending == "done"
    findings = findings_of(played.record)
    assert findings.converged is None, "four capacities come before five check minutes"


@pytest.mark.parametrize(
    ("spec", "most"),
    [("1.0-enterprise", 1440), ("1.1-enterprise", 1440), ("2.0.2-client", 360)],
)
def test_it_stops_when_its_hours_are_over(spec, most):
    played = run(ERRATIC, spec=spec)
    assert len(asked_minutes(played)) == most
    assert played.ending == ("done" if spec in UNCHECKED else "not steady")


def test_version_1_0_has_no_determination_and_none_is_invented():
    findings = findings_of(run(SLOW, spec="1.0-enterprise").record)
    assert findings.converged is None
    assert findings.steady_states == ()
    assert "minutes to steady state" not in scalars_of(run(SLOW, spec="1.0-enterprise"))


def test_a_longer_run_can_be_asked_for_and_is_a_deviation():
    played = run(SATURATING, geometry=SMALL, overrides={"capacity_times": "20"})
    assert played.ending == "steady"
    texts = [remark.text for remark in Wsat().deviations(played.settings, SMALL)]
    assert texts == ["capacity_times 20 instead of 4"]


def test_version_2_then_drives_the_same_stimulus_for_the_histogram():
    for spec in ("2.0.2-enterprise", "2.0.2-client"):
        *_, before, last = run(SATURATING, spec=spec).measured
        assert (last.phase, last.duration_ns) == (HISTOGRAM, 20 * 60_000_000_000)
        assert last.workload == before.workload
        assert not last.continues, "a stimulus of its own, whatever became of the minutes"
    for spec in ("1.1-enterprise", *UNCHECKED):
        assert all(step.phase == MINUTE for step in run(SATURATING, spec=spec).measured)
    none = run(SATURATING, overrides={"histogram": "none"})
    assert none.measured[-1].phase == MINUTE


# --- what it finds ----------------------------------------------------------------------------


def test_the_plateau_and_the_level_are_found_on_a_scaled_drive():
    scaled = Geometry(
        capacity_bytes=100_000_000_000 // 60 // 4096 * 4096, nominal_capacity_bytes=10**11
    )
    played = run(SATURATING, geometry=scaled)
    found = scalars_of(played)
    assert played.measured[0].duration_ns == 1_000_000_000
    assert found["fresh out of the box (FOB), mean of the plateau"] == 56_000
    assert found["minutes of the FOB plateau"] == 7
    assert found["level at the end, mean of the last fifth"] == 19_000
    # Minute 8 on are at the level, and the moving mean of five has lost the plateau by minute 7.
    assert found["minutes until settled on that level"] == 7
    assert found["written until settled"] == pytest.approx(7 * 56_000 * 4096 / 1e9)
    assert found["write amplification, last 5 minutes"] == pytest.approx(2)
    assert not Wsat().deviations(played.settings, scaled), "the scale is the device's remark"


def test_its_one_cell_is_the_mean_over_the_windows_check_minutes():
    rates = {31: 1_900.0, 62: 1_950.0, 93: 2_000.0, 124: 2_050.0, 155: 2_100.0}
    # Their line rises by exactly 10 % of their average: on the limit, so steady.
    played = run(minutes(lambda minute: rates.get(minute, 5.0)))
    assert (played.ending, len(asked_minutes(played))) == ("steady", 155)
    (cell,) = findings_of(played.record).cells
    assert cell.iops == 2_000
    assert cell.labels[-1] == ("over", "check minutes")
    (cell,) = findings_of(run(ERRATIC).record).cells
    assert cell.labels[-1] == ("over", "last 5 minutes")


# --- gaps -------------------------------------------------------------------------------------


def test_a_gap_starts_again_from_the_purge():
    played = run(SLOW, gaps={40})
    kinds = [type(step) for step in played.asked]
    assert kinds.count(Purge) == 2
    assert kinds.index(Purge, 1) == 40
    after = asked_minutes(played)[39]
    assert (after.round_number, after.continues) == (1, False)
    assert len(asked_minutes(played)) == 39 + 155


def test_only_the_minutes_since_the_last_purge_are_found():
    played = run(SLOW, gaps={40, 80})
    found = scalars_of(played)
    assert found["minutes measured"] == 155
    assert findings_of(played.record).window_rounds == (1, 5)


def test_a_gap_in_the_histograms_run_asks_for_it_again_and_keeps_the_curve():
    whole = run(SLOW)
    played = run(SLOW, gaps={len(whole.steps)})
    assert played.asked[-1] == played.asked[-2]
    assert [type(step) for step in played.asked].count(Purge) == 1
    assert scalars_of(played) == scalars_of(whole)
    found = scalars_of(played)["ART of the histogram's run"]
    assert found == pytest.approx(4 * 32 / SLOW(played.asked[-1]) * 1e3)  # TC 4 × QD 32, in ms


def test_a_run_file_without_the_histogram_setting_had_no_such_run():
    stored = run(SLOW, spec="2.0.2-client").record.run.settings
    old = Wsat().settings_from({k: v for k, v in stored.items() if k != "histogram_minutes"})
    assert old.histogram_minutes is None


def test_a_gap_in_the_purge_purges_again():
    assert [type(step) for step in run(SLOW, gaps={1}).asked[:3]] == [Purge, Purge, Measure]


def test_a_device_that_cannot_be_purged_is_measured_all_the_same():
    assert run(SLOW, purge="none").ending == "steady"


# --- the watch, the settings ------------------------------------------------------------------


def watch_after(played: Played, count: int):
    return watch_of(record_of(Wsat(), played.settings, played.steps[:count]))


def test_the_watch_says_when_the_earliest_end_comes():
    played = run(SLOW)
    assert watch_after(played, 0).phase == "purge"
    first = watch_after(played, 2)
    assert (first.phase, first.round_number) == ("minute", 2)
    assert (first.rounds_least, first.rounds_most) == (155, 360)
    assert first.remaining_ns_least == (154 + 20) * 60_000_000_000
    assert first.steady == "0 of the first 5 check minutes"
    assert watch_after(played, 1 + 62).steady == "2 of the first 5 check minutes"
    last = watch_after(played, 1 + 155)
    assert (last.phase, last.round_number) == (HISTOGRAM, None)
    assert last.remaining_ns_least == last.remaining_ns_most == 20 * 60_000_000_000
    assert watch_of(played.record).phase == "steady"
    fast = run(SATURATING, geometry=SMALL)
    assert (watch_after(fast, 8).rounds_least or 0) < 155


@pytest.mark.parametrize("spec", CHECKED + UNCHECKED)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(spec):
    settings = Wsat().settings(spec, {}, DRIVE)
    assert Wsat().deviations(settings, DRIVE) == ()
    assert Wsat().settings_from(settings.model_dump(mode="json")) == settings
    assert Wsat().writes(settings)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"minut": "3"}, ["did you mean 'minute'", "max_minutes"]),
        ({"capacity_times": "0"}, ["above zero"]),
        ({"capacity_times": "many"}, ["not a number"]),
        ({"check_every": "0"}, ["between 1 and"]),
        ({"bs": "3000"}, ["multiple of 512"]),
        ({"mix": "100"}, ["add up to 100"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason(overrides, words):
    with pytest.raises(PlanError) as caught:
        Wsat().settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)


def test_checks_can_be_left_out_or_made_denser():
    assert run(SLOW, overrides={"check_every": "none", "max_minutes": "9"}).ending == "done"
    played = run(SLOW, overrides={"check_every": "1"})
    assert len(asked_minutes(played)) == 10
    assert played.ending == "steady"
