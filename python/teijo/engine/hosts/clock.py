"""A clock elsewhere held against one here, over a wire that takes its time."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """By how much a clock is ahead of the one here, and how wrong that can be; in ns."""

    ahead_ns: int
    error_ns: int


def closest(readings: Iterable[tuple[int, int, int]]) -> Clock | None:
    """Return how a clock stands by the reading that took least time; None where none says it.

    A reading is (asked, there, answered): the clock there was read at some moment between the two
    here, so that the middle of them is wrong by half of what passed at most (RFC 5905, section 8).
    """
    best: tuple[int, int] | None = None
    for sent_ns, there_ns, received_ns in readings:
        passed_ns = received_ns - sent_ns
        # A clock that is set back between the two says nothing.
        if passed_ns >= 0 and (best is None or passed_ns < best[0]):
            best = passed_ns, there_ns - (sent_ns + passed_ns // 2)
    return None if best is None else Clock(ahead_ns=best[1], error_ns=(best[0] + 1) // 2)
