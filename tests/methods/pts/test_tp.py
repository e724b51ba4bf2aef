"""TP conversations, block size after block size, with canned answers; their findings, watches."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import findings_of, watch_of
from teijo.methods.pts.tp.method import Tp
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap
from teijo.terms.step import Measure, Precondition, Purge, Step
from teijo.terms.workload import Access
from tests.analysis.test_steady_state import SLC_B
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

KIB = 1024
SPECS = {
    "1.0-enterprise": (1024, 64, 8, 4, 0.5),
    "1.1-enterprise": (1024, 128),
    "1.0-client": (1024,),
    "2.0.2-enterprise": (1024, 128),
    "2.0.2-client": (1024,),
}
BOTH = "2.0.2-enterprise"
FIG_13 = {(0, 128): 144.5, (0, 1024): 157.5, (100, 128): 409.3, (100, 1024): 514.3}
"""Whitepaper, figure 13: (read %, KiB) → MB/s of SLC-A."""


def moving(mb_s: Callable[[int, int, int], float]):
    """A drive with these MB/s for (read %, block size in KiB, round)."""

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        assert step.round_number is not None
        (stream,) = step.workload.streams
        block = stream.block_size_bytes
        return mb_s(stream.read_percent, block // KIB, step.round_number) * 1e6 / block

    return rate


FLAT = moving(lambda reads, _, __: 500.0 if reads else 150.0)
NEVER = moving(lambda reads, _, number: 500.0 if reads else 100.0 * 1.5**number)
LARGE_NEVER = moving(
    lambda reads, kib, number: 500.0 if reads or kib != 1024 else 100.0 * 1.5**number
)


def run(rate=FLAT, *, gaps=(), **named) -> Played:
    return play(Tp(), Canned(rate, gaps=frozenset(gaps)), **named)


def sizes_measured(played: Played) -> list[int]:
    return [step.workload.streams[0].block_size_bytes for step in played.measured]


# --- the order of the steps -------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_each_block_size_is_purged_preconditioned_and_measured_by_itself(spec):
    played = run(spec=spec)
    kinds = [type(step) for step in played.asked]
    assert kinds == ([Purge, Precondition] + [Measure] * 10) * len(SPECS[spec])
    blocks = [block for kib in SPECS[spec] for block in [round(kib * KIB)] * 10]
    assert sizes_measured(played) == blocks
    assert played.ending == "steady"


def test_a_round_is_a_minute_of_sequential_reads_and_one_of_writes():
    played = run(spec="1.1-enterprise")
    for step in played.measured:
        (stream,) = step.workload.streams
        assert step.duration_ns == 60_000_000_000
        assert stream.access is Access.SEQUENTIAL
        assert (stream.threads, stream.queue_depth) == (2, 16)
    assert [step.cell for step in played.measured[:4]] == [
        "SEQ 1024 KiB 100/0", "SEQ 1024 KiB 0/100", "SEQ 1024 KiB 100/0", "SEQ 1024 KiB 0/100",
    ]  # fmt: skip


def test_reads_and_writes_each_go_on_where_they_left_off_and_never_at_lba_0():
    played = run(spec=BOTH)
    names = {
        (step.workload.streams[0].read_percent, step.workload.streams[0].name)
        for step in played.measured
    }
    assert names == {(100, "read"), (0, "main")}, "a stream's name is what its place is kept by"
    (wipc, _) = [step for step in played.asked if isinstance(step, Precondition)]
    assert wipc.workload.streams[0].name == "main", "writes go on from the preconditioning"


@pytest.mark.parametrize("spec", SPECS)
def test_wipc_writes_twice_the_user_capacity_in_the_versions_block_size(spec):
    own = not spec.startswith("1.0")
    wipcs = [step for step in run(spec=spec).asked if isinstance(step, Precondition)]
    assert len(wipcs) == len(SPECS[spec])
    for wipc, kib in zip(wipcs, SPECS[spec], strict=True):
        (stream,) = wipc.workload.streams
        assert wipc.total_bytes == 2 * DRIVE.capacity_bytes
        assert stream.access is Access.SEQUENTIAL
        assert stream.block_size_bytes == (kib if own else 128) * KIB
        assert stream.active_range.amount_bytes is None, "WIPC has no LBA restrictions"


# --- when it stops ----------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_the_whitepapers_series_stops_at_round_12_and_no_earlier(spec):
    series = moving(lambda reads, _, number: 500.0 if reads else SLC_B[min(number, 12) - 1])
    played = run(series, spec=spec, overrides={"block_sizes": "1024KiB"})
    assert played.ending == "steady"
    assert len(played.measured) == 2 * 12
    findings = findings_of(played.record)
    assert findings.window_rounds == (8, 12)
    (state,) = findings.steady_states
    assert state.values == pytest.approx(SLC_B, abs=0.01), "whole I/Os of 1 MiB a minute"
    assert state.unit == "MB/s"


def test_reads_that_never_settle_do_not_keep_it():
    played = run(moving(lambda reads, _, number: 100.0 * 2**number if reads else 150.0))
    assert played.ending == "steady"
    assert len(played.measured) == 10


def test_one_block_size_that_is_never_steady_makes_the_run_not_steady_but_keeps_no_other():
    played = run(LARGE_NEVER, spec=BOTH)
    assert played.ending == "not steady"
    assert sizes_measured(played) == [1024 * KIB] * 50 + [128 * KIB] * 10
    findings = findings_of(played.record)
    assert findings.converged is False
    assert findings.rounds == 30
    assert [state.reached is not None for state in findings.steady_states] == [False, True]


def test_it_never_steady_reports_its_last_five_rounds():
    played = run(NEVER)
    findings = findings_of(played.record)
    assert (findings.converged, findings.window_rounds, findings.rounds) == (False, (21, 25), 25)
    assert len(findings.cells) == 2


# --- gaps -------------------------------------------------------------------------------------


def test_a_gap_in_the_second_block_size_does_not_measure_the_first_again():
    whole = run(spec=BOTH)
    place = next(
        each.seq
        for each in whole.steps[13:]
        if isinstance(each.step, Measure) and each.step.round_number == 3
    )
    played = run(spec=BOTH, gaps={place + 1})
    assert sizes_measured(played).count(1024 * KIB) == 10
    findings = findings_of(played.record)
    windows = [state.window for state in findings.steady_states]
    assert [(w.first_round, w.last_round) for w in windows if w] == [(1, 5), (3, 7)]
    assert findings.converged


def test_a_gap_before_every_single_step_still_ends_in_steady_state():
    whole = run(spec=BOTH)
    for place in range(1, len(whole.steps) + 1):
        broken = run(spec=BOTH, gaps={place})
        findings = findings_of(broken.record)
        assert broken.ending == "steady"
        assert findings.converged
        gap = next(each for each in broken.steps if isinstance(each.answer, Gap))
        again = broken.steps[gap.seq].step
        match gap.step:
            case Purge() | Precondition():
                assert again == gap.step
            case _:
                assert isinstance(again, Measure)
                assert again.cell is not None
                assert again.cell.endswith("100/0"), "a round begins with its first cell"


def test_a_purge_asked_twice_is_one_test():
    played = run(spec=BOTH, gaps={1, 14})
    assert [type(step) for step in played.asked].count(Purge) == 4
    assert len(findings_of(played.record).cells) == 4


# --- findings ---------------------------------------------------------------------------------


def test_cells_are_means_over_the_blocks_own_window():
    # Figure 13 as the mean of five rounds that scatter around it.
    scatter = (0.98, 0.99, 1.0, 1.01, 1.02)
    drive = moving(lambda reads, kib, number: FIG_13[reads, kib] * scatter[(number - 1) % 5])
    cells = findings_of(run(drive, spec=BOTH).record).cells
    assert {
        cell.labels: round(cell.throughput_mb_s, 1) for cell in cells
    } == {
        (("r/w mix", "0/100"), ("block size", "1024 KiB")): 157.5,
        (("r/w mix", "100/0"), ("block size", "1024 KiB")): 514.3,
        (("r/w mix", "0/100"), ("block size", "128 KiB")): 144.5,
        (("r/w mix", "100/0"), ("block size", "128 KiB")): 409.3,
    }  # fmt: skip


def test_rounds_before_the_window_are_in_no_cell():
    drive = moving(lambda reads, _, number: 1000.0 if number <= 3 else 100.0)
    played = run(drive)
    findings = findings_of(played.record)
    assert findings.window_rounds == (4, 8)
    assert [cell.throughput_mb_s for cell in findings.cells] == pytest.approx([100, 100], rel=1e-4)


def test_findings_of_a_growing_record_show_what_there_is():
    played = run(spec=BOTH)
    for count in range(len(played.steps) + 1):
        findings = findings_of(record_of(Tp(), played.settings, played.steps[:count]))
        first, second = min(max(count - 2, 0) // 2, 5), min(max(count - 14, 0) // 2, 5)
        assert findings.rounds == first + second
        assert findings.converged is (count == len(played.steps))
        assert len(findings.cells) == 2 * bool(first) + 2 * bool(second)


def test_a_record_can_be_judged_again_by_another_version():
    played = run(spec="2.0.2-client")
    settings = {**played.record.run.settings, "spec": "1.1-enterprise"}
    again = replace(played.record, run=replace(played.record.run, settings=settings))
    assert findings_of(again).window_rounds == (1, 5)


# --- the watch --------------------------------------------------------------------------------


def watch_after(played: Played, count: int):
    return watch_of(record_of(Tp(), played.settings, played.steps[:count]))


def test_the_watch_follows_both_block_sizes():
    played = run(spec=BOTH)
    volume, minute = 2 * DRIVE.capacity_bytes, 60_000_000_000
    begin = watch_after(played, 0)
    assert (begin.phase, begin.remaining_bytes) == ("purge", 2 * volume)
    assert (begin.rounds_least, begin.rounds_most) == (None, None)
    assert begin.remaining_ns_least == 2 * 5 * 2 * minute
    assert begin.remaining_ns_most == 2 * 25 * 2 * minute
    assert watch_after(played, 1).phase == "precondition"
    first = watch_after(played, 3)
    assert (first.phase, first.round_number, first.cell) == ("round", 1, "SEQ 1024 KiB 0/100")
    assert (first.rounds_least, first.rounds_most) == (5, 25)
    assert first.remaining_bytes == volume
    assert first.remaining_ns_least == (10 - 1 + 10) * minute
    second = watch_after(played, 12)
    assert (second.phase, second.remaining_bytes) == ("purge", volume)
    last = watch_after(played, 14 + 8)
    assert (last.round_number, last.remaining_bytes) == (5, 0)
    assert last.remaining_ns_least == 2 * minute
    assert watch_after(played, 24).phase == "round", "running still, all measured"
    assert watch_of(played.record).phase == "steady"


def test_what_remains_never_grows_but_by_a_further_round():
    played = run(spec=BOTH)
    left = [watch_after(played, count).remaining_ns_most for count in range(len(played.steps))]
    assert left == sorted(left, reverse=True)


# --- settings ---------------------------------------------------------------------------------


def settings_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str):
    return Tp().settings(spec, overrides, geometry)


def deviations_of(spec: str = "", geometry: Geometry = DRIVE, **overrides: str) -> list[str]:
    settings = settings_of(spec, geometry, **overrides)
    return [remark.text for remark in Tp().deviations(settings, geometry)]


@pytest.mark.parametrize("spec", SPECS)
def test_the_standards_own_settings_are_no_deviation_and_json_and_back(spec):
    assert deviations_of(spec) == []
    settings = settings_of(spec)
    assert Tp().settings_from(settings.model_dump(mode="json")) == settings
    assert Tp().writes(settings)


def test_one_block_size_of_the_version_is_a_whole_test_and_another_is_a_deviation():
    assert deviations_of(BOTH, block_size="128KiB") == []
    assert deviations_of(BOTH, block_size="256KiB") == [
        "block_sizes 256KiB instead of 1024KiB,128KiB"
    ]


def test_every_setting_that_differs_is_a_deviation():
    texts = deviations_of(
        "2.0.2-client", minute="1s", tc="2", qd="4", rounds="10", wipc="1",
        precondition_block="128KiB", content="zero", active_range="50",
    )  # fmt: skip
    assert "queue_depth 4 instead of the recommended 32" in texts
    assert "precondition_block 128KiB instead of none" in texts
    assert len(texts) == 8
    assert deviations_of("1.1-enterprise", tc="8", qd="64", rounds="40") == []


def test_the_clients_matrix_has_2048_segments():
    settings = settings_of("1.0-client", amount="8GiB", active_range="75")
    assert (settings.amount_bytes, settings.segments) == (8 * GIB, 2048)
    assert deviations_of("1.0-client", amount="8GiB", active_range="75") == []


def test_half_kib_is_dropped_on_4kn_drives_and_that_is_said():
    four_kn = replace(DRIVE, logical_block_bytes=4096)
    assert settings_of("1.0-enterprise", four_kn).block_sizes_bytes[-1] == 4 * KIB
    assert deviations_of("1.0-enterprise", four_kn) == [
        "the test of 0.5 KiB is dropped: the device's logical block is 4 KiB"
    ]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"block_sizes": "768"}, ["it is 768 bytes", "multiple of 512 bytes"]),
        ({"block_sizes": ""}, ["no block sizes"]),
        ({"precondition_block": "768"}, ["it is 768 bytes", "multiple of 512 bytes"]),
        ({"mixes": "0/100"}, ["Unknown setting 'mixes'"]),
        ({"rounds": "4"}, ["between 5 and"]),
        ({"block_sizes": "1GiB", "amount": "1GiB", "segments": "2"}, ["does not fit in a piece"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason_and_a_remedy(overrides, words):
    with pytest.raises(PlanError) as caught:
        Tp().settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy
