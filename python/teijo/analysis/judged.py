"""What the rates of a factorial say: which factor matters for which workload, how much, whether to
trust it, and which configuration is the fastest over all.

All is done on logarithms, so that a difference is a ratio: "1.8 times as fast".
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from teijo.analysis import effects
from teijo.analysis.difference import difference_of, holm
from teijo.analysis.effects import Contrast, Source, Variance

LIMIT: Final = 0.05
"""A p-value below it, as it counts among all that were tested, is a difference."""
WORTH_SHARE: Final = 0.01
"""A factor or a pair of them is worth a sentence from this share of the variation on."""
ALIKE_SHARE: Final = 0.001
"""Rates that differ by no more are equal: configurations of one device behind do not agree so."""
R = TypeVar("R", bound="Ratio")


@dataclass(frozen=True, kw_only=True)
class Rates:
    """One workload's rates: `values` (levels of each factor…, blocks), `again` of the control's
    copy (blocks), empty without a control; `places` and `places_again` the numbers of the visits.
    `control` is the place of the control's cell, counted over all factors.
    """

    name: str
    unit: str
    values: NDArray[np.float64]
    again: NDArray[np.float64]
    places: NDArray[np.int64]
    places_again: NDArray[np.int64]
    control: int | None


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One rate by another, with its interval at 95 %.

    `p_value` counts among those of all workloads (Holm).
    """

    ratio: float
    low: float
    high: float
    p_value: float

    @property
    def shown(self) -> bool:
        """Whether it lies farther from 1 than chance has it."""
        return self.p_value < LIMIT

    @property
    def percent(self) -> float:
        """How far it lies from 1, in percent, without its sign."""
        return abs(self.ratio - 1) * 100


@dataclass(frozen=True, kw_only=True)
class Pair(Ratio):
    """Two levels of a factor, by their places, for one workload: the second by the first.

    `p_value` counts among all pairs of the factor over all workloads (Holm). `beyond_noise` is
    whether the ratio is farther from 1 than that of the control and its copy.
    """

    factor: int
    first: int
    second: int
    beyond_noise: bool

    @property
    def shown(self) -> bool:
        """Whether the two differ: by more than chance, and by more than equal ones do."""
        return super().shown and self.beyond_noise


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One workload judged. Without two whole blocks, or where nothing completed, all is None.

    `control` is the control's copy by the control; `drift` the last place of the order by the
    first.
    """

    rates: Rates
    variance: Variance | None = None
    control: Ratio | None = None
    drift: Ratio | None = None
    pairs: tuple[Pair, ...] = ()

    @property
    def noise_percent(self) -> float:
        """How far the control and its copy are apart."""
        return 0.0 if self.control is None else self.control.percent

    @property
    def control_failed(self) -> bool:
        """Whether the control and its copy differ by more than chance."""
        return self.control is not None and self.control.shown

    @property
    def is_judged(self) -> bool:
        """Whether anything could be judged."""
        return any((self.variance, self.control, self.drift))

    def source(self, *factors: int) -> Source | None:
        """Return what factors add to the variation, None where that was not judged."""
        sources = () if self.variance is None else self.variance.sources
        return next((each for each in sources if each.factors == factors), None)


def judged(all_rates: Sequence[Rates]) -> tuple[Judged, ...]:
    """Return every workload's judgement."""
    alone = [_judged(rates) for rates in all_rates]
    pairs = [pair for each in alone for pair in each.pairs]
    of_factor = {
        factor: _counted([pair for pair in pairs if pair.factor == factor])
        for factor in {pair.factor for pair in pairs}
    }
    controls = _counted([each.control for each in alone if each.control])
    drifts = _counted([each.drift for each in alone if each.drift])
    return tuple(
        replace(
            each,
            # One iterator a factor over all workloads: pairs come out in the order they went in.
            pairs=tuple(next(of_factor[pair.factor]) for pair in each.pairs),
            control=each.control and next(controls),
            drift=each.drift and next(drifts),
        )
        for each in alone
    )


def _counted(ratios: Sequence[R]) -> Iterator[R]:
    """Return the ratios with p-values that count among all of them."""
    p_values = holm([each.p_value for each in ratios])
    return iter([replace(each, p_value=p) for each, p in zip(ratios, p_values, strict=True)])


def _judged(rates: Rates) -> Judged:
    blocks = rates.values.shape[-1]
    # A rate of zero has no logarithm.
    if blocks < 2 or not (rates.values.all() and rates.again.all()):
        return Judged(rates=rates)
    control, drift = _control(rates), _drift(rates)
    if rates.values[..., 0].size == 1:
        return Judged(rates=rates, control=control, drift=drift)
    logs = np.log(rates.values)
    noise = 0.0 if control is None else abs(math.log(control.ratio))
    pairs = []
    for factor, levels in enumerate(logs.shape[:-1]):
        for first, second in combinations(range(levels), 2):
            weights = effects.level_weights(logs.shape[:-1], factor, first, second)
            contrast = effects.contrast(logs, weights)
            pair = Pair(
                factor=factor,
                first=first,
                second=second,
                beyond_noise=abs(contrast.estimate) > noise,
                **vars(_ratio(contrast)),
            )
            pairs.append(pair)
    variance = effects.variance(logs)
    return Judged(rates=rates, variance=variance, control=control, drift=drift, pairs=tuple(pairs))


