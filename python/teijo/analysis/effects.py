"""Which factor matters: the analysis of variance of a full factorial in complete blocks, contrasts
with intervals of their own scatter, and the drift over the order of measuring.

Values are (cells…, blocks): one axis for each factor, the last one for the repeats. Whoever asks
for ratios hands in logarithms. What a factor or a block is, is not known here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.difference import CONFIDENCE, f_share, student_t_limit, student_t_share

Values = NDArray[np.float64]

_NOTHING: Final = 1e-20
"""Squares below this share of the sum of all squared values are the rounding of doubles."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """What one factor, or several together beyond what each does alone, adds to the variation.

    `factors` are their places, `squares` the sum of squares, `share` its part of all variation
    between cells and within them (that between blocks left out). `f` is its mean square by the
    residual one, None where that is zero; `p_value` how often as much comes about by chance.
    """

    factors: tuple[int, ...]
    squares: float
    freedom: int
    share: float
    f: float | None
    p_value: float


@dataclass(frozen=True, kw_only=True)
class Variance:
    """The analysis of variance. `sources` are the factors, then their pairs, each in order.

    `higher` is what three and more factors do together, all in one; None with fewer than three.
    `total_squares` are without the blocks'.
    """

    sources: tuple[Source, ...]
    higher: Source | None
    block_squares: float
    block_freedom: int
    residual_squares: float
    residual_freedom: int
    total_squares: float

    @property
    def residual_share(self) -> float:
        """The part of the variation that is left when every cell has its own mean."""
        return self.residual_squares / self.total_squares if self.total_squares else 0.0


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A weighted sum of cell means with its interval at 95 %, in the unit of the values.

    `p_value` is how often a sum as far from 0 comes about where there is none; `freedom` the
    degrees of freedom of the interval.
    """

    estimate: float
    low: float
    high: float
    p_value: float
    freedom: float


def variance(values: Values) -> Variance:
    """Return the analysis of variance of a balanced factorial in randomised complete blocks.

    The model is additive in blocks: value = cell + block + residual (Montgomery, Design and
    Analysis of Experiments, §5.6). Needs two blocks and two levels of every factor.
    """
    *levels, blocks = values.shape
    assert blocks >= 2, "the residual stands on repeats"
    assert all(count >= 2 for count in levels), "a factor has levels"
    grand, cells = values.mean(), math.prod(levels)
    cell_means = values.mean(axis=-1)
    block_squares = cells * float(((_block_means(values) - grand) ** 2).sum())
    total = float(((values - grand) ** 2).sum()) - block_squares
    left = residuals(values)
    floor = _NOTHING * float((values**2).sum())
    residual, freedom = _floored(float((left**2).sum()), floor), (cells - 1) * (blocks - 1)
    # As a difference of large sums it may come out below its own part.
    total = max(_floored(total, floor), residual)

    def source(factors: tuple[int, ...], squares: float, own: int) -> Source:
        squares = _floored(squares, floor)
        f = squares / own / (residual / freedom) if residual else None
        # Where nothing scatters, no effect that there is can be chance.
        p_value = float(not squares) if f is None else f_share(f, own, freedom)
        share = squares / total if total else 0.0
        return Source(
            factors=factors, squares=squares, freedom=own, share=share, f=f, p_value=p_value
        )

    places = range(len(levels))
    effects = {
        factors: _effect(cell_means, factors)
        for size in (1, 2)
        for factors in combinations(places, size)
    }
    sources = tuple(
        source(factors, _squares(effect, values), math.prod(levels[each] - 1 for each in factors))
        for factors, effect in effects.items()
    )
    return Variance(
        sources=sources,
        higher=_higher(values, effects.values(), sources, source),
        block_squares=block_squares,
        block_freedom=blocks - 1,
        residual_squares=residual,
        residual_freedom=freedom,
        total_squares=total,
    )


def residuals(values: Values) -> Values:
    """Return what is left of each value when its cell and its block have their means."""
    means = values.mean(axis=-1, keepdims=True)
    left: Values = values - means - _block_means(values) + values.mean()
    return left


def contrast(values: Values, weights: NDArray[Any]) -> Contrast:
    """Return the weighted sum of cell means, `weights` having the cells' shape.

    Every cell has its own scatter, estimated from its residuals about cell and block; degrees of
    freedom by Satterthwaite, never more than the design has. Of two cells this is the paired t
    interval of their differences. Needs two blocks and two cells.
    """
    blocks, cells = values.shape[-1], values[..., 0].size
    assert blocks >= 2, "an interval stands on repeats"
    assert cells >= 2, "a contrast is between cells"
    estimate = float((values.mean(axis=-1) * weights).sum())
    # No common scatter: a write-back cache, say, scatters otherwise than none.
    parts = weights**2 * _cell_variances(values) / blocks
    error = math.sqrt(float(parts.sum()))
    scale = float(np.abs(values).max())
    if error <= math.sqrt(_NOTHING) * scale:
        return _certain(estimate, scale)
    freedom = float(parts.sum() ** 2 / (parts**2 / (blocks - 1)).sum())
    freedom = min(freedom, float((cells - 1) * (blocks - 1)))
    return _interval(estimate, error, freedom)


