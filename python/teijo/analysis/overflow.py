"""A cache that overflows under steady writing: where, what it held, and how writing went on.

Works on one series of bytes by sample. The fluid model: a cache of C bytes that is filled at λ and
drained at μ is full after C / (λ − μ) seconds, and V* = C λ / (λ − μ) bytes have been written by
then. Read backwards it tells C from what was measured: C = V* − μ t*.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from teijo.analysis.change_point import (
    LEAST_SAMPLES,
    Floats,
    change_points,
    penalty_of,
    segments_of,
)
from teijo.analysis.difference import CONFIDENCE, student_t_limit
from teijo.analysis.mean import Mean
from teijo.analysis.recovery import mean_of
from teijo.analysis.replicates import standard_error

SAMPLES_MOST: Final = 7200
"""A longer series is analysed in longer samples."""
FALL_SHARE: Final = 0.20
SEEN_SAMPLES: Final = 4
"""A fast beginning of fewer samples, of which the last may be partial, is too short to see."""
LOCAL_SAMPLES: Final = 20
RETURN_SHARE: Final = 0.90
ALIKE_SHARE: Final = 0.10
STALL_SHARE: Final = 0.25
STALL_BLOCKS: Final = 8
NOISE_SHARE: Final = 0.01
TURNS_LEAST: Final = 2

PhaseName = Literal["whole", "before", "stall", "after"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """How long each sample lasted (s) and what was written in it (bytes), two arrays of one length.

    `block_size_bytes` is what one I/O adds to a sample: the grain of the series.
    """

    lengths_s: Floats
    written_bytes: Floats
    block_size_bytes: float

    @property
    def rates(self) -> Floats:
        """Bytes per second of each sample."""
        return self.written_bytes / self.lengths_s

    @property
    def ends_s(self) -> Floats:
        """When each sample ended."""
        return np.cumsum(self.lengths_s)

    @property
    def totals_bytes(self) -> Floats:
        """What had been written by the end of each sample."""
        return np.cumsum(self.written_bytes)


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of the series: s and bytes since its beginning, rate in bytes per second."""

    name: PhaseName
    first_s: float
    end_s: float
    first_bytes: float
    end_bytes: float
    rate: Mean


@dataclass(frozen=True, kw_only=True)
class Stall:
    """A stretch in which next to nothing was written."""

    first_s: float
    length_s: float
    at_bytes: float


@dataclass(frozen=True, kw_only=True)
class Cliff:
    """A lasting fall of the rate. `at_bytes` is V*, `at_s` t*; rates in bytes per second.

    `held` is the C that follows. `in_turns`: after the fall the rate goes up and down, as a cache
    with water marks makes it, and `after` is the mean over whole turns.
    """

    at_s: float
    at_bytes: float
    before: Mean
    after: Mean
    held: Mean
    in_turns: bool


@dataclass(frozen=True, kw_only=True)
class Overflow:
    """What a series shows. `cliffs` are in order of time and `main` is the place of the deepest.

    No cliffs: the rate never fell to stay below 80 % of what it was, within 20 samples.
    """

    phases: tuple[Phase, ...]
    cliffs: tuple[Cliff, ...]
    main: int | None
    stalls: tuple[Stall, ...]
    rate: Mean
    seconds: float
    written_bytes: float

    @property
    def cliff(self) -> Cliff | None:
        """The deepest fall, None where there is none."""
        return None if self.main is None else self.cliffs[self.main]


