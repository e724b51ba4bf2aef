"""What a fast tier before a slow one is worth: where it stops helping, whether it is a tier that
falls there, what simple models make of it, from which block size on the slow one alone is faster,
and how many fast devices it would take.

Rates are all of one unit, whichever; working sets are in bytes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo.analysis.difference import Difference

KEPT: Final = 0.70
"""Share of the smallest set's rate that a set must keep to count as held by the tier."""
STEEP: Final = 2.0
"""From this steepness on a fall is one that only a tier or a cache makes."""
GENTLE: Final = 1.0
"""Up to this one seeks and spare flash make it: a rate that is one by the set, at the worst."""
WIDE: Final = 1.9
"""How far from a cliff a set must lie to be held against the other side of it, as a ratio."""
WIDE_GENTLE: Final = 0.4
"""Up to this power from far before the cliff to far behind it, a fall is gentle: no tier that is
three times as fast as what lies behind it is so slow to fall."""
LEVEL_SHARE: Final = 0.03
"""By less than this a second set is not slower than the first: the rate is level there."""

FallKind = Literal[
    "tier", "gentle", "worn", "once", "bent", "broad", "unreturned", "unfinished", "scattered"
]
"""What a fall of the rate over growing sets is evidence of.

- tier: sharp, back at the smaller set, and sharp again: of the set's size, as a tier makes it.
- gentle: slower with every set from the first on, as seeks and spare flash make it.
- worn: writes that stay slow at the smaller set too: of what was written before, not of the set.
- once: back at the smaller set, and not slower at the larger one any more.
- bent: level at first, then gentle: seeks, or a tier not much faster than what lies behind it.
- broad: too steep for seeks, not steep enough for a tier: the sets lie too far apart to tell.
- unreturned: reads that stay slow at the smaller set: nothing that reading wears.
- unfinished: the two sets were not measured again.
- scattered: as a tier's, but no steeper for certain than seeks make it: the rates scatter too much.
"""
Rates = Sequence[tuple[int, float]]
"""Of each set, in ascending order: its bytes and its rate."""


@dataclass(frozen=True, kw_only=True)
class Cliff:
    """Where the rate falls: the largest set that is still held, and the next one measured, which is
    not. `level` is the rate that is kept up to there, `after` that of the first set beyond.
    """

    good_bytes: int
    bad_bytes: int
    level: float
    after: float

    @property
    def middle_bytes(self) -> int:
        """The set between both, as many times the one as it is a part of the other."""
        return round(math.sqrt(self.good_bytes * self.bad_bytes))

    @property
    def width(self) -> float:
        """How many times the held set the other is."""
        return self.bad_bytes / self.good_bytes


def cliff_of(rates: Rates, *, kept: float = KEPT) -> Cliff | None:
    """Return the cliff of (set, rate) in ascending order of sets; None where no set falls.

    A set is held where it keeps `kept` of the smallest set's rate. The cliff lies behind the
    largest set that is held: what falls and comes back is no cliff.
    """
    assert list(rates) == sorted(rates), "ascending sets"
    if len(rates) < 2 or rates[0][1] <= 0:
        return None
    level = rates[0][1]
    held = [place for place, (_, rate) in enumerate(rates) if rate >= kept * level]
    last = held[-1]
    if last + 1 == len(rates):
        return None
    return Cliff(
        good_bytes=rates[last][0],
        bad_bytes=rates[last + 1][0],
        level=math.fsum(rates[place][1] for place in held) / len(held),
        after=rates[last + 1][1],
    )


@dataclass(frozen=True, kw_only=True)
class Fall:
    """What a cliff is: the rates at its two sets, `good` and `bad`; and what was measured after
    both, `back` at the set that `back_bytes` names, then `again` at the set that is not held.
    """

    kind: FallKind
    cliff: Cliff
    good: float
    bad: float
    back_bytes: int
    back: float | None
    again: float | None
    steepness: float
    """The power of the set that the rate falls with between the two: 1 where twice the set has
    half the rate.
    """


