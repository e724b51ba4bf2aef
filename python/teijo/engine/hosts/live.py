"""The intervals of a running lap: each goes out once, when every host has passed it."""

import numpy as np

from teijo.engine.hosts.merging import series_together
from teijo.terms.result import Intervals


class LiveSeries:
    """Time series of several hosts as they come, by stream and operation."""

    def __init__(self, hosts: int, interval_ns: int) -> None:
        """Begin with nothing heard."""
        self._reached_ns = [0] * hosts
        self._interval_ns = interval_ns
        self._held: dict[tuple[str, str], list[Intervals]] = {}
        self._next = 0
        """The first interval that has not gone out."""

    def add(self, stream: str, operation: str, series: Intervals) -> None:
        """Take in intervals that one host has finished; one that went out already is late."""
        self._held.setdefault((stream, operation), []).append(_within(series, self._next, None))

    def reached(self, place: int, elapsed_ns: int) -> None:
        """Take in how far the host in this place is."""
        self._reached_ns[place] = max(self._reached_ns[place], elapsed_ns)

    def taken(self, *, is_last: bool = False) -> tuple[tuple[str, str, Intervals], ...]:
        """Return what every host has passed, an interval's length ago; all there is in the end."""
        end = None if is_last else min(self._reached_ns) // self._interval_ns - 1
        if end is not None and end <= self._next:
            return ()
        found = []
        for key, parts in self._held.items():
            whole = series_together(parts)
            ready = _within(whole, self._next, end)
            self._held[key] = [] if end is None else [_within(whole, end, None)]
            if len(ready.index):
                found.append((*key, ready))
        self._held = {key: parts for key, parts in self._held.items() if parts}
        self._next = self._next if end is None else end
        return tuple(found)


def _within(series: Intervals, first: int, end: int | None) -> Intervals:
    """Return the intervals from `first` on, before `end` where there is one."""
    kept = series.index >= first
    if end is not None:
        kept &= series.index < end
    columns = {
        name: column[kept] for name, column in vars(series).items()
        if isinstance(column, np.ndarray)
    }  # fmt: skip
    return Intervals(length_ns=series.length_ns, **columns)
