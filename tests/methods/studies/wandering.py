"""Devices whose rate wanders, each slice like the one before, and how sure a count of errors is."""

import math
import random
from collections.abc import Callable
from itertools import count

Wander = Callable[[], float]
"""Returns the next factor on a rate."""


def wander(seed: int, *, likeness: float, scatter: float) -> Wander:
    """Return factors about 1 whose logarithm is a series of this autocorrelation and deviation."""
    draw = random.Random(seed)
    state = draw.gauss(0, 1)
    fresh = math.sqrt(1 - likeness**2)

    def following() -> float:
        nonlocal state
        state = likeness * state + fresh * draw.gauss(0, 1)
        return math.exp(scatter * state)

    return following


def may_be(errors: int, tries: int, share: float) -> bool:
    """Return whether so many errors or more come about in one of forty tries, were it the share."""
    more = math.fsum(
        math.comb(tries, each) * share**each * (1 - share) ** (tries - each)
        for each in range(errors, tries + 1)
    )
    return more >= 0.025


def most_allowed(tries: int, share: float = 0.05) -> int:
    """Return how many errors do not speak against the share."""
    return next(each for each in count() if not may_be(each + 1, tries, share))