def back_bytes_of(rates: Rates, cliff: Cliff, *, reads: bool) -> int:
    """Return the set to go back to after a fall: what a tier serves there is as fast as before.

    Reads go back to the smallest set, which a cache has soonest. Writes to the last that was held:
    a smaller one leaves a drive more spare flash, and so may be faster without any tier.
    """
    return rates[0][0] if reads else cliff.good_bytes


def fall_of(
    rates: Rates,
    *,
    back: float | None = None,
    again: float | None = None,
    reads: bool,
) -> Fall | None:
    """Return what the fall of (set, rate), in ascending order, is evidence of; None without one.

    A tier of C bytes leaves the share 1 − C / W to what lies behind it, so just above C the rate
    falls steeply, as often as one looks. The seeks of a disk grow with no more than the root of the
    stroke, and what a drive writes by itself, at spare flash S, with no more than W / S.
    """
    cliff = cliff_of(rates)
    if cliff is None:
        return None
    told = dict(rates)
    good, bad = told[cliff.good_bytes], told[cliff.bad_bytes]
    back_bytes = back_bytes_of(rates, cliff, reads=reads)
    steepness = _steepness(cliff, good, bad)
    kind = _gentle(rates, steepness)
    if kind is None:
        kind = _again(cliff, told[back_bytes], back, again, reads=reads)
    if kind == "tier" and steepness < STEEP:
        kind = "broad"
    return Fall(
        kind=kind,
        cliff=cliff,
        good=good,
        bad=bad,
        back_bytes=back_bytes,
        back=back,
        again=again,
        steepness=steepness,
    )


def settled(
    rates: Rates, later: Mapping[int, float], *, reads: bool
) -> tuple[tuple[tuple[int, float], ...], Fall | None]:
    """Return rates and what their fall is, by `later`, which has sets that were measured again.

    A set of reads that was slow at first, and as fast as the smaller ones later, was not warm: it
    has its later rate, and the fall is looked for behind it.
    """
    found = dict(rates)
    while True:
        own = tuple(found.items())
        cliff = cliff_of(own)
        if cliff is None:
            return own, None
        back_bytes = back_bytes_of(own, cliff, reads=reads)
        back, again = later.get(back_bytes), later.get(cliff.bad_bytes)
        fall = fall_of(own, back=back, again=again, reads=reads)
        if fall is None or fall.kind != "once" or again is None or not reads:
            return own, fall
        if again < KEPT * own[0][1]:
            return own, fall
        found[cliff.bad_bytes] = again


def is_sharp(ratio: Difference, width: float) -> bool:
    """Return whether a rate surely falls more steeply than seeks or spare flash make it, as the set
    grows by the factor `width`: the whole interval of the ratio of rates lies below.
    """
    return math.log(ratio.high) < -GENTLE * math.log(width)


def cliff_known(cliff: Cliff, rates: Rates, ratios: Mapping[int, Difference]) -> Cliff | None:
    """Return the cliff between two sets of which it is known that one is held, and one is not.

    `ratios` are the rates of the sets by that of the smallest, with intervals. A set is held where
    its rate is that of the smallest within 3 %, and surely more than 70 % of it; it is not where
    its rate is below 70 %, and surely below all of it. None where no set is known to be slower.
    """
    (first, level), *_ = rates
    held = [
        each
        for each, rate in rates
        if each <= cliff.good_bytes
        and rate >= (1 - LEVEL_SHARE) * level
        and (each == first or (each in ratios and ratios[each].low >= KEPT))
    ]
    lost = [
        (each, rate)
        for each, rate in rates
        if each >= cliff.bad_bytes and each in ratios and ratios[each].high < 1
    ]
    if not lost:
        return None
    good, (bad, after) = max(held, default=first), lost[0]
    kept = [rate for each, rate in rates if each <= good]
    return Cliff(good_bytes=good, bad_bytes=bad, level=math.fsum(kept) / len(kept), after=after)


def is_back(rate: float, before: float) -> bool:
    """Return whether a set is served again as it was before a larger one."""
    return rate >= KEPT * before


def _steepness(cliff: Cliff, good: float, bad: float) -> float:
    return math.log(good / bad) / math.log(cliff.width) if bad > 0 else math.inf