def overflow_of(series: Series, *, samples_most: int = SAMPLES_MOST) -> Overflow | None:
    """Return what the series shows, None for no samples; at most so many are kept apart."""
    series = _joined(series, samples_most)
    rates = series.rates
    whole = mean_of(rates.tolist())
    if whole is None:
        return None
    changes = changes_of(series)
    falls = _falls(rates, changes)
    edges = (*(fall for fall, _ in falls), rates.size)
    last = falls[-1][0] if falls else 0
    # Against the rate after the fall: beside the fast one all that follows could be a stall.
    stalls = _stalls(series, float(rates[last:].mean()))
    cliffs = tuple(
        _cliff(series, stalls, at, end) for (at, _), end in zip(falls, edges[1:], strict=True)
    )
    depths = [depth for _, depth in falls]
    return Overflow(
        phases=_phases(series, changes, [at for at, _ in falls], stalls, cliffs),
        cliffs=cliffs,
        main=depths.index(max(depths)) if depths else None,
        stalls=tuple(_told(series, *stall) for stall in stalls),
        rate=whole,
        seconds=float(series.lengths_s.sum()),
        written_bytes=float(series.written_bytes.sum()),
    )


def changes_of(series: Series) -> tuple[int, ...]:
    """Return the change points of the rate.

    The noise is at least half an I/O in a sample, and 1 % of the highest rate: less is no change
    that anybody would want to know of.
    """
    rates = series.rates
    grain = 0.5 * series.block_size_bytes / float(np.median(series.lengths_s))
    noise = max(grain, NOISE_SHARE * float(rates.max()))
    return change_points(rates, penalty=penalty_of(rates, noise_least=noise))


def fluid_bytes(held_bytes: float, before: float, after: float) -> float | None:
    """Return V* = C λ / (λ − μ): what is written before a cache of C is full; None if never."""
    return held_bytes * before / (before - after) if before > after else None


def _falls(rates: Floats, changes: Sequence[int]) -> list[tuple[int, float]]:
    """Return (first sample after it, depth) of each lasting fall, in order.

    The deepest is the change that parts the series best in two levels; those before it are looked
    for in the same way. One after which the rate comes back before the next is where the turns of
    one cache begin: the next is not another cliff.
    """
    found: list[tuple[int, float]] = []
    end = rates.size
    while True:
        depths = [(depth, at) for at in changes if (depth := _depth(rates[:end], at)) is not None]
        if not depths:
            return found
        depth, at = max(depths)
        if found:
            next_at, next_depth = found[0]
            came_back = _local(rates, next_at, before=True) >= RETURN_SHARE * _local(
                rates, at, before=True
            )
            if came_back:
                found[0] = (at, max(depth, next_depth))
            else:
                found.insert(0, (at, depth))
        else:
            found.append((at, depth))
        end = at


def _depth(rates: Floats, at: int) -> float | None:
    """Return how much a change explains as a lasting, sudden fall, None where it is none."""
    if not SEEN_SAMPLES <= at <= rates.size - LEAST_SAMPLES:
        return None
    before, after = float(rates[:at].mean()), float(rates[at:].mean())
    kept = 1 - FALL_SHARE
    # The zones of a disk fall as far, but slowly; a dip falls as fast, but does not stay.
    sudden = _local(rates, at, before=False) < kept * _local(rates, at, before=True)
    if not sudden or after >= kept * before:
        return None
    # What two levels take off the squared deviations from one.
    return (before - after) ** 2 * at * (rates.size - at) / rates.size


def _local(rates: Floats, at: int, *, before: bool) -> float:
    """Return the mean of at most 20 samples on one side of a place."""
    near = rates[max(0, at - LOCAL_SAMPLES) : at] if before else rates[at : at + LOCAL_SAMPLES]
    return float(near.mean())


def _stalls(series: Series, usual_rate: float) -> list[tuple[int, int]]:
    """Return (first, end) of each run of samples far below the usual rate.

    Far below is a quarter; and a run is long enough for eight I/Os at the usual rate, since of two
    I/Os in a sample one may well be late.
    """
    low = series.rates < STALL_SHARE * usual_rate
    edges = np.flatnonzero(np.diff(np.concatenate(([False], low, [False])).astype(np.int8)))
    runs = [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]
    return [
        (first, end)
        for first, end in runs
        if usual_rate * float(series.lengths_s[first:end].sum())
        >= STALL_BLOCKS * series.block_size_bytes
    ]


