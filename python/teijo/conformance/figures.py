"""How many digits evidence needs: a number must stand to its limit in print as it does exactly."""

from collections.abc import Iterable
from typing import Final

MOST: Final = 12
"""Doubles of the size of a percentage have no more to give."""


def digits_beside(pairs: Iterable[tuple[float, float]], *, least: int) -> int:
    """Return after how many digits each number is as much above or below its limit as it is.

    `pairs` are numbers with their limits, both printed with so many digits; `least` are usual.
    """
    judged = list(pairs)
    enough = (
        digits
        for digits in range(least, MOST)
        if all(
            _side(_printed(value, digits), _printed(limit, digits)) == _side(value, limit)
            for value, limit in judged
        )
    )
    return next(enough, MOST)


def _printed(value: float, digits: int) -> float:
    return float(f"{value:.{digits}f}")


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)
