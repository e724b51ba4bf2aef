"""ORION's test: its load matrix point by point, what each point does, and what was found."""

from dataclasses import replace

import pytest

from teijo.document.model import Paragraph, Verdict
from teijo.errors import PlanError
from teijo.methods.classic.orion.found import SMALL_IOPS
from teijo.methods.classic.orion.method import Orion
from teijo.methods.classic.orion.pages import LITTLE, ONE_PASS
from teijo.methods.classic.orion.points import Loads, in_random_order, points_of
from teijo.methods.classic.orion.unsaid import entries
from teijo.methods.parts import document_of, found_in, watch_of
from teijo.terms.geometry import Geometry
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, Workload
from tests.methods.canned import DRIVE, GIB, Canned, Played, flow, play, record_of
from tests.methods.documents import text_of

METHOD = Orion()
S = 1_000_000_000


class Streams(Canned):
    """Answers each stream of a measurement by its own rate, under its own name."""

    def __call__(self, step):
        answer = super().__call__(step)
        if not isinstance(step, Measure) or isinstance(answer, Gap):
            return answer
        parts = []
        for stream in step.workload.streams:
            alone = replace(step, workload=Workload(streams=(stream,)))
            ios = round(self.rate(alone) * step.duration_ns / 1e9)
            reads = ios * stream.read_percent // 100
            mean = self.mean_ns(alone, "read", ios, step.duration_ns)
            parts += [
                replace(flow(way, n, stream.block_size_bytes, mean_ns=mean), stream=stream.name)
                for way, n in (("read", reads), ("write", ios - reads))
                if n
            ]
        return replace(answer, results=tuple(parts))


def orion(rate=lambda _: 8_000.0, *, gaps=(), geometry: Geometry = DRIVE, **overrides) -> Played:
    device = Streams(rate, gaps=frozenset(gaps))
    return play(METHOD, device, overrides=overrides, geometry=geometry)


def names(played: Played) -> list[str]:
    return [step.cell for step in played.measured if step.phase == "measure"]


# run: points and the minutes of the estimate, for 1 to 5 disks
COUNTS = {
    "simple": ((7, 14, 21, 28, 35), (9, 16, 23, 30, 37)),
    "normal": ((17, 54, 111, 188, 285), (19, 56, 113, 190, 287)),
    "oltp": ((20, 21, 22, 23, 24), (22, 23, 24, 25, 26)),
    "dss": ((15, 16, 17, 18, 19), (17, 18, 19, 20, 21)),
}


@pytest.mark.parametrize("run", COUNTS)
@pytest.mark.parametrize("disks", [1, 2, 3, 4, 5])
def test_each_run_level_has_its_points_and_its_estimate_for_one_to_five_disks(run, disks):
    loads = Loads(run=run, disks=disks)
    points, minutes = (each[disks - 1] for each in COUNTS[run])
    assert len(points_of(loads)) == points
    assert loads.total == points + 1
    assert loads.estimate_ns(60 * S) == minutes * 60 * S


def places(loads: Loads) -> list[tuple[int, int]]:
    return [(point.small, point.large) for point in points_of(loads)]


# matrix: the points of advanced runs for N disks, with num_small=3 and num_large=2
MATRICES = {
    "basic": lambda n: [
        *((0, y) for y in range(1, 2 * n + 1)), *((x, 0) for x in range(1, 5 * n + 1))
    ],
    "detailed": lambda n: [
        (x, y) for x in range(5 * n + 1) for y in range(2 * n + 1) if (x, y) != (0, 0)
    ],
    "point": lambda _: [(3, 2)],
    "col": lambda n: [(3, y) for y in range(2 * n + 1)],
    "row": lambda n: [(x, 2) for x in range(5 * n + 1)],
    "max": lambda _: [(x, y) for x in range(4) for y in range(3) if (x, y) != (0, 0)],
}  # fmt: skip


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("disks", [1, 2, 3, 4, 5])
def test_each_matrix_has_its_points_in_order_for_one_to_five_disks(matrix, disks):
    loads = Loads(run="advanced", matrix=matrix, disks=disks, num_small=3, num_large=2)
    assert places(loads) == MATRICES[matrix](disks)
    assert loads.total == len(MATRICES[matrix](disks)) + 1