def level_weights(
    shape: Sequence[int], factor: int, first: int, second: int
) -> NDArray[np.float64]:
    """Return the weights of "the second level less the first", over all else alike."""
    weights = np.zeros(shape)
    others = math.prod(shape) // shape[factor]
    place: list[Any] = [slice(None)] * len(shape)
    for level, sign in ((first, -1), (second, 1)):
        place[factor] = level
        weights[tuple(place)] = sign / others
    return weights


def drift(values: Values, places: NDArray[Any]) -> Contrast | None:
    """Return how far values drift from the first place in the order of measuring to the last.

    The line is fitted to values about their cell's mean, over places about theirs, so that no
    order of the cells can make a drift. None where the order leaves nothing to estimate it from.
    """
    x = places - places.mean(axis=-1, keepdims=True)
    y = values - values.mean(axis=-1, keepdims=True)
    spread = float((x**2).sum())
    freedom = values.size - values[..., 0].size - 1  # each cell's mean takes one, the slope another
    if not spread or freedom < 1:
        return None
    slope = float((x * y).sum()) / spread
    length = float(places.max() - places.min())
    error = math.sqrt(float(((y - slope * x) ** 2).sum()) / freedom / spread) * length
    scale = float(np.abs(values).max())
    if error <= math.sqrt(_NOTHING) * scale:
        return _certain(slope * length, scale)
    return _interval(slope * length, error, float(freedom))


def _cell_variances(values: Values) -> Values:
    """Return the variance of each cell's values, its share of the blocks' left out.

    A residual's square has a share of all cells' variances in it, since it is about the block's
    mean. Where taking that share off makes a cell's variance larger, it is taken off (Rao's
    MINQUE); where it makes it smaller, perhaps less than nothing, it is left: the interval is
    then too wide rather than too narrow.
    """
    blocks, cells = values.shape[-1], values[..., 0].size
    squares = (residuals(values) ** 2).sum(axis=-1) / (blocks - 1)
    # A block's mean has 1 / cells of each value in it, so a residual has that much less variance.
    plain: Values = squares / (1 - 1 / cells)
    # Two residuals about their own mean are opposite: whose variance it is cannot be told.
    if cells == 2:
        return plain
    shared = squares.sum() / (1 - 1 / cells) / cells**2
    larger: Values = np.maximum(plain, (squares - shared) / (1 - 2 / cells))
    return larger


def _certain(estimate: float, scale: float) -> Contrast:
    """Return what has no scatter at all: it is as it is, and nothing if it is only rounding."""
    estimate = 0.0 if abs(estimate) <= 1e-12 * scale else estimate
    return Contrast(
        estimate=estimate,
        low=estimate,
        high=estimate,
        p_value=float(estimate == 0),
        freedom=math.inf,
    )


def _interval(estimate: float, error: float, freedom: float) -> Contrast:
    reach = student_t_limit(1 - CONFIDENCE, freedom) * error
    return Contrast(
        estimate=estimate,
        low=estimate - reach,
        high=estimate + reach,
        p_value=student_t_share(abs(estimate) / error, freedom),
        freedom=freedom,
    )


def _block_means(values: Values) -> Values:
    means: Values = values.mean(axis=tuple(range(values.ndim - 1)))
    return means


def _effect(cell_means: Values, factors: tuple[int, ...]) -> Values:
    """Return what these factors do beyond what fewer of them do, over all else alike."""
    effect: Values = np.zeros_like(cell_means)
    for size in range(len(factors) + 1):
        for some in combinations(factors, size):
            others = tuple(axis for axis in range(cell_means.ndim) if axis not in some)
            mean = cell_means.mean(axis=others, keepdims=True) if others else cell_means
            # Inclusion and exclusion: several means hold what fewer factors do.
            effect = effect + (-1) ** (len(factors) - size) * mean
    return effect


def _squares(effect: Values, values: Values) -> float:
    repeated = values.size // effect.size
    return repeated * float((effect**2).sum())


def _higher(values: Values, effects: Any, sources: Sequence[Source], source: Any) -> Source | None:
    factors = values.ndim - 1
    if factors < 3:
        return None
    cell_means = values.mean(axis=-1)
    left = cell_means - cell_means.mean() - sum(effects, np.zeros_like(cell_means))
    own = cell_means.size - 1 - sum(each.freedom for each in sources)
    squares = values.shape[-1] * float((left**2).sum())
    found: Source = source(tuple(range(factors)), squares, own)
    return found


def _floored(squares: float, floor: float) -> float:
    return squares if squares > floor else 0.0
