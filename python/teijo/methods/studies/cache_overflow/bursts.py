"""The bursts of the study: their steps, when each ends, and what is read off their answers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo import units
from teijo.analysis.overflow import Overflow, Series
from teijo.analysis.overflow_proof import Again, Rest, has_settled, rest_that_tells
from teijo.analysis.written import written_series
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
class Burst:
    """One burst: the rest before it (0 for the first) and its series, in times and volumes of the
    full-size device, what the series shows, and the latencies of its writes.
    """

    number: int
    rest_s: float
    series: Series
    overflow: Overflow
    latency_ns_mean: float
    latency_ns_max: int
    stop: Stop | None

    @property
    def again(self) -> Again:
        """The burst as one after a rest."""
        return Again(rest_s=self.rest_s, overflow=self.overflow, ended=self.stop is not None)


def piece(settings: OverflowSettings, geometry: Geometry, burst: int, samples: int) -> Measure:
    """Return the first piece of a burst, so many samples long."""
    sample_ns = settings.scaled_ns(settings.sample_ns, geometry)
    return Measure(
        workload=settings.workload,
        duration_ns=samples * sample_ns,
        phase=BURST,
        round_number=burst,
        cell=stimulus_name(settings),
        open_ended=True,
        interval_ns=sample_ns,
    )


def samples_next(
    settings: OverflowSettings, geometry: Geometry, series: Series, *, samples_most: int
) -> int:
    """Return how many samples the next piece of a burst has: ten, or what is left of its bounds.

    What is left of the volume is counted in samples at the last piece's rate, and nothing is known
    of that before the first sample: a burst goes beyond its volume by little more than a sample.
    """
    if not series.lengths_s.size:
        return 1
    left = samples_most - series.lengths_s.size
    last = float(series.written_bytes[-SAMPLES_A_STEP:].mean())
    still = settings.limit_bytes(geometry) - float(series.written_bytes.sum())
    if last > 0:
        left = min(left, math.ceil(still / last))
    return max(1, min(SAMPLES_A_STEP, left))


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


def proof_of(settings: OverflowSettings, first: Overflow | None) -> Rest | None:
    """Return the rest that tells a cache after this first burst; None where rests are asked for
    anyway, or where none would tell.
    """
    if settings.proof == "off" or settings.rests_ns or first is None:
        return None
    sample_s, most_s = (each / units.NS_PER_S for each in (settings.sample_ns, settings.most_ns))
    return rest_that_tells(first.cliff, sample_s=sample_s, most_s=most_s)


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