def test_oltp_goes_in_ones_to_n_and_in_steps_of_n_to_twenty_n():
    assert [x for x, _ in places(Loads(run="oltp", disks=1))] == [*range(1, 21)]
    assert [x for x, _ in places(Loads(run="oltp", disks=3))] == [1, 2, *range(3, 61, 3)]
    # A published run with 4 disks peaked at 17 of these steps.
    assert (68, 0) in places(Loads(run="oltp", disks=4))
    assert places(Loads(run="dss", disks=2))[:3] == [(0, 1), (0, 2), (0, 4)]


def test_a_list_of_loads_takes_the_place_of_the_originals():
    assert places(Loads(run="dss", large=(1, 8))) == [(0, 1), (0, 8)]
    assert places(Loads(run="simple", small=(2,), large=(4,))) == [(0, 4), (2, 0)]
    assert names(orion(run="dss", dss_loads="8,1")) == ["Small=0 Large=1", "Small=0 Large=8"]


def test_the_summary_of_basic_names_no_small_load_but_zero():
    loads = Loads(disks=1)
    assert (loads.shown_small, loads.shown_large) == ((0,), (0, 1, 2))
    detailed = Loads(run="normal", disks=1)
    assert (detailed.shown_small, detailed.shown_large) == (tuple(range(6)), (0, 1, 2))


def test_large_io_alone_comes_first_and_then_small_io_alone():
    assert names(orion(num_disks="1")) == [
        *(f"Small=0 Large={y}" for y in (1, 2)),
        *(f"Small={x} Large=0" for x in (1, 2, 3, 4, 5)),
    ]


def test_a_point_is_two_streams_of_one_step_for_its_duration():
    played = orion(
        run="advanced", matrix="point", num_small="3", num_large="2", write="20",
        size_small="4KiB", duration="120s", active_range="80",
    )  # fmt: skip
    (step,) = played.measured
    assert step.duration_ns == 120 * S
    small, large = step.workload.streams
    assert (small.name, small.queue_depth, small.block_size_bytes) == ("small", 3, 4096)
    assert (large.name, large.queue_depth, large.block_size_bytes) == ("large", 2, 1024 * 1024)
    for stream in (small, large):
        assert (stream.access, stream.read_percent, stream.threads) == (Access.RANDOM, 80, 1)
        assert stream.active_range.share_percent == 80


def test_sequential_large_io_is_streams_with_cursors_apart_after_two_minutes_of_warming():
    played = orion(run="advanced", type="seq", num_disks="1", num_streamio="4", write="30")
    warm, point = played.asked[2], played.asked[3]
    assert (warm.phase, warm.duration_ns, point.phase) == ("warm up", 120 * S, "measure")
    (stream,) = warm.workload.streams
    assert (stream.access, stream.read_percent, stream.queue_depth) == (Access.RANDOM, 70, 8)
    (stream,) = point.workload.streams
    assert (stream.access, stream.threads, stream.queue_depth) == (Access.SEQUENTIAL, 2, 4)
    assert stream.thread_stride_bytes == 128 * GIB
    # Small points have no warm-up.
    assert [step.phase for step in played.asked] == ["warm up", "measure"] * 2 + ["measure"] * 5


