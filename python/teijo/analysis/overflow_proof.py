"""When a burst of writes has shown its overflow, and whether a cache overflowed: what a rest and
another burst tell. A rest empties a cache; it does not end the saturation of a drive.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from teijo.analysis.change_point import Floats
from teijo.analysis.mean import Mean
from teijo.analysis.overflow import Cliff, Overflow, Series, overflow_of
from teijo.analysis.recovery import Gain, gain_of

FALL_SHARE: Final = 0.20
LEVEL_SHARE: Final = 0.10
LOOKED_AT_MOST: Final = 400
TURNS_ENOUGH: Final = 4
GONE_SHARE: Final = 0.80
"""A burst that is slower than this share of the first one's speed from its start finds a full
cache."""
DRAINED_SHARE: Final = 0.10
"""The rest is as long as the model needs to drain this share of the cache, or longer, so that
what it brings back is seen."""
FAST_SAMPLES: Final = 10
"""What a rest brings back is written in so many samples at least, if the cache holds as much."""
TOLD_SAMPLES: Final = 5
"""In fewer it looks like a full cache."""
SLOW_SAMPLES: Final = 60
"""How long the burst goes on after what the rest should bring back."""
BACK_SHARE: Final = 0.50
"""A rest that brings back less than this share of what the model drains has emptied no cache."""
OVER_SHARE: Final = 0.90
"""A purged drive is not saturated before this share of it has been written."""

Cause = Literal["cache", "undrained", "saturation", "unknown", "unproven"]
"""Why the rate fell: a cache that a rest empties; a tier, or a cache that a rest does not empty; a
drive that was written over; one of these; or no burst after a rest was measured that tells.
"""


@dataclass(frozen=True, kw_only=True)
class Rest:
    """A rest that should bring back a part of a cache, and how many samples the burst after it
    has at most.
    """

    seconds: float
    samples: int


@dataclass(frozen=True, kw_only=True)
class Again:
    """A later burst: the rest before it, what it shows, and whether it came to its end."""

    rest_s: float
    overflow: Overflow
    ended: bool


@dataclass(frozen=True, kw_only=True)
class CameBack:
    """What a rest brought back: the cache of a later burst in bytes, 0 where it found it full.

    `drained_bytes` is what the model drains in the rest: μ × rest, at most all. Rates before and
    after the fall are compared with the first burst's, None where one of the bursts has none.
    """

    held: Mean
    drained_bytes: float
    before: Gain | None
    after: Gain | None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Why the first burst fell, and the place of the later burst that shows it, None without one.

    `back_bytes` is what its rest brought back, None where that burst did not fill it.
    """

    cause: Cause
    later: int | None = None
    back_bytes: float | None = None
    drained_bytes: float = 0.0


def has_settled(series: Series, samples: int) -> bool:
    """Return whether the rate fell off a cliff so many samples ago, and has settled since.

    Settled is a level below that before, but not nothing, at which the means of both halves of the
    last `samples` lie within 10 % of each other; or four whole turns. A long series is analysed in
    fewer, longer samples.
    """
    if not _is_slower(series.rates, samples):
        return False
    overflow = overflow_of(series, samples_most=LOOKED_AT_MOST)
    assert overflow is not None, "it has samples"
    cliff, tail_s = overflow.cliff, float(series.lengths_s[-samples:].sum())
    if cliff is None or overflow.seconds - cliff.at_s < tail_s:
        return False
    if cliff.in_turns:
        return sum(stall.first_s >= cliff.at_s - 1 for stall in overflow.stalls) > TURNS_ENOUGH
    tail = series.rates[-samples:]
    halves = tail[: samples // 2].mean(), tail[samples // 2 :].mean()
    if max(halves) >= (1 - FALL_SHARE) * cliff.before.value:
        return False
    return bool(abs(halves[0] - halves[1]) < LEVEL_SHARE * max(halves))


def _is_slower(rates: Floats, samples: int) -> bool:
    """Return whether the rate is lower than before, for at least so many samples: a cheap look."""
    count = rates.size
    if count <= samples:
        return False
    places = np.arange(1, count - samples + 1)
    totals = np.cumsum(rates)
    before = totals[places - 1] / places
    after = (totals[-1] - totals[places - 1]) / (count - places)
    return bool(np.any(after < (1 - FALL_SHARE) * before))


def rest_that_tells(cliff: Cliff | None, *, sample_s: float, most_s: float) -> Rest | None:
    """Return a rest after which a burst tells a cache; None where nothing fell, or where no rest
    of at most `most_s` would show it.
    """
    if cliff is None or cliff.after.value <= 0 or not cliff.held.value:
        return None
    gains = cliff.before.value - cliff.after.value
    wanted = max(DRAINED_SHARE * cliff.held.value, FAST_SAMPLES * sample_s * gains)
    seconds = min(min(wanted, cliff.held.value) / cliff.after.value, most_s)
    fast = cliff.after.value * seconds / gains / sample_s
    if fast < TOLD_SAMPLES:
        return None
    return Rest(seconds=seconds, samples=math.ceil(2 * fast) + SLOW_SAMPLES)


def came_back(first: Overflow, later: Again) -> CameBack | None:
    """Return what the rest before a later burst brought back; None where the first never fell.

    A later burst without a cliff that is slow from its start found the cache full. One without a
    cliff that is fast to its end did not fill what came back: None.
    """
    cliff, again = first.cliff, later.overflow.cliff
    if cliff is None:
        return None
    drained = _drained_bytes(cliff, later.rest_s)
    if again is not None:
        return CameBack(
            held=again.held,
            drained_bytes=drained,
            before=gain_of(again.before, cliff.before),
            after=gain_of(again.after, cliff.after),
        )
    if later.overflow.rate.value >= GONE_SHARE * cliff.before.value:
        return None
    return CameBack(
        held=Mean(value=0.0, half_width=None),
        drained_bytes=drained,
        before=None,
        after=gain_of(later.overflow.rate, cliff.after),
    )


def verdict_of(
    first: Overflow,
    later: Sequence[Again],
    *,
    sample_s: float,
    capacity_bytes: int,
    is_purged: bool,
) -> Verdict | None:
    """Return why the first burst fell; None where it did not."""
    cliff = first.cliff
    if cliff is None:
        return None
    seen_bytes = TOLD_SAMPLES * sample_s * (cliff.before.value - cliff.after.value)
    telling = [
        (place, came_back(first, each), _drained_bytes(cliff, each.rest_s))
        for place, each in enumerate(later)
        if each.ended and _drained_bytes(cliff, each.rest_s) >= max(0.9 * seen_bytes, 1.0)
    ]
    if not telling:
        return Verdict(cause="unproven")
    for place, back, drained in telling:
        if back is None or back.held.value >= BACK_SHARE * drained:
            return _verdict("cache", place, back, drained)
    over = cliff.at_bytes >= OVER_SHARE * capacity_bytes
    # Only of a purged drive is it known how much must be written before it saturates.
    cause: Cause = "unknown" if not is_purged else "saturation" if over else "undrained"
    return _verdict(cause, *telling[-1])


def _verdict(cause: Cause, place: int, back: CameBack | None, drained: float) -> Verdict:
    held = None if back is None else back.held.value
    return Verdict(cause=cause, later=place, back_bytes=held, drained_bytes=drained)


def _drained_bytes(cliff: Cliff, rest_s: float) -> float:
    """Return what the model drains in a rest."""
    return min(cliff.held.value, cliff.after.value * rest_s)
