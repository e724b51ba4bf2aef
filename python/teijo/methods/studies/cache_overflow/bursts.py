"""The bursts of the study: their steps, when each ends, and what is read off their answers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from teijo import units
from teijo.analysis.overflow import Overflow, Series
from teijo.analysis.overflow_proof import Again, has_settled, rest_that_tells
from teijo.analysis.written import Points, points_of, written_series
from teijo.methods.rounds import Exchange
from teijo.methods.studies.cache_overflow.settings import (
    SAMPLES_A_STEP,
    OverflowSettings,
    stimulus_name,
)
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Idle, Measure, Purge

BURST: Final = "burst"
REST: Final = "rest"

Stop = Literal["level", "volume", "time"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Burst(Again):
    """One burst, with its series in times and volumes of the full-size device, what ended it, and
    the latencies of its writes. The rest before the first burst is 0.
    """

    number: int
    series: Series
    latency_ns_mean: float
    latency_ns_max: int
    stop: Stop | None

    @cached_property
    def points(self) -> Points:
        """The series as it is drawn."""
        return points_of(self.series, self.overflow)

    @property
    def longest_stall_s(self) -> float | None:
        """The longest stretch in which next to nothing was written; None without one."""
        return max((stall.length_s for stall in self.overflow.stalls), default=None)


def next_piece(
    settings: OverflowSettings,
    geometry: Geometry,
    series: Series,
    *,
    number: int,
    samples_most: int,
) -> Measure:
    """Return the next piece of a burst: ten samples, or what is left of its bounds.

    What is left of the volume is counted in samples at the last piece's rate, and nothing is known
    of that before the first sample: a burst goes beyond its volume by little more than a sample.
    """
    samples, done = 1, series.lengths_s.size
    if done:
        left = samples_most - done
        last = float(series.written_bytes[-SAMPLES_A_STEP:].mean())
        still = settings.limit_bytes(geometry) - float(series.written_bytes.sum())
        if last > 0:
            left = min(left, math.ceil(still / last))
        samples = max(1, min(SAMPLES_A_STEP, left))
    sample_ns = settings.scaled_ns(settings.sample_ns, geometry)
    return Measure(
        workload=settings.workload,
        duration_ns=samples * sample_ns,
        phase=BURST,
        round_number=number,
        cell=stimulus_name(settings),
        open_ended=True,
        interval_ns=sample_ns,
        continues=bool(done),
    )


def why_stop(
    settings: OverflowSettings, geometry: Geometry, series: Series, *, samples_most: int
) -> Stop | None:
    """Return what ends a burst that has written this, None if it goes on."""
    if not series.lengths_s.size:
        return None
    if float(series.written_bytes.sum()) >= settings.limit_bytes(geometry):
        return "volume"
    flat = settings.flat_samples
    if flat is not None and has_settled(series, flat):
        return "level"
    return "time" if series.lengths_s.size >= samples_most else None


def rests_after(settings: OverflowSettings, first: Overflow | None) -> tuple[tuple[int, ...], int]:
    """Return the rests after the first burst in ns, and how many samples a burst after one of them
    has at most.

    Where none is set, one rest and a shorter burst tell whether a cache overflowed, if any would.
    """
    rests_ns, most = settings.rests_ns, settings.samples_most
    if settings.proof == "off" or rests_ns or first is None:
        return rests_ns, most
    sample_s, most_s = (each / units.NS_PER_S for each in (settings.sample_ns, settings.most_ns))
    proof = rest_that_tells(first.cliff, sample_s=sample_s, most_s=most_s)
    return ((round(proof.seconds * units.NS_PER_S),), proof.samples) if proof else ((), most)


def series_of(
    settings: OverflowSettings, geometry: Geometry, answers: Sequence[StepResult]
) -> Series:
    """Return the series of these pieces, in seconds and bytes of the full-size device."""
    return written_series(
        answers,
        sample_ns=settings.scaled_ns(settings.sample_ns, geometry),
        block_bytes=settings.block_size_bytes,
        scale=geometry.scale,
    )


def pieces_of(
    exchanges: Iterable[Exchange],
) -> tuple[dict[int, list[StepResult]], dict[int, int]]:
    """Return each burst's answers since the last purge or gap, and the rest before it in ns."""
    pieces: dict[int, list[StepResult]] = {}
    rests: dict[int, int] = {}
    for step, answer in exchanges:
        if isinstance(step, Purge) or isinstance(answer, Gap):
            pieces.clear()
            rests.clear()
        elif isinstance(step, Measure):
            pieces.setdefault(step.round_number or 1, []).append(answer)
        elif isinstance(step, Idle):
            rests[(step.round_number or 1) + 1] = answer.elapsed_ns
    return pieces, rests
