"""Figures that must agree, with an event-by-event oracle for Little's law."""

import heapq
import random
from dataclasses import replace

import pytest

from teijo.analysis.cross_check import (
    Check,
    Occupancy,
    Stimulus,
    depths_of,
    occupancy_of,
    stimuli,
)
from teijo.terms.record import StepRecord
from teijo.terms.result import DRAIN, IN_FLIGHT, StepResult
from teijo.terms.shared import DETAIL, HostPart, parts_to_json
from teijo.terms.step import Measure
from teijo.terms.workload import Rate, Stream, Workload
from tests.methods.canned import flow


def closed_loop(depth: int, seconds: float, seed: int) -> tuple[int, int]:
    """Return (I/Os, Σ latency in ns) of a closed loop that never stops to think, event by event."""
    draw, now, ends = random.Random(seed), 0, []
    for _ in range(depth):
        heapq.heappush(ends, (draw.randrange(50_000, 150_000), 0))
    ios = latency = 0
    while ends:
        now, began = heapq.heappop(ends)
        ios, latency = ios + 1, latency + now - began
        if now < seconds * 1e9:
            heapq.heappush(ends, (now + draw.randrange(50_000, 150_000), now))
    return ios, latency


def step(depth: int, **named: object) -> Measure:
    stream = Stream(read_percent=100, block_size_bytes=4096, threads=1, queue_depth=depth)
    workload = Workload(streams=(replace(stream, **named),))
    return Measure(workload=workload, duration_ns=10**9)


def answer(ios: int, mean_ns: int, elapsed_ns: int = 10**9) -> StepResult:
    return StepResult(
        started_ns=0, elapsed_ns=elapsed_ns, results=(flow("read", ios, 4096, mean_ns=mean_ns),)
    )


def occupancy(step: Measure, answer: StepResult) -> Occupancy | None:
    return occupancy_of(Stimulus(seq=0, parts=((step, answer),)))


@pytest.mark.parametrize("depth", [1, 2, 8, 32])
def test_littles_law_holds_in_a_closed_loop_that_was_simulated_event_by_event(depth: int) -> None:
    ios, latency_ns = closed_loop(depth, 1.0, seed=depth)
    told = occupancy(step(depth), answer(ios, round(latency_ns / ios)))
    assert told is not None
    assert told.holds
    assert told.quotient == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(("rate", "holds"), [(1.0, True), (1.1, False), (0.5, False)])
def test_a_rate_that_its_latencies_cannot_have_is_seen(rate: float, holds: bool) -> None:
    told = occupancy(step(4), answer(round(40_000 * rate), 100_000))
    assert told is not None
    assert told.holds is holds


def test_a_step_hardly_longer_than_its_ios_may_be_half_empty() -> None:
    told = occupancy(step(32), answer(64, 800_000_000, elapsed_ns=2_000_000_000))
    assert told is not None
    assert told.quotient == pytest.approx(0.8)
    assert told.holds


def test_what_is_in_no_latency_or_has_its_own_rate_is_not_judged() -> None:
    full = answer(10_000, 100_000)
    failed = replace(full, results=(replace(full.results[0], errors={5: 1}),))
    assert occupancy(step(1), failed) is None
    assert occupancy(step(1), answer(0, 0)) is None
    assert occupancy(step(1, rate=Rate(ios_per_second=10.0)), full) is None
    assert occupancy(step(1), replace(full, commands=(flow("write", 1, 0),))) is None


def check(left: float | None, right: float | None, reason: str = "") -> Check:
    return Check(name="a", unit="", left=left, right=right, bounds=(0.5, 2.0), reason=reason)


def test_a_check_holds_up_to_its_bounds_and_has_no_verdict_without_both_figures() -> None:
    assert [check(left, 2.0).holds for left in (0.99, 1.0, 4.0, 4.01)] == [False, True, True, False]
    assert check(None, 1.0).holds is None
    assert check(1.0, 0.0).holds is None
    assert check(9.0, 1.0, reason="other ranges").holds is None


def steps_of(*pairs: tuple[Measure, StepResult]) -> list[StepRecord]:
    return [
        StepRecord(seq=seq, step=one, seed=1, answer=told)
        for seq, (one, told) in enumerate(pairs, start=1)
    ]


def test_a_step_that_stands_alone_has_no_edge_and_one_that_goes_on_is_told_over_all_its_steps():
    slow = answer(10, 900_000_000)
    (alone,) = stimuli(steps_of((step(16), slow)))
    (shallow,) = depths_of(alone)
    assert (shallow.least, shallow.most, shallow.kept) == (0.5625, 0.5625, False)
    # The I/Os of the first second end in the second: 0 and 2 times the depth, 1 over both.
    first = replace(step(16), open_ended=True)
    last = replace(step(16), continues=True)
    found = stimuli(steps_of((first, answer(0, 0)), (last, answer(32, 1_000_000_000))))
    assert [len(one.parts) for one in found] == [2]
    (depth,) = depths_of(found[0])
    assert (depth.least, depth.most, depth.kept) == (1.0, 1.0, True)


def test_where_the_verdict_hangs_on_what_had_not_ended_there_is_none():
    cut = replace(step(10), open_ended=True)
    (found,) = stimuli(steps_of((cut, answer(90, 100_000_000))))
    (depth,) = depths_of(found)
    assert (depth.least, depth.most, depth.kept) == (0.9, 1.0, None)


@pytest.mark.parametrize(("count", "kept"), [("8.0", True), ("7.6", True), ("7.5", False)])
def test_a_count_goes_before_latencies_and_has_the_same_limits(count: str, kept: bool) -> None:
    counted = replace(answer(1, 1), detail={IN_FLIGHT: count + "00000"})
    (found,) = stimuli(steps_of((step(8), counted)))
    (depth,) = depths_of(found)
    assert depth.counted
    assert depth.kept is kept


def test_a_count_that_is_no_number_is_none() -> None:
    for text in ("", "nan", "-1.0", "1e9.0", "x" * 5000, "\u00b2.\u00b2"):
        assert replace(answer(1, 1), detail={IN_FLIGHT: text}).in_flight_mean is None
        assert replace(answer(1, 1), detail={DRAIN: text}, gap_ns=7).rest_ns == 7


def test_of_two_hosts_that_share_a_step_one_may_be_through_before_the_other() -> None:
    parts = tuple(
        HostPart(name=name, began_ns=0, error_ns=0, elapsed_ns=elapsed_ns, ios=1, bytes=1,
                 errors=0, tails=())
        for name, elapsed_ns in (("one", 10**9), ("two", 5 * 10**8))
    )  # fmt: skip
    shared = replace(answer(60_000, 100_000), detail={DETAIL: parts_to_json(parts)})
    told = occupancy(step(4), shared)
    assert told is not None
    assert (told.asked, told.drain) == (8, 0.25)
    assert told.quotient == pytest.approx(0.75)
    assert told.holds
