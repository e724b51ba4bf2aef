"""Write saturation (PTS WSAT): the fresh plateau, the settled level, and the way between them.

Works on one sample per minute of the method; says nothing about PTS steady state, which
`steady_state` determines from check minutes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

PLATEAU_SHARE = 0.90
LEVEL_SHARE = 0.20
LEVEL_SAMPLES_LEAST = 5
SETTLED_SHARE = 0.10
SMOOTH_SAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One minute: its IOPS, and what had been written by its end since the first began."""

    iops: float
    written_bytes: int


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """What a curve of samples shows. Counts are of samples from the first.

    `plateau_samples`: the longest leading run in which no sample is below 90 % of the highest
    before it or of itself; `plateau_iops` its mean (FOB). `peak_iops`: the highest sample.
    `level_iops`: the mean of the last fifth of the samples, at least five; None below ten
    samples. `settled_samples`: how many samples went by before the curve, smoothed by a moving
    mean of five, came within 10 % of that level to stay; None where that happens only in the
    stretch that the level is taken from, so that nothing was seen to last.
    """

    samples: int
    plateau_samples: int
    plateau_iops: float
    plateau_bytes: int
    peak_iops: float
    level_iops: float | None
    settled_samples: int | None
    settled_bytes: int | None


def saturation_of(samples: Sequence[Sample]) -> Saturation | None:
    """Return what the curve shows, None for no samples."""
    if not samples:
        return None
    iops = [sample.iops for sample in samples]
    plateau = _plateau_samples(iops)
    level = _level(iops)
    settled = None if level is None else _settled_samples(iops, level)
    at = None if settled is None else samples[settled - 1] if settled else None
    return Saturation(
        samples=len(samples),
        plateau_samples=plateau,
        plateau_iops=math.fsum(iops[:plateau]) / plateau,
        plateau_bytes=samples[plateau - 1].written_bytes,
        peak_iops=max(iops),
        level_iops=level,
        settled_samples=settled,
        settled_bytes=None if settled is None else at.written_bytes if at else 0,
    )


def _plateau_samples(iops: Sequence[float]) -> int:
    highest = 0.0
    for place, value in enumerate(iops):
        highest = max(highest, value)
        if value < PLATEAU_SHARE * highest:
            return place
    return len(iops)


def _level_samples(count: int) -> int:
    return max(LEVEL_SAMPLES_LEAST, math.ceil(count * LEVEL_SHARE))


def _level(iops: Sequence[float]) -> float | None:
    if len(iops) < 2 * LEVEL_SAMPLES_LEAST:
        return None
    tail = iops[-_level_samples(len(iops)) :]
    return math.fsum(tail) / len(tail)


def _settled_samples(iops: Sequence[float], level: float) -> int | None:
    smooth = [
        math.fsum(iops[place : place + SMOOTH_SAMPLES]) / SMOOTH_SAMPLES
        for place in range(len(iops) - SMOOTH_SAMPLES + 1)
    ]
    settled = len(smooth)
    while settled and abs(smooth[settled - 1] - level) <= SETTLED_SHARE * level:
        settled -= 1
    return settled if settled < len(iops) - _level_samples(len(iops)) else None
