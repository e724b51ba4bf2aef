"""A cell that is driven in slices until five in a row are steady, by the PTS's rule for rounds: a
range of at most 20 % of their average, a slope excursion of at most 10 %. Slices are exact rates.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from teijo.analysis.steady_state import WINDOW_ROUNDS, window_of
from teijo.analysis.tiering import is_back

BACK_TIMES: Final = 4
"""A cell that should come back has at most as many times the slices of another."""
RISE_SHARE: Final = 0.03


def is_steady(slices: Sequence[Fraction]) -> bool:
    """Return whether the last five slices are steady."""
    if len(slices) < WINDOW_ROUNDS:
        return False
    return window_of(1, slices[-WINDOW_ROUNDS:]).steady


def is_over(slices: Sequence[Fraction], *, most: int, back_to: float | None = None) -> bool:
    """Return whether a cell of at most so many slices needs no further one.

    One that should come back to a rate of before is given more of them as long as it gets faster:
    what warms up slowly may look steady on the way.
    """
    if back_to is None:
        return is_steady(slices) or len(slices) >= most
    if is_steady(slices) and is_back(rate_over(slices), back_to):
        return True
    return len(slices) >= most and not (len(slices) < BACK_TIMES * most and _is_rising(slices))


def rate_over(slices: Sequence[Fraction]) -> float:
    """Return the rate of a cell: the mean over its last five slices."""
    window = slices[-WINDOW_ROUNDS:]
    return float(sum(window) / len(window))


def _is_rising(slices: Sequence[Fraction]) -> bool:
    """Return whether the last five slices are faster than the five before."""
    if len(slices) < 2 * WINDOW_ROUNDS:
        return False
    return rate_over(slices) >= (1 + RISE_SHARE) * rate_over(slices[:-WINDOW_ROUNDS])
