"""What repeats of one measurement say together: their mean, and an interval that it lies in.

The repeats are taken as independent: each in an order of its own, or with other steps between.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from teijo.analysis.difference import CONFIDENCE, student_t_limit


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over `count` repeats, in their unit. `low` and `high` bound it at 95 %, and are None
    for a single repeat, which says nothing of its scatter.
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def reach_share(self) -> float | None:
        """How far the interval reaches upwards, as a share of the mean."""
        if self.high is None or not self.mean:
            return None
        return (self.high - self.mean) / abs(self.mean)

    @property
    def three(self) -> tuple[float, float | None, float | None]:
        """The mean and both ends of its interval."""
        return self.mean, self.low, self.high

    def times(self, factor: float) -> "Estimate":
        """Return it in another unit."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return replace(self, mean=self.mean * factor, low=low, high=high)


def estimate_of(values: Sequence[float]) -> Estimate | None:
    """Return the mean of repeats with Student's interval; None for none.

    The interval is that of the mean's logarithm, whose error is the relative standard error (delta
    method, as `difference.py` has it), so that a rate's ends are above zero however wide it is.
    Where the mean is not above zero, it is that of the mean itself.
    """
    count = len(values)
    if not count:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean=mean, low=None, high=None, count=1)
    error = standard_error(values)
    reach = student_t_limit(1 - CONFIDENCE, count - 1) * error if error else 0.0
    if mean <= 0:
        return Estimate(mean=mean, low=mean - reach, high=mean + reach, count=count)
    factor = math.exp(reach / mean)
    return Estimate(mean=mean, low=mean / factor, high=mean * factor, count=count)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two repeats."""
    count = len(values)
    assert count >= 2, "one value has no scatter"
    mean = math.fsum(values) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
