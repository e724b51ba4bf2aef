"""Where a cache answered and not what lies behind it: what was written is no more than the cache
says it holds, or the rates are equal whatever is set of what lies behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.judged import ALIKE_SHARE, Rates
from teijo.methods.studies.configuration.outcome import Visited
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.configured import facts_in, geometry_in
from teijo.terms.geometry import Geometry

APART_SHARE: Final = 0.01
"""What the same settings differ by at least where no cache is in the way."""
TIMES_LEAST: Final = 2.0
"""How many times as fast as without it a cache is at least."""


@dataclass(frozen=True, kw_only=True)
class Cached:
    """One workload that a cache answered at one level of a factor, by their places.

    `spread` is how far its rates differ over the settings of the other factors, None where there
    are none; `written_bytes` the most that a visit wrote until its end, `holds_bytes` what the
    device says that the cache holds, None where it does not say: both of the full-size device.
    """

    workload: int
    factor: int
    level: int
    settings: int
    spread: float | None
    written_bytes: float
    holds_bytes: float | None
    rate_mb_s: float
    """The most that the workload writes in a second there."""
    fill_ns: int
    """How long it takes at this rate to write what the cache holds, 0 where that is not said."""


def cached_of(
    settings: ConfigurationSettings,
    found: Sequence[Visited],
    rates: Sequence[Rates],
    geometry: Geometry,
) -> tuple[Cached, ...]:
    """Return where a cache answered writes, workload by workload."""
    return tuple(
        cached
        for place, (own, stream) in enumerate(zip(rates, settings.workloads, strict=True))
        if stream.stream(stream.name).read_percent < 100 and own.values.size
        for factor, (_, levels) in enumerate(settings.factors)
        for level in range(len(levels))
        if (cached := _at(settings, found, own, geometry, (place, factor, level))) is not None
    )


def _at(
    settings: ConfigurationSettings,
    found: Sequence[Visited],
    rates: Rates,
    geometry: Geometry,
    place: tuple[int, int, int],
) -> Cached | None:
    workload, factor, level = place
    means = np.moveaxis(rates.values.mean(axis=-1), factor, 0)
    own, others = means[level].reshape(-1), np.delete(means, level, axis=0)
    if not own.all() or not others.all():
        return None
    name = settings.factors[factor][0]
    word = settings.factors[factor][1][level][0]
    visits = [
        each
        for each in found
        if dict(each.visit.cell.levels)[name] == word and len(each.answers) > workload
    ]
    sizes = [_holds_bytes(each) for each in visits]
    written = max((_written_bytes(each, workload, geometry) for each in visits), default=0.0)
    known = [each for each in sizes if each is not None]
    holds = min(known) if known and len(known) == len(sizes) else None
    fits = holds is not None and written <= holds
    faster = bool(own.min() >= TIMES_LEAST * np.max(others))
    alike = (
        faster
        and own.size > 1
        and _spread(own) <= ALIKE_SHARE
        and max(_spread(each.reshape(-1)) for each in others) >= APART_SHARE
    )
    if not (alike or (fits and faster)):
        return None
    rate = max((_rate_mb_s(each, workload) for each in visits), default=0.0)
    # The cache of a scaled device is scaled with it, its rates are not.
    scale = max((_scale_of(each, geometry) for each in visits), default=geometry.scale)
    return Cached(
        workload=workload,
        factor=factor,
        level=level,
        settings=int(own.size),
        spread=_spread(own) if own.size > 1 else None,
        written_bytes=written,
        holds_bytes=holds if fits else None,
        rate_mb_s=rate,
        fill_ns=_fill_ns(holds / scale, rate) if fits and holds and rate else 0,
    )


def _spread(means: np.ndarray) -> float:
    return float(means.max() / means.min() - 1)


def _holds_bytes(visited: Visited) -> float | None:
    """Return what the configured device's write cache says it holds, None where it says nothing."""
    facts = facts_in(visited.configured.detail)
    if facts.get("mode") != "write-back":
        return None
    text = facts.get("dirty_limit") or facts.get("size") or ""
    try:
        return float(units.parse_size(text.removesuffix(" bytes")))
    except ValueError:
        return None


def _written_bytes(visited: Visited, workload: int, geometry: Geometry) -> float:
    """Return what a visit wrote until the end of a workload, on the full-size device."""
    own = sum(measures.written_bytes(each) for each in visited.answers[: workload + 1])
    return _scale_of(visited, geometry) * own


def _scale_of(visited: Visited, geometry: Geometry) -> float:
    return (geometry_in(visited.configured.detail) or geometry).scale


def _fill_ns(size_bytes: float, rate_mb_s: float) -> int:
    return round(size_bytes / rate_mb_s * units.NS_PER_US)  # a byte takes 1 µs at 1 MB/s


def _rate_mb_s(visited: Visited, workload: int) -> float:
    answer = visited.answers[workload]
    return units.megabytes_per_second(measures.written_bytes(answer), answer.elapsed_ns)
