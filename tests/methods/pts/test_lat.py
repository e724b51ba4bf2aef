"""LAT conversations from purge to the histogram's run, with canned answers; findings, watches."""

from dataclasses import dataclass, replace

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import findings_of, found_in, watch_of
from teijo.methods.pts.lat.found import SELF_CHECK_NAME
from teijo.methods.pts.lat.method import Lat
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, Measure, Precondition, Purge, Step
from teijo.terms.workload import Access
from tests.analysis.test_steady_state import SLC_B
from tests.methods.canned import DRIVE, GIB, Canned, Played, latencies, play, record_of

KIB = 1024
SPECS_1 = ("1.0-enterprise", "1.1-enterprise", "1.0-client")
SPECS_2 = ("2.0.2-enterprise", "2.0.2-client")
CELLS = [
    f"{mix} {block}"
    for mix in ("100/0", "65/35", "0/100")
    for block in ("8 KiB", "4 KiB", "0.5 KiB")
]


@dataclass
class OneAtATime(Canned):
    """A drive asked for one I/O at a time: its rate follows from how long each takes.

    `pause_ns` is how long the host takes between two of them; the longest I/O of a step takes
    `spike` times the others' time.
    """

    pause_ns: int = 0
    spike: int = 1

    def __call__(self, step: Step) -> Answer:
        answer = super().__call__(step)
        if not isinstance(step, Measure) or not isinstance(answer, StepResult):
            return answer
        results = []
        for part in answer.results:
            mean_ns = self.latency_ns(step, part.operation)
            latency = latencies(part.count, mean_ns, mean_ns * self.spike)
            results.append(replace(part, latency=latency))
        busy_ns = sum(part.latency.sum_ns for part in results)
        return replace(
            answer,
            results=tuple(results),
            elapsed_ns=busy_ns + self.pause_ns * answer.ios,
        )


def device(us, **named) -> OneAtATime:
    """Return a drive whose I/Os take this many µs by (cell, round)."""

    def latency_ns(step: Step, direction: str) -> int:
        if not isinstance(step, Measure):
            return 1_000
        return round(us(step.cell, step.round_number or 0) * 1_000)

    return OneAtATime(lambda step: 1e9 / latency_ns(step, "write"), latency_ns, **named)


def flat(cell: str, number: int) -> float:
    return {"100/0": 90.0, "65/35": 70.0, "0/100": 25.0}[cell.partition(" ")[0]]


def never(cell: str, number: int) -> float:
    return flat(cell, number) * 1.5**number


def tracked(series: tuple[float, ...]):
    """Return a drive of which only the tracked cell moves, by round."""

    def us(cell: str, number: int) -> float:
        if cell == "0/100 4 KiB" and number:
            return series[min(number, len(series)) - 1]
        return flat(cell, number)

    return us


def run(us=flat, *, gaps=(), pause_ns: int = 0, spike: int = 1, **named) -> Played:
    drive = device(us, gaps=frozenset(gaps), pause_ns=pause_ns, spike=spike)
    return play(Lat(), drive, **named)


def rounds_measured(played: Played) -> int:
    return max(step.round_number or 0 for step in played.measured)


def scalars_of(played: Played) -> dict[str, float | None]:
    return {each.name: each.value for each in findings_of(played.record).scalars}


# --- the order of the steps -------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_a_round_is_nine_cells_in_the_mandated_order_one_io_at_a_time(spec):
    played = run(spec=spec)
    assert [type(step) for step in played.asked[:3]] == [Purge, Precondition, Measure]
    rounds = [step for step in played.measured if step.phase == "round"]
    assert [step.cell for step in rounds] == CELLS * 5
    for step in played.measured:
        (stream,) = step.workload.streams
        assert (stream.threads, stream.queue_depth) == (1, 1)
        assert stream.access is Access.RANDOM
    assert all(step.duration_ns == 60_000_000_000 for step in rounds)
    assert played.ending == "steady"


def test_only_version_2_ends_with_twenty_minutes_for_the_histogram():
    for spec in SPECS_1:
        assert all(step.phase == "round" for step in run(spec=spec).measured)
    for spec in SPECS_2:
        *_, last = run(spec=spec).measured
        (stream,) = last.workload.streams
        assert (last.phase, last.duration_ns) == (HISTOGRAM, 20 * 60_000_000_000)
        assert (stream.read_percent, stream.block_size_bytes) == (0, 4 * KIB)
        assert (stream.threads, stream.queue_depth) == (1, 1)