def _control(rates: Rates) -> Ratio | None:
    """Return the copy by the control itself, over the blocks' pairs."""
    blocks = rates.values.shape[-1]
    if not rates.again.size or rates.control is None:
        return None
    own = rates.values.reshape(-1, blocks)[rates.control]
    both = np.log(np.stack([own, rates.again]))
    return _ratio(effects.contrast(both, np.array([-1.0, 1.0])))


def _drift(rates: Rates) -> Ratio | None:
    blocks = rates.values.shape[-1]
    logs = np.log(rates.values.reshape(-1, blocks))
    places = rates.places.reshape(-1, blocks)
    if rates.again.size:
        # The copy is another cell here: whatever it is, its order shows the drift too.
        logs = np.vstack([logs, np.log(rates.again)])
        places = np.vstack([places, rates.places_again])
    found = effects.drift(logs, places)
    return None if found is None else _ratio(found)


def _ratio(found: Contrast) -> Ratio:
    return Ratio(
        ratio=math.exp(found.estimate),
        low=math.exp(found.low),
        high=math.exp(found.high),
        p_value=found.p_value,
    )


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A difference that a factor makes for a workload: `pair` is the better level by the worse."""

    judged: Judged
    pair: Pair


def effects_of(found: Sequence[Judged]) -> list[Effect]:
    """Return each factor's largest difference that is one, the largest of all first."""
    largest: dict[int, Effect] = {}
    for effect in (effect_of(each, pair) for each in found for pair in each.pairs if pair.shown):
        before = largest.get(effect.pair.factor)
        if before is None or effect.pair.ratio > before.pair.ratio:
            largest[effect.pair.factor] = effect
    return sorted((largest[each] for each in sorted(largest)), key=lambda one: -one.pair.ratio)


def effect_of(judged: Judged, pair: Pair) -> Effect:
    """Return a pair of levels as the better one by the worse."""
    if pair.ratio < 1:
        pair = replace(
            pair,
            first=pair.second,
            second=pair.first,
            ratio=1 / pair.ratio,
            low=1 / pair.high,
            high=1 / pair.low,
        )
    return Effect(judged=judged, pair=pair)


@dataclass(frozen=True, kw_only=True)
class Share:
    """One workload: the chosen configuration's mean rate, the fastest one's and its place.

    `behind` is whether the two differ by more than chance, by more than equal configurations do,
    and by so much that it is seen.
    """

    judged: Judged
    rate: float
    best: float
    best_place: int
    behind: bool


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The configuration with the highest geometric mean of its rates over all workloads, each
    counted alike, by the levels of the factors that are `telling`; and what it is by the slowest.
    """

    place: int
    slowest: int
    times: float
    telling: tuple[int, ...]
    shares: tuple[Share, ...]


def choice_of(found: Sequence[Judged]) -> Choice | None:
    """Return the configuration to choose; None where no factor makes a difference, a workload is
    not judged, or the control fails.
    """
    telling = {effect.pair.factor for effect in effects_of(found)}
    failed = any(each.control_failed for each in found)
    if not telling or failed or any(each.variance is None for each in found):
        return None
    scores = np.mean([np.log(each.rates.values.mean(axis=-1)) for each in found], axis=0)
    idle = tuple(axis for axis in range(scores.ndim) if axis not in telling)
    # Levels of a factor that shows no difference are averaged, or noise would choose among them.
    alone = scores.mean(axis=idle, keepdims=True) + np.zeros_like(scores)
    best, worst = int(np.argmax(alone)), int(np.argmin(alone))
    return Choice(
        place=best,
        slowest=worst,
        times=float(np.exp(scores.reshape(-1)[best] - scores.reshape(-1)[worst])),
        telling=tuple(sorted(telling)),
        shares=tuple(_share(each, best) for each in found),
    )


def _share(judged: Judged, at: int) -> Share:
    blocks = judged.rates.values.shape[-1]
    values = judged.rates.values.reshape(-1, blocks)
    means = values.mean(axis=-1)
    best = int(np.argmax(means))
    found = None if best == at else difference_of(values[at].tolist(), values[best].tolist())
    equal = max(ALIKE_SHARE, judged.noise_percent / 100)
    return Share(
        judged=judged,
        rate=float(means[at]),
        best=float(means[best]),
        best_place=best,
        behind=found is not None and found.shown and means[best] > means[at] * (1 + equal),
    )
