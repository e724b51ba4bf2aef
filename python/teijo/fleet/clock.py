"""A host's wall clock held against this one's, over a wire that takes its time."""

import time
from dataclasses import dataclass
from typing import Final

from teijo.fleet.hosts import Host, HostLost

_ASKED: Final = 20


@dataclass(frozen=True)
class Clock:
    """By how much a host's clock is ahead of this one's, and how wrong that can be; in ns."""

    ahead_ns: int
    error_ns: int


def compared(host: Host) -> Clock:
    """Return how a host's clock stands: by the answer that took least time, as NTP does.

    The host read its clock at some moment between question and answer, so that the middle of the
    two is wrong by half of what passed at most (RFC 5905, section 8).

    Raises:
        HostLost: it does not answer.
    """
    best: tuple[int, int] | None = None
    for _ in range(_ASKED):
        sent_ns = time.time_ns()
        there_ns = host.ask("clock_ns")
        passed_ns = time.time_ns() - sent_ns
        # A clock that is set back between the two says nothing.
        if passed_ns >= 0 and (best is None or passed_ns < best[0]):
            best = passed_ns, there_ns - (sent_ns + passed_ns // 2)
    if best is None:
        raise HostLost(f"the clock here was set back {_ASKED} times while {host.name} was asked")
    return Clock(ahead_ns=best[1], error_ns=(best[0] + 1) // 2)
