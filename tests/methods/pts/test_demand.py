"""Canned conversations of DIRTH and the composite workload, from purge to histogram."""

import math
from dataclasses import replace

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import document_of, findings_of, found_in, watch_of
from teijo.methods.pts.demand.found import DemandFound
from teijo.methods.pts.demand.method import CBW, DIRTH
from teijo.methods.registry import method_named
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Purge, Step
from teijo.terms.workload import Access, Stream
from tests.analysis.test_steady_state import SLC_B
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

KIB = 1024
MS = 1_000_000
MINUTE_NS = 60_000_000_000
LEVELS = (32, 16, 8, 6, 4, 2, 1)
SPECS = ("1.1-enterprise", "2.0.2-enterprise", "2.0.2-client")
METHODS = (DIRTH, CBW)
SMALL = {
    "threads": "2,1",
    "queue_depth": "4,1",
    "precondition_minutes": "2",
    "prewrite": "2",
    "point_prewrite": "3",
}
"""A short run: a round is a pre-write of two minutes and four points."""


def stream_of(step: Step) -> Stream:
    assert isinstance(step, Measure)
    (stream,) = step.workload.streams
    return stream


def queue(step: Step) -> float:
    """A device of one queue: twice the demand is twice the IOPS, up to 30,000."""
    return min(200.0 * stream_of(step).outstanding_ios, 30_000.0)


def little(step: Step, direction: str) -> int:
    """Its latencies, reads and writes alike, as Little's law has them."""
    del direction
    return round(stream_of(step).outstanding_ios / queue(step) * 1e9)


def swept(**cells: tuple[float, float, float]):
    """Return (rate, latency) of a device with these (IOPS, read ms, write ms) by "tc_qd".

    Every other point has 100 IOPS in 20 ms.
    """

    def at(step: Step) -> tuple[float, float, float]:
        stream = stream_of(step)
        return cells.get(f"at_{stream.threads}_{stream.queue_depth}", (100.0, 20.0, 20.0))

    def latency(step: Step, direction: str) -> int:
        return round(at(step)[1 if direction == "read" else 2] * MS)

    return (lambda step: at(step)[0]), latency


def run(method=DIRTH, rate=queue, latency=little, *, gaps=(), **named) -> Played:
    return play(method, Canned(rate, latency_ns=latency, gaps=frozenset(gaps)), **named)


