"""What was written by when: read off answers sample by sample, and thinned out to be drawn."""

import numpy as np
import pytest

from teijo.analysis.overflow import Overflow, Series, overflow_of
from teijo.analysis.written import POINTS_MOST, Points, points_of, written_series
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.units import NS_PER_S
from tests.methods.canned import latencies

MB = 1e6


def answer(written: list[int], *, elapsed_s: float, keeps_series: bool = True) -> StepResult:
    sizes, zeros = np.array(written), np.zeros(len(written), dtype=np.int64)
    intervals = Intervals(
        length_ns=NS_PER_S,
        index=np.arange(sizes.size),
        ios=zeros,
        bytes=sizes,
        errors=zeros,
        latency_ns_sum=zeros,
        latency_ns_min=zeros,
        latency_ns_max=zeros,
    )
    part = OperationResult(
        stream="main",
        operation="write",
        count=1,
        bytes=sum(written),
        errors={},
        latency=latencies(1, 1_000_000),
        intervals=intervals if keeps_series else None,
    )
    return StepResult(started_ns=0, elapsed_ns=round(elapsed_s * NS_PER_S), results=(part,))


def series_of(*answers: StepResult, scale: float = 1.0) -> Series:
    return written_series(answers, sample_ns=NS_PER_S, block_size_bytes=512, scale=scale)


def points(rates_mb_s: np.ndarray, *, block_size_bytes: float = 4096.0) -> tuple[Points, Overflow]:
    series = Series(
        lengths_s=np.ones(rates_mb_s.size),
        written_bytes=rates_mb_s * MB,
        block_size_bytes=block_size_bytes,
    )
    overflow = overflow_of(series)
    assert overflow is not None
    return points_of(series, overflow), overflow


def test_answers_follow_one_another_and_late_bytes_belong_to_the_last_sample() -> None:
    series = series_of(answer([5, 6, 7], elapsed_s=2.25), answer([8], elapsed_s=1))
    assert series.lengths_s.tolist() == [1, 1.25, 1]
    assert series.written_bytes.tolist() == [5, 13, 8]
    assert series_of().lengths_s.size == 0


def test_an_engine_without_a_series_wrote_evenly() -> None:
    series = series_of(answer([100], elapsed_s=4, keeps_series=False))
    assert series.written_bytes.tolist() == [25, 25, 25, 25]


def test_a_scaled_device_is_told_at_its_full_size_and_its_rate_is_as_it_is() -> None:
    own, full = (series_of(answer([64, 32], elapsed_s=2), scale=scale) for scale in (1.0, 32.0))
    assert full.written_bytes.sum() == 32 * own.written_bytes.sum()
    assert full.block_size_bytes == 32 * own.block_size_bytes
    assert full.rates.tolist() == own.rates.tolist()


def test_a_long_series_has_at_most_1440_points_and_all_that_was_written() -> None:
    found, _ = points(np.full(10_000, 100.0))
    assert found.ends_s.size <= POINTS_MOST
    assert found.joined == 7
    assert found.totals_gb[-1] == pytest.approx(1_000)
    assert found.means_mb_s == pytest.approx(np.full(found.ends_s.size, 100.0))


def test_samples_of_a_few_large_writes_are_joined_until_they_are_smooth() -> None:
    found, _ = points(np.full(600, 100.0), block_size_bytes=50 * MB)
    assert found.joined == 8
    assert points(np.full(600, 100.0))[0].joined == 1


def test_what_is_faster_than_twice_the_rate_before_is_cut_off_and_said_to_be() -> None:
    rates = np.r_[np.full(100, 100.0), np.full(100, 50.0)]
    rates[150] = 900.0
    found, overflow = points(rates)
    assert overflow.cliff is not None
    assert found.most_mb_s == pytest.approx(200, rel=0.02)
    assert found.drawn_mb_s.max() == found.most_mb_s
    assert found.rates_mb_s.max() == 900
    assert points(np.full(100, 100.0))[0].most_mb_s is None
