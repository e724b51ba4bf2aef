"""A mean of a few passes or rounds, and how far it may be off: an interval from their scatter."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from teijo.analysis.difference import CONFIDENCE, student_t_limit
from teijo.analysis.replicates import standard_error

_APART_LEAST = 0.1
"""Values that differ by less are called the same."""


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean with the half-width of its interval at 95 %, None for too few values."""

    value: float
    half_width: float | None

    @property
    def half_percent(self) -> float | None:
        """The half-width as a percentage of the mean; None where there is nothing to relate to."""
        if self.half_width is None or not self.value:
            return None
        return self.half_width / abs(self.value) * 100


def mean_of(values: Sequence[float], *, resolution: float = 0.0) -> Mean | None:
    """Return the mean of values that are taken as independent, None where there are none.

    The half-width is Student's t at 95 % times the standard error. `resolution` is the share of
    a mean that one I/O of those behind it is: where the values scatter less than a count can
    tell, the interval still reaches so far.
    """
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count < 2:
        return Mean(value=mean, half_width=None)
    half_width = student_t_limit(1 - CONFIDENCE, count - 1) * standard_error(values)
    return Mean(value=mean, half_width=max(half_width, resolution * abs(mean)))


def trend_of(values: Sequence[float]) -> float | None:
    """Return the last value by the first where every value is beyond the one before; else None.

    Five values in an arbitrary order rise all the way or fall all the way once in sixty times.
    Where the ends differ by less than a tenth, or there are fewer than four, nothing is said.
    """
    if len(values) < 4 or min(values) <= 0:
        return None
    steps = [later - earlier for earlier, later in pairwise(values)]
    if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return None
    ratio = values[-1] / values[0]
    return None if abs(ratio - 1) < _APART_LEAST else ratio


def first_apart(values: Sequence[float]) -> float | None:
    """Return the first value by the mean of the others, where it stands apart from them; else None.

    It does if it differs from their mean by a tenth or more, and by more than all of them do from
    each other. Fewer than four values say nothing.
    """
    first, *others = values or (0.0,)
    if len(others) < 3 or min(values) <= 0:
        return None
    mean = math.fsum(others) / len(others)
    distance = abs(first - mean)
    if distance < _APART_LEAST * mean or distance <= max(others) - min(others):
        return None
    return first / mean
