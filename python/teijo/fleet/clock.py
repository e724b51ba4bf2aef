"""A host's wall clock held against this one's."""

import time
from collections.abc import Iterator
from typing import Final

from teijo.engine.hosts.clock import Clock, closest
from teijo.fleet.hosts import Host, HostLost

_ASKED: Final = 20


def compared(host: Host) -> Clock:
    """Return how a host's clock stands, by the answer that took least time.

    Raises:
        HostLost: it does not answer.
    """

    def readings() -> Iterator[tuple[int, int, int]]:
        for _ in range(_ASKED):
            sent_ns = time.time_ns()
            there_ns = host.ask("clock_ns")
            yield sent_ns, there_ns, time.time_ns()

    found = closest(readings())
    if found is None:
        raise HostLost(f"the clock here was set back {_ASKED} times while {host.name} was asked")
    return found
