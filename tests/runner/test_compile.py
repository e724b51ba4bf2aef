"""Steps become plans: whole blocks, whole ranges, one seed each, streams that carry on."""

from dataclasses import replace

import pytest

from teijo.errors import PlanError
from teijo.runner.compile import compile_load, interval_ns
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, ActiveRange, Rate, Schedule, Stream, Workload
from teijo.units import GIB, KIB

DRIVE = Geometry(capacity_bytes=256_060_514_304, nominal_capacity_bytes=256_060_514_304)


def one(rate: Rate | None = None) -> Workload:
    """Return a workload of one stream."""
    return Workload(streams=(Stream(read_percent=0, block_size_bytes=4096, rate=rate),))


def test_a_block_below_the_logical_one_is_refused() -> None:
    step = Measure(workload=one(), duration_ns=1)
    with pytest.raises(PlanError, match="no multiple"):
        compile_load(step, replace(DRIVE, logical_block_bytes=8192), {}, 1)


def test_a_measure_is_bound_by_time_and_a_precondition_by_bytes() -> None:
    measured = compile_load(
        Measure(workload=one(), duration_ns=60, continues=True, open_ended=True), DRIVE, {}, 1
    )
    assert (measured.duration_ns, measured.total_bytes) == (60, None)
    assert measured.continues
    assert measured.open_ended
    filled = compile_load(Precondition(workload=one(), total_bytes=9), DRIVE, {}, 1)
    assert (filled.duration_ns, filled.total_bytes) == (None, 9)
    assert not filled.open_ended


def test_the_series_is_by_the_second_unless_the_step_says_otherwise() -> None:
    plain = Measure(workload=one(), duration_ns=60)
    fine = replace(plain, interval_ns=33_333_333)
    assert compile_load(plain, DRIVE, {}, 1).interval_ns == 1_000_000_000
    assert compile_load(fine, DRIVE, {}, 1).interval_ns == 33_333_333
    assert interval_ns(fine) == 33_333_333
    assert interval_ns(Precondition(workload=one(), total_bytes=9)) == 1_000_000_000


@pytest.mark.parametrize(
    ("cursor", "begins"),
    [(0, 0), (128 * KIB, 128 * KIB), (4096, 128 * KIB), (GIB - 1, 0), (GIB, 0), (GIB + 5, 0)],
)
def test_a_sequential_stream_goes_on_at_its_next_whole_block(cursor: int, begins: int) -> None:
    small = Geometry(capacity_bytes=GIB, nominal_capacity_bytes=GIB)
    stream = Stream(
        name="log", read_percent=0, block_size_bytes=128 * KIB, access=Access.SEQUENTIAL
    )
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=1)
    plan = compile_load(step, small, {"log": cursor, "other": 7}, 1)
    assert plan.streams[0].cursor_bytes == begins


def test_an_open_loop_keeps_its_rate_and_schedule() -> None:
    workload = one(rate=Rate(ios_per_second=12.5, schedule=Schedule.POISSON))
    plan = compile_load(Measure(workload=workload, duration_ns=1), DRIVE, {}, 1)
    assert plan.streams[0].stream.rate == Rate(ios_per_second=12.5, schedule=Schedule.POISSON)


def test_streams_of_one_step_have_seeds_of_their_own() -> None:
    streams = tuple(Stream(name=name, read_percent=0, block_size_bytes=4096) for name in ("a", "b"))
    plan = compile_load(Measure(workload=Workload(streams=streams), duration_ns=1), DRIVE, {}, 5)
    assert plan.streams[0].seed != plan.streams[1].seed


def test_a_grid_smaller_than_the_block_reaches_the_engine() -> None:
    stream = Stream(read_percent=100, block_size_bytes=8192, alignment_bytes=4096)
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=1)
    assert compile_load(step, DRIVE, {}, seed=1).streams[0].stream.alignment_bytes == 4096
    with pytest.raises(AssertionError):
        replace(stream, alignment_bytes=16384)


def test_what_repeats_begins_at_the_start_wherever_the_step_before_it_ended() -> None:
    stream = Stream(read_percent=0, block_size_bytes=4096, access=Access.SEQUENTIAL, repeats="pass")
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=1)
    cursors = {"main": 8192}
    assert compile_load(step, DRIVE, cursors, 1).streams[0].cursor_bytes == 0
    own = replace(step, workload=Workload(streams=(replace(stream, repeats=""),)))
    assert compile_load(own, DRIVE, cursors, 1).streams[0].cursor_bytes == 8192


def test_a_range_begins_at_its_first_byte() -> None:
    behind = ActiveRange(first_byte=GIB, length_bytes=GIB // 2)
    stream = Stream(read_percent=100, block_size_bytes=4096, active_range=behind)
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=1)
    placed = compile_load(step, DRIVE, {}, 1).streams[0]
    assert (placed.start_bytes, placed.end_bytes) == (GIB, GIB + GIB // 2)
