"""Self-checks: each limit from both sides, and what cannot be looked at is told apart."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from teijo.analysis import validity
from teijo.report.language import Language, translator
from teijo.terms.remark import RemarkKind
from teijo.terms.result import OperationResult, StepResult, Witness
from teijo.terms.step import Measure
from teijo.terms.workload import Rate, Stream, Workload
from tests.methods.canned import flow
from tests.runfile.samples import WITNESS

SECOND = 1_000_000_000
KIB4 = 4096
JAPANESE = translator(Language.JAPANESE)
SOUND = replace(
    WITNESS, in_flight_mean=31.0, in_flight_asked=32, worker_delay_ns=0, busiest_worker=0.5
)


def step(*, rate: float | None = None) -> Measure:
    asked = None if rate is None else Rate(ios_per_second=rate)
    one = Stream(read_percent=100, block_size_bytes=KIB4, queue_depth=32, rate=asked)
    return Measure(workload=Workload(streams=(one,)), duration_ns=2 * SECOND)


def answer(
    *parts: OperationResult,
    witness: Witness | None = SOUND,
    counted: Mapping[str, int] | None = None,
) -> StepResult:
    names = ("kernel_reads", "kernel_read_bytes", "kernel_writes", "kernel_write_bytes")
    before = dict.fromkeys(names, 5) if counted is not None else {}
    after = {name: 5 + counted.get(name, 0) for name in names} if counted is not None else {}
    return StepResult(
        started_ns=0,
        elapsed_ns=2 * SECOND,
        results=parts or (flow("read", 1000, KIB4),),
        health_before=before,
        health_after=after,
        witness=witness,
    )


def kinds(asked: Measure, found: StepResult) -> list[RemarkKind]:
    return [remark.kind for remark in validity.remarks_on(asked, found)]


def test_a_sound_measurement_has_no_remark():
    exact = {"kernel_reads": 1000, "kernel_read_bytes": 1000 * KIB4}
    assert kinds(step(), answer(counted=exact)) == []


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"in_flight_mean": 30.3}, RemarkKind.DEPTH_LIMITED),
        ({"busiest_worker": 0.86}, RemarkKind.HOST_LIMITED),
        ({"worker_delay_ns": 310_000_000}, RemarkKind.HOST_LIMITED),
        ({"made_ns": 61_000_000}, RemarkKind.HOST_LIMITED),
        ({"made_ns": 31_000_000, "judged_ns": 31_000_000}, RemarkKind.HOST_LIMITED),
        ({"io_wq_workers": 1}, RemarkKind.IO_PUNTED),
        ({"look_gap_ns_max": 1_600_000_000}, RemarkKind.SAMPLER_GAP),
        ({"drift_ppm": -51.0}, RemarkKind.CLOCK_STEPPED),
        ({"slept_ns": 11_000_000}, RemarkKind.CLOCK_STEPPED),
    ],
)
def test_each_limit_of_the_witness_has_its_remark(changes, kind):
    assert kinds(step(), answer(witness=replace(SOUND, **changes))) == [kind]


def test_just_inside_every_limit_is_sound():
    witness = replace(
        SOUND,
        in_flight_mean=30.4,
        busiest_worker=0.85,
        worker_delay_ns=290_000_000,
        made_ns=29_000_000,
        judged_ns=30_000_000,
        look_gap_ns_max=1_500_000_000,
        drift_ppm=50.0,
        slept_ns=10_000_000,
    )
    assert kinds(step(), answer(witness=witness)) == []


def test_a_step_that_is_all_beginning_and_end_is_not_judged_by_shares():
    short = replace(SOUND, wall_ns=50_000_000, in_flight_mean=1.0, busiest_worker=1.0)
    assert kinds(step(), answer(witness=short)) == []


def test_an_open_loop_asks_for_no_depth():
    shallow = replace(SOUND, in_flight_mean=0.1)
    assert validity.depth_share(step(rate=500.0), shallow) is None
    assert kinds(step(rate=500.0), answer(witness=shallow)) == []
    assert validity.depth_share(step(), shallow) == pytest.approx(0.1 / 32)


def streams(*, reader_rate: float | None = None) -> Measure:
    asked = None if reader_rate is None else Rate(ios_per_second=reader_rate)
    reader = Stream(
        name="reader", read_percent=100, block_size_bytes=KIB4, queue_depth=30, rate=asked
    )
    writer = Stream(name="writer", read_percent=0, block_size_bytes=KIB4, queue_depth=2)
    return Measure(workload=Workload(streams=(reader, writer)), duration_ns=2 * SECOND)


def test_each_stream_is_held_to_its_own_depth():
    depths = {"stream_in_flight_asked": (30, 2), "in_flight_mean": 30.5}
    shallow = replace(SOUND, stream_in_flight_mean=(29.0, 1.5), **depths)
    (remark,) = validity.remarks_on(streams(), answer(witness=shallow))
    assert remark.kind is RemarkKind.DEPTH_LIMITED, "95.3 % of all, and 75 % of the writer"
    assert remark.text == "Stream writer: 1.50 of 2 I/Os were in flight on average."
    deep = replace(SOUND, stream_in_flight_mean=(28.6, 1.9), **depths)
    assert kinds(streams(), answer(witness=deep)) == []


def test_a_closed_loop_beside_an_open_one_is_held_to_its_depth_too():
    asked = {"stream_in_flight_asked": (30, 2), "in_flight_mean": 2.5}
    idle = replace(SOUND, stream_in_flight_mean=(0.6, 1.9), **asked)
    assert kinds(streams(reader_rate=500.0), answer(witness=idle)) == []
    shallow = replace(SOUND, stream_in_flight_mean=(1.0, 1.5), **asked)
    found = kinds(streams(reader_rate=500.0), answer(witness=shallow))
    assert found == [RemarkKind.DEPTH_LIMITED]


def test_a_run_that_was_recorded_without_streams_is_judged_as_a_whole():
    old = replace(SOUND, in_flight_mean=30.3, stream_in_flight_mean=(), stream_in_flight_asked=())
    assert kinds(streams(), answer(witness=old)) == [RemarkKind.DEPTH_LIMITED]


def open_loop(ios: int, backlog_end: int | None) -> StepResult:
    return answer(replace(flow("read", ios, KIB4), backlog_end=backlog_end))


@pytest.mark.parametrize(
    ("ios", "backlog_end", "kept"),
    [
        (2000, 0, True),
        (1990, 10, True),  # waits for a slot as any arrival may: one queue full
        (1967, 33, False),
        (1500, 500, False),
        (2000, None, True),  # fio: no backlog known, the rate decides
        (1960, None, True),  # 1 % and one queue full below 2000
        (1900, None, False),
    ],
)
def test_the_schedule_is_kept_or_not(ios, backlog_end, kept):
    found = kinds(step(rate=1000.0), open_loop(ios, backlog_end))
    assert found == ([] if kept else [RemarkKind.SCHEDULE_NOT_KEPT])


def test_the_remark_says_what_was_achieved_and_what_waits():
    (remark,) = validity.remarks_on(step(rate=1000.0), open_loop(1500, 500))
    assert "750.0 of 1,000.0 I/Os per second" in remark.text
    assert "500 I/Os were due" in remark.text


def test_failed_arrivals_are_arrivals_that_were_served():
    failed = replace(flow("read", 1000, KIB4), errors={5: 1000}, backlog_end=0)
    assert kinds(step(rate=1000.0), answer(failed)) == []


def test_a_poisson_lap_that_drew_few_arrivals_is_kept():
    assert kinds(step(rate=1000.0), open_loop(1900, 0)) == [], "all that was due was done"


@pytest.mark.parametrize(
    ("read_bytes", "reads", "kind"),
    [
        (1001 * KIB4, 1000, None),
        (1002 * KIB4, 1000, RemarkKind.FOREIGN_IO),
        (1680 * KIB4, 1680, RemarkKind.FOREIGN_IO),
        (62 * KIB4, 62, RemarkKind.BUFFERED),
        (1000 * KIB4, 4000, RemarkKind.IO_SPLIT),
        (1000 * KIB4, 500, RemarkKind.IO_SPLIT),
        (0, 0, RemarkKind.CHECK_BLIND),
    ],
)
def test_the_devices_counters_are_held_against_our_own(read_bytes, reads, kind):
    counted = {"kernel_read_bytes": read_bytes, "kernel_reads": reads}
    assert kinds(step(), answer(counted=counted)) == ([] if kind is None else [kind])


def test_what_is_not_counted_is_unknown_and_not_good():
    shares = validity.device_shares(answer())
    assert (shares.bytes_share, shares.ios_share, shares.foreign_bytes) == (None, None, None)


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        (
            400,
            "I/Os were merged: 1,000 of this run became 400 of the device's, 2.50 merged into one.",
        ),
        (4000, "I/Os were split: 1,000 of this run became 4,000 of the device's, 4.00 for each."),
    ],
)
def test_fewer_ios_at_the_device_are_called_merged_and_more_of_them_split(reads, text):
    counted = {"kernel_read_bytes": 1000 * KIB4, "kernel_reads": reads}
    (remark,) = validity.remarks_on(step(), answer(counted=counted))
    assert remark.text == text
    assert JAPANESE.text(text) != text, "the sentence a run file holds has its translation"


def test_a_stimulus_that_goes_on_may_have_a_queue_full_on_the_other_side_of_the_look():
    counted = {"kernel_read_bytes": 1030 * KIB4, "kernel_reads": 1000}
    assert kinds(step(), answer(counted=counted)) == [RemarkKind.FOREIGN_IO]
    assert kinds(replace(step(), open_ended=True), answer(counted=counted)) == []


def test_a_queue_full_of_ios_at_the_look_is_no_split():
    counted = {"kernel_read_bytes": 1032 * KIB4, "kernel_reads": 1032}
    assert kinds(replace(step(), continues=True), answer(counted=counted)) == []
    counted["kernel_reads"] = 1043
    assert kinds(replace(step(), continues=True), answer(counted=counted)) == [RemarkKind.IO_SPLIT]


def test_flushes_that_the_kernel_counts_as_writes_are_no_split():
    flushed = replace(answer(), commands=(flow("flush", 89, KIB4),))
    counted = {"kernel_reads": 1000, "kernel_read_bytes": 1000 * KIB4}
    counters = counted | {"kernel_writes": 89, "kernel_write_bytes": 0}
    found = replace(flushed, health_before=dict.fromkeys(counters, 0), health_after=counters)
    assert kinds(step(), found) == []
    assert kinds(step(), replace(found, commands=())) == [RemarkKind.IO_SPLIT]


def test_a_lap_shorter_than_the_looks_at_the_counters_is_not_held_against_them():
    counted = {"kernel_read_bytes": 16_000 * KIB4, "kernel_reads": 16_000}
    lap = replace(answer(counted=counted), elapsed_ns=20_000_000)
    assert kinds(replace(step(), continues=True), lap) == []
    assert kinds(step(), lap) == [RemarkKind.FOREIGN_IO], "nothing is in flight at its ends"


@pytest.mark.parametrize("apart", [0, 100 * KIB4])
def test_the_runs_own_discards_are_no_foreign_io_however_the_kernel_counts_them(apart):
    own = replace(answer(), commands=(flow("discard", 100, KIB4),))
    as_writes = {"kernel_writes": 0 if apart else 100, "kernel_write_bytes": 100 * KIB4 - apart}
    counted = {"kernel_reads": 1000, "kernel_read_bytes": 1000 * KIB4, **as_writes}
    counters = counted | {"kernel_discard_bytes": apart}
    found = replace(own, health_before=dict.fromkeys(counters, 0), health_after=counters)
    assert kinds(step(), found) == []
    assert validity.device_shares(found).foreign_bytes == 0
    assert kinds(step(), replace(found, commands=())) == ([] if apart else [RemarkKind.FOREIGN_IO])


def test_near_the_hosts_ceiling_the_host_is_measured():
    near, far = (answer(witness=replace(SOUND, ceiling_iops=iops)) for iops in (700.0, 720.0))
    assert kinds(step(), near) == [RemarkKind.HOST_LIMITED]
    assert kinds(step(), far) == []
    assert validity.ceiling_share(answer()) is None


def test_nothing_is_said_where_nobody_gave_an_account():
    assert kinds(step(), answer(witness=None)) == []


@pytest.mark.parametrize(("unwritten", "told"), [(0, False), (1_000, False), (1_001, True)])
def test_reads_of_what_nobody_wrote_are_told_from_a_thousandth_on(
    unwritten: int, told: bool
) -> None:
    read = 1_000_000
    found = replace(
        answer(),
        health_before={"host_reads_bytes": 7},
        health_after={"host_reads_bytes": 7 + read},
        detail={"count.0.unwritten_read_bytes": str(unwritten)} if unwritten else {},
    )
    assert (RemarkKind.UNWRITTEN in kinds(step(), found)) == told


def test_how_much_of_the_reads_nobody_wrote_is_summed_over_members() -> None:
    found = replace(
        answer(),
        health_before={"host_reads_bytes": 0},
        health_after={"host_reads_bytes": 4 * KIB4},
        detail={f"count.{member}.unwritten_read_bytes": str(KIB4) for member in range(2)},
    )
    [remark] = validity.remarks_on(step(), found)
    assert str(remark.text).startswith("50.0 % of what was read had never been written")


def test_a_drive_that_counts_no_reads_is_not_judged_by_them() -> None:
    found = replace(answer(), detail={"count.unwritten_read_bytes": "4096"})
    assert RemarkKind.UNWRITTEN not in kinds(step(), found)
