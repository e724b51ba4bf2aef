"""The bursts of the study: their steps, when each ends, and what is read off their answers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.overflow import Overflow, Series, overflow_of
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
class Burst:
    """One burst by the answers of its pieces, of at most so many samples, whole or under way.

    Times and volumes are those of the full-size device. The rest before the first burst is 0.
    """

    settings: OverflowSettings
    geometry: Geometry
    number: int
    samples_most: int
    rest_s: float = 0.0
    answers: tuple[StepResult, ...] = ()

    @cached_property
    def series(self) -> Series:
        """What was written by when."""
        return written_series(
            self.answers,
            sample_ns=self._sample_ns,
            block_size_bytes=self.settings.block_size_bytes,
            scale=self.geometry.scale,
        )

    @cached_property
    def overflow(self) -> Overflow:
        """What the series shows, once there is a piece."""
        overflow = overflow_of(self.series)
        assert overflow is not None, "a burst has a piece"
        return overflow

    @property
    def again(self) -> Again:
        """What it shows of a cache, as one after a rest."""
        return Again(rest_s=self.rest_s, overflow=self.overflow, ended=self.stop is not None)

    @cached_property
    def points(self) -> Points:
        """The series as it is drawn."""
        return points_of(self.series, self.overflow)

    @property
    def longest_stall_s(self) -> float | None:
        """The longest stretch in which next to nothing was written; None without one."""
        return max((stall.length_s for stall in self.overflow.stalls), default=None)

    @property
    def latency_ns_max(self) -> int:
        """The longest latency of a write."""
        return max(measures.latency_ns_max(answer) for answer in self.answers)

    @property
    def latency_ns_mean(self) -> float:
        """The mean latency of the writes."""
        timed = [part.timed for answer in self.answers for part in answer.results]
        # Over I/Os and not over pieces: a piece within a stall has few.
        count = sum(part.count for part in timed)
        return sum(part.sum_ns for part in timed) / count if count else 0.0

    @property
    def samples(self) -> int:
        """How many samples were measured."""
        return self.series.lengths_s.size

    @cached_property
    def stop(self) -> Stop | None:
        """What ends it, None as long as it goes on."""
        flat = self.settings.flat_samples
        if not self.samples:
            return None
        if self._left_bytes <= 0:
            return "volume"
        if flat is not None and has_settled(self.series, flat):
            return "level"
        return "time" if self.samples >= self.samples_most else None

    def next_piece(self) -> Measure:
        """Return its next piece: ten samples, or what is left of its bounds.

        What is left of the volume is counted in samples at the last piece's rate, and nothing is
        known of that before the first sample: it goes beyond its volume by little more than one.
        """
        count = 1
        if self.samples:
            left = self.samples_most - self.samples
            last = float(self.series.written_bytes[-SAMPLES_A_STEP:].mean())
            if last > 0:
                left = min(left, math.ceil(self._left_bytes / last))
            count = max(1, min(SAMPLES_A_STEP, left))
        return Measure(
            workload=self.settings.workload,
            duration_ns=count * self._sample_ns,
            phase=BURST,
            round_number=self.number,
            cell=stimulus_name(self.settings),
            # I/O stays in flight from piece to piece: a cache would drain in a pause.
            open_ended=True,
            interval_ns=self._sample_ns,
            continues=bool(self.answers),
        )

    @property
    def _sample_ns(self) -> int:
        return self.settings.scaled_ns(self.settings.sample_ns, self.geometry)

    @property
    def _left_bytes(self) -> float:
        return self.settings.limit_bytes(self.geometry) - float(self.series.written_bytes.sum())


def first_burst(settings: OverflowSettings, geometry: Geometry) -> Burst:
    """Return the first burst before its first piece."""
    most = settings.samples_most
    return Burst(settings=settings, geometry=geometry, number=1, samples_most=most)


def rests_after(settings: OverflowSettings, first: Overflow) -> tuple[tuple[int, ...], int]:
    """Return the rests after the first burst in ns, and how many samples a burst after one of them
    has at most.

    Where none is set, one rest and a shorter burst show whether a cache overflowed, if any would.
    """
    rests_ns, most = settings.rests_ns, settings.samples_most
    if settings.proof == "off" or rests_ns:
        return rests_ns, most
    sample_s, most_s = (each / units.NS_PER_S for each in (settings.sample_ns, settings.most_ns))
    proof = rest_that_tells(first.cliff, sample_s=sample_s, most_s=most_s)
    return ((round(proof.seconds * units.NS_PER_S),), proof.samples) if proof else ((), most)


def bursts_of(
    settings: OverflowSettings, geometry: Geometry, exchanges: Iterable[Exchange]
) -> tuple[Burst, ...]:
    """Return the bursts since the last purge or gap, the one under way among them."""
    pieces: dict[int, list[StepResult]] = {}
    rests: dict[int, float] = {}
    for step, answer in exchanges:
        # In a gap a cache drains for an unknown time, so the study begins again.
        if isinstance(step, Purge) or isinstance(answer, Gap):
            pieces.clear()
            rests.clear()
        elif isinstance(step, Measure):
            pieces.setdefault(step.round_number or 1, []).append(answer)
        elif isinstance(step, Idle):
            rest_s = answer.elapsed_ns * geometry.scale / units.NS_PER_S
            rests[(step.round_number or 1) + 1] = rest_s
    bursts: list[Burst] = []
    begun = first_burst(settings, geometry)
    for number, answers in pieces.items():
        if len(bursts) == 1:
            # A burst that only proves a cache is shorter than the first.
            _, most = rests_after(settings, bursts[0].overflow)
            begun = replace(begun, samples_most=most)
        rest_s = rests.get(number, 0.0)
        bursts.append(replace(begun, number=number, rest_s=rest_s, answers=tuple(answers)))
    return tuple(bursts)
