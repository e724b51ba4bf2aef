"""Little's law: the rate that times imply, and how far a reported one is from it."""

from teijo.units import NS_PER_S

RATIO_LEAST, RATIO_MOST = 0.8, 1.05
"""Within these a closed loop's rate and its mean time agree: the rest is starts and rounding."""


def rate_by_law(in_flight: float, mean_ns: float) -> float:
    """Return how many a second a closed loop of so many in flight completes (Little 1961)."""
    return in_flight * NS_PER_S / mean_ns


def agreement(reported_per_s: float, in_flight: float, mean_ns: float) -> float | None:
    """Return a reported rate by the one that its times imply; None where they imply none.

    Below 1 there is time in the rate that is in no time of a call: a flush at the end. Above 1 the
    times are longer than the calls took, or rounded up.
    """
    return reported_per_s / rate_by_law(in_flight, mean_ns) if mean_ns > 0 else None


def agrees(ratio: float) -> bool:
    """Return whether the rate and the times can be of the same calls."""
    return RATIO_LEAST <= ratio <= RATIO_MOST
