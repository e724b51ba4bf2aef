"""What was written by when: a series read off answers, and thinned out for a drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis.change_point import Floats
from teijo.analysis.overflow import Overflow, Series
from teijo.terms.result import StepResult

POINTS_MOST: Final = 1440
POINTS_LEAST: Final = 60
BLOCKS_A_POINT: Final = 16
"""A point of fewer I/Os goes up and down with each of them."""
DRAWN_MOST: Final = 2.0
"""What is faster than so many times the rate before the overflow is drawn as that."""


def written_series(
    answers: Sequence[StepResult], *, sample_ns: int, block_size_bytes: int, scale: float
) -> Series:
    """Return the series of consecutive writes in samples of this length, times `scale`: in seconds
    and bytes of the full-size device.

    What an answer completed after its time belongs to its last sample. An engine that keeps no
    series, and a device on paper, wrote evenly.
    """
    lengths: list[Floats] = [np.zeros(0)]
    written: list[Floats] = [np.zeros(0)]
    for answer in answers:
        count = max(1, round(answer.elapsed_ns / sample_ns))
        length = np.full(count, float(sample_ns))
        length[-1] = answer.elapsed_ns - sample_ns * (count - 1)  # so that all add up to the time
        lengths.append(length)
        written.append(_written(answer, length))
    return Series(
        lengths_s=np.concatenate(lengths) * (scale / units.NS_PER_S),
        written_bytes=np.concatenate(written) * scale,
        block_size_bytes=block_size_bytes * scale,
    )


def _written(answer: StepResult, lengths: Floats) -> Floats:
    total = np.zeros(lengths.size)
    for part in answer.of("write"):
        if part.intervals is None or not part.intervals.index.size:
            total += part.moved_bytes * lengths / lengths.sum()
            continue
        places = np.minimum(part.intervals.index, lengths.size - 1)
        np.add.at(total, places, part.intervals.bytes)
    return total


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """A series thinned out: at the end of each point, s, GB, MB/s, and the mean since the start.

    `drawn_mb_s` are the rates, those above `most_mb_s` cut off there; None where none is. A point
    is the mean of `joined` samples.
    """

    ends_s: Floats
    totals_gb: Floats
    rates_mb_s: Floats
    means_mb_s: Floats
    drawn_mb_s: Floats
    most_mb_s: float | None
    joined: int


def points_of(series: Series, overflow: Overflow) -> Points:
    """Return the series in at most 1440 points."""
    joined, cliff = _joined(series, overflow), overflow.cliff
    firsts = np.arange(0, series.lengths_s.size, joined)
    lengths = np.add.reduceat(series.lengths_s, firsts)
    written = np.add.reduceat(series.written_bytes, firsts)
    ends, totals = np.cumsum(lengths), np.cumsum(written)
    rates = written / lengths / units.MEGA
    most = np.inf if cliff is None else DRAWN_MOST * cliff.before.value / units.MEGA
    return Points(
        ends_s=ends,
        totals_gb=totals / units.GIGA,
        rates_mb_s=rates,
        means_mb_s=totals / ends / units.MEGA,
        drawn_mb_s=np.minimum(rates, most),
        most_mb_s=float(most) if bool(rates.max() > most) else None,
        joined=joined,
    )


def _joined(series: Series, overflow: Overflow) -> int:
    """Return how many samples make a point: few points, and enough I/Os in each to be smooth."""
    samples = series.lengths_s.size
    least = -(-samples // POINTS_MOST)
    slowest = overflow.rate if overflow.cliff is None else overflow.cliff.after
    blocks = slowest.value * float(np.median(series.lengths_s)) / series.block_size_bytes
    smooth = math.ceil(BLOCKS_A_POINT / blocks) if blocks else 1
    return max(1, least, min(smooth, samples // POINTS_LEAST))
