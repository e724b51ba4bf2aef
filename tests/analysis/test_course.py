"""The course of a run: every I/O is in one point, and its rates are those of the intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.course import Course, Point
from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult, StepResult

S = 1_000_000_000


def series(ios: list[int], *, first: int = 0, latency_ns: int = 1000) -> Intervals:
    """Return one I/O size of 4,096 B, each I/O as long as `latency_ns`."""
    counts = np.array(ios, np.int64)
    return Intervals(
        length_ns=S,
        index=np.arange(first, first + len(ios), dtype=np.int64),
        ios=counts,
        bytes=counts * 4096,
        errors=np.zeros_like(counts),
        latency_ns_sum=counts * latency_ns,
        latency_ns_min=np.full_like(counts, latency_ns),
        latency_ns_max=np.full_like(counts, latency_ns),
    )


def test_reads_and_writes_of_one_second_are_one_point() -> None:
    course = Course()
    course.add(0, [series([100, 50], latency_ns=1_000_000), series([300], latency_ns=3_000_000)])
    first, second = course.points
    assert (first.start_s, first.length_s, first.iops) == (0.0, 1.0, 400.0)
    assert first.mb_s == pytest.approx(400 * 4096 / 1e6)
    assert first.latency_ms == pytest.approx((100 * 1 + 300 * 3) / 400)
    assert first.latency_most_ms == 3.0
    assert (second.start_s, second.iops) == (1.0, 50.0)


def test_a_second_without_an_io_has_no_latency() -> None:
    course = Course()
    course.add(0, [series([0, 5])])
    assert [point.latency_ms for point in course.points] == [None, 0.001]
    assert [point.iops for point in course.points] == [0.0, 5.0]


def test_the_last_interval_counts_as_long_as_the_step_went_on() -> None:
    course = Course()
    course.add(0, [series([100, 60])], until_ns=S + 6 * S // 10)
    assert [point.iops for point in course.points] == [100.0, 100.0]
    short = Course()
    short.add(0, [series([100, 7])], until_ns=S + S // 100)
    assert [point.iops for point in short.points] == [100.0], "what came home after the end"


def measured_s(point: Point, begin_s: float, end_s: float) -> float:
    """Return how long of a point a run went on that began and ended at these times."""
    return min(point.start_s + point.length_s, end_s) - max(point.start_s, begin_s)


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=300),
    st.integers(1, 40),
    st.integers(1, 60),
)
def test_however_they_are_joined_no_io_is_lost_and_the_extremes_stay(
    ios: list[int], most: int, piece: int
) -> None:
    course = Course(points_most=most)
    for first in range(0, len(ios), piece):
        course.add(5 * S, [series(ios[first : first + piece], first=first)])
    points = course.points
    assert len(points) <= most
    counted = sum(point.iops * measured_s(point, 5.0, 5.0 + len(ios)) for point in points)
    assert counted == pytest.approx(sum(ios))
    assert max(point.iops_most for point in points) == max(ios)
    assert min(point.iops_least for point in points) == min(ios)
    assert [point.start_s for point in points] == sorted(point.start_s for point in points)


def one_by_one(
    start_ns: int, until_ns: int | None, columns: list[Intervals], point_ns: int
) -> dict[int, tuple[int, int, float, float, int, int]]:
    """Return by point: ns that were measured, I/Os, least and most IOPS, sum and most latency."""
    found = dict[int, tuple[int, int, float, float, int, int]]()
    for number in sorted({int(each) for one in columns for each in one.index}):
        lasts = S if until_ns is None else min(S, until_ns - number * S)
        if number and 2 * lasts < S:
            continue
        lasts = max(1, lasts)
        rows = [
            [int(column[list(one.index).index(number)])
             for column in (one.ios, one.latency_ns_sum, one.latency_ns_max)]
            for one in columns if number in one.index
        ]  # fmt: skip
        ios, total = (sum(row[at] for row in rows) for at in (0, 1))
        most, rate = max(row[2] for row in rows), ios * S / lasts
        place = (start_ns + number * S) // point_ns
        old = found.get(place, (0, 0, float("inf"), 0.0, 0, 0))
        found[place] = (
            old[0] + lasts, old[1] + ios, min(old[2], rate), max(old[3], rate), old[4] + total,
            max(old[5], most),
        )  # fmt: skip
    return found


@given(
    st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=40), min_size=1, max_size=3),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.integers(0, 5 * S),
    st.none() | st.integers(1, 45 * S),
    st.integers(2, 30),
)
def test_a_point_is_what_its_intervals_are_one_by_one(
    numbers: list[list[int]], firsts: list[int], start_ns: int, until_ns: int | None, most: int
) -> None:
    columns = [
        series(ios, first=first, latency_ns=1000 * (first + 1))
        for ios, first in zip(numbers, firsts, strict=False)
    ]
    course = Course(points_most=most)
    course.add(start_ns, columns, until_ns)
    expected = one_by_one(start_ns, until_ns, columns, S * course.joined)
    assert [point.start_s for point in course.points] == [
        place * course.joined for place in sorted(expected)
    ]
    for point, place in zip(course.points, sorted(expected), strict=True):
        covered, ios, slowest, fastest, total, longest = expected[place]
        assert point.iops == pytest.approx(ios * S / covered)
        assert (point.iops_least, point.iops_most) == pytest.approx((slowest, fastest))
        assert point.mb_s == pytest.approx(point.iops * 4096 / 1e6)
        if ios:
            assert point.latency_ms == pytest.approx(total / ios / 1e6)
            assert point.latency_most_ms == longest / 1e6


def test_a_day_of_seconds_takes_few_points() -> None:
    course = Course()
    course.add(0, [series([7] * 86_400)])
    assert course.joined == 64
    assert len(course.points) == 1350
    assert {point.iops for point in course.points} == {7.0}


def test_the_percentiles_of_a_step_are_those_of_all_its_ios_together() -> None:
    reads, writes = (histogram_of(np.arange(first, 201, 2) * 1_000_000) for first in (1, 2))
    results = tuple(
        OperationResult(stream="a", operation=name, count=100, latency=latency)
        for name, latency in (("read", reads), ("write", writes))
    )
    course = Course()
    course.end(1, StepResult(started_ns=2 * S, elapsed_ns=3 * S, results=results))
    (levels,) = course.levels
    assert (levels.start_s, levels.end_s) == (2.0, 5.0)
    assert levels.levels_ms[:2] == (pytest.approx(100, rel=1e-3), pytest.approx(198, rel=1e-3))
    assert levels.levels_ms[2] is None, "99.9 % of 200 I/Os is their maximum under another name"


def test_a_step_that_timed_nothing_has_no_percentiles() -> None:
    course = Course()
    course.end(1, StepResult(started_ns=0, elapsed_ns=S))
    counted = OperationResult(stream="a", operation="read", count=9)
    course.end(2, StepResult(started_ns=0, elapsed_ns=S, results=(counted,)))
    assert course.levels == []


def test_a_course_is_the_same_whether_it_was_followed_or_read_at_the_end() -> None:
    numbers = [int(each) for each in np.random.default_rng(1).integers(0, 900, 50)]

    def answer(start_ns: int, count: int) -> StepResult:
        parts = tuple(
            OperationResult(stream="a", operation=name, count=1, intervals=series(numbers[:count]))
            for name in ("read", "write")
        )
        return StepResult(started_ns=start_ns, elapsed_ns=count * S - S // 4, results=parts)

    followed, read = Course(), Course()
    for seq, (start_ns, count) in enumerate([(0, 20), (20 * S - S // 4, 50)], start=1):
        for seen in (0, 3, 3, 17, count - 1):
            so_far = {("a", name): series(numbers[:seen]) for name in ("read", "write")}
            followed.go_on(seq, so_far)
        followed.end(seq, answer(start_ns, count))
        read.end(seq, answer(start_ns, count))
    assert len(read.points) == 20 + 50 - 1, "two intervals lie in the second of both steps"
    assert followed.points == read.points


def test_points_are_those_of_now_also_where_they_were_asked_for_before() -> None:
    looked_at, course = Course(points_most=4), Course(points_most=4)
    for second in range(11):
        for ios in ([100, 50], [7]):
            for each in (looked_at, course):
                each.add(second * S, [series(ios)])
            assert looked_at.points
    assert looked_at.points == course.points
