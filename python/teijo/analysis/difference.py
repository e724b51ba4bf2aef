"""Whether two means differ: their ratio with an interval, from few batches a side, autocorrelated
samples in five batches of neighbours; and how several such answers are judged together.

Where the numbers come from, and which direction is the better one, is not known here. What one
run can say of the next is in `repeats.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

BATCHES = 5
CONFIDENCE = 0.95
_TINY = 1e-300  # stands for a zero that Lentz's method would divide by
_STEP_LEAST = 1e-12
_FRACTIONS_MOST = 500
_LIMITS_KEPT = 1024
"""A run asks for the same limit of each of its figures."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One mean by another: `ratio` 1.05 is 5 % more. `low` and `high` bound it at 95 %.

    `p_value` is how often a ratio as far from 1 would come about if there were no difference;
    `freedom` is the degrees of freedom of the interval.
    """

    ratio: float
    low: float
    high: float
    p_value: float
    freedom: float

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out 1."""
        return not self.low <= 1 <= self.high


@dataclass(frozen=True, kw_only=True)
class Level:
    """One side's mean, its squared relative standard error, and the freedom that is known with."""

    mean: float
    squared_error: float
    freedom: float


def level_of(values: Sequence[float]) -> Level | None:
    """Return the level of independent values; None for fewer than two, or a mean not above zero."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    if mean <= 0:
        return None
    squared_error = relative_variance(values) / len(values)
    return Level(mean=mean, squared_error=squared_error, freedom=len(values) - 1)


def difference_of(
    first: Sequence[float], second: Sequence[float], *, resolution: float = 0.0
) -> Difference | None:
    """Return how far the mean of the second's batches lies from that of the first's.

    The batches are taken as independent, with a variance of their own on either side; see
    `difference_between`. None for fewer than two batches a side, and where a mean is not above
    zero.
    """
    one, other = level_of(first), level_of(second)
    if one is None or other is None:
        return None
    return difference_between(one, other, resolution=resolution)


def difference_between(
    first: Level, second: Level, *, resolution: float = 0.0, tolerance: float = 0.0
) -> Difference:
    """Return how far the second level lies from the first.

    Welch's t on the logarithm of the ratio, whose variance is the sum of the two squared relative
    standard errors (delta method). So the interval is positive, and that of the exchanged sides is
    its reciprocal.

    `resolution` is how far, as a share, a mean may be off for its count being a whole number.
    Where batches scatter less than that they may all be off alike, so the interval reaches as far
    at least; where they scatter more, it is in their scatter. `tolerance` is a logarithm by which
    the two may lie apart and still be equal: the interval reaches further by it, and the p-value
    is of what lies beyond it.
    """
    levels = (first, second)
    ratio = second.mean / first.mean
    squared = math.fsum(level.squared_error for level in levels)
    error, freedom = math.sqrt(squared), math.inf
    if error:
        # Each share of the variance is squared, not the variance: that may be too small for it.
        freedom = 1 / math.fsum(
            (each.squared_error / squared) ** 2 / each.freedom for each in levels
        )
    # Without any scatter the limit is that of the normal distribution, the least there is.
    limit = student_t_limit(1 - CONFIDENCE, freedom)
    error = max(error, resolution / limit)
    reach, distance = limit * error + tolerance, max(0.0, abs(math.log(ratio)) - tolerance)
    p_value = student_t_share(distance / error, freedom) if error else float(not distance)
    return Difference(
        ratio=ratio,
        low=ratio * math.exp(-reach),
        high=ratio * math.exp(reach),
        p_value=p_value,
        freedom=freedom,
    )


def five_batches(samples: Sequence[float]) -> tuple[float, ...]:
    """Return the means of five equal stretches of consecutive samples, fewer than five for none.

    Neighbours resemble each other, and a stretch much longer than that likeness lasts does not
    resemble the next one (batch means; Law, Simulation Modeling and Analysis, §9.5.3). Few long
    batches are chosen before many short ones, whose interval would be too narrow. What fills no
    batch is left out at the front, where a series is farthest from settled.
    """
    length = len(samples) // BATCHES
    if not length:
        return ()
    kept = samples[len(samples) - length * BATCHES :]
    return tuple(
        math.fsum(kept[place * length : (place + 1) * length]) / length for place in range(BATCHES)
    )


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return each p-value as it counts among all of them (Holm 1979): below 0.05 is a difference
    that would come about by chance in one of twenty whole families, whatever their dependence.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, at in enumerate(order):
        # The procedure stops at the first that is not shown, so none behind it may count for less.
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[at]))
        adjusted[at] = highest
    return tuple(adjusted)


def judged_together(
    p_values: Sequence[float], overall: float | None
) -> tuple[tuple[float, ...], float | None]:
    """Return the p-values of figures, and that of all of them as one, as they count together.

    Half of the 5 % is the overall figure's. The other half is the figures' (Holm); where the
    overall one differs, its half is theirs too (a graph of two nodes: Bretz, Maurer, Brannath and
    Posch 2009). That any of them is a false difference is then a matter of 5 %.
    """
    adjusted = holm(p_values)
    if overall is None:
        return adjusted, None
    first = min(1.0, 2 * overall)
    return tuple(min(max(first, each), min(1.0, 2 * each)) for each in adjusted), first


def relative_variance(values: Sequence[float]) -> float:
    """Return the variance of at least two values by the square of their mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value / mean - 1) ** 2 for value in values) / (len(values) - 1)


def student_t_share(t: float, freedom: float) -> float:
    """Return the share of Student's t distribution outside ±t: the two-sided p-value.

    It is the regularised incomplete beta function I_x(ν/2, 1/2) at x = ν/(ν + t²)
    (Abramowitz and Stegun 26.7.1, 26.5.27).
    """
    assert t >= 0, t
    assert freedom > 0, freedom
    if math.isinf(freedom):
        return math.erfc(t / math.sqrt(2))
    if t == 0:
        return 1.0
    # x/(1 − x) = ν/t²: both are computed, since one of them may be too near to 1 for the other.
    x, rest = 1 / (1 + t * t / freedom), 1 / (1 + freedom / (t * t))
    # The fraction converges fast only up to about the mean; beyond it I_x(a, b) = 1 − I_1−x(b, a).
    a, b = freedom / 2, 0.5
    if x < (a + 1) / (a + b + 2):
        return _beta_share(x, rest, a, b)
    return 1 - _beta_share(rest, x, b, a)


@lru_cache(maxsize=_LIMITS_KEPT)
def student_t_limit(share: float, freedom: float) -> float:
    """Return the t outside of which this share of the distribution lies.

    Newton's method from the normal distribution's limit, which is never beyond it: the share is
    convex in t, so each step falls short of the limit and none goes past it.
    """
    assert 0 < share < 1, share
    t = NormalDist().inv_cdf(1 - share / 2)
    while not math.isinf(freedom):
        fall = _log_height(freedom) - (freedom + 1) / 2 * math.log1p(t * t / freedom)
        density = math.exp(fall)
        step = (student_t_share(t, freedom) - share) / (2 * density)
        t += step
        # Also a step back, which can only be rounding: none goes past the limit.
        if step <= _STEP_LEAST * t:
            break
    return t


def f_share(f: float, over: float, under: float) -> float:
    """Return the share of Fisher's F distribution above `f`: the p-value of a variance ratio.

    `over` and `under` are the degrees of freedom of its numerator and denominator; the share is
    I_x(under/2, over/2) at x = under/(under + over·f) (Abramowitz and Stegun 26.6.2).
    """
    assert f >= 0, f
    assert min(over, under) > 0, (over, under)
    if f == 0:
        return 1.0
    x, rest = under / (under + over * f), over * f / (under + over * f)
    # The side on which the continued fraction converges fast, as for Student's t.
    a, b = under / 2, over / 2
    if x < (a + 1) / (a + b + 2):
        return _beta_share(x, rest, a, b)
    return 1 - _beta_share(rest, x, b, a)


def _log_height(freedom: float) -> float:
    """Return the logarithm of the density at zero."""
    height = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    return height - math.log(freedom * math.pi) / 2


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """Return I_x(a, b), `rest` being 1 − x, by its continued fraction (Lentz's method)."""
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log(rest)) / a
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _FRACTIONS_MOST):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _not_zero(1 + term * d), _not_zero(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
