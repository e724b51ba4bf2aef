"""Domains and ticks of an axis: where it begins and ends, and which values it names."""

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypeGuard

from teijo.report.chart.theme import Json

TICKS_AT_DATA_LIMIT: Final = 26
"""Up to as many whole x values (25 rounds and one) each gets its tick."""
_TIME_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 7200, 14400)
_TIME_UNITS: Final = ("s", "min")


def finite(values: Iterable[object], *, positive: bool = False) -> list[float]:
    """Return the numbers that can be drawn: no None, no NaN, and on a log scale none <= 0."""
    return [float(value) for value in values if can_be_drawn(value, positive=positive)]


def can_be_drawn(value: object, *, positive: bool = False) -> TypeGuard[float]:
    """Return whether a value has a place on an axis."""
    number = isinstance(value, float | int) and math.isfinite(value)
    return number and (not positive or value > 0)  # type: ignore[operator]


def log_domain(values: Sequence[float]) -> list[float]:
    """Return the ends of a log axis: the next 1, 2 or 5 times a power of ten on both sides."""
    if not values:
        return [1, 10]
    low, high = _step_down(min(values)), _step_up(max(values))
    return [low, high] if low < high else [low / 2, high * 2]


def log_ticks(domain: Sequence[float]) -> list[float]:
    """Return the powers of ten of a domain, with their 2 and 5 where it has under 3 decades."""
    low, high = domain
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def linear_domain(values: Sequence[float], *, from_zero: bool) -> list[float]:
    """Return the ends of a linear axis with some air; a flat line gets air on both sides."""
    if not values:
        return [0, 1]
    low, high = min(values), max(values)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    ends_at_zero = from_zero and high == 0 and low < 0
    return [low if from_zero and low == 0 else low - air, high if ends_at_zero else high + air]


def whole_ticks(values: Sequence[float]) -> list[float] | None:
    """Return the distinct values as ticks where they are few and whole (rounds), else None."""
    distinct = sorted(set(values))
    few = 0 < len(distinct) <= TICKS_AT_DATA_LIMIT
    return distinct if few and _all_whole(distinct) else None


def count_ticks(
    values: Sequence[float], domain: Sequence[float], *, about: int
) -> list[float] | None:
    """Return the whole numbers of a short domain where all values are whole, else None.

    Nothing is counted half a time.
    """
    low, high = math.ceil(domain[0]), math.floor(domain[1])
    if high - low > about or not _all_whole(values):
        return None
    return [float(place) for place in range(low, high + 1)]


def time_ticks(domain: Sequence[float], unit: str, *, about: int = 12) -> list[float] | None:
    """Return ticks at minutes and hours people count in, None for an axis that is no time."""
    low, high = domain
    if unit not in _TIME_UNITS or high - low < about:
        return None
    step = next((step for step in _TIME_STEPS if (high - low) / step <= about), None)
    if step is None:
        return None
    first = math.ceil(low / step)
    return [float(place * step) for place in range(first, math.floor(high / step) + 1)]


def number_format(values: Sequence[float]) -> str:
    """Return the d3 format of an axis: 12,000 and 0.25, and an exponent only below 0.000001."""
    largest = max((abs(value) for value in values), default=1.0)
    return "~e" if 0 < largest < 1e-5 else ",~f"


def tick_labels(ticks: list[float] | None, values: Sequence[float], *, about: int) -> Json:
    """Return the axis properties of chosen ticks, or of `about` as many of Vega's own.

    Never both: Vega thins given ticks to the count.
    """
    chosen = {"tickCount": about} if ticks is None else {"values": ticks}
    return {"format": number_format(values)} | chosen


def _all_whole(values: Iterable[float]) -> bool:
    return all(value == int(value) for value in values)


def _step_down(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    # With some room, for 5 * 10.0**-6 is not quite 5e-6.
    return max(step * decade for step in (1, 2, 5) if step * decade <= value * 1.000001)


def _step_up(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return min(step * decade for step in (1, 2, 5, 10) if step * decade >= value * 0.999999)