def by_round(phase: str, rates: tuple[float, ...], cell: str = ""):
    """Return a device of one queue but for one phase (and cell): these IOPS by round."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        if step.phase == phase and (not cell or step.cell == cell):
            assert step.round_number is not None
            return rates[min(step.round_number, len(rates)) - 1]
        return queue(step)

    return rate


def phases_of(played: Played) -> list[tuple[str, int]]:
    """Return the phases in order, with how many steps each had."""
    found: list[tuple[str, int]] = []
    for step in played.asked:
        if found and found[-1][0] == step.phase:
            found[-1] = (step.phase, found[-1][1] + 1)
        else:
            found.append((step.phase, 1))
    return found


def demand_in(played: Played) -> DemandFound:
    found = found_in(played.record)
    assert isinstance(found, DemandFound)
    return found


def points_of(played: Played) -> list[tuple[str, int, int]]:
    runs = demand_in(played).runs.values()
    return [(each.name, each.demand.threads, each.demand.queue_depth) for each in runs]


# --- the order of the steps -------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spec", SPECS)
def test_a_steady_drive_is_preconditioned_swept_five_times_and_looked_at_three_times(method, spec):
    played = run(method, spec=spec)
    assert isinstance(played.asked[0], Purge)
    assert phases_of(played) == [
        ("purge", 1),
        ("precondition", 121),
        ("round", 5 * (5 + 49)),
        *[("pre-write", 60), ("histogram", 1)] * 3,
    ]
    assert played.ending == "steady"


def test_the_preconditioning_is_one_continuous_write_at_the_greatest_demand():
    minutes = [step for step in run().measured if step.phase == "precondition"]
    assert [step.continues for step in minutes] == [False] + [True] * 120
    assert all(step.open_ended for step in minutes)
    assert len({step.workload for step in minutes}) == 1
    stream = stream_of(minutes[0])
    assert (stream.threads, stream.queue_depth, stream.read_percent) == (32, 32, 0)
    assert (stream.access, stream.block_size_bytes) == (Access.RANDOM, 8 * KIB)
    assert [step.round_number for step in minutes[::30]] == [1, 2, 3, 4, 5]
    assert all(step.duration_ns == MINUTE_NS for step in minutes)


def test_a_round_pre_writes_and_then_sweeps_from_high_to_low_demand():
    first = [step for step in run().measured if step.phase == "round"][:54]
    before, sweep = first[:5], first[5:]
    assert [step.continues for step in before] == [False] + [True] * 4
    assert {(s.read_percent, s.threads, s.queue_depth) for s in map(stream_of, before)} == {
        (0, 32, 32)
    }
    places = [(stream.threads, stream.queue_depth) for stream in map(stream_of, sweep)]
    assert places == [(threads, depth) for threads in LEVELS for depth in LEVELS]
    assert {stream.read_percent for stream in map(stream_of, sweep)} == {65}
    assert [step.cell for step in sweep][:8:7] == ["TC 32 QD 32", "TC 16 QD 32"]
    assert not any(step.continues or step.open_ended for step in sweep)


def test_every_operating_point_is_written_for_an_hour_and_measured_for_ten_minutes():
    measured = run().measured[-3 * 61 :]
    for place in range(3):
        hour, histogram = measured[61 * place : 61 * place + 60], measured[61 * place + 60]
        demand = {(s.threads, s.queue_depth) for s in map(stream_of, [*hour, histogram])}
        assert len(demand) == 1
        assert {stream_of(step).read_percent for step in hour} == {0}
        assert [step.continues for step in hour] == [False] + [True] * 59
        assert [step.open_ended for step in hour] == [True] * 59 + [False]
        assert stream_of(histogram).read_percent == 65
        assert histogram.duration_ns == 10 * MINUTE_NS


@pytest.mark.parametrize("method", METHODS)
def test_no_continued_stimulus_changes(method):
    for before, step in zip(run(method).measured, run(method).measured[1:], strict=False):
        if step.continues:
            assert (step.workload, step.phase) == (before.workload, before.phase)


def test_the_composite_workload_is_the_standards():
    played = run(CBW)
    stream = stream_of(played.measured[-1])
    assert stream.read_percent == 40
    assert sum(weight for _, weight in stream.block_mix) == 100
    assert dict(stream.block_mix) == {
        512: 4, 1024: 1, 1536: 1, 2048: 1, 2560: 1, 3072: 1, 3584: 1,
        4096: 67, 8192: 10, 16384: 7, 32768: 3, 65536: 3,
    }  # fmt: skip
    assert stream.access is Access.ZONED
    assert stream.zones == ((50, 5), (30, 15), (20, 80))
    first = stream_of(played.measured[0])
    assert (first.block_mix, first.zones, first.read_percent) == (
        stream.block_mix,
        stream.zones,
        0,
    )


# --- when it stops ----------------------------------------------------------------------------


def test_the_preconditioning_is_judged_on_minutes_1_31_61_and_so_on():
    rates = {1: 1.0, 31: 2.0, 61: 3.0, 91: 4.0, 121: 5.0}

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        if step.phase != "precondition":
            return queue(step)
        number = int((step.cell or "").removeprefix("minute "))
        return 1000.0 * rates.get(number, 5.0 if number > 121 else 77.0)

    played = run(rate=rate)
    # 1, 2, 3, 4 and then 5 thousand: even 4, 5, 5, 5, 5 has a range above 20 % of its average.
    (state,) = demand_in(played).before
    assert state.values == (1e3, 2e3, 3e3, 4e3, 5e3, 5e3, 5e3, 5e3, 5e3)
    assert phases_of(played)[1] == ("precondition", 8 * 30 + 1)


def test_a_preconditioning_that_is_never_steady_ends_with_its_25th_check_minute():
    rates = tuple(1000.0 * 1.5**number for number in range(25))
    played = run(rate=by_round("precondition", rates))
    assert phases_of(played)[1] == ("precondition", 24 * 30 + 1)
    assert phases_of(played)[2] == ("round", 5 * 54), "and the rounds follow all the same"


def test_the_whitepapers_series_stops_at_round_12_where_only_the_slope_kept_it():
    played = run(rate=by_round("round", SLC_B, "TC 32 QD 32"))
    findings = findings_of(played.record)
    assert findings.window_rounds == (8, 12)
    assert findings.steady_states[0].variable == "RND 8 KiB 65/35 TC 32 QD 32"
    assert dict(phases_of(played))["round"] == 12 * 54
    played = run(rate=by_round("precondition", SLC_B))
    assert dict(phases_of(played))["precondition"] == 11 * 30 + 1


@pytest.mark.parametrize("cell", ["TC 32 QD 16", "TC 16 QD 32", "TC 1 QD 1", "pre-write minute 5"])
def test_only_the_greatest_demand_of_the_mix_is_tracked(cell):
    rates = tuple(1000.0 * 1.5**number for number in range(25))
    assert findings_of(run(rate=by_round("round", rates, cell)).record).window_rounds == (1, 5)


def test_never_steady_it_reports_and_looks_at_the_points_of_the_last_five_rounds():
    rates = tuple(1000.0 * 1.5**number for number in range(25))
    played = run(rate=by_round("round", rates, "TC 32 QD 32"))
    assert played.ending == "not steady"
    findings = findings_of(played.record)
    assert (findings.converged, findings.window_rounds) == (False, (21, 25))
    assert len(points_of(played)) == 3


# --- operating points -------------------------------------------------------------------------


def test_the_points_come_from_what_came_back():
    rate, latency = swept(
        at_8_16=(9_000, 5.5, 5.5),
        at_4_8=(8_000, 4.0, 4.0),
        at_1_6=(4_400, 1.0, 1.0),
        at_2_2=(4_800, 1.0, 1.0),
        at_1_1=(1_000, 1.0, 1.0),
    )
    played = run(rate=rate, latency=latency)
    # Halfway between 8,000 and 1,000 is 4,500.
    assert points_of(played) == [("Max", 4, 8), ("Mid", 1, 6), ("Min", 1, 1)]


def test_thread_count_and_queue_depth_are_not_swapped():
    rate, latency = swept(at_1_32=(9_000, 1, 1), at_32_1=(5_000, 1, 1), at_1_1=(1_000, 1, 1))
    played = run(rate=rate, latency=latency)
    assert points_of(played) == [("Max", 1, 32), ("Mid", 32, 1), ("Min", 1, 1)]


def test_latency_counts_each_io_once_reads_and_writes_together():
    # 65 reads of 1 ms and 35 writes of 12 ms: 4.85 ms on average; of writes alone it were 12,
    # and halfway between reads and writes 6.5.
    rate, latency = swept(at_16_4=(6_000, 1.0, 12.0), at_1_1=(1_000, 1.0, 1.0))
    played = run(rate=rate, latency=latency)
    assert points_of(played)[0] == ("Max", 16, 4)
    (cell,) = [
        cell
        for cell in findings_of(played.record).cells
        if cell.labels == (("threads", "16"), ("queue depth", "4"))
    ]
    assert cell.latency_ns_mean == pytest.approx(4.85 * MS)
    assert cell.latency_ns_max == 12 * MS
    assert cell.iops == 6_000, "reads and writes"


def test_a_slow_drive_has_points_all_the_same():
    rate, latency = swept(at_1_1=(110, 9.0, 9.0), at_2_1=(180, 8.0, 8.0))
    played = run(rate=rate, latency=latency)
    assert points_of(played)[0] == ("Max", 2, 1)
    assert played.ending == "steady"


def test_a_device_that_answers_nothing_ends_without_points():
    played = run(rate=lambda step: 0.0)
    assert played.ending == "not steady"
    assert points_of(played) == []
    assert watch_of(played.record).phase == "not steady"


def test_the_sweep_of_the_findings_is_what_the_answers_add_up_to():
    played = run(rate=by_round("round", SLC_B, "TC 32 QD 32"))
    findings = findings_of(played.record)
    first, last = findings.window_rounds or (0, 0)
    assert len(findings.cells) == 49
    for cell in findings.cells:
        threads, depth = (int(place) for _, place in cell.labels)
        iops, means = [], []
        for each in played.steps:
            step, answer = each.step, each.answer
            if not isinstance(step, Measure) or step.phase != "round" or step.continues:
                continue
            stream = stream_of(step)
            if (stream.threads, stream.queue_depth, stream.read_percent) != (threads, depth, 65):
                continue
            if not first <= (step.round_number or 0) <= last:
                continue
            assert isinstance(answer, StepResult)
            ios = sum(part.count for part in answer.results)
            iops.append(ios / 60)
            means.append(sum(part.latency.sum_ns for part in answer.results) / ios)
        assert len(iops) == 5
        assert cell.iops == pytest.approx(math.fsum(iops) / 5)
        assert cell.latency_ns_mean == pytest.approx(math.fsum(means) / 5)


# --- gaps -------------------------------------------------------------------------------------


def test_a_gap_in_the_preconditioning_starts_it_again_without_another_purge():
    played = run(gaps={1 + 50})
    assert phases_of(played)[:2] == [("purge", 1), ("precondition", 50 + 121)]
    again = played.measured[50]
    assert (again.round_number, again.cell, again.continues) == (1, "minute 1", False)
    scalars = {each.name: each.value for each in findings_of(played.record).scalars}
    assert scalars["minutes of preconditioning"] == 121


def test_a_gap_in_a_round_repeats_it_from_its_pre_write_and_the_window_starts_anew():
    played = run(gaps={1 + 121 + 2 * 54 + 30})
    again = played.measured[121 + 2 * 54 + 30]
    assert (again.round_number, again.cell) == (3, "pre-write minute 1")
    assert findings_of(played.record).window_rounds == (3, 7)


@pytest.mark.parametrize("place", [7, 60])
def test_a_gap_at_an_operating_point_repeats_that_point_from_its_pre_write(place):
    before = 1 + 121 + 5 * 54 + 61
    played = run(gaps={before + place + 1})
    assert len(played.steps) == before + place + 1 + 2 * 61
    again = played.measured[before + place]
    assert (again.round_number, again.cell, again.continues) == (2, "pre-write minute 1", False)
    runs = demand_in(played).runs.values()
    assert [len(each.prewrite) for each in runs] == [60, 60, 60]
    assert all(each.histogram is not None for each in runs)


def test_a_gap_before_every_single_step_still_ends_with_three_points():
    whole = run(overrides=SMALL)
    for place in range(1, len(whole.steps) + 1):
        broken = run(gaps={place}, overrides=SMALL)
        findings = findings_of(broken.record)
        assert (broken.ending, findings.converged) == ("steady", True)
        first, last = findings.window_rounds or (0, 0)
        assert last - first == 4
        gap = next(each.seq for each in broken.steps if isinstance(each.answer, Gap))
        for seq, step in ((each.seq, each.step) for each in broken.steps):
            if isinstance(step, Measure) and step.continues:
                assert seq != gap + 1, "nothing continues over a gap"
        runs = demand_in(broken).runs.values()
        assert [len(each.prewrite) for each in runs] == [3, 3, 3]


# --- the watch --------------------------------------------------------------------------------


def watch_after(played: Played, count: int, method=DIRTH):
    return watch_of(record_of(method, played.settings, played.steps[:count]))


def test_the_least_time_left_is_the_time_a_steady_drive_then_takes():
    played = run()
    durations = [step.duration_ns if isinstance(step, Measure) else 0 for step in played.asked]
    for count in (0, 1, 2, 31, 121, 122, 123, 126, 127, 176, 300, 391, 392, 395, 452, 453, 574):
        left = sum(durations[count:])
        watch = watch_after(played, count)
        assert watch.remaining_ns_least == left, (count, watch)
        assert watch.remaining_ns_most >= left


def test_the_most_time_left_is_the_time_a_drive_takes_that_is_never_steady():
    rates = tuple(1000.0 * 1.5**number for number in range(25))

    def rate(step: Step) -> float:
        return by_round("precondition", rates)(step) * by_round("round", rates)(step)

    played = run(rate=rate, latency=lambda step, direction: MS)
    durations = [step.duration_ns if isinstance(step, Measure) else 0 for step in played.asked]
    for count in (0, 1, 100, 722, 723, 1000, 722 + 25 * 54, len(durations) - 1):
        assert watch_after(played, count).remaining_ns_most == sum(durations[count:]), count


def test_the_watch_follows_the_phases():
    played = run()
    assert watch_after(played, 0).phase == "purge"
    first = watch_after(played, 1)
    assert (first.phase, first.round_number, first.cell) == ("precondition", 1, "minute 1")
    assert (first.rounds_least, first.rounds_most) == (5, 25)
    assert first.steady == "0 of the first 5 rounds"
    assert watch_after(played, 32).steady == "2 of the first 5 rounds"
    rounds = watch_after(played, 122)
    assert (rounds.phase, rounds.round_number, rounds.cell) == ("round", 1, "pre-write minute 1")
    points = watch_after(played, 122 + 270)
    assert (points.phase, points.round_number, points.cell) == ("pre-write", 1, "Max")
    assert watch_after(played, 122 + 270 + 60).phase == "histogram"
    last = watch_after(played, 122 + 270 + 122)
    assert (last.round_number, last.rounds_least, last.cell) == (3, 3, "Min")
    assert watch_of(played.record).phase == "steady"


# --- settings ---------------------------------------------------------------------------------


def deviations_of(method, spec: str = "", geometry: Geometry = DRIVE, **overrides: str):
    settings = method.settings(spec, overrides, geometry)
    return [remark.text for remark in method.deviations(settings, geometry)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spec", SPECS)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(method, spec):
    assert deviations_of(method, spec) == []
    settings = method.settings(spec, {}, DRIVE)
    assert method.settings_from(settings.model_dump(mode="json")) == settings
    assert method.writes(settings)


def test_block_size_and_mix_are_the_operators_choice_in_dirth_only():
    assert deviations_of(DIRTH, mix="90/10", bs="4KiB") == []
    assert deviations_of(CBW, mix="90/10", bs="4KiB") == [
        "mix 90/10 instead of 40/60",
        "block_size 4KiB instead of 512:4,1KiB:1,1536:1,2KiB:1,2560:1,3KiB:1,3584:1,4KiB:67,"
        "8KiB:10,16KiB:7,32KiB:3,64KiB:3",
    ]
    assert deviations_of(DIRTH, access="zipf:1.1") == ["access zipf:1.1 instead of random"]


def test_every_other_setting_that_differs_is_a_deviation():
    texts = deviations_of(
        DIRTH, minute="1s", tc="32,1", qd="8,1", precondition_minutes="10", prewrite="1",
        point_prewrite="6", histogram_minutes="1", art_limit="2ms", rounds="30",
        precondition_rounds="0",
    )  # fmt: skip
    assert texts == [
        "minute 1s instead of 60s",
        "threads 32,1 instead of 32,16,8,6,4,2,1",
        "queue_depth 8,1 instead of 32,16,8,6,4,2,1",
        "precondition_rounds 0 instead of 25",
        "precondition_minutes 10 instead of 30",
        "prewrite_minutes 1 instead of 5",
        "point_prewrite_minutes 6 instead of 60",
        "histogram_minutes 1 instead of 10",
        "latency_limit 2ms instead of 5ms",
    ]


def test_without_preconditioning_the_rounds_come_first():
    played = run(overrides={**SMALL, "precondition_rounds": "0"})
    assert phases_of(played)[:2] == [("purge", 1), ("round", 5 * 6)]
    assert watch_after(played, 1).phase == "round"


FOUR_KN = replace(DRIVE, logical_block_bytes=4096)


def test_the_composites_small_blocks_are_dropped_on_4kn_drives_and_that_is_said():
    played = run(CBW, geometry=FOUR_KN)
    stream = stream_of(played.measured[0])
    assert dict(stream.block_mix) == {4096: 67, 8192: 10, 16384: 7, 32768: 3, 65536: 3}
    texts = deviations_of(CBW, geometry=FOUR_KN)
    assert len(texts) == 7
    assert texts[0] == "0.5 KiB accesses dropped: the device's logical block is 4 KiB"
    assert deviations_of(DIRTH, geometry=FOUR_KN) == []


SCALED = Geometry(capacity_bytes=256 * GIB // 30 // 4096 * 4096, nominal_capacity_bytes=256 * GIB)


@pytest.mark.parametrize("method", METHODS)
def test_a_scaled_device_has_shorter_minutes_and_that_is_no_deviation(method):
    settings = method.settings("", {}, SCALED)
    assert settings.minute_ns == 2_000_000_000
    assert not method.deviations(settings, SCALED)


def test_the_composite_has_the_name_of_its_version():
    assert method_named("dirth") is DIRTH
    assert method_named("cbw") is CBW
    headers = [
        document_of(played.record).header
        for played in (run(CBW, spec=spec, overrides=SMALL) for spec in SPECS)
    ]
    assert [header.subtitle for header in headers] == ["ECW loop", "CBW loop", "CBW loop"]
    assert headers[0].title.startswith("Enterprise Composite Workload")
    assert headers[2].title.startswith("Client Composite Block Size Workload")


@pytest.mark.parametrize("spec", ["1.0-enterprise", "1.0-client"])
def test_a_version_without_the_test_is_refused_with_those_that_have_it(spec):
    with pytest.raises(PlanError) as caught:
        DIRTH.settings(spec, {}, DRIVE)
    assert "has no such test as pts.dirth" in str(caught.value)
    assert caught.value.remedy == "It is in 2.0.2-client, 2.0.2-enterprise, 1.1-enterprise."


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"threads": "32,32"}, ["names one of them twice"]),
        ({"threads": ""}, ["names no thread count"]),
        ({"threads": "400"}, ["between 1 and 256"]),
        ({"qd": "deep"}, ["not a whole number"]),
        ({"bs": "8KiB:70,4KiB"}, ["has no weight"]),
        ({"bs": "3000"}, ["a multiple of 512"]),
        ({"mix": "60/60"}, ["add up to 100"]),
        ({"access": "spiral"}, ["none of random, shuffled"]),
        ({"precondition_rounds": "3"}, ["between 5 and"]),
        ({"rounds": "4"}, ["between 5 and"]),
        ({"histogram_minutes": "0"}, ["between 1 and"]),
        ({"art_limit": "soon"}, ["not a duration"]),
        ({"point": "1"}, ["Unknown setting 'point'"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason_and_a_remedy(overrides, words):
    with pytest.raises(PlanError) as caught:
        DIRTH.settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy
