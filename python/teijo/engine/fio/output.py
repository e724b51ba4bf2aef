"""What fio 3 says, as results: its JSON (`json+`), its logs and its error lines. Pure functions.

Latencies are fio's *total* latency (`lat_ns`: from taking an I/O to reaping it), in buckets of
1/64 octave; they are put into the HdrHistogram buckets that hold fio's bucket middles.
"""

import errno
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from teijo.engine.plan import DIRECTIONS
from teijo.terms.histogram import Buckets, Histogram, bucket_width_ns
from teijo.terms.result import Direction, Intervals, OperationResult
from teijo.units import NS_PER_MS

Report = Mapping[str, Any]
"""One report of fio's JSON."""
Series = dict[int, tuple[int, int, int]]
"""(ios, bytes, latency sum in ns) by the number of the interval."""
# fio names an error by its text alone.
_ERRNOS: Final = {os.strerror(number): number for number in errno.errorcode}
_ERROR_LINE: Final = re.compile(r"io_u error on file .*: ([^:]+): (read|write) offset=")


@dataclass(frozen=True, kw_only=True)
class Group:
    """One reporting group of fio's JSON, one direction: cumulative since the group began."""

    leg: str
    direction: Direction
    ios: int
    bytes: int
    runtime_ns: int
    latency_ns_sum: int
    latency_ns_min: int
    latency_ns_max: int
    bins: Mapping[int, int]


def groups(report: Report) -> list[Group]:
    """Return the groups of a report. `ios` counts the I/Os that succeeded."""
    return [
        # fio gives a group the name of its first thread: s0l1t0.
        _group(job["jobname"].partition("t")[0], direction, job[direction])
        for job in report["jobs"]
        for direction in DIRECTIONS
    ]


def _group(leg: str, direction: Direction, figures: Mapping[str, Any]) -> Group:
    latency = figures["lat_ns"]
    ios = int(latency["N"])
    return Group(
        leg=leg,
        direction=direction,
        ios=ios,
        bytes=int(figures["io_bytes"]),
        runtime_ns=int(figures["runtime"]) * NS_PER_MS,
        # fio reports a mean and no sum.
        latency_ns_sum=round(latency["mean"] * ios),
        latency_ns_min=int(latency["min"]) if ios else 0,
        latency_ns_max=int(latency["max"]),
        bins={int(value): int(count) for value, count in latency.get("bins", {}).items()},
    )


def failed_io(line: str) -> tuple[Direction, int] | None:
    """Return the direction and errno of a failed I/O, or None for any other line of fio's.

    An error text this system does not know is EIO.
    """
    match = _ERROR_LINE.search(line)
    if match is None:
        return None
    direction: Direction = "read" if match[2] == "read" else "write"
    return direction, _ERRNOS.get(match[1], errno.EIO)


