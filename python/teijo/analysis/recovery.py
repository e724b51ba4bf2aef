"""Recovery: of a throughput after another stimulus (PTS XSR), and from idle time (PTS HIR).

Works on series of samples in order; where they come from is not known here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from teijo.analysis.difference import CONFIDENCE, five_batches, student_t_limit
from teijo.analysis.mean import Mean
from teijo.analysis.repeats import resemblance

KEPT_SHARE = 0.95
SMOOTH_SAMPLES = 5
BATCHES_MOST = 20


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """How a series came back to an earlier one, in the unit of both.

    `reference` is the mean of the whole earlier series, and `recovered_samples` how many samples
    it took until one was not below it: the standard's figure (PTS XSR), None where none was.

    The rest is ours, for an earlier series that begins fresh and fast, and for a single lucky
    sample: `level` is the mean of the earlier series' end, `regained_samples` how many samples
    it took until one from which on every moving mean of five is at least 95 % of that level, None
    where the series never stays there; `end_share` is the mean of the later series' end by it.
    """

    samples: int
    reference: float
    recovered_samples: int | None
    highest: float
    level: float
    regained_samples: int | None
    end_share: float


def recovery_of(
    before: Sequence[float], after: Sequence[float], level_samples: int
) -> Recovery | None:
    """Return how `after` came back to `before`; None where either is empty.

    Both ends are the last `level_samples` of their series, or all of a shorter one.
    """
    assert level_samples >= 1, level_samples
    if not before or not after:
        return None
    reference = fmean(before)
    level = fmean(before[-level_samples:])
    return Recovery(
        samples=len(after),
        reference=reference,
        recovered_samples=next(
            (place for place, value in enumerate(after, start=1) if value >= reference), None
        ),
        highest=max(after),
        level=level,
        regained_samples=_regained_samples(after, level),
        end_share=fmean(after[-level_samples:]) / level if level else 0.0,
    )


def _regained_samples(after: Sequence[float], level: float) -> int | None:
    """Return the sample, counted from 1, after which no moving mean of five is too low."""
    begin = len(after) - SMOOTH_SAMPLES
    while begin >= 0 and fmean(after[begin : begin + SMOOTH_SAMPLES]) >= KEPT_SHARE * level:
        begin -= 1
    # The loop ends at the last stretch that is too low: the next one, counted from 1.
    regained = begin + 2
    return regained if regained <= len(after) - SMOOTH_SAMPLES + 1 else None


@dataclass(frozen=True, kw_only=True)
class Gain:
    """One mean against another: 0.25 is a quarter more. `low` and `high` bound it at 95 %."""

    share: float
    low: float | None
    high: float | None


def mean_of(samples: Sequence[float]) -> Mean | None:
    """Return the mean of consecutive samples, None for none.

    The interval is Student's t over five long batches, as wide as neighbours with an
    autocorrelation of 0.8 make it (`repeats.resemblance`). Of twenty short batches, or fifteen
    single minutes, it would be far too narrow as soon as neighbours resemble each other. What
    fills no batch is in the mean only.
    """
    if not samples:
        return None
    means = five_batches(samples)
    if not means:
        return Mean(value=fmean(samples), half_width=None)
    centre = fmean(means)
    variance = math.fsum((mean - centre) ** 2 for mean in means) / (len(means) - 1)
    factor, freedom = resemblance(len(means), len(samples) // len(means))
    error = math.sqrt(factor * variance / len(means))
    half_width = student_t_limit(1 - CONFIDENCE, freedom) * error
    return Mean(value=fmean(samples), half_width=half_width)


def batch_means(samples: Sequence[float]) -> list[float]:
    """Return the means of at most 20 equal batches in order, to be drawn: an interval has five.

    An incomplete last one is left out.
    """
    batches = min(BATCHES_MOST, len(samples))
    length = len(samples) // batches if batches else 0
    return [fmean(samples[place * length : (place + 1) * length]) for place in range(batches)]


def gain_of(raised: Mean, baseline: Mean) -> Gain | None:
    """Return how far one mean lies above another, None of nothing.

    The interval treats the two as independent and their quotient as linear nearby (the delta
    method), so it is for means that are known to a few percent.
    """
    if baseline.value <= 0:
        return None
    ratio = raised.value / baseline.value
    if raised.half_width is None or baseline.half_width is None:
        return Gain(share=ratio - 1, low=None, high=None)
    half_width = math.hypot(raised.half_width, ratio * baseline.half_width) / baseline.value
    return Gain(share=ratio - 1, low=ratio - 1 - half_width, high=ratio - 1 + half_width)