def _gentle(rates: Rates, steepness: float) -> FallKind | None:
    """Return what a fall is that no tier needs to make, None for a steeper one.

    Between two sets that lie close together scatter alone is steep, so a wide stretch counts too.
    """
    if steepness >= GENTLE and _wide_steepness(rates) > WIDE_GENTLE:
        return None
    (_, first), (_, second), *_ = rates
    return "gentle" if second <= (1 - LEVEL_SHARE) * first else "bent"


def _wide_steepness(rates: Rates) -> float:
    """Return the steepness from a set far before the cliff to one far behind it, if there are."""
    cliff = cliff_of(rates)
    assert cliff is not None, "it falls"
    before = [each for each in rates if each[0] * WIDE <= cliff.good_bytes]
    behind = [each for each in rates if each[0] >= cliff.bad_bytes * WIDE]
    if not before or not behind or behind[0][1] <= 0:
        return math.inf
    (small, fast), (large, slow) = before[-1], behind[0]
    return math.log(max(fast / slow, 1.0)) / math.log(large / small)


def _again(
    cliff: Cliff, before: float, back: float | None, again: float | None, *, reads: bool
) -> FallKind:
    """Return what a steep fall is by what was measured after it."""
    if back is None:
        return "unfinished"
    if not is_back(back, before):
        return "unreturned" if reads else "worn"
    if again is None:
        return "unfinished"
    if again > KEPT * back:
        return "once"
    return "tier" if reads or _steepness(cliff, back, again) >= STEEP else "broad"


def hit_share(tier_bytes: float, set_bytes: float) -> float:
    """Return the share of uniform accesses that a tier of this size answers: min(1, C / W)."""
    return min(1.0, tier_bytes / set_bytes)


def in_turn(fast: float, slow: float, share: float) -> float:
    """Return the rate if each I/O takes its device's own time: 1/X = h/X₁ + (1 − h)/X₂."""
    assert 0 <= share <= 1, share
    if min(fast, slow) <= 0:
        return 0.0
    return 1 / (share / fast + (1 - share) / slow)


def side_by_side(fast: float, slow: float, share: float) -> float:
    """Return the rate if both devices work at once and the busier one bounds it:
    X = min(X₁/h, X₂/(1 − h)).
    """
    assert 0 <= share <= 1, share
    bounds = [fast / share if share else math.inf, slow / (1 - share) if share < 1 else math.inf]
    return min(bounds)


def stripes(fast: float, slow: float, *, equal: float = 0.0) -> int | None:
    """Return how many fast devices are together at least as fast as the slow one: the smallest N
    with N · B₁ ≥ B₂. None where either has no rate. A lack of at most the share `equal` of B₂ is
    none.
    """
    if min(fast, slow) <= 0:
        return None
    return max(1, math.ceil(slow * (1 - equal) / fast))


def crossover(sizes: Sequence[int], tier: Sequence[float], slow: Sequence[float]) -> float | None:
    """Return the block size in bytes from which the slow device alone is faster than the tier.

    `sizes` ascend. Between the last size at which it is not and the next, both rates are taken as
    powers of the size (straight lines on logarithmic axes). The smallest size itself where the
    slow one is faster throughout; None where it is not faster at the largest size.
    """
    assert list(sizes) == sorted(sizes), sizes
    leads = [
        math.log(s / t) if min(s, t) > 0 else -math.inf for s, t in zip(slow, tier, strict=True)
    ]
    if not leads or leads[-1] <= 0:
        return None
    behind = [place for place, lead in enumerate(leads) if lead <= 0]
    if not behind:
        return float(sizes[0])
    place = behind[-1]
    # A rate of zero has no logarithm to draw a line from, and of equal rates none is known to be
    # the greater: the next size is all that is known.
    if math.isinf(leads[place]) or leads[place] == 0:
        return float(sizes[place + 1])
    part = -leads[place] / (leads[place + 1] - leads[place])
    return float(sizes[place] * (sizes[place + 1] / sizes[place]) ** part)