def buckets(bins: Iterable[Mapping[int, int]]) -> Buckets:
    """Return the HDR buckets of fio's bins together."""
    merged: Counter[int] = Counter()
    for part in bins:
        for middle_ns, count in part.items():
            width = bucket_width_ns(middle_ns)
            merged[middle_ns // width * width] += count
    occupied = sorted(value for value, count in merged.items() if count)
    values = np.array(occupied, np.int64)
    return values, np.array([merged[value] for value in occupied], np.int64)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One averaged line of a log: a thread's window of time, a direction, and the mean in it."""

    thread: int
    direction: Direction
    index: int
    span_ms: int
    value: int


def log_samples(text: str, interval_ms: int) -> list[Sample]:
    """Return the samples of an averaged fio log: the threads one after the other in one file.

    A window is known by the interval its middle lies in, for fio's stamps are a few ms late.
    """
    samples = []
    thread = 0
    last_ms: dict[Direction, int] = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        end_ms, value, code = int(fields[0]), int(fields[1]), int(fields[2])
        if code >= len(DIRECTIONS):
            continue
        direction = DIRECTIONS[code]
        # Nothing in the file parts the threads: where time goes back, another one begins.
        if end_ms <= last_ms.get(direction, 0):
            thread += 1
            last_ms = {}
        span_ms = end_ms - last_ms.get(direction, 0)
        last_ms[direction] = end_ms
        samples.append(
            Sample(
                thread=thread,
                direction=direction,
                index=max(0, end_ms - min(span_ms, interval_ms) // 2 - 1) // interval_ms,
                span_ms=span_ms,
                value=value,
            )
        )
    return samples


def intervals(
    group: Group, iops: Iterable[Sample], latency: Iterable[Sample], interval_ms: int
) -> Series:
    """Return (ios, bytes, latency sum in ns) by interval of one group.

    fio logs means and often leaves out the last window, so the last interval takes what is
    missing from the totals: counts, bytes and latencies add up to the group's. The few ms that
    fio runs over its time are part of the interval before them.
    """
    counts: defaultdict[int, int] = defaultdict(int)
    means: defaultdict[int, list[int]] = defaultdict(list)
    for sample in iops:
        if sample.direction == group.direction:
            counts[sample.index] += round(sample.value * sample.span_ms / 1000)
    for sample in latency:
        if sample.direction == group.direction:
            means[sample.index].append(sample.value)
    if not group.ios:
        return {}
    # Without the few ms that fio runs over: they would be an interval of their own.
    runtime_ms = group.runtime_ns // NS_PER_MS - 1 - interval_ms // 20
    _settle(counts, group.ios, last=max(0, runtime_ms // interval_ms))
    whole_mean = group.latency_ns_sum / group.ios
    sums = {
        index: count * (sum(means[index]) / len(means[index]) if means[index] else whole_mean)
        for index, count in counts.items()
    }
    # fio weighs the windows a little differently than their counts do.
    correction = group.latency_ns_sum / sum(sums.values())
    mean_bytes = group.bytes / group.ios
    left_bytes = group.bytes
    series: Series = {}
    for index in sorted(counts):
        size = round(counts[index] * mean_bytes) if index < max(counts) else left_bytes
        left_bytes -= size
        series[index] = (counts[index], size, round(sums[index] * correction))
    return series


def _settle(counts: dict[int, int], total: int, *, last: int) -> None:
    """Make the counts add up: what is missing goes to the last, what is too much is taken there."""
    missing = total - sum(counts.values())
    counts[last] = counts.get(last, 0) + missing
    for index in sorted(counts, reverse=True):
        if counts[index] >= 0:
            break
        owed = counts.pop(index)
        before = max(counts, default=0)
        counts[before] = counts.get(before, 0) + owed


def columns(series: Series, failed: int, length_ns: int) -> Intervals:
    """Return a series as columns. fio logs no extremes per interval: those columns are 0.

    Failed I/Os have no time in fio's output; they are counted in the last interval.
    """
    places = sorted(series) or ([0] if failed else [])
    rows = [series.get(index, (0, 0, 0)) for index in places]
    failures = np.zeros(len(places), np.int64)
    if failed:
        failures[-1] = failed
    zeros = np.zeros(len(places), np.int64)
    return Intervals(
        length_ns=length_ns,
        index=np.array(places, np.int64),
        ios=np.array([row[0] for row in rows], np.int64),
        bytes=np.array([row[1] for row in rows], np.int64),
        errors=failures,
        latency_ns_sum=np.array([row[2] for row in rows], np.int64),
        latency_ns_min=zeros,
        latency_ns_max=zeros,
    )


def operation_result(
    stream: str, legs: list[Group], failed: Mapping[int, int], series: Intervals
) -> OperationResult:
    """Return what came of one stream and direction from its legs' groups (one or two)."""
    served = [leg for leg in legs if leg.ios]
    return OperationResult(
        stream=stream,
        operation=legs[0].direction,
        count=sum(leg.ios for leg in legs),
        bytes=sum(leg.bytes for leg in legs),
        errors=dict(failed),
        latency=Histogram(
            buckets(leg.bins for leg in legs),
            sum(leg.latency_ns_sum for leg in served),
            min((leg.latency_ns_min for leg in served), default=0),
            max((leg.latency_ns_max for leg in served), default=0),
        ),
        intervals=series,
    )
