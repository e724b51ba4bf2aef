"""The operands of a determination in percent of the average, and the digits they need."""

from collections.abc import Sequence
from typing import Final

from teijo.terms.finding import Window

_SHARE_DIGITS: Final = 12
"""A percentage in a double has no more to give."""


def share_percent(value: float, average: float) -> float | None:
    """Return a value in percent of an average, None of nothing."""
    return value / average * 100 if average else None


def range_percent(window: Window) -> float | None:
    """Return the range in percent of the average, on the side of 20 % where its verdict puts it."""
    return _beside(share_percent(window.range, window.average), 20, ok=window.range_ok)


def slope_percent(window: Window) -> float | None:
    """Return the slope excursion in percent of the average, on the side of 10 % of its verdict."""
    return _beside(share_percent(window.slope_excursion, window.average), 10, ok=window.slope_ok)


def _beside(share: float | None, limit: int, *, ok: bool) -> float | None:
    """Return a share; one too near to its limit for a double is put on the side of its verdict.

    The verdict comes from whole numbers, and the share from doubles.
    """
    if share is None or (round(share, _SHARE_DIGITS) <= limit) == ok:
        return share
    return float(limit) if ok else limit + 10.0**-_SHARE_DIGITS


def share_digits(windows: Sequence[Window], *, least: int = 2) -> int:
    """Return after how many digits no printed share of the average belies its verdict.

    Two are enough but where a share is beyond its limit (20 % or 10 %) by less than they show:
    "20.00 %: no" would be read as an error of judgement. A double has no more than 12 to give.
    """
    judged = [
        (share, limit, ok)
        for window in windows
        for share, limit, ok in (
            (range_percent(window), 20, window.range_ok),
            (slope_percent(window), 10, window.slope_ok),
        )
        if share is not None and window.average > 0
    ]
    enough = (
        digits
        for digits in range(least, _SHARE_DIGITS)
        if all((round(share, digits) <= limit) == ok for share, limit, ok in judged)
    )
    return next(enough, _SHARE_DIGITS)
