"""Whether a cache overflowed: falls of known size, rests that bring all of it back, some, none."""

import numpy as np
import pytest

from teijo.analysis.overflow import Overflow, Series, overflow_of
from teijo.analysis.overflow_proof import (
    FAST_SAMPLES,
    Again,
    Verdict,
    came_back,
    has_settled,
    rest_that_tells,
    verdict_of,
)

MB, GB = 1e6, 1e9
HELD = 10 * GB
FAST, SLOW = 150 * MB, 50 * MB
FULL_S = round(HELD / (FAST - SLOW))
"""A cache of 10 GB, filled at 150 and drained at 50 MB/s, is full after 100 s and 15 GB."""


def series(*levels: tuple[int, float]) -> Series:
    """Return a series of (seconds, bytes per second) one after the other."""
    written = np.concatenate([np.full(seconds, rate) for seconds, rate in levels])
    return Series(lengths_s=np.ones(written.size), written_bytes=written, block_size_bytes=131_072)


def burst(*levels: tuple[int, float]) -> Overflow:
    overflow = overflow_of(series(*levels))
    assert overflow is not None
    return overflow


FIRST = burst((FULL_S, FAST), (200, SLOW))


def verdict(
    *later: Again, first: Overflow = FIRST, capacity_gb: int = 1_000, is_purged: bool = True
) -> Verdict | None:
    return verdict_of(
        first,
        later,
        sample_s=1.0,
        capacity_bytes=round(capacity_gb * GB),
        is_purged=is_purged,
    )


def after(rest_s: float, *levels: tuple[int, float], ended: bool = True) -> Again:
    return Again(rest_s=rest_s, overflow=burst(*levels), ended=ended)


def test_a_rest_is_long_enough_to_drain_a_tenth_and_ten_samples_of_the_gain() -> None:
    assert FIRST.cliff is not None
    rest = rest_that_tells(FIRST.cliff, sample_s=1.0, most_s=3_600)
    assert rest is not None
    # A tenth of 10 GB and ten samples of 100 MB/s are one and the same here: 1 GB at 50 MB/s.
    assert rest.seconds == pytest.approx(20, rel=0.02)
    assert rest.samples == 2 * FAST_SAMPLES + 60
    long = rest_that_tells(FIRST.cliff, sample_s=5.0, most_s=3_600)
    assert long is not None
    assert long.seconds == pytest.approx(100, rel=0.02)


def test_no_rest_tells_where_nothing_fell_or_where_it_would_be_too_short() -> None:
    assert rest_that_tells(None, sample_s=1.0, most_s=3_600) is None
    assert rest_that_tells(FIRST.cliff, sample_s=1.0, most_s=5) is None


def test_what_came_back_is_the_later_bursts_cache_and_what_the_model_drains_in_the_rest() -> None:
    back = came_back(FIRST, after(40, (20, FAST), (100, SLOW)))
    assert back is not None
    assert back.held.value == pytest.approx(2 * GB, rel=0.05)
    assert back.drained_bytes == pytest.approx(2 * GB, rel=0.02)
    assert back.before is not None
    assert back.before.share == pytest.approx(0, abs=0.01)
    hour = came_back(FIRST, after(3_600, (20, FAST), (100, SLOW)))
    assert hour is not None
    assert hour.drained_bytes == pytest.approx(HELD, rel=0.02)


def test_a_burst_that_is_slow_from_its_start_found_it_full_and_a_fast_one_did_not_fill_it() -> None:
    slow = came_back(FIRST, after(40, (100, SLOW)))
    assert slow is not None
    assert (slow.held.value, slow.before) == (0, None)
    assert came_back(FIRST, after(40, (100, FAST))) is None
    assert came_back(burst((100, FAST)), after(40, (100, FAST))) is None


def test_a_rest_that_brings_back_half_of_what_the_model_drains_shows_a_cache() -> None:
    assert verdict(first=burst((100, FAST))) is None
    found = verdict(after(1, (100, SLOW)), after(40, (20, FAST), (100, SLOW)))
    assert found is not None
    assert (found.cause, found.later) == ("cache", 1)
    assert found.back_bytes == pytest.approx(2 * GB, rel=0.05)
    fast = verdict(after(40, (100, FAST)))
    assert fast is not None
    assert (fast.cause, fast.back_bytes) == ("cache", None)


@pytest.mark.parametrize(
    ("capacity_gb", "is_purged", "cause"),
    [(1_000, True, "undrained"), (15, True, "saturation"), (15, False, "unknown")],
)
def test_where_nothing_comes_back_the_purge_and_what_was_written_tell_why(
    capacity_gb: int, is_purged: bool, cause: str
) -> None:
    found = verdict(after(40, (100, SLOW)), capacity_gb=capacity_gb, is_purged=is_purged)
    assert found is not None
    assert found.cause == cause


def test_a_burst_that_has_not_ended_or_a_rest_too_short_to_see_proves_nothing() -> None:
    for later in (after(40, (100, SLOW), ended=False), after(5, (100, SLOW))):
        assert verdict(later) == Verdict(cause="unproven")


def test_a_rate_has_settled_when_it_fell_and_both_halves_of_the_tail_agree() -> None:
    assert has_settled(series((100, FAST), (40, SLOW)), 30)
    assert not has_settled(series((100, FAST), (20, SLOW)), 30)
    assert not has_settled(series((100, FAST), (15, SLOW), (15, SLOW / 2)), 30)
    assert not has_settled(series((200, FAST)), 30)
    assert not has_settled(series((100, FAST), (40, 0.0)), 30)
