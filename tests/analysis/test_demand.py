"""Operating points of a demand sweep: known answers, and an oracle that looks at every point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.demand import (
    DemandPoint,
    OperatingPoints,
    in_flight_share,
    operating_points,
    rested_points,
)
from teijo.terms.histogram import Histogram
from teijo.terms.result import OperationResult, StepResult

MS = 1_000_000
LIMIT = 5 * MS
LEVELS = (32, 16, 8, 6, 4, 2, 1)


def point(threads: int, queue_depth: int, iops: float, art_ms: float) -> DemandPoint:
    return DemandPoint(
        threads=threads, queue_depth=queue_depth, iops=iops, latency_ns_mean=art_ms * MS
    )


def saturating(iops_most: float, serial_ms: float) -> list[DemandPoint]:
    """A device of one queue: IOPS grow with the demand to a ceiling, then only latency does."""
    found = []
    for threads in LEVELS:
        for queue_depth in LEVELS:
            outstanding = threads * queue_depth
            iops = min(outstanding / serial_ms * 1000, iops_most)
            found.append(point(threads, queue_depth, iops, outstanding / iops * 1000))
    return found


def found_in(points: list[DemandPoint], limit_ns: float = LIMIT) -> OperatingPoints:
    found = operating_points(points, limit_ns)
    assert found is not None
    return found


def place(one: DemandPoint) -> tuple[int, int]:
    return one.threads, one.queue_depth


def test_the_points_of_a_small_sweep_are_known():
    sweep = [
        point(4, 4, 9_000, 7.0),
        point(4, 1, 8_000, 4.9),
        point(1, 4, 7_900, 0.5),
        point(2, 1, 4_600, 0.4),
        point(1, 2, 4_300, 0.4),
        point(1, 1, 1_000, 1.0),
    ]
    found = found_in(sweep)
    assert place(found.maximum) == (4, 1), "9,000 IOPS came too late"
    assert place(found.minimum) == (1, 1)
    assert found.target_iops == 4_500
    assert place(found.middle) == (2, 1)
    assert found.within_limit


def test_threads_and_queue_depth_are_not_exchanged():
    found = found_in([point(8, 1, 100, 1), point(1, 8, 900, 1), point(1, 1, 100, 1)])
    assert place(found.maximum) == (1, 8)


def test_a_mean_latency_of_exactly_the_limit_is_not_below_it():
    found = found_in([point(2, 1, 200, 5.0), point(1, 1, 150, 4.999)])
    assert place(found.maximum) == (1, 1)
    assert found.within_limit


def test_where_nothing_keeps_the_limit_the_quickest_point_stands_in_and_that_is_told():
    sweep = [point(4, 1, 400, 10), point(2, 1, 150, 8), point(1, 1, 110, 9)]
    found = found_in(sweep)
    assert not found.within_limit
    assert place(found.maximum) == (2, 1)
    assert place(found.minimum) == (1, 1)
    assert found.target_iops == 130
    assert place(found.middle) in ((2, 1), (1, 1))


def test_of_equal_points_the_easier_one_counts():
    sweep = [point(4, 4, 1_000, 2), point(2, 4, 1_000, 1), point(4, 2, 1_000, 1), point(1, 1, 9, 1)]
    assert place(found_in(sweep).maximum) == (2, 4)


def test_a_device_that_answers_nothing_has_no_points():
    assert operating_points([], LIMIT) is None
    assert operating_points([point(1, 1, 0, 0), point(2, 1, 0, 0)], LIMIT) is None
    found = found_in([point(1, 1, 0, 0), point(2, 1, 50, 1)])
    assert place(found.minimum) == (2, 1), "the least demand that was served"


@pytest.mark.parametrize(("iops_most", "serial_ms"), [(30_000, 0.2), (1_500, 0.9), (500_000, 0.08)])
def test_a_saturating_device_has_its_maximum_at_the_knee_or_at_the_limit(iops_most, serial_ms):
    found = found_in(saturating(iops_most, serial_ms))
    assert found.maximum.iops <= iops_most
    assert found.maximum.latency_ns_mean < LIMIT
    assert found.minimum.iops == pytest.approx(1000 / serial_ms)
    # Nothing with more throughput is as quick.
    for other in saturating(iops_most, serial_ms):
        assert other.iops <= found.maximum.iops or other.latency_ns_mean >= LIMIT


def oracle(points: list[DemandPoint], limit_ns: float):
    """Return (maximum IOPS, its latency, distance of the middle), found by sorting arrays."""
    iops = np.array([each.iops for each in points])
    art = np.array([each.latency_ns_mean for each in points])
    demand = np.array([each.threads * each.queue_depth for each in points])
    quick = np.flatnonzero(art < limit_ns)
    if quick.size:
        best = quick[iops[quick] == iops[quick].max()]
        top = best[art[best] == art[best].min()][0]
    else:
        top = int(np.argmin(art))
    target = (iops[top] + iops[np.argmin(demand)]) / 2
    return iops[top], art[top], np.abs(iops - target).min(), target


demands = st.lists(
    st.tuples(st.integers(1, 1_000_000), st.integers(1_000, 20 * MS)), min_size=49, max_size=49
)


@given(demands)
def test_the_points_are_those_an_oracle_finds(answers):
    places = [(threads, queue_depth) for threads in LEVELS for queue_depth in LEVELS]
    points = [
        DemandPoint(threads=tc, queue_depth=qd, iops=iops / 7, latency_ns_mean=latency_ns)
        for (tc, qd), (iops, latency_ns) in zip(places, answers, strict=True)
    ]
    found = found_in(points)
    iops, art, distance, target = oracle(points, LIMIT)
    assert found.within_limit == any(each.latency_ns_mean < LIMIT for each in points)
    assert found.maximum.latency_ns_mean == art
    if found.within_limit:
        assert found.maximum.iops == iops
        assert found.target_iops == target
        assert abs(found.middle.iops - target) == distance
    assert place(found.minimum) == (1, 1)


@given(demands, st.randoms(use_true_random=False))
def test_the_order_of_the_sweep_does_not_matter(answers, random):
    places = [(threads, queue_depth) for threads in LEVELS for queue_depth in LEVELS]
    points = [
        point(tc, qd, iops, latency_ns / MS)
        for (tc, qd), (iops, latency_ns) in zip(places, answers, strict=True)
    ]
    shuffled = points.copy()
    random.shuffle(shuffled)
    assert operating_points(points, LIMIT) == operating_points(shuffled, LIMIT)


def answer(elapsed_ns: int, *latencies_ns: tuple[int, ...]) -> StepResult:
    """Return a step with these latencies, one direction each."""
    parts = tuple(
        OperationResult(
            stream="main",
            operation="read" if place else "write",
            count=len(part),
            bytes=len(part) * 4096,
            errors={},
            latency=Histogram(np.unique(part, return_counts=True), sum(part), min(part), max(part)),
        )
        for place, part in enumerate(latencies_ns)
    )
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=parts)


def test_the_share_in_flight_is_the_time_of_all_ios_by_the_time_that_went_by():
    # Two at a time for 100 ns: one of 100, and 60 and 40 one after the other.
    full = answer(100, (100, 60), (40,))
    assert in_flight_share([full], 2) == 1
    assert in_flight_share([full], 4) == 0.5
    # A slow minute and a fast one are both full, and so are the two together. The product of
    # their mean IOPS and mean latency is not.
    slow, fast = answer(1_000, (1_000,)), answer(1_000, (10,) * 100)
    assert in_flight_share([slow, fast], 1) == 1
    mean_iops, mean_latency = (1 + 100) / 2 / 1_000, (1_000 + 10) / 2
    assert mean_iops * mean_latency == pytest.approx(25.5, rel=0.01)
    assert in_flight_share([], 1) == 0


@given(st.integers(1, 64), st.lists(st.integers(1, 1_000), min_size=1, max_size=50))
def test_a_queue_that_is_never_empty_has_its_depth_in_flight(depth, latencies):
    # Each of `depth` places works through the same list without a pause.
    one = answer(sum(latencies), tuple(latencies * depth))
    assert in_flight_share([one], depth) == pytest.approx(1)


def test_a_point_that_a_drive_met_rested_is_named_with_the_lighter_one_before_it():
    # A drive simulated as mlc-a: 3,000 IOPS whatever is asked, and 6,224 after its lightest points.
    sweep = [
        point(32, 32, 2_998, 287.0),
        point(32, 1, 2_929, 10.9),
        point(2, 32, 4_410, 14.4),
        point(2, 1, 614, 3.3),
        point(1, 32, 6_224, 5.1),
        point(1, 16, 3_027, 5.3),
        point(1, 1, 306, 3.3),
    ]
    found = rested_points(sweep)
    assert [(place(each.point), place(each.after)) for each in found] == [
        ((2, 32), (32, 1)),
        ((1, 32), (2, 1)),
    ]
    assert found[1].share == pytest.approx(6_224 / 2_998)


@pytest.mark.parametrize(
    "sweep",
    [
        [],
        [point(4, 4, 0, 1.0), point(1, 1, 0, 1.0), point(2, 2, 100, 1.0)],
        [point(4, 4, 1_000, 1.0), point(1, 1, 100, 1.0), point(2, 2, 1_200, 1.0)],
        [point(4, 4, 1_000, 1.0), point(2, 2, 2_000, 1.0), point(1, 1, 2_000, 1.0)],
        saturating(30_000, 0.2),
    ],
    ids=["nothing", "no answers", "within the range", "after heavier ones", "a saturating device"],
)
def test_a_point_that_needs_no_rest_to_be_explained_is_not_named(sweep):
    assert rested_points(sweep) == ()


def test_the_greatest_demand_is_found_wherever_the_sweep_has_it():
    sweep = [
        point(1, 1, 306, 3.3),
        point(2, 32, 4_410, 14.4),
        point(32, 32, 2_998, 287.0),
    ]
    (rested,) = rested_points(sweep)
    assert (place(rested.point), place(rested.after)) == ((2, 32), (1, 1))
    assert rested.share == pytest.approx(4_410 / 2_998)
