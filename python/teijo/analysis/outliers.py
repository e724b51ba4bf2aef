"""Which of many drives differ from the others: robust scores whose error rate is known for the
number of drives, over all drives and figures together.

Values are logarithms, a row a drive and a column a figure. What a figure is, is not known here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.difference import CONFIDENCE, f_share, holm

Floats = NDArray[np.float64]

LEAST_DRIVES: Final = 6
"""With fewer drives the others do not show how drives scatter."""
FOUND_SHARE: Final = 0.95
"""How often a drive that is off by the least difference that is named would be found."""
CUT: Final = 3.0
"""Values farther from the median than so many robust standard deviations are not in the scale."""
KEPT_SHARE: Final = 0.75
"""At least so many of the values are in the scale, however far from the median."""
LONG_TAILED: Final = 15
"""Single figures are judged as if they scattered like Student's t with so many degrees of freedom:
one answers to a longer time with more than that, and has a longer tail than the normal one's.
"""
_MAD_TO_SIGMA: Final = 1.482602218505602
"""The standard deviation of a normal variable by the median of its absolute deviation."""
_DRAWS: Final = 800_000
_FLEETS_LEAST, _FLEETS_MOST = 2_000, 20_000
_SEED: Final = 20_260_117
_SCORES: Final = np.sinh(np.linspace(0.0, math.asinh(200.0), 160))
"""Scores at which the null distribution is computed: dense near 0, and far enough out."""
_TAIL_STEP: Final = 0.01
_TAIL_FROM, _TAIL_TO = -9.0, 37.0
_LONG_TAIL_TO: Final = 1e5
_LONG_TAIL_PLACES: Final = 6_000
_HALVINGS: Final = 60
_FARTHEST: Final = 1e4
_HALVES: Final = 2
"""Half of the 5 % is that of all figures of a drive together, half that of single figures."""


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """How the values of one column scatter over drives.

    `scale` estimates the standard deviation of one drive, outliers left out; `least` is how far,
    as a logarithm, a drive must be off to be named in 95 of 100 such fleets.
    """

    drives: int
    centre: float
    scale: float
    least: float


@dataclass(frozen=True, kw_only=True)
class Outlier:
    """One drive that differs: in one figure (its column), or in all together (None).

    `deviation` is the logarithm by which it is off the middle of the others, `score` that by
    their scatter. `p_value` is how often a drive that is like the others has such a score;
    `together` how often any drive of such a fleet has one in any figure.
    """

    drive: int
    column: int | None
    deviation: float
    score: float
    p_value: float
    together: float


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """All that was looked at, and what was found, the farthest beyond chance first.

    `levels` are the drives' deviations in all figures together, and `level` their scatter: None
    where there are too few drives. `columns` are the scatters of the single figures.
    """

    levels: tuple[float, ...]
    level: Scatter | None
    columns: tuple[Scatter | None, ...]
    found: tuple[Outlier, ...]

    @property
    def judged(self) -> int:
        """How many figures were judged."""
        return sum(each is not None for each in self.columns)


@dataclass(frozen=True, eq=False)
class Null:
    """What scores come about among drives that all are alike, for one number of them.

    `centres` and `scales` are those of simulated fleets of independent drives of which one lies
    far above; they scatter normally, or with so many `degrees` of freedom of Student's t. Where
    a drive is an outlier it is in neither, so that its own place is independent of both: the share
    of drives beyond a score is a mean over fleets of the tail there, exact however small it is.
    That a drive near the cut may be in the scale makes its score smaller, so that the share is
    never too small.
    """

    centres: Floats
    scales: Floats
    degrees: int | None = None

    @cached_property
    def typical(self) -> float:
        """The scale that drives of standard deviation 1 have on average."""
        return float(self.scales.mean())

    @cached_property
    def _log_shares(self) -> Floats:
        return np.array([math.log(self._beyond(score)) for score in _SCORES])

    def share(self, scores: Floats) -> Floats:
        """Return the share of drives alike whose score is beyond this, either way."""
        # Beyond the last score the share is that of the last: never smaller than it is.
        found = np.exp(np.interp(np.abs(scores), _SCORES, self._log_shares))
        return np.minimum(1.0, found)

    def limit(self, share: float) -> float:
        """Return the score beyond which this share of drives alike lies."""
        assert 0 < share < 1, share
        return float(np.interp(-math.log(share), -self._log_shares, _SCORES))

    def least(self, limit: float) -> float:
        """Return by how many standard deviations a drive must be off to be beyond a score in 95
        of 100 fleets.
        """
        needed = self.centres + limit * self.scales
        low, high = 0.0, _FARTHEST
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            found = 1 - float(np.mean(_tail(middle - needed, self.degrees)))
            low, high = (middle, high) if found < FOUND_SHARE else (low, middle)
        return high

    def _beyond(self, score: float) -> float:
        return 2 * float(np.mean(_tail(self.centres + score * self.scales, self.degrees)))


@cache
def null_of(drives: int, degrees: int | None = None) -> Null:
    """Return what scores so many drives have that all are alike and scatter normally, or as
    Student's t with so many degrees of freedom does.
    """
    assert drives >= LEAST_DRIVES, drives
    fleets = min(_FLEETS_MOST, max(_FLEETS_LEAST, _DRAWS // drives))
    rng, size = np.random.default_rng((_SEED, drives)), (drives, fleets)
    if degrees is None:
        values = rng.standard_normal(size)
    else:
        values = rng.standard_t(degrees, size) / _deviation(degrees)
    values[0] = np.inf
    centres, scales = centre_and_scale(values)
    return Null(centres, scales, degrees)


def centre_and_scale(values: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each column without its outliers.

    Out is what lies farther from the median than 3 times 1.48 of the median absolute deviation,
    but never more than a quarter of the values: of few drives a half that happens to lie close
    together would make outliers of the others. NaN is no value.
    """
    medians = np.nanmedian(values, axis=0)
    distances = np.abs(values - medians)
    known = (~np.isnan(values)).sum(axis=0)
    least = np.ceil(KEPT_SHARE * known).astype(np.int64) - 1
    # NaN is sorted behind all values, and compares as false: it is not kept.
    nearest = np.take_along_axis(np.sort(distances, axis=0), least[None], axis=0)[0]
    cuts = np.maximum(CUT * _MAD_TO_SIGMA * np.nanmedian(distances, axis=0), nearest)
    kept = distances <= cuts
    counts = kept.sum(axis=0)
    means = np.where(kept, values, 0.0).sum(axis=0) / counts
    squares = np.where(kept, values - means, 0.0) ** 2
    return means, np.sqrt(squares.sum(axis=0) / np.maximum(counts - 1, 1))


