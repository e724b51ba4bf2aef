"""IOPS conversations from purge to verdict, with canned answers; their findings and watches."""

from dataclasses import replace

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import findings_of, watch_of
from teijo.methods.pts.iops.method import Iops
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Precondition, Purge, Step
from teijo.terms.workload import Access
from tests.analysis.test_steady_state import SLC_B
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

KIB = 1024
SPECS_1 = ("1.0-enterprise", "1.1-enterprise", "1.0-client")
SPECS_2 = ("2.0.2-enterprise", "2.0.2-client")
MIXES = ["100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100"]
BLOCKS = ["1024 KiB", "128 KiB", "64 KiB", "32 KiB", "16 KiB", "8 KiB", "4 KiB", "0.5 KiB"]


def flat(step: Step) -> float:
    """A drive that is steady from its first minute, slower with larger blocks."""
    assert isinstance(step, Measure)
    stream = step.workload.streams[0]
    return 1e8 / stream.block_size_bytes + stream.read_percent


def never(step: Step) -> float:
    assert isinstance(step, Measure)
    assert step.round_number is not None
    return flat(step) * 1.5**step.round_number


def only_cell(cell: str, rates: tuple[float, ...]):
    """A drive that is flat but for one cell, which goes through these rates by round."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        if step.cell == cell:
            return rates[min(step.round_number, len(rates)) - 1]
        return flat(step)

    return rate


def run(rate=flat, *, gaps=(), **named) -> Played:
    return play(Iops(), Canned(rate, gaps=frozenset(gaps)), **named)


def rounds_measured(played: Played) -> list[int]:
    return sorted({step.round_number or 0 for step in played.measured})


# --- the order of the steps -------------------------------------------------------------------


def test_it_purges_preconditions_and_measures_rounds():
    played = run()
    assert isinstance(played.asked[0], Purge)
    assert isinstance(played.asked[1], Precondition)
    assert all(isinstance(step, Measure) for step in played.asked[2:])
    assert played.ending == "steady"
    assert rounds_measured(played) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_a_round_is_56_cells_in_the_mandated_order(spec):
    cells = [step.cell for step in run(spec=spec).measured]
    assert cells == [f"{mix} {block}" for mix in MIXES for block in BLOCKS] * 5


def test_every_cell_lasts_a_minute_of_random_io_with_the_loops_load():
    for step in run(spec="2.0.2-enterprise").measured:
        (stream,) = step.workload.streams
        assert step.duration_ns == 60_000_000_000
        assert stream.access is Access.RANDOM
        assert (stream.threads, stream.queue_depth) == (4, 32)
        assert not step.continues


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_wipc_writes_twice_the_user_capacity_in_128_kib_over_the_whole_share(spec):
    (wipc,) = [step for step in run(spec=spec).asked if isinstance(step, Precondition)]
    (stream,) = wipc.workload.streams
    assert wipc.total_bytes == 2 * DRIVE.capacity_bytes
    assert (stream.access, stream.block_size_bytes) == (Access.SEQUENTIAL, 128 * KIB)
    assert stream.read_percent == 0
    assert stream.active_range.amount_bytes is None, "WIPC has no LBA restrictions"
    assert stream.active_range.share_percent == (75 if spec == "2.0.2-client" else 100)


def test_no_preconditioning_can_be_asked_for():
    played = run(overrides={"precondition_times": "0"})
    assert not [step for step in played.asked if isinstance(step, Precondition)]
    assert played.ending == "steady"


# --- when it stops ----------------------------------------------------------------------------


def test_it_never_steady_stops_after_25_rounds_and_says_no():
    played = run(never)
    assert played.ending == "not steady"
    assert rounds_measured(played) == list(range(1, 26))
    findings = findings_of(played.record)
    assert findings.converged is False
    assert findings.window_rounds == (21, 25)
    assert findings.rounds == 25
    assert len(findings.cells) == 56


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_the_whitepapers_series_stops_at_round_12_where_only_the_slope_kept_it(spec):
    played = run(only_cell("0/100 4 KiB", SLC_B), spec=spec)
    assert played.ending == "steady"
    assert rounds_measured(played) == list(range(1, 13))
    findings = findings_of(played.record)
    assert findings.window_rounds == (8, 12)


def test_a_drive_whose_slope_alone_fails_is_not_steady():
    rates = tuple(1000.0 * 1.03**number for number in range(25))
    played = run(only_cell("0/100 4 KiB", rates), spec="1.1-enterprise")
    (state,) = findings_of(played.record).steady_states
    assert all(window.range_ok and not window.slope_ok for window in state.windows)
    assert played.ending == "not steady"


@pytest.mark.parametrize("cell", ["65/35 64 KiB", "100/0 1024 KiB"])
def test_version_2_waits_for_all_three_variables_and_version_1_does_not(cell):
    rates = (100.0, 200.0, 300.0, 400.0, 500.0)
    for spec in SPECS_1:
        assert rounds_measured(run(only_cell(cell, rates), spec=spec))[-1] == 5
    for spec in SPECS_2:
        played = run(only_cell(cell, rates), spec=spec)
        states = findings_of(played.record).steady_states
        assert [state.variable for state in states] == [
            "RND 4 KiB 0/100",
            "RND 64 KiB 65/35",
            "RND 1024 KiB 100/0",
        ]
        assert rounds_measured(played)[-1] > 5
        assert len({state.reached for state in states}) == 1


def test_more_rounds_can_be_allowed_and_fewer_asked():
    assert rounds_measured(run(never, overrides={"rounds": "6"}))[-1] == 6
    assert rounds_measured(run(never, overrides={"rounds": "30"}))[-1] == 30


# --- gaps -------------------------------------------------------------------------------------


def test_a_gap_in_the_purge_or_in_wipc_asks_for_it_again():
    played = run(gaps={1})
    assert [type(step) for step in played.asked[:3]] == [Purge, Purge, Precondition]
    played = run(gaps={2, 3})
    assert [type(step) for step in played.asked[:4]] == [Purge] + [Precondition] * 3
    assert played.asked[1] == played.asked[2] == played.asked[3]
    assert findings_of(played.record).window_rounds == (1, 5)


def gap_in_round_4() -> Played:
    return run(gaps={2 + 3 * 56 + 20})


def test_a_gap_in_mid_round_measures_that_round_again_from_its_first_cell():
    played = gap_in_round_4()
    after = played.measured[3 * 56 + 20]
    assert (after.round_number, after.cell) == (4, "100/0 1024 KiB")
    assert len(played.measured) == 3 * 56 + 20 + 5 * 56


def test_after_a_gap_the_window_starts_anew():
    played = gap_in_round_4()
    assert rounds_measured(played) == [1, 2, 3, 4, 5, 6, 7, 8]
    findings = findings_of(played.record)
    assert findings.window_rounds == (4, 8)
    assert findings.rounds == 8
    assert findings.converged


def test_after_a_late_gap_the_limit_counts_anew_too():
    played = run(never, gaps={2 + 24 * 56 + 1})
    assert rounds_measured(played)[-1] == 24 + 25
    assert findings_of(played.record).window_rounds == (45, 49)


def test_a_gap_before_every_single_step_still_ends_in_steady_state():
    whole = run(overrides={"mixes": "0/100", "block_sizes": "4KiB,8KiB"})
    for place in range(1, len(whole.steps) + 1):
        broken = run(gaps={place}, overrides={"mixes": "0/100", "block_sizes": "4KiB,8KiB"})
        findings = findings_of(broken.record)
        assert broken.ending == "steady"
        assert findings.converged
        first, last = findings.window_rounds or (0, 0)
        assert last - first == 4
        gap = next(each.seq for each in broken.steps if isinstance(each.answer, Gap))
        in_window = [
            each.seq
            for each in broken.steps
            if isinstance(each.step, Measure)
            and isinstance(each.answer, StepResult)
            and first <= (each.step.round_number or 0) <= last
            and each.seq > gap
        ]
        assert len(in_window) == 10, "no window reaches over the gap"


def test_the_record_alone_shows_the_rounds_the_live_method_saw():
    for played in (run(), run(never), gap_in_round_4()):
        findings = findings_of(played.record)
        assert findings.converged == (played.ending == "steady")
        assert findings.rounds == rounds_measured(played)[-1]


# --- findings ---------------------------------------------------------------------------------


def test_cells_are_means_over_the_window_only():
    rates = (900.0, 1000.0, 1000.0, 1000.0, 1000.0, 1100.0)
    cells = findings_of(run(only_cell("0/100 4 KiB", rates)).record).cells
    (cell,) = [
        cell for cell in cells if cell.labels == (("r/w mix", "0/100"), ("block size", "4 KiB"))
    ]
    assert cell.iops == pytest.approx(980)
    assert cell.throughput_mb_s == pytest.approx(980 * 4096 / 1e6)


def test_findings_of_a_growing_record_show_what_there_is():
    played = run()
    for count in (0, 1, 2, 10, 2 + 56, 2 + 4 * 56 + 7):
        record = record_of(Iops(), played.settings, played.steps[:count])
        findings = findings_of(record)
        whole = max(0, count - 2) // 56
        assert findings.rounds == whole
        assert findings.converged is False
        assert findings.window_rounds == ((1, whole) if whole else None)
        assert len(findings.cells) == (56 if whole else 0)


def test_a_record_can_be_judged_again_by_another_version():
    rates = (100.0, 200.0, 300.0, 400.0, 500.0)
    played = run(only_cell("65/35 64 KiB", rates), spec="2.0.2-enterprise")
    settings = {**played.record.run.settings, "spec": "1.1-enterprise"}
    again = replace(played.record, run=replace(played.record.run, settings=settings))
    assert findings_of(again).window_rounds == (1, 5)


def test_write_amplification_is_read_off_the_devices_counters():
    scalars = {each.name: each for each in findings_of(run().record).scalars}
    assert scalars["write amplification over the window"].value == pytest.approx(2)


# --- the watch --------------------------------------------------------------------------------


def watch_after(played: Played, count: int):
    return watch_of(record_of(Iops(), played.settings, played.steps[:count]))


def test_the_watch_follows_the_phases():
    played = run()
    assert watch_after(played, 0).phase == "purge"
    before = watch_after(played, 1)
    assert (before.phase, before.remaining_bytes) == ("precondition", 2 * DRIVE.capacity_bytes)
    first = watch_after(played, 2)
    assert (first.phase, first.round_number, first.cell) == ("round", 1, "100/0 1024 KiB")
    assert (first.rounds_least, first.rounds_most) == (5, 25)
    assert first.remaining_ns_least == 5 * 56 * 60_000_000_000
    assert first.remaining_ns_most == 25 * 56 * 60_000_000_000
    assert watch_of(played.record).phase == "steady"


def test_the_watch_counts_down_and_tells_how_many_variables_are_steady():
    rates = (100.0, 200.0, 300.0, 400.0, 500.0)
    played = run(only_cell("65/35 64 KiB", rates))
    assert watch_after(played, 2 + 3 * 56).steady == "3 of the first 5 rounds"
    later = watch_after(played, 2 + 5 * 56 + 1)
    assert later.steady == "2 of 3 tracking variables steady"
    assert (later.round_number, later.rounds_least) == (6, 6)
    assert later.remaining_ns_least == 55 * 60_000_000_000


def test_after_a_gap_the_watch_expects_five_rounds_more():
    watch = watch_after(gap_in_round_4(), 2 + 3 * 56 + 20)
    assert (watch.round_number, watch.rounds_least, watch.rounds_most) == (4, 8, 28)
    assert watch.steady == "0 of the first 5 rounds"


# --- settings ---------------------------------------------------------------------------------


def settings_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str):
    return Iops().settings(spec, overrides, geometry)


def deviations_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str) -> list[str]:
    settings = settings_of(spec, geometry, **overrides)
    return [remark.text for remark in Iops().deviations(settings, geometry)]


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_the_standards_own_settings_are_no_deviation(spec):
    assert deviations_of(spec) == []


def test_every_setting_that_differs_is_a_deviation():
    texts = deviations_of(
        "2.0.2-client",
        minute="1s",
        active_range="50",
        tc="1",
        qd="4",
        rounds="10",
        wipc="1",
        block_sizes="4KiB,64KiB,1024KiB",
        content="zero",
    )
    assert "minute 1s instead of 60s" in texts
    assert "active_range 50 instead of 75" in texts
    assert "threads 1 instead of the recommended 2" in texts
    assert "queue_depth 4 instead of the recommended 16" in texts
    assert "rounds 10 instead of 25" in texts
    assert "precondition_times 1 instead of 2" in texts
    assert "content zero instead of random" in texts
    assert any(
        text.startswith("block_sizes 4KiB,64KiB,1024KiB instead of 1024KiB,") for text in texts
    )
    assert len(texts) == 8


def test_the_operators_choices_are_no_deviation():
    assert deviations_of("1.1-enterprise", tc="8", qd="64") == []
    assert deviations_of("1.0-client", active_range="75", amount="8GiB") == []
    assert deviations_of("2.0.2-client", rounds="40") == []
    assert deviations_of("1.0-client", amount="4GiB") != []


def test_the_clients_matrix_has_2048_segments_of_4_and_8_mib():
    for amount, piece in (("8GiB", 4), ("16GiB", 8)):
        settings = settings_of("1.0-client", amount=amount)
        assert settings.segments == 2048
        assert settings.amount_bytes == 2048 * piece * 1024 * KIB
    assert settings_of("1.0-client").amount_bytes == 16 * GIB
    assert settings_of("1.0-client", amount="none").amount_bytes is None


SCALED = Geometry(capacity_bytes=256 * GIB // 60 // 4096 * 4096, nominal_capacity_bytes=256 * GIB)


def test_how_the_drive_is_watched_meanwhile_is_no_deviation():
    assert deviations_of("2.0.2-client", watch="1s", stop="warning") == []
    assert deviations_of("2.0.2-client", watch="off") == []


def test_a_scaled_device_has_a_shorter_minute_and_that_is_no_deviation():
    settings = settings_of("2.0.2-client", SCALED)
    assert settings.minute_ns == 1_000_000_000
    assert not Iops().deviations(settings, SCALED)
    assert deviations_of("2.0.2-client", SCALED, minute="2s") == ["minute 2s instead of 1s"]


def test_a_scaled_device_has_fewer_segments_not_smaller_ones():
    settings = settings_of("1.0-client", SCALED)
    assert settings.segments == 34
    assert settings.amount_bytes == 34 * 8 * 1024 * KIB
    assert deviations_of("1.0-client", SCALED) == []
    assert deviations_of("1.0-client", SCALED, amount="8GiB", active_range="75") == []
    assert len(deviations_of("1.0-client", SCALED, amount="4GiB", active_range="75")) == 1


FOUR_KN = replace(DRIVE, logical_block_bytes=4096)


def test_half_kib_cells_are_dropped_on_4kn_drives_and_that_is_said():
    played = run(geometry=FOUR_KN)
    assert len(played.measured) == 5 * 49
    assert not [step for step in played.measured if "0.5 KiB" in (step.cell or "")]
    (remark,) = Iops().deviations(played.settings, FOUR_KN)
    assert remark.text == "0.5 KiB cells dropped: the device's logical block is 4 KiB"


def test_a_matrix_without_some_tracking_variables_is_judged_by_the_others():
    texts = deviations_of("2.0.2-client", mixes="100/0,0/100", block_sizes="4KiB")
    assert "tracking variable RND 64 KiB 65/35 is not in the matrix: " in " ".join(texts)
    played = run(overrides={"mixes": "0/100", "block_sizes": "4KiB"})
    assert len(findings_of(played.record).steady_states) == 1


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"minit": "1s"}, ["Unknown setting 'minit'", "did you mean 'minute'", "queue_depth"]),
        ({"minute": "soon"}, ["minute=soon", "not a duration", "--set minute=1s"]),
        ({"minute": "0"}, ["minute=0", "longer than nothing"]),
        ({"mixes": "70/40"}, ["mixes=70/40", "add up to 100"]),
        ({"mixes": "0/100,0/100"}, ["twice"]),
        ({"block_sizes": "4KiB,nil"}, ["'nil' is not a size"]),
        ({"block_sizes": "768"}, ["it is 768 bytes", "multiple of 512 bytes"]),
        ({"block_sizes": "0"}, ["more than 0 bytes"]),
        ({"block_sizes": "8KiB"}, ["No tracking variable", "4KiB"]),
        ({"rounds": "4"}, ["between 5 and"]),
        ({"active_range": "0"}, ["between 1 and 100"]),
        ({"active_range": "101"}, ["between 1 and 100"]),
        ({"threads": "two"}, ["threads=two", "not a whole number"]),
        ({"tc": "2", "threads": "2"}, ["threads is set twice"]),
        ({"content": "noise"}, ["random, zero"]),
        ({"segments": "16"}, ["without an amount"]),
        ({"amount": "300GiB"}, ["does not fit in 75 % of 256 GiB"]),
        ({"amount": "1GiB", "segments": "2048"}, ["1024 KiB does not fit in a piece of 512 KiB"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason_and_a_remedy(overrides, words):
    with pytest.raises(PlanError) as caught:
        Iops().settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


def test_a_block_the_logical_block_does_not_divide_is_refused_when_asked_for():
    with pytest.raises(PlanError, match=r"0\.5 KiB"):
        settings_of("", FOUR_KN, block_sizes="4KiB,512")


def test_settings_are_json_and_back():
    for spec in SPECS_1 + SPECS_2:
        settings = settings_of(spec)
        assert Iops().settings_from(settings.model_dump(mode="json")) == settings
    with pytest.raises(PlanError, match="minute_ns"):
        Iops().settings_from({**settings.model_dump(mode="json"), "minute_ns": "soon"})


def test_it_writes_and_so_needs_consent_unless_it_only_reads():
    assert Iops().writes(settings_of())
    reads = settings_of(mixes="100/0", block_sizes="1024KiB", precondition_times="0")
    assert not Iops().writes(reads)
