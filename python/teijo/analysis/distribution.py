"""How one figure is distributed over many drives: quartiles, both ends, and who stands at them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

_QUARTERS: Final = (0.25, 0.5, 0.75)


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One figure over `count` drives, in its unit.

    `quartiles` are the lower one, the median and the upper one, interpolated between neighbours
    (Hyndman and Fan 1996, type 7). `at_least` and `at_most` are the places of the least and of the
    most in what was handed in, the first of equal ones.
    """

    count: int
    least: float
    quartiles: tuple[float, float, float]
    most: float
    at_least: int
    at_most: int

    @property
    def median(self) -> float:
        """As many drives have less as have more."""
        return self.quartiles[1]


def distribution_of(values: Sequence[float | None]) -> Distribution | None:
    """Return how a figure is distributed; a drive without it (None) does not count.

    None where no drive has it.
    """
    known = [at for at, value in enumerate(values) if value is not None]
    if not known:
        return None
    found = np.array([values[at] for at in known], np.float64)
    low, median, high = (float(each) for each in np.quantile(found, _QUARTERS))
    return Distribution(
        count=len(known),
        least=float(found.min()),
        quartiles=(low, median, high),
        most=float(found.max()),
        at_least=known[int(found.argmin())],
        at_most=known[int(found.argmax())],
    )
