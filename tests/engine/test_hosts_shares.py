"""One plan divided among hosts, and their laps put together."""

from typing import Any

import numpy as np
import pytest

from teijo.engine import Lap
from teijo.engine.hosts.clock import Clock, closest
from teijo.engine.hosts.live import LiveSeries
from teijo.engine.hosts.merging import HostLap, series_together, together
from teijo.engine.hosts.shares import check_shareable, divided
from teijo.engine.plan import VerifyPlan
from teijo.errors import PlanError
from teijo.terms.census import SAMPLE_MOST, Census
from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult, StepResult
from tests.engine.plans import MIB, for_bytes, for_time, stream

SIZE = 64 * MIB


@pytest.mark.parametrize("hosts", [1, 2, 3, 7])
def test_all_of_a_sequential_precondition_is_written_once_by_all_hosts_together(
    hosts: int,
) -> None:
    """Every block of the range, counted by where each host begins and how far it comes."""
    block = 128 * 1024
    plan = for_bytes(SIZE, stream(SIZE, read_percent=0, access="sequential",
                                  block_size_bytes=block))  # fmt: skip
    written = np.zeros(SIZE // block, np.int64)
    for own in divided(plan, hosts):
        first = own.streams[0].cursor_bytes // block
        assert own.total_bytes is not None
        for number in range(own.total_bytes // block):
            written[(first + number) % len(written)] += 1
    assert written.min() >= 1
    assert written.max() == 1


def test_threads_and_depth_are_each_hosts_and_rates_are_divided() -> None:
    plan = for_time(10**9, stream(SIZE, threads=3, queue_depth=5, ios_per_second=90.0))
    owns = divided(plan, 3)
    for own in owns:
        (placed,) = own.streams
        assert (placed.stream.threads, placed.stream.queue_depth) == (3, 5)
        assert placed.stream.rate is not None
        assert placed.stream.rate.ios_per_second == 30.0
    assert len({own.streams[0].seed for own in owns}) == 3
    assert owns == divided(plan, 3), "the same plan, the same seeds"


def test_one_host_does_what_the_plan_says() -> None:
    plan = for_bytes(SIZE, stream(SIZE, access="sequential", cursor_bytes=8192))
    assert divided(plan, 1) == (plan,)


@pytest.mark.parametrize(
    "changes", [{"access": "shuffled"}, {"verify": VerifyPlan(run=1, generation=1)}]
)
def test_what_a_host_would_have_to_know_of_the_others_is_refused(changes: Any) -> None:
    with pytest.raises(PlanError):
        check_shareable(for_time(10**9, stream(SIZE), stream(SIZE, name="odd", **changes)))


def intervals(index: list[int], ios: list[int], least: list[int]) -> Intervals:
    counts = np.array(ios, np.int64)
    shortest = np.array(least, np.int64)
    return Intervals(
        length_ns=10**9, index=np.array(index, np.int64), ios=counts, bytes=counts * 512,
        errors=np.ones(len(ios), np.int64), latency_ns_sum=shortest * counts,
        latency_ns_min=shortest, latency_ns_max=shortest * 3,
    )  # fmt: skip


def test_an_interval_without_ios_on_one_host_has_the_others_latencies() -> None:
    whole = series_together([intervals([0, 1, 3], [2, 0, 0], [9, 0, 0]),
                             intervals([1, 2, 3], [4, 1, 0], [7, 5, 0])])  # fmt: skip
    assert whole.index.tolist() == [0, 1, 2, 3]
    assert whole.ios.tolist() == [2, 4, 1, 0]
    assert whole.latency_ns_min.tolist() == [9, 7, 5, 0]
    assert whole.latency_ns_max.tolist() == [27, 21, 15, 0]
    assert whole.errors.tolist() == [1, 2, 1, 2]


def test_a_live_interval_goes_out_once_when_every_host_has_passed_it() -> None:
    live = LiveSeries(2, 10**9)
    live.add("main", "read", intervals([0, 1, 2], [1, 1, 1], [5, 5, 5]))
    live.reached(0, 3 * 10**9)
    assert live.taken() == ()
    live.add("main", "read", intervals([0, 1], [2, 2], [4, 4]))
    live.reached(1, 2 * 10**9)
    ((stream_name, operation, first),) = live.taken()
    assert (stream_name, operation) == ("main", "read")
    assert (first.index.tolist(), first.ios.tolist()) == ([0], [3])
    assert live.taken() == ()
    live.add("main", "read", intervals([0], [9], [1]))  # too late: it went out
    ((_, _, rest),) = live.taken(is_last=True)
    assert (rest.index.tolist(), rest.ios.tolist()) == ([1, 2], [3, 1])
    assert live.taken(is_last=True) == ()


def lap(started_ns: int, elapsed_ns: int, *, failure: str = "", **more: Any) -> Lap:
    result = StepResult(started_ns=started_ns, elapsed_ns=elapsed_ns, **more)
    return Lap(result=result, failure=failure)


def test_a_step_lasts_from_the_first_beginning_to_the_last_end_on_the_clock_here() -> None:
    laps = [
        HostLap("one", lap(1000, 50, cursors={"main": 5}), Clock(900, 3)),
        HostLap("two", lap(90, 70, cursors={"main": 9}, failure="gone"), Clock(-20, 4)),
    ]
    plan = for_time(10, stream(SIZE))
    whole = together(laps, plan, after_ns=0, now_ns=1000)
    assert (whole.result.started_ns, whole.result.elapsed_ns) == (100, 80)
    assert whole.failure == "two: gone"
    # By the errors of the clocks it may seem to begin too early, or to end too late.
    early = together(laps, plan, after_ns=103, now_ns=1000).result
    assert (early.started_ns, early.elapsed_ns) == (103, 77)
    late = together(laps, plan, after_ns=0, now_ns=178).result
    assert (late.started_ns, late.elapsed_ns) == (100, 78)
    goes_on = together(laps, for_time(10, stream(SIZE), continues=True), after_ns=99, now_ns=1000)
    assert (goes_on.result.started_ns, goes_on.result.elapsed_ns) == (99, 70)


def test_a_sequential_stream_goes_on_by_all_that_was_moved() -> None:
    def moved(count: int) -> Lap:
        part = OperationResult(stream="main", operation="write", count=count, bytes=count * 4096,
                               latency=histogram_of(np.full(count, 5)))  # fmt: skip
        return lap(0, 1, results=(part,), cursors={"main": 7})

    plan = for_time(10, stream(MIB, access="sequential", cursor_bytes=MIB - 8192))
    laps = [HostLap(name, moved(count), Clock(0, 0)) for name, count in (("one", 3), ("two", 4))]
    assert together(laps, plan, after_ns=0, now_ns=9).result.cursors == {"main": 5 * 4096}
    assert together(laps[:1], plan, after_ns=0, now_ns=9).result.cursors == {"main": 7}


def test_fewer_blocks_than_hosts_are_refused() -> None:
    with pytest.raises(PlanError, match="fewer blocks of 4096 B than there are hosts: 3"):
        divided(for_bytes(8192, stream(SIZE)), 3)


def test_the_samples_of_touched_blocks_are_those_of_all_hosts() -> None:
    draw = np.random.default_rng(3)
    touched = [draw.integers(0, 1500, 2000).tolist() for _ in range(2)]

    def census(blocks: list[int]) -> Census:
        hashes = sorted(set(blocks))[:SAMPLE_MOST]
        return Census(stream="main", operation="write", ios=len(blocks), hashes=tuple(hashes),
                      counts=tuple(blocks.count(each) for each in hashes))  # fmt: skip

    laps = [
        HostLap(str(place), lap(0, 1, census=(census(blocks),)), Clock(0, 0))
        for place, blocks in enumerate(touched)
    ]
    plan = for_time(10, stream(SIZE))
    assert together(laps, plan, after_ns=0, now_ns=9).result.census == (
        census(touched[0] + touched[1]),
    )


def test_the_reading_that_took_least_time_tells_the_clock() -> None:
    assert closest([(0, 1050, 100), (200, 1210, 220), (300, 9999, 290)]) == Clock(1000, 10)
    assert closest([(5, 0, 4)]) is None
