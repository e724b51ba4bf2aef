"""The course of a run over time, all its steps on one axis, in few points however long it is."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.percentile import level_ns
from teijo.terms.histogram import merged
from teijo.terms.result import Intervals, StepResult
from teijo.units import NS_PER_MS, NS_PER_S, megabytes_per_second, per_second

POINTS_MOST: Final = 1440
"""Points of a line over time; a day by the minute."""
LEVELS: Final = (50.0, 99.0, 99.9)
"""The percentiles of a step, in percent."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """Some intervals of a run together, from `start_s` on its clock.

    Rates are over the time that was measured in them; `iops_least` and `iops_most` are those of
    the slowest and the fastest interval. Latencies are ms, None where no I/O was completed.
    """

    start_s: float
    length_s: float
    iops: float
    iops_least: float
    iops_most: float
    mb_s: float
    errors: int
    latency_ms: float | None
    latency_most_ms: float | None


@dataclass(frozen=True, kw_only=True)
class StepLevels:
    """The percentiles of one step's service times, ms in the order of `LEVELS`.

    None where one lies beyond the I/Os that there are.
    """

    start_s: float
    end_s: float
    levels_ms: tuple[float | None, ...]


Place = tuple[str, str]
"""(stream, operation) of a time series."""


@dataclass
class _Sum:
    """What lies in one point so far."""

    covered_ns: int = 0
    ios: int = 0
    bytes: int = 0
    errors: int = 0
    latency_ns: int = 0
    latency_most_ns: int = 0
    iops_least: float = float("inf")
    iops_most: float = 0.0

    def add(self, other: "_Sum") -> None:
        self.covered_ns += other.covered_ns
        self.ios += other.ios
        self.bytes += other.bytes
        self.errors += other.errors
        self.latency_ns += other.latency_ns
        self.latency_most_ns = max(self.latency_most_ns, other.latency_most_ns)
        self.iops_least = min(self.iops_least, other.iops_least)
        self.iops_most = max(self.iops_most, other.iops_most)


@dataclass(frozen=True)
class _Table:
    """The same of many intervals, a row each."""

    covered_ns: NDArray[np.int64]
    ios: NDArray[np.int64]
    bytes: NDArray[np.int64]
    errors: NDArray[np.int64]
    latency_ns: NDArray[np.int64]
    latency_most_ns: NDArray[np.int64]

    @staticmethod
    def of(
        series: Sequence[Intervals], index: NDArray[np.int64], lasts_ns: NDArray[np.int64]
    ) -> "_Table":
        """Return the intervals of these numbers, all series of each together."""
        table = np.zeros((5, index.size), np.int64)
        for each in series:
            at = np.searchsorted(index, each.index)
            for row, column in enumerate((each.ios, each.bytes, each.errors, each.latency_ns_sum)):
                np.add.at(table[row], at, column)
            np.maximum.at(table[4], at, each.latency_ns_max)
        return _Table(lasts_ns, *table)

    def where(self, kept: NDArray[np.bool_]) -> "_Table":
        """Return some of them."""
        return _Table(*(column[kept] for column in vars(self).values()))

    def together(self, firsts: NDArray[np.int64]) -> Iterator[_Sum]:
        """Yield one sum of each run of intervals, which begin at these places."""
        *summed, most_ns = vars(self).values()
        rates = self.ios * float(NS_PER_S) / self.covered_ns
        columns = [np.add.reduceat(column, firsts).tolist() for column in summed]
        columns.append(np.maximum.reduceat(most_ns, firsts).tolist())
        columns += [each.reduceat(rates, firsts).tolist() for each in (np.minimum, np.maximum)]
        return itertools.starmap(_Sum, zip(*columns, strict=True))


@dataclass
class Course:
    """The course of a run that grows: it is told of each step as it goes on and when it ends.

    `joined` is how many of the first interval's length make one point; it doubles when there are
    more than `points_most`, so that a run of any length takes as much room as a short one.
    """

    points_most: int = POINTS_MOST
    joined: int = 1
    levels: list[StepLevels] = field(default_factory=list)
    _length_ns: int = 0
    _sums: dict[int, _Sum] = field(default_factory=dict)
    _points: dict[int, Point] = field(default_factory=dict)
    _end_ns: int = 0
    _seq: int = 0
    _seen: dict[Place, int] = field(default_factory=dict)

    @property
    def points(self) -> tuple[Point, ...]:
        """Every point, in order of time."""
        return tuple(self._point(place) for place in sorted(self._sums))

    def add(self, start_ns: int, series: Iterable[Intervals], until_ns: int | None = None) -> None:
        """Take intervals of a step that began at `start_ns`: all series of the same time at once.

        `until_ns` is how long the step went on, if it has ended: its last interval is as long as
        it went on in it, and a remnant shorter than half an interval is left out.
        """
        kept = [each for each in series if each.index.size]
        if not kept:
            return
        length_ns = kept[0].length_ns
        self._length_ns = self._length_ns or length_ns
        index = np.unique(np.concatenate([each.index for each in kept]))
        ends_ns = (index + 1) * length_ns
        lasts_ns = np.full_like(index, length_ns)
        if until_ns is not None:
            lasts_ns -= np.clip(ends_ns - until_ns, 0, length_ns)
        counts = (2 * lasts_ns >= length_ns) | (index == 0)
        table = _Table.of(kept, index, np.maximum(lasts_ns, 1)).where(counts)
        self._take(start_ns + index[counts] * length_ns, table)

    def _take(self, at_ns: NDArray[np.int64], table: "_Table") -> None:
        """Take intervals that begin at `at_ns`, in ascending order, once there is room for them."""
        while True:
            places, firsts = np.unique(at_ns // self._point_ns, return_index=True)
            if len(self._sums.keys() | set(places.tolist())) <= self.points_most:
                break
            self._join()
        for place, one in zip(places.tolist(), table.together(firsts), strict=True):
            self._sums.setdefault(place, _Sum()).add(one)
            self._points.pop(place, None)

    def go_on(self, seq: int, series: Mapping[Place, Intervals]) -> None:
        """Take what is new in the series so far of the step under way.

        It is drawn from the end of the step before: when it began is told with its answer.
        """
        self._add_new(seq, self._end_ns, series)

    def end(self, seq: int, answer: StepResult) -> None:
        """Take what is new in the series of a step that has its answer, and its times."""
        results = answer.results
        series = {(one.stream, one.operation): one.intervals for one in results if one.intervals}
        self._add_new(seq, answer.started_ns, series, until_ns=answer.elapsed_ns)
        self._end_ns = answer.started_ns + answer.elapsed_ns
        timed = [one.latency for one in results if one.latency is not None]
        if not any(each.count for each in timed):
            return
        whole = merged(timed)
        found = (level_ns(whole, percent) for percent in LEVELS)
        self.levels.append(
            StepLevels(
                start_s=answer.started_ns / NS_PER_S,
                end_s=self._end_ns / NS_PER_S,
                levels_ms=tuple(None if each is None else each / NS_PER_MS for each in found),
            )
        )

    def _add_new(
        self,
        seq: int,
        start_ns: int,
        series: Mapping[Place, Intervals],
        until_ns: int | None = None,
    ) -> None:
        if seq != self._seq:
            self._seq, self._seen = seq, {}
        new = {place: _after(one, self._seen.get(place, -1)) for place, one in series.items()}
        self.add(start_ns, new.values(), until_ns)
        self._seen |= {place: int(one.index[-1]) for place, one in series.items() if one.index.size}

    @property
    def _point_ns(self) -> int:
        return self._length_ns * self.joined

    def _join(self) -> None:
        """Make one point of each two neighbours."""
        self.joined *= 2
        found: dict[int, _Sum] = {}
        for place, one in self._sums.items():
            found.setdefault(place // 2, _Sum()).add(one)
        self._sums, self._points = found, {}

    def _point(self, place: int) -> Point:
        if place not in self._points:
            self._points[place] = self._made(place)
        return self._points[place]

    def _made(self, place: int) -> Point:
        one = self._sums[place]
        mean_ns = one.latency_ns / one.ios if one.ios else None
        return Point(
            start_s=place * self._point_ns / NS_PER_S,
            length_s=self._point_ns / NS_PER_S,
            iops=per_second(one.ios, one.covered_ns),
            iops_least=one.iops_least,
            iops_most=one.iops_most,
            mb_s=megabytes_per_second(one.bytes, one.covered_ns),
            errors=one.errors,
            latency_ms=None if mean_ns is None else mean_ns / NS_PER_MS,
            latency_most_ms=one.latency_most_ns / NS_PER_MS if one.ios else None,
        )


def _after(series: Intervals, last: int) -> Intervals:
    """Return the intervals behind the one of this number."""
    first = int(np.searchsorted(series.index, last, side="right"))
    columns = [each.name for each in fields(series) if each.name != "length_ns"]
    return replace(series, **{name: getattr(series, name)[first:] for name in columns})
