"""What a fast tier before a slow one is worth: where it stops helping, what simple models make of
it, from which block size on the slow one alone is faster, and how many fast devices it would take.

Rates are all of one unit, whichever; working sets are in bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

KEPT: Final = 0.70
"""Share of the smallest set's rate that a set must keep to count as held by the tier."""


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


def cliff_of(rates: Sequence[tuple[int, float]], *, kept: float = KEPT) -> Cliff | None:
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
    if math.isinf(leads[place]):
        return float(sizes[place + 1])
    part = -leads[place] / (leads[place + 1] - leads[place])
    return float(sizes[place] * (sizes[place + 1] / sizes[place]) ** part)
