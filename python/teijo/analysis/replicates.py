"""What repeats of one measurement say together: their mean, and an interval that it lies in."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace


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


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two repeats."""
    count = len(values)
    assert count >= 2, "one value has no scatter"
    mean = math.fsum(values) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