def outliers_of(
    values: Floats, *, floors: Sequence[float], in_level: Sequence[bool], tested: Sequence[bool]
) -> Outliers:
    """Return which drives differ, (drives, figures) being logarithms and NaN what is missing.

    `floors` says of each figure how far values may be apart and still be equal: their scatter
    counts for no less. `in_level` are the figures whose mean is a drive's level, as far as all
    drives have them; `tested` those that are judged by themselves. That any drive is named in a
    fleet of drives alike, in any figure, is a matter of 5 %: half of it is that of the levels,
    the other half the figures', over all drives and figures by Holm's procedure, whatever the
    dependence of the figures. It holds where levels scatter normally, and figures with no longer
    tails than Student's t with 15 degrees of freedom (logarithms of both).
    """
    drives, figures = values.shape
    assert len(floors) == len(in_level) == len(tested) == figures, "one for each figure"
    counts = np.isfinite(values).sum(axis=0)
    chosen = np.array(in_level, bool) & (counts == drives) & (drives > 0)
    levels = _levels(values[:, chosen])
    none: tuple[Scatter | None, ...] = (None,) * figures
    if drives < LEAST_DRIVES:
        return Outliers(levels=tuple(levels.tolist()), level=None, columns=none, found=())
    places = [at for at in range(figures) if tested[at] and counts[at] >= LEAST_DRIVES]
    tests = sum(int(counts[at]) for at in places)
    columns = list(none)
    found: list[Outlier] = []
    if places:
        columns_at, found = _in_figures(values, floors, places, tests)
        for at, scatter in columns_at.items():
            columns[at] = scatter
    level = None
    if chosen.any():
        floor = float(np.mean(np.array(floors)[chosen]))
        level, of_levels = _column(levels, floor, None, _HALVES * drives)
        together = np.minimum(1.0, _HALVES * np.array(holm([each.p_value for each in of_levels])))
        found += _named(of_levels, together.tolist())
    return Outliers(
        levels=tuple(levels.tolist()),
        level=level,
        columns=tuple(columns),
        found=tuple(sorted(found, key=lambda each: (each.together, each.p_value))),
    )


