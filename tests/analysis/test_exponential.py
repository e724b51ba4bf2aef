"""Exponential buckets: each I/O is in the one that exact arithmetic says, and none is too fast."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.exponential import PER_DOUBLING, Exponential, bound_ns
from teijo.terms.histogram import EMPTY, bucket_width_ns, histogram_of

S = 1_000_000_000
LATENCIES = st.lists(st.integers(0, 2**48 - 1) | st.integers(0, 5000), max_size=60)


def is_within(time_ns: int, number: int) -> bool:
    """Tell whether so many ns are at most 2^(number/8) s: both sides to the 8th power, exact."""
    left, right = time_ns**8, S**8
    return left << -number <= right if number < 0 else left <= right << number


def number_of(time_ns: int) -> int:
    return next(number for number in range(-300, 300) if is_within(time_ns, number))


def folded(times_ns: list[int]) -> Exponential:
    return Exponential().plus(histogram_of(np.array(times_ns, np.int64)))


@given(LATENCIES)
def test_every_io_is_in_the_bucket_of_the_longest_it_may_have_been(times_ns: list[int]) -> None:
    expected: dict[int, int] = {}
    for each in filter(None, times_ns):
        width = bucket_width_ns(each)
        number = number_of(each // width * width + width - 1)
        expected[number] = expected.get(number, 0) + 1
    found = folded(times_ns)
    assert found.counts == expected
    assert list(found.counts) == sorted(expected)
    assert (found.zero, found.sum_ns) == (times_ns.count(0), sum(times_ns))
    assert found.count == len(times_ns)


@given(st.integers(1, 2**48 - 1))
def test_no_io_is_counted_as_faster_than_it_was_nor_slower_by_more_than_a_thousandth(
    time_ns: int,
) -> None:
    (number,) = folded([time_ns]).counts
    assert is_within(time_ns, number)
    longer_ns = time_ns + (time_ns >> 10)
    assert not is_within(longer_ns + 1, number - 1)


@given(LATENCIES, LATENCIES)
def test_step_by_step_is_as_at_once(first: list[int], second: list[int]) -> None:
    parts = [histogram_of(np.array(each, np.int64)) for each in (first, second)]
    assert Exponential().plus(parts[0]).plus(parts[1]) == folded(first + second)


@given(LATENCIES)
def test_what_is_up_to_a_power_of_two_is_in_the_buckets_below_it(times_ns: list[int]) -> None:
    found, powers = folded(times_ns), range(-31, 20)
    for power, count in zip(powers, found.up_to(powers), strict=True):
        surely = [each for each in times_ns if is_within(each + (each >> 10), 8 * power)]
        perhaps = [each for each in times_ns if is_within(each, 8 * power)]
        assert len(surely) <= count <= len(perhaps)
    assert found.up_to([-31, 19]) == [found.zero, found.count]


def test_an_io_as_long_as_a_bound_is_below_it_only_where_the_histogram_has_each_ns() -> None:
    assert list(folded([bound_ns(-170)]).counts) == [-170], f"{bound_ns(-170)} ns"
    assert bound_ns(-9 * PER_DOUBLING) == S // 512, "a whole number of ns"
    assert list(folded([S // 512]).counts) == [1 - 9 * PER_DOUBLING]


def test_the_bounds_are_one_doubling_apart_and_ascend() -> None:
    bounds = [bound_ns(number) for number in range(-100, 146)]
    assert all(low < high for low, high in pairwise(bounds))
    assert bound_ns(0) == S
    assert bound_ns(1) == pytest.approx(S * 2**0.125, abs=1)
    assert bound_ns(144) == S << 18


def test_nothing_is_nothing() -> None:
    assert Exponential().plus(EMPTY) == Exponential()
    assert Exponential().up_to([0]) == [0]