def test_a_drive_that_is_never_steady_has_its_histogram_all_the_same():
    played = run(never)
    assert played.ending == "not steady"
    assert rounds_measured(played) == 25
    assert played.measured[-1].phase == HISTOGRAM
    assert run(never, overrides={"histogram": "none"}).measured[-1].phase != HISTOGRAM


def test_wipc_is_that_of_iops_with_a_load_of_its_own():
    (wipc,) = [
        step for step in run(spec="2.0.2-enterprise").asked if isinstance(step, Precondition)
    ]
    (stream,) = wipc.workload.streams
    assert wipc.total_bytes == 2 * DRIVE.capacity_bytes
    assert (stream.access, stream.block_size_bytes) == (Access.SEQUENTIAL, 128 * KIB)
    assert (stream.threads, stream.queue_depth) == (4, 32)


# --- when it stops ----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_the_whitepapers_series_as_latencies_stops_at_round_12(spec):
    played = run(tracked(SLC_B), spec=spec)
    assert rounds_measured(played) == 12
    findings = findings_of(played.record)
    (state,) = findings.steady_states
    assert findings.window_rounds == (8, 12)
    assert state.unit == "ms"
    assert state.values == pytest.approx([each / 1_000 for each in SLC_B])


def test_latencies_are_never_rounded_before_they_are_judged():
    # A slope of 12 % over the window, far below a thousandth of a millisecond.
    series = tuple(0.100 * (1 + 0.03 * number) for number in range(25))
    played = run(tracked(series), spec="1.1-enterprise")
    (state,) = findings_of(played.record).steady_states
    assert state.windows[0].slope_excursion / state.windows[0].average == pytest.approx(0.113, 0.01)
    assert rounds_measured(played) > 5


def test_only_the_tracked_cell_decides():
    def others_move(cell: str, number: int) -> float:
        return flat(cell, number) * (1 if cell == "0/100 4 KiB" else 1.5**number)

    assert rounds_measured(run(others_move)) == 5


# --- gaps -------------------------------------------------------------------------------------


def test_a_gap_before_every_single_step_still_ends_in_steady_state():
    whole = run()
    for place in range(1, len(whole.steps) + 1):
        broken = run(gaps={place})
        findings = findings_of(broken.record)
        assert broken.ending == "steady"
        first, last = findings.window_rounds or (0, 0)
        assert last - first == 4
        assert scalars_of(broken)["ART of the histogram's run"] == pytest.approx(0.025)
        gap = next(each for each in broken.steps if isinstance(each.answer, Gap))
        if isinstance(gap.step, Measure) and gap.step.phase == "round":
            assert first == gap.step.round_number, "no window reaches over the gap"


def test_a_gap_in_the_histograms_run_asks_for_it_again_and_keeps_the_window():
    whole = run()
    played = run(gaps={len(whole.steps)})
    assert played.asked[-1] == played.asked[-2]
    assert findings_of(played.record).window_rounds == (1, 5)


# --- findings ---------------------------------------------------------------------------------


def test_cells_are_means_over_the_window_and_the_maximum_is_of_the_maxima():
    def us(cell: str, number: int) -> float:
        return {6: 21.0, 7: 23.0}.get(number, 22.0 if number > 1 else 90.0)

    played = run(us, spike=10)
    findings = findings_of(played.record)
    assert findings.window_rounds == (2, 6)
    (cell,) = [
        each
        for each in findings.cells
        if each.labels == (("r/w mix", "0/100"), ("block size", "4 KiB"))
    ]
    assert cell.latency_ns_mean == pytest.approx(21_800, rel=1e-4)
    assert cell.latency_ns_max == 220_000
    assert len(findings.cells) == 9
    art, mrt = (each.value for each in found_in(played.record).headlines[2:])
    assert (art, mrt) == (pytest.approx(0.0218, rel=1e-4), 0.22)


def test_average_times_iops_is_one_where_the_host_takes_no_time_of_its_own():
    assert scalars_of(run())[SELF_CHECK_NAME] == pytest.approx(1, abs=1e-6)