def _levels(values: Floats) -> Floats:
    """Return each drive's mean over figures of how far it is off the figure's median."""
    if not values.shape[1]:
        return np.zeros(values.shape[0])
    means: Floats = np.mean(values - np.median(values, axis=0), axis=1)
    return means


def _in_figures(
    values: Floats, floors: Sequence[float], places: Sequence[int], tests: int
) -> tuple[dict[int, Scatter], list[Outlier]]:
    """Return the scatter of each figure, and the drives that differ in one."""
    columns: dict[int, Scatter] = {}
    looked: list[Outlier] = []
    for at in places:
        columns[at], scored = _column(values[:, at], floors[at], at, _HALVES * tests)
        looked += scored
    together = holm([each.p_value for each in looked])
    return columns, _named(looked, [min(1.0, _HALVES * each) for each in together])


def _column(
    values: Floats, floor: float, column: int | None, tests: int
) -> tuple[Scatter, list[Outlier]]:
    """Return how a column scatters, and each drive's score, not yet counted among all."""
    known = np.flatnonzero(np.isfinite(values))
    null = null_of(known.size, None if column is None else LONG_TAILED)
    centres, scales = centre_and_scale(values[known, None])
    centre = float(centres[0])
    scale = max(float(scales[0]), floor * null.typical)
    deviations = values[known] - centre
    scores = deviations / scale if scale else np.zeros(known.size)
    shares = null.share(scores)
    sigma = scale / null.typical
    scatter = Scatter(
        drives=known.size,
        centre=centre,
        scale=sigma,
        least=sigma * _least(null, tests),
    )
    return scatter, [
        Outlier(drive=int(at), column=column, deviation=float(off), score=float(score),
                p_value=float(share), together=1.0)
        for at, off, score, share in zip(known, deviations, scores, shares, strict=True)
    ]  # fmt: skip


@cache
def _least(null: Null, tests: int) -> float:
    """Return by how many standard deviations the first of so many must be off."""
    return null.least(null.limit((1 - CONFIDENCE) / tests))


def _named(looked: Sequence[Outlier], together: Sequence[float]) -> list[Outlier]:
    """Return those that differ, with how they count among all."""
    return [
        Outlier(**(vars(each) | {"together": share}))
        for each, share in zip(looked, together, strict=True)
        if share < 1 - CONFIDENCE
    ]


def _deviation(degrees: int) -> float:
    """Return the standard deviation of Student's t."""
    return math.sqrt(degrees / (degrees - 2))


@cache
def _log_tail(degrees: int | None) -> tuple[Floats, Floats]:
    """Return the logarithm of the share above each of many places, of a variable of standard
    deviation 1: normal, or Student's t.
    """
    if degrees is None:
        places = np.arange(_TAIL_FROM, _TAIL_TO + _TAIL_STEP / 2, _TAIL_STEP)
        shares = [math.erfc(place / math.sqrt(2)) / 2 for place in places]
    else:
        end = math.asinh(_LONG_TAIL_TO)
        places = np.sinh(np.linspace(-end, end, _LONG_TAIL_PLACES))
        shares = [_student_tail(place * _deviation(degrees), degrees) for place in places]
    return places, np.log(np.array(shares))


def _student_tail(t: float, degrees: int) -> float:
    """Return the share of Student's t above a place."""
    beyond = f_share(t * t, 1, degrees) / 2
    return beyond if t > 0 else 1 - beyond


def _tail(places: Floats, degrees: int | None) -> Floats:
    """Return the share above each place, to 1e-5 of it: its logarithm is nearly straight."""
    known, logs = _log_tail(degrees)
    found: Floats = np.exp(np.interp(places, known, logs))
    return found
