"""Whether it was a cache that overflowed: what a rest and another burst tell of the first burst's
fall. A rest empties a cache; the saturation of a drive it does not end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo import units
from teijo.analysis.overflow import Cliff
from teijo.methods.studies.cache_overflow.bursts import (
    TOLD_SAMPLES,
    Burst,
    Recovery,
    recovery_of,
)
from teijo.methods.studies.cache_overflow.settings import OverflowSettings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.step import Purge

BACK_SHARE: Final = 0.50
"""A rest that brings back less than this share of what the model drains has emptied no cache."""
OVER_SHARE: Final = 0.90
"""A purged drive is not saturated before this share of it has been written."""

Cause = Literal["cache", "undrained", "saturation", "unknown", "unproven"]
"""Why the rate fell: a cache that a rest empties; a tier, or a cache that a rest does not empty; a
drive that was written over; one of these; or no burst after a rest was measured that tells.
"""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Why the first burst fell, and the later burst that tells, with what its rest brought back.

    `back_bytes` is None where that burst did not fill what had come back.
    """

    cause: Cause
    burst: Burst | None = None
    back_bytes: float | None = None
    drained_bytes: float = 0.0


def is_purged(record: Record) -> bool:
    """Return whether the last purge left the device as new, by its own word."""
    purges = [
        each.answer
        for each in record.steps
        if isinstance(each.step, Purge) and isinstance(each.answer, StepResult)
    ]
    return bool(purges) and purges[-1].detail.get("method", "none") != "none"


def verdict_of(
    settings: OverflowSettings, geometry: Geometry, bursts: Sequence[Burst], *, purged: bool
) -> Verdict | None:
    """Return why the first burst fell; None where it did not."""
    first = bursts[0]
    cliff = first.overflow.cliff
    if cliff is None:
        return None
    told = [
        (burst, recovery_of(first, burst, geometry), drained)
        for burst in bursts[1:]
        if burst.stop is not None
        and (drained := _drained(geometry, burst, cliff)) >= _least(settings, cliff)
    ]
    if not told:
        return Verdict(cause="unproven")
    for burst, recovery, drained in told:
        if recovery is None or recovery.held.value >= BACK_SHARE * drained:
            return _verdict("cache", burst, recovery, drained)
    over = cliff.at_bytes >= OVER_SHARE * geometry.nominal_capacity_bytes
    cause: Cause = "unknown" if not purged else "saturation" if over else "undrained"
    return _verdict(cause, *told[-1])


def _verdict(cause: Cause, burst: Burst, recovery: Recovery | None, drained: float) -> Verdict:
    return Verdict(
        cause=cause,
        burst=burst,
        back_bytes=None if recovery is None else recovery.held.value,
        drained_bytes=drained,
    )


def _drained(geometry: Geometry, burst: Burst, cliff: Cliff) -> float:
    """Return what the model drains in the rest before a burst."""
    rest_s = burst.rest_ns * geometry.scale / units.NS_PER_S
    return min(cliff.held.value, cliff.after.value * rest_s)


def _least(settings: OverflowSettings, cliff: Cliff) -> float:
    """Return how much must be drained for it to be seen in a burst."""
    sample_s = settings.sample_ns / units.NS_PER_S
    seen = TOLD_SAMPLES * sample_s * (cliff.before.value - cliff.after.value)
    return max(0.9 * seen, 1.0)
