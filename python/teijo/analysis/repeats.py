"""What one run of a device says of the next: how well its level is known, and how many more runs
it takes to tell two devices apart.

A run shows how its rounds scatter. That they resemble their neighbours cannot be seen in five of
them, and how far the next run lies (another purge, another day) in none; so both are allowed for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from teijo.analysis.difference import (
    CONFIDENCE,
    Level,
    level_of,
    relative_variance,
    student_t_limit,
)
from teijo.analysis.replicates import Estimate

LIKENESS = 0.8
"""The autocorrelation of neighbouring samples that is allowed for where it cannot be measured."""
LEVEL_SHARE = 0.1
"""How far a run's level may lie from that of the next: the standard calls rounds steady that keep
within ±10 % of their mean, and so sees no difference within that (PTS 2.0.2 §2.1.24)."""
TOLERANCE = math.log((1 + LEVEL_SHARE) / (1 - LEVEL_SHARE))
"""How far two single runs of one device may lie apart, as a logarithm: one at either end."""
SHOWN_SHARE = 0.8
"""How often the number of runs that is named shows a difference of the size that was found."""
RUNS_MOST = 100


@dataclass(frozen=True, kw_only=True)
class Needed:
    """How many runs a side would show a difference: `more` than the one there is.

    `level_share` is how far a run's level is known from its rounds, as one standard error of the
    less certain side; `runs` is None where even 100 a side would not do.
    """

    runs: int | None
    level_share: float

    @property
    def more(self) -> int | None:
        """How many are missing on each side."""
        return None if self.runs is None else self.runs - 1


def level_of_run(batches: Sequence[float], samples_per_batch: int) -> Level | None:
    """Return the level of one run from batches of neighbouring samples; None for fewer than two.

    The variance of the mean and its freedom are those of a series of autocorrelation 0.8, by the
    eigenvalues of its batches' covariance: the scatter of few such batches is too small, and the
    mean of them is less certain than that of independent ones.
    """
    naive = level_of(batches)
    if naive is None:
        return None
    factor, freedom = resemblance(len(batches), samples_per_batch)
    return Level(mean=naive.mean, squared_error=naive.squared_error * factor, freedom=freedom)


def estimate_of_run(batches: Sequence[float], samples_per_batch: int = 1) -> Estimate | None:
    """Return the mean of neighbouring samples of one run, with an interval that allows for their
    likeness; None for none. See `level_of_run`.
    """
    level = level_of_run(batches, samples_per_batch)
    if level is None:
        count = len(batches)
        mean = math.fsum(batches) / count if count else 0.0
        return Estimate(mean=mean, low=None, high=None, count=count) if count else None
    reach = student_t_limit(1 - CONFIDENCE, level.freedom) * math.sqrt(level.squared_error)
    factor = math.exp(reach)
    return Estimate(
        mean=level.mean, low=level.mean / factor, high=level.mean * factor, count=len(batches)
    )


def levels_beside(single: Sequence[float], several: Sequence[float]) -> tuple[Level, Level] | None:
    """Return the levels of one run and of several, whose scatter is taken for that of both.

    All that is unknown of the two is in the first: it is one scatter, so it has its freedom once.
    What the one run's own rounds say may widen it. None where either has no level above zero.
    """
    level = level_of(several)
    mean = math.fsum(single) / len(single) if single else 0.0
    if level is None or min(several) <= 0 or mean <= 0:
        return None
    own = level_of_run(single, 1)
    alone = max(relative_variance(several), 0.0 if own is None else own.squared_error)
    squared_error = alone + level.squared_error
    return (
        Level(mean=mean, squared_error=squared_error, freedom=level.freedom),
        Level(mean=level.mean, squared_error=0.0, freedom=level.freedom),
    )


@cache
def resemblance(count: int, samples: int, likeness: float = LIKENESS) -> tuple[float, float]:
    """Return by what the squared standard error of `count` batches is too small where their
    samples are a series of this autocorrelation, and the freedom that is left of count − 1.

    `samples` is the length of a batch. The freedom is Satterthwaite's, of the quadratic form that
    the variance of the batches is.
    """
    assert count >= 2, count
    assert samples >= 1, samples
    covariance = _batch_covariance(count, samples, likeness)
    centred = covariance - covariance.mean(axis=0)
    expected = float(np.trace(centred)) / (count - 1)
    factor = float(covariance.mean()) * count / expected
    freedom = float(np.trace(centred)) ** 2 / float(np.trace(centred @ centred))
    return factor, freedom


def runs_needed(*, ratio: float, first: Level, second: Level, figures: int) -> Needed:
    """Return how many runs a side would show the ratio, if runs scatter as each level is known.

    The fewest, two at least, at which Welch's t over equal runs, judged together with so many
    figures, shows it four times in five: |log ratio| ≥ (t(1 − α/2) + t(0.8)) · √(e₁² + e₂²) / √n
    with α = 5 % over the figures and 2(n − 1) degrees of freedom.
    """
    assert figures >= 1, figures
    distance = abs(math.log(ratio))
    error = math.sqrt(first.squared_error + second.squared_error)
    share = math.sqrt(max(first.squared_error, second.squared_error))
    for runs in range(2, RUNS_MOST + 1):
        if distance >= _limits(runs, figures) * error / math.sqrt(runs):
            return Needed(runs=runs, level_share=share)
    return Needed(runs=None, level_share=share)


@cache
def _limits(runs: int, figures: int) -> float:
    """Return how many standard errors so many runs a side need among so many figures."""
    freedom = 2 * (runs - 1)
    # Holm's hardest step: the smallest of so many p-values counts that many times.
    alone = student_t_limit((1 - CONFIDENCE) / figures, freedom)
    # The limit is of both tails, and a difference is missed in one of them.
    return alone + student_t_limit(2 * (1 - SHOWN_SHARE), freedom)


def _batch_covariance(count: int, samples: int, likeness: float) -> np.ndarray:
    """Return the covariance of the means of neighbouring batches, a sample's variance being 1."""
    places = np.arange(samples)
    apart = likeness ** np.abs(places[:, None] - places[None, :])
    found = np.eye(count) * float(apart.mean())
    # Batches k apart: the sum over a batch is geometric, and its end is (k − 1) batches away.
    edge = likeness * float((likeness**places).sum() / samples) ** 2
    steps = np.arange(count)
    gaps = np.abs(steps[:, None] - steps[None, :])
    beside = edge * likeness ** (samples * np.maximum(gaps - 1, 0))
    return found + np.where(gaps > 0, beside, 0.0)
