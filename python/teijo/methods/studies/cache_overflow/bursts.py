"""The bursts of the study: their steps, when each ends, their series, and what those show."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.change_point import Floats
from teijo.analysis.overflow import Overflow, Series, fluid_bytes, overflow_of
from teijo.analysis.recovery import Gain, Mean, gain_of
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
FALL_SHARE: Final = 0.20
LEVEL_SHARE: Final = 0.10
LOOKED_AT_MOST: Final = 400
TURNS_ENOUGH: Final = 4
GONE_SHARE: Final = 0.80
"""A burst that is slower than this share of the first one's speed from its start finds a full
cache."""

DRAINED_SHARE: Final = 0.10
"""The rest is as long as the model needs to drain this share of the cache, or longer, so that
what it brings back is seen."""
FAST_SAMPLES: Final = 10
"""What a rest brings back is written in so many samples at least, if the cache holds as much."""
TOLD_SAMPLES: Final = 5
"""In fewer it is not told from a full cache."""
SLOW_SAMPLES: Final = 60
"""How long the burst goes on after what the rest should bring back."""

Stop = Literal["level", "volume", "time"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Burst:
    """One burst: the rest before it (ns of this device, 0 for the first), its series in volumes and
    times of the full-size device, the latencies of its writes, and what the series shows.
    """

    number: int
    rest_ns: int
    series: Series
    latency_ns_mean: float
    latency_ns_max: int
    overflow: Overflow
    stop: Stop | None


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What a rest brought back: cache of a later burst by that of the first, both in bytes.

    `gain` compares the two with its interval; its share is 0 where all came back. `drained_bytes`
    is what the model has drained in the rest: μ × rest, at most all. Rates before and after the
    fall are compared with the first burst's, None where one of the bursts has none.
    """

    held: Mean
    gain: Gain | None
    drained_bytes: float
    before: Gain | None
    after: Gain | None


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The rest that should bring back a part of the cache, in ns of the full-size device, and how
    many samples the burst after it has at most.
    """

    rest_ns: int
    samples: int


def piece(settings: OverflowSettings, geometry: Geometry, burst: int, samples: int) -> Measure:
    """Return the first piece of a burst; `going_on` are the others."""
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
    settings: OverflowSettings,
    geometry: Geometry,
    answers: Sequence[StepResult],
    *,
    most: int | None = None,
) -> int:
    """Return how many samples the next piece of a burst has: ten, or what is left of its bounds.

    What is left of the volume is told in samples at the last piece's rate, and nothing is known of
    that before the first sample: a burst goes beyond its volume by little more than a sample.
    """
    if not answers:
        return 1
    series = series_of(settings, geometry, answers)
    left = (most or settings.samples_most) - series.lengths_s.size
    last = float(series.written_bytes[-SAMPLES_A_STEP:].mean())
    still = settings.limit_bytes(geometry) - float(series.written_bytes.sum())
    if last > 0:
        left = min(left, math.ceil(still / last))
    return max(1, min(SAMPLES_A_STEP, left))


def why_stop(
    settings: OverflowSettings,
    geometry: Geometry,
    answers: Sequence[StepResult],
    *,
    most: int | None = None,
) -> Stop | None:
    """Return what ends a burst after these pieces, None if it goes on.

    `most` is how many samples it may have, if that is not the settings' own bound.
    """
    if not answers:
        return None
    series = series_of(settings, geometry, answers)
    if float(series.written_bytes.sum()) >= settings.limit_bytes(geometry):
        return "volume"
    flat = settings.flat_samples
    if flat is not None and _is_slower(series.rates, flat) and _is_settled(series, flat):
        return "level"
    return "time" if series.lengths_s.size >= (most or settings.samples_most) else None


def proof_of(
    settings: OverflowSettings, geometry: Geometry, answers: Sequence[StepResult]
) -> Proof | None:
    """Return how to look for what a rest brings back after these pieces of the first burst; None
    where nothing fell, where rests are asked for anyway, or where no rest in reach would show it.
    """
    if settings.proof == "off" or settings.rests_ns or not answers:
        return None
    overflow = overflow_of(series_of(settings, geometry, answers))
    cliff = None if overflow is None else overflow.cliff
    if cliff is None or cliff.after.value <= 0 or not cliff.held.value:
        return None
    sample_s, most_s = (each / units.NS_PER_S for each in (settings.sample_ns, settings.most_ns))
    gains = cliff.before.value - cliff.after.value
    wanted = max(DRAINED_SHARE * cliff.held.value, FAST_SAMPLES * sample_s * gains)
    rest_s = min(min(wanted, cliff.held.value) / cliff.after.value, most_s)
    fast = cliff.after.value * rest_s / gains / sample_s
    if fast < TOLD_SAMPLES:
        return None
    return Proof(rest_ns=round(rest_s * units.NS_PER_S), samples=math.ceil(2 * fast) + SLOW_SAMPLES)


def _is_slower(rates: Floats, samples: int) -> bool:
    """Return whether the rate is lower than before, for at least so many samples: a cheap look."""
    count = rates.size
    if count <= samples:
        return False
    places = np.arange(1, count - samples + 1)
    totals = np.cumsum(rates)
    before = totals[places - 1] / places
    after = (totals[-1] - totals[places - 1]) / (count - places)
    return bool(np.any(after < (1 - FALL_SHARE) * before))


def _is_settled(series: Series, samples: int) -> bool:
    """Return whether the rate fell off a cliff so many samples ago, and has settled since.

    Settled is a level below that before, but not nothing, at which the means of both halves of the
    last `samples` lie within 10 % of each other; or four whole turns. A long series is looked at in
    fewer, longer samples.
    """
    overflow = overflow_of(series, samples_most=LOOKED_AT_MOST)
    assert overflow is not None, "it has samples"
    cliff, tail_s = overflow.cliff, float(series.lengths_s[-samples:].sum())
    if cliff is None or overflow.seconds - cliff.at_s < tail_s:
        return False
    if cliff.in_turns:
        return sum(stall.first_s >= cliff.at_s - 1 for stall in overflow.stalls) > TURNS_ENOUGH
    tail = series.rates[-samples:]
    halves = tail[: samples // 2].mean(), tail[samples // 2 :].mean()
    if max(halves) >= (1 - FALL_SHARE) * cliff.before.value:
        return False
    return bool(abs(halves[0] - halves[1]) < LEVEL_SHARE * max(halves))


def series_of(
    settings: OverflowSettings, geometry: Geometry, answers: Sequence[StepResult]
) -> Series:
    """Return the series of these pieces, in seconds and bytes of the full-size device.

    What a piece completed after its time belongs to its last sample. An engine that keeps no
    series, and a device on paper, wrote evenly.
    """
    sample_ns = settings.scaled_ns(settings.sample_ns, geometry)
    lengths: list[Floats] = []
    written: list[Floats] = []
    for answer in answers:
        count = max(1, round(answer.elapsed_ns / sample_ns))
        length = np.full(count, float(sample_ns))
        length[-1] = answer.elapsed_ns - sample_ns * (count - 1)
        lengths.append(length)
        written.append(_written(answer, count, length))
    scale = geometry.scale
    seconds = np.concatenate(lengths) * (scale / units.NS_PER_S) if lengths else np.zeros(0)
    return Series(
        lengths_s=seconds,
        written_bytes=(np.concatenate(written) if written else np.zeros(0)) * scale,
        block_bytes=settings.block_size_bytes * scale,
    )


def _written(answer: StepResult, count: int, lengths: Floats) -> Floats:
    total = np.zeros(count)
    for part in answer.of("write"):
        if part.intervals is None or not part.intervals.index.size:
            total += part.moved_bytes * lengths / lengths.sum()
            continue
        places = np.minimum(part.intervals.index, count - 1)
        np.add.at(total, places, part.intervals.bytes)
    return total


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


def bursts_of(
    settings: OverflowSettings, geometry: Geometry, exchanges: Iterable[Exchange]
) -> tuple[Burst, ...]:
    """Return the bursts since the last purge or gap, the one under way among them."""
    pieces, rests = pieces_of(exchanges)
    proof = proof_of(settings, geometry, pieces.get(1, []))
    found = []
    for number, answers in pieces.items():
        most = proof.samples if proof is not None and number > 1 else None
        series = series_of(settings, geometry, answers)
        overflow = overflow_of(series)
        assert overflow is not None, "a burst has a piece"
        found.append(
            Burst(
                number=number,
                rest_ns=rests.get(number, 0),
                series=series,
                latency_ns_mean=_latency_ns_mean(answers),
                latency_ns_max=max(measures.latency_ns_max(answer) for answer in answers),
                overflow=overflow,
                stop=why_stop(settings, geometry, answers, most=most),
            )
        )
    return tuple(found)


def _latency_ns_mean(answers: Sequence[StepResult]) -> float:
    """Return the mean over all writes, each counted once."""
    parts = [part.timed for answer in answers for part in answer.results]
    count = sum(part.count for part in parts)
    return sum(part.sum_ns for part in parts) / count if count else 0.0


def recovery_of(first: Burst, later: Burst, geometry: Geometry) -> Recovery | None:
    """Return what the rest before `later` brought back; None where the first never overflowed.

    A later burst without a cliff that is slow from its start found the cache full. One without a
    cliff that is fast to its end did not fill what came back: None.
    """
    cliff, again = first.overflow.cliff, later.overflow.cliff
    if cliff is None:
        return None
    rest_s = later.rest_ns * geometry.scale / units.NS_PER_S
    drained = min(cliff.held.value, cliff.after.value * rest_s)
    if again is not None:
        return Recovery(
            held=again.held,
            gain=gain_of(again.held, cliff.held),
            drained_bytes=drained,
            before=gain_of(again.before, cliff.before),
            after=gain_of(again.after, cliff.after),
        )
    if later.overflow.rate.value >= GONE_SHARE * cliff.before.value:
        return None
    return Recovery(
        held=Mean(value=0.0, half_width=None),
        gain=None,
        drained_bytes=drained,
        before=None,
        after=gain_of(later.overflow.rate, cliff.after),
    )


def model_bytes(settings: OverflowSettings, burst: Burst) -> float | None:
    """Return the fluid model's V* of the cache's stated size, at the rates of this burst."""
    cliff = burst.overflow.cliff
    if cliff is None or settings.cache_bytes is None:
        return None
    return fluid_bytes(settings.cache_bytes, cliff.before.value, cliff.after.value)