def test_a_cache_size_is_moved_before_each_large_sequential_point_and_zero_is_nothing():
    moved = orion(run="advanced", type="seq", cache_size="512MiB").asked
    assert isinstance(moved[0], Precondition)
    assert (moved[0].phase, moved[0].total_bytes) == ("warm up", GIB // 2)
    none = orion(run="advanced", type="seq", cache_size="0").asked
    assert {step.phase for step in none} == {"measure"}


def test_a_strict_run_writes_first_ramps_up_draws_its_order_and_goes_deeper():
    played = orion(strict="on", num_disks="1")
    first, *others = played.asked
    assert isinstance(first, Precondition)
    assert first.total_bytes == DRIVE.capacity_bytes
    assert METHOD.writes(played.settings)
    assert [step.phase for step in others[:2]] == ["ramp", "measure"]
    (ramp,), (counted,) = (step.workload.streams for step in others[:2])
    # Only what is measured is counted: a ramp is in no figure.
    assert counted == replace(ramp, census=True) != ramp
    usual = {f"Small=0 Large={y}" for y in (1, 2, 4, 8)}
    usual |= {f"Small={x} Large=0" for x in (1, 2, 3, 4, 5, 8, 16, 32)}
    cells = names(played)
    thirds = [cells[:12], cells[12:24], cells[24:]]
    assert all(set(third) == usual for third in thirds)
    assert len({tuple(third) for third in thirds}) == 3
    assert {step.round_number for step in played.measured} == {1, 2, 3}
    assert not any(r.kind is RemarkKind.UNWRITTEN for r in played.record.remarks)


def test_the_random_order_follows_from_its_seed_and_the_number_of_the_pass():
    points = points_of(Loads(disks=2))
    assert in_random_order(points, 7, 1) == in_random_order(points, 7, 1)
    assert in_random_order(points, 7, 1) != in_random_order(points, 7, 2)
    assert in_random_order(points, 7, 1) != in_random_order(points, 8, 1)
    assert sorted(in_random_order(points, 7, 1)) == list(points)


def test_the_originals_way_writes_nothing_first_and_says_what_nobody_knows():
    played = orion()
    assert not METHOD.writes(played.settings)
    assert METHOD.writes(METHOD.settings("", {"write": "20"}, DRIVE))
    kinds = {remark.kind for remark in played.record.remarks}
    assert kinds == {RemarkKind.UNWRITTEN, RemarkKind.CACHE_MAY_HOLD}


def rates(step: Measure) -> float:
    """Small I/Os go at 1,000 each up to three, large ones at 100."""
    (stream, *_) = step.workload.streams
    if stream.name == "large":
        return 100.0 * min(2, stream.queue_depth)
    return {1: 1_000.0, 2: 2_100.0, 3: 2_900.0}.get(stream.queue_depth, 2_800.0)


def test_the_three_numbers_are_the_first_pass_at_the_best_point():
    found = found_in(orion(rates).record)
    assert found.most_large.point.name == "Small=0 Large=2"
    assert found.most_large.mbps == pytest.approx((200.0,))
    assert (found.most_small.point.name, found.most_small.iops) == ("Small=3 Large=0", (2_900.0,))
    assert found.quickest_small.point.name == "Small=2 Large=0"
    assert found.quickest_small.latency_ms[0] == pytest.approx(2 / 2_100 * 1000, rel=1e-3)
    values = {each.name: each.value for each in found.scalars}
    assert values["maximum large MBPS"] == pytest.approx(200.0)
    assert values["maximum small IOPS"] == 2_900.0
    assert found.rounds == 1
    told = document_of(found.record).sections[0].blocks
    assert told[0] == Verdict(
        text="Maximum Large MBPS=200.00 @ Small=0 Large=2; Maximum Small IOPS=2900 @ Small=3 "
        "Large=0; Minimum Small Latency=0.95 ms @ Small=2 Large=0",
        good=None,
    )
    assert any(isinstance(b, Paragraph) and b.text.startswith(ONE_PASS) for b in told)


def test_the_printed_number_is_of_the_first_pass_and_its_mean_of_all():
    # A rate is drawn for a step as a whole, and for its one stream.
    drawn = iter([x for x in (100.0, 110.0, 90.0, 120.0) for _ in (0, 1)])
    found = found_in(
        orion(
            lambda _: next(drawn), run="advanced", matrix="row", num_large="0", passes="2",
            small_loads="1,2",
        ).record
    )  # fmt: skip
    (iops, _) = found.statistics
    assert (iops.told, iops.mean.value) == (110.0, 115.0)
    assert iops.flatters_percent == pytest.approx(-100 * 5 / 115)
    quantity = found.quantities[0]
    assert (quantity.value, quantity.batches, quantity.by_round) == (95.0, (100.0, 90.0), True)


def test_a_mixed_point_has_its_small_and_its_large_io_apart():
    found = found_in(
        orion(rates, run="advanced", matrix="point", num_small="1", num_large="2").record
    )
    assert [side.stream for side in found.sides] == ["small", "large"]
    assert [cell.iops for cell in found.cells] == [1_000.0, 200.0]
    assert [q.place for q in found.quantities] == [
        *["Small=1 Large=2, small"] * 2,
        *["Small=1 Large=2, large"] * 2,
    ]
    assert found.quantities[2].value == pytest.approx(200 * 1024**2 / 1e6)
    # One interval has no batches, so how far the level wandered cannot be known.
    assert found.sides[0].estimate(SMALL_IOPS).low is None


def test_a_point_whose_figures_contradict_each_other_is_marked():
    assert LITTLE not in text_of(document_of(orion(rates).record))
    wrong = Streams(rates, latency_ns=lambda *_: 100_000)
    record = play(METHOD, wrong).record
    assert LITTLE in text_of(document_of(record))


def test_loads_that_still_rise_at_the_end_and_slow_io_behind_a_mean_are_said():
    def kinds(rate, latency_ns=None):
        record = play(METHOD, Streams(rate, latency_ns=latency_ns)).record
        return {each.kind: each.found for each in entries(found_in(record))}

    assert kinds(rates)["depth"] == "clear"
    assert kinds(lambda step: 100.0 * step.workload.streams[0].queue_depth)["depth"] == "hidden"
    assert kinds(rates)["tail"] == "clear"
    strict = found_in(orion(rates, strict="on").record)
    assert "tail" not in {each.kind for each in entries(strict)}


@pytest.mark.parametrize(
    "overrides",
    [
        {"run": "simple", "matrix": "detailed"},
        {"run": "advanced", "matrix": "point", "num_small": "3"},
        {"run": "advanced", "matrix": "row"},
        {"run": "advanced", "matrix": "point", "num_small": "0", "num_large": "0"},
        {"run": "normal", "num_disks": "128"},
        {"run": "advanced", "type": "seq", "num_disks": "128", "num_streamio": "256"},
        {"run": "advanced", "type": "seq", "large_loads": "300", "num_streamio": "1"},
        {"size_small": "8"},
        {"write": "101"},
        {"num_disks": "0"},
        {"run": "complex"},
    ],
)
def test_what_has_no_meaning_is_refused_with_a_remedy(overrides):
    with pytest.raises(PlanError) as refused:
        METHOD.settings("", overrides, DRIVE)
    assert refused.value.remedy


def test_a_target_that_holds_no_large_io_is_refused():
    small = Geometry(capacity_bytes=512 * 1024, nominal_capacity_bytes=512 * 1024)
    with pytest.raises(PlanError, match="does not fit"):
        METHOD.settings("", {}, small)


def test_after_a_gap_a_point_is_warmed_up_and_measured_again():
    words = {"run": "advanced", "type": "seq", "num_disks": "1", "ramp": "5s"}
    whole, broken = orion(**words).asked, orion(gaps=[5], **words).asked
    assert [step.phase for step in whole[:6]] == ["warm up", "ramp", "measure"] * 2
    assert broken[:4] == whole[:4]
    assert broken[5:] == whole[3:]


def test_a_device_at_a_scale_has_its_points_and_its_warming_divided_by_it():
    scaled = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=32 * GIB)
    played = orion(run="advanced", type="seq", strict="on", geometry=scaled)
    assert played.settings.duration_ns == 15 * S
    assert played.settings.ramp_ns == S * 5 // 4
    assert {s.duration_ns for s in played.measured if s.phase == "warm up"} == {30 * S}
    assert METHOD.settings("", {"duration": "2s"}, scaled).duration_ns == 2 * S
    # A short point has a course too.
    assert METHOD.settings("", {"duration": "3s"}, scaled)
    short = orion(duration="3s").measured[0]
    assert (short.interval_ns, orion().measured[0].interval_ns) == (S // 10, S)


def test_a_live_screen_is_told_the_point_and_what_is_left():
    played = orion(strict="on", passes="1")
    early = watch_of(record_of(METHOD, played.settings, ()))
    assert early.phase == "prepare"
    begun = watch_of(record_of(METHOD, played.settings, played.steps[:1]))
    first = played.settings.points_in(1)[0].name
    assert (begun.phase, begun.round_number, begun.cell) == ("measure", 1, first)
    assert begun.remaining_ns_least == 12 * 65 * S
    assert watch_of(played.record).phase == "done"


def test_settings_are_the_same_after_the_run_file():
    words = {"run": "advanced", "cache_size": "0", "large_loads": "4,1", "num_small": "0"}
    settings = METHOD.settings("", {**words, "strict": "on"}, DRIVE)
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings


def test_a_report_without_large_io_has_no_chart_of_it():
    told = text_of(document_of(orion(rates, run="oltp").record))
    assert "Small IOPS by load" in told
    assert "Large MBPS by load" not in told