def test_a_host_that_pauses_between_two_ios_is_found_by_the_self_check():
    # The fastest cell takes 25 µs: 5 µs between two of its I/Os are a sixth of the time.
    share = scalars_of(run(pause_ns=5_000))[SELF_CHECK_NAME]
    assert share == pytest.approx(25 / 30, rel=1e-3)


def test_findings_of_a_growing_record_show_what_there_is():
    played = run()
    for count in (0, 1, 2, 5, 11, 12, 29, 47, 48):
        findings = findings_of(record_of(Lat(), played.settings, played.steps[:count]))
        whole = min(max(0, count - 2) // 9, 5)
        assert findings.rounds == whole
        assert len(findings.cells) == (9 if whole else 0)
        levels = {each.name: each.value for each in findings.scalars}
        assert (levels["MRT of the histogram's run"] is not None) == (count == 48)


# --- the watch --------------------------------------------------------------------------------


def watch_after(played: Played, count: int):
    return watch_of(record_of(Lat(), played.settings, played.steps[:count]))


def test_the_watch_follows_the_phases_to_the_histogram():
    played, minute = run(), 60_000_000_000
    assert watch_after(played, 0).phase == "purge"
    before = watch_after(played, 1)
    assert (before.phase, before.remaining_bytes) == ("precondition", 2 * DRIVE.capacity_bytes)
    first = watch_after(played, 2)
    assert (first.phase, first.round_number, first.cell) == ("round", 1, "100/0 8 KiB")
    assert first.remaining_ns_least == (5 * 9 + 20) * minute
    assert first.remaining_ns_most == (25 * 9 + 20) * minute
    last = watch_after(played, 2 + 5 * 9)
    assert (last.phase, last.cell) == (HISTOGRAM, "0/100 4 KiB")
    assert last.remaining_ns_least == last.remaining_ns_most == 20 * minute
    assert watch_of(played.record).phase == "steady"


# --- settings ---------------------------------------------------------------------------------


def settings_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str):
    return Lat().settings(spec, overrides, geometry)


def deviations_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str) -> list[str]:
    settings = settings_of(spec, geometry, **overrides)
    return [remark.text for remark in Lat().deviations(settings, geometry)]


@pytest.mark.parametrize("spec", SPECS_1 + SPECS_2)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(spec):
    assert deviations_of(spec) == []
    settings = settings_of(spec)
    assert Lat().settings_from(settings.model_dump(mode="json")) == settings
    assert Lat().writes(settings)


def test_every_setting_that_differs_is_a_deviation_but_the_load_of_the_preconditioning():
    texts = deviations_of(
        "2.0.2-client", minute="1s", rounds="10", wipc="1", histogram="5", mixes="0/100",
        block_sizes="4KiB", content="zero",
    )  # fmt: skip
    assert "histogram 5 instead of 20" in texts
    assert len(texts) == 7
    assert deviations_of("2.0.2-client", precondition_qd="1", precondition_threads="8") == []
    assert deviations_of("1.1-enterprise", rounds="40") == []
    assert deviations_of("1.1-enterprise", histogram="20") == ["histogram 20 instead of none"]


def test_the_clients_matrix_has_2048_segments():
    settings = settings_of("1.0-client", amount="8GiB", active_range="75")
    assert (settings.amount_bytes, settings.segments) == (8 * GIB, 2048)
    assert deviations_of("1.0-client", amount="8GiB", active_range="75") == []


def test_half_kib_cells_are_dropped_on_4kn_drives_and_that_is_said():
    four_kn = replace(DRIVE, logical_block_bytes=4096)
    assert len([step for step in run(geometry=four_kn).measured if step.phase == "round"]) == 30
    assert deviations_of("", four_kn) == [
        "0.5 KiB cells dropped: the device's logical block is 4 KiB"
    ]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"qd": "2"}, ["Unknown setting 'qd'"]),
        ({"threads": "2"}, ["Unknown setting 'threads'"]),
        ({"block_sizes": "8KiB"}, ["tracking variable", "RND 4 KiB 0/100"]),
        ({"mixes": "100/0"}, ["tracking variable"]),
        ({"block_sizes": "4KiB,768"}, ["it is 768 bytes", "multiple of 512 bytes"]),
        ({"histogram": "0"}, ["between 1 and"]),
        ({"rounds": "4"}, ["between 5 and"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason_and_a_remedy(overrides, words):
    with pytest.raises(PlanError) as caught:
        Lat().settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy
