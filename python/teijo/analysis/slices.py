"""A cell that is driven in slices until five in a row are steady, by the PTS's rule for rounds: a
range of at most 20 % of their average, a slope excursion of at most 10 %. Slices are exact rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from teijo.analysis import measures
from teijo.analysis.difference import Difference, Level, difference_between
from teijo.analysis.repeats import TOLERANCE, estimate_of_run, level_of_run
from teijo.analysis.replicates import Estimate
from teijo.analysis.steady_state import WINDOW_ROUNDS, window_of
from teijo.analysis.tiering import is_back
from teijo.terms.result import StepResult

BACK_TIMES: Final = 4
"""A cell that should come back has at most as many times the slices of another."""
RISE_SHARE: Final = 0.03


@dataclass(frozen=True, kw_only=True)
class Slices:
    """A cell by its answers, a slice each, in order; its numbers are over the last five."""

    answers: tuple[StepResult, ...]

    @property
    def window(self) -> tuple[StepResult, ...]:
        """The slices behind the numbers."""
        return self.answers[-WINDOW_ROUNDS:]

    @cached_property
    def exact(self) -> tuple[Fraction, ...]:
        """MB/s of every slice as counted, which is what steady state is judged on."""
        return tuple(measures.exact_mb_s(answer) for answer in self.answers)

    @property
    def steady(self) -> bool:
        """Whether the window is steady."""
        return is_steady(self.exact)

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """MB/s of the window's slices."""
        return tuple(measures.throughput_mb_s(answer) for answer in self.window)

    @cached_property
    def throughput(self) -> Estimate:
        """MB/s over the window; the interval allows for slices that resemble their neighbours."""
        found = estimate_of_run(self.rates)
        assert found is not None, "a cell has a slice"
        return found

    @property
    def rate(self) -> float:
        """The mean MB/s over the window."""
        return self.throughput.mean

    @cached_property
    def level(self) -> Level | None:
        """MB/s over the window as one run knows it; None for a single slice, or without I/O."""
        return level_of_run(self.rates, 1)

    @property
    def resolution(self) -> float:
        """The share of its rate that one I/O of a slice is."""
        return 1 / max(1, min(answer.ios for answer in self.window))

    @property
    def latency_ns(self) -> float:
        """The mean latency over the window, each slice counted alike."""
        means = [measures.latency_ns_mean(answer) for answer in self.window]
        return sum(means) / len(means)


def ratio_of(first: Slices, second: Slices, *, tolerance: float = TOLERANCE) -> Difference | None:
    """Return the second cell's rate by the first's, as one run of neighbouring slices knows it;
    None where either has a single slice, or no I/O.

    A cell ends as soon as five slices look steady, which may be by chance, and steady is within
    ±10 %: `tolerance` is the logarithm by which two cells of one rate may so lie apart.
    """
    one, other = first.level, second.level
    if one is None or other is None:
        return None
    resolution = max(first.resolution, second.resolution)
    return difference_between(one, other, resolution=resolution, tolerance=tolerance)


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