def _told(series: Series, first: int, end: int) -> Stall:
    return Stall(
        first_s=_up_to(series.ends_s, first),
        length_s=float(series.lengths_s[first:end].sum()),
        at_bytes=_up_to(series.totals_bytes, first),
    )


def _cliff(series: Series, stalls: Sequence[tuple[int, int]], at: int, end: int) -> Cliff:
    """Return the fall at sample `at`, the next one or the end of the series being at `end`."""
    rates = series.rates
    own = [stall for stall in stalls if at - 1 <= stall[0] and stall[1] <= end]
    in_turns = len(own) >= TURNS_LEAST
    # The fall may lie within the sample before the change: that one has both rates in it.
    before = _mean(rates[: max(1, at - 1)])
    after = _mean_after(series, own, at, end)
    at_s, at_bytes = _corner(series, at)
    sample_s = float(series.lengths_s[at])
    half_width = None
    if after.half_width is not None:
        # The corner is known to half a sample; a second of it moves C by λ − μ.
        place = (before.value - after.value) * sample_s / 2
        # The drain was seen after the fall; while the cache filled it scattered likewise.
        seen_s = max(sample_s, _up_to(series.ends_s, end) - at_s)
        drain = after.half_width * math.sqrt(1 + seen_s / max(sample_s, at_s))
        half_width = math.hypot(at_s * drain, place)
    held = Mean(value=max(0.0, at_bytes - after.value * at_s), half_width=half_width)
    return Cliff(
        at_s=at_s, at_bytes=at_bytes, before=before, after=after, held=held, in_turns=in_turns
    )


def _mean_after(series: Series, own: Sequence[tuple[int, int]], at: int, end: int) -> Mean:
    """Return the rate a cache drains at: over whole turns, or once a first stall is over."""
    rates = series.rates
    if len(own) >= TURNS_LEAST:
        first, last = own[0][0], own[-1][0]
        turns = [
            float(series.written_bytes[a:b].sum() / series.lengths_s[a:b].sum())
            for (a, _), (b, _) in itertools.pairwise(own)
        ]
        rate = float(series.written_bytes[first:last].sum() / series.lengths_s[first:last].sum())
        return Mean(value=rate, half_width=_half_width(turns))
    begin = own[0][1] if own and own[0][0] <= at + 1 else at
    # The first sample may still have the rate before in it.
    settled = rates[min(begin + 1, end - 1) : end]
    return _mean(settled)


def _half_width(turns: Sequence[float]) -> float | None:
    """Return the half-width of the 95 % interval of a mean of few turns, None for a single one."""
    freedom = len(turns) - 1
    if not freedom:
        return None
    return student_t_limit(1 - CONFIDENCE, freedom) * standard_error(turns)


def _corner(series: Series, at: int) -> tuple[float, float]:
    """Return when and at what volume the rate fell, finer than a sample.

    In the sample of the fall both rates have their part: the place is where the line of what was
    written before it meets the line of what was written after it.
    """
    ends, totals, rates = series.ends_s, series.totals_bytes, series.rates
    first, last = max(0, at - 1), min(at + 1, rates.size)
    before = _local(rates, first, before=True) if first else float(rates[0])
    after = _local(rates, last, before=False) if last < rates.size else float(rates[-1])
    from_s, to_s = _up_to(ends, first), _up_to(ends, last)
    from_bytes, to_bytes = _up_to(totals, first), _up_to(totals, last)
    if before <= after:
        return _up_to(ends, at), _up_to(totals, at)
    into_s = (to_bytes - from_bytes - after * (to_s - from_s)) / (before - after)
    into_s = min(max(into_s, 0.0), to_s - from_s)
    return from_s + into_s, from_bytes + before * into_s


def _phases(
    series: Series,
    changes: Sequence[int],
    falls: Sequence[int],
    stalls: Sequence[tuple[int, int]],
    cliffs: Sequence[Cliff],
) -> tuple[Phase, ...]:
    """Return the series in phases; turns are one phase, and neighbours that are alike another."""
    if not falls:
        return (_phase(series, "whole", 0, series.rates.size, {}),)
    phases: list[tuple[PhaseName, int, int]] = [
        ("before", *stretch) for stretch in _stretches(series.rates, changes, 0, falls[0])
    ]
    ends = (*falls[1:], series.rates.size)
    for at, end, cliff in zip(falls, ends, cliffs, strict=True):
        begin = at
        stall = next((each for each in stalls if abs(each[0] - at) <= 1), None)
        if stall is not None and stall[1] < end:
            phases.append(("stall", at, stall[1]))
            begin = stall[1]
        if cliff.in_turns:
            phases.append(("after", begin, end))
        else:
            after = _stretches(series.rates, changes, begin, end)
            phases += [("after", *stretch) for stretch in after]
    corners = dict(zip(falls, cliffs, strict=True))
    return tuple(_phase(series, name, begin, end, corners) for name, begin, end in phases)


def _stretches(
    rates: Floats, changes: Sequence[int], first: int, end: int
) -> list[tuple[int, int]]:
    """Return a part of the series between its change points, neighbours that are alike as one.

    A stretch as short as can be is the sample a change lies in, and belongs to its neighbour.
    """
    inner = [at for at in changes if first + LEAST_SAMPLES <= at <= end - LEAST_SAMPLES]
    parts = [
        (each.first + first, each.end + first)
        for each in segments_of(rates[first:end], [at - first for at in inner])
    ]
    while len(parts) > 1:
        levels = [float(rates[a:b].mean()) for a, b in parts]
        # Two stretches without any rate are alike, and nothing to divide by.
        apart = [abs(a - b) / max(a, b, 1e-9) for a, b in itertools.pairwise(levels)]
        short = [min(b[1] - b[0], a[1] - a[0]) for a, b in itertools.pairwise(parts)]
        place = apart.index(min(apart))
        if apart[place] > ALIKE_SHARE:
            if min(short) > LEAST_SAMPLES:
                break
            place = short.index(min(short))
        parts[place : place + 2] = [(parts[place][0], parts[place + 1][1])]
    return parts


def _phase(
    series: Series, name: PhaseName, first: int, end: int, corners: Mapping[int, Cliff]
) -> Phase:
    """Return samples `first` to `end` − 1 as a phase that begins and ends where cliffs lie."""
    (first_s, first_bytes), (end_s, end_bytes) = (
        (corners[at].at_s, corners[at].at_bytes)
        if at in corners
        else (_up_to(series.ends_s, at), _up_to(series.totals_bytes, at))
        for at in (first, end)
    )
    inner = series.rates[first + (first in corners) : end - (end in corners)]
    scatter = mean_of(inner.tolist())
    return Phase(
        name=name,
        first_s=first_s,
        end_s=end_s,
        first_bytes=first_bytes,
        end_bytes=end_bytes,
        rate=Mean(
            value=(end_bytes - first_bytes) / (end_s - first_s) if end_s > first_s else 0.0,
            half_width=None if scatter is None else scatter.half_width,
        ),
    )


def _mean(rates: Floats) -> Mean:
    mean = mean_of(rates.tolist())
    assert mean is not None, "a phase has a sample"
    return mean


def _up_to(running: Floats, count: int) -> float:
    """Return a running total after so many samples."""
    return float(running[count - 1]) if count else 0.0


def _joined(series: Series, samples_most: int) -> Series:
    """Return the series in samples so long that there are at most so many."""
    by = -(-series.lengths_s.size // samples_most)
    if by <= 1:
        return series
    firsts = np.arange(0, series.lengths_s.size, by)
    return Series(
        lengths_s=np.add.reduceat(series.lengths_s, firsts),
        written_bytes=np.add.reduceat(series.written_bytes, firsts),
        block_size_bytes=series.block_size_bytes,
    )
