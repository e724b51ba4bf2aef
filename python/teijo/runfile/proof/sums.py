"""The numbers of each step against each other: results, histograms, time series, depth.

All results of a run are looked at in one go: arrays over every bucket and every interval.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.document.phrase import say
from teijo.runfile.proof.flaw import Check, Flaw, Flaws, answered, engine_is_fio
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import Histogram
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.terms.shared import hosts_at
from teijo.terms.step import Measure, Perform, Precondition, Step
from teijo.terms.work import FileIo, Sql, SqlBench, Transactions
from teijo.terms.workload import Access, Stream

_FIO_SHARE: Final = 0.02
"""fio's buckets are 1/64 wide, and ours are made of their middles."""
_LINEAR_BITS: Final = 11
_SHIFT_MOST: Final = 62

Ints = NDArray[np.int64]


_UNKNOWN_DEPTH: Final = 1 << 20
"""Nobody counts how many I/Os a disk has at one time: more than any has."""
_Column = tuple[Callable[[Intervals], Ints], Callable[[OperationResult], int], bool]
"""A column of a series, what it must add up to, and whether of fio it is known exactly."""


def result_flaws(record: Record) -> Flaws:
    """Give each step whose streams, I/Os or bytes are not those it asked for."""
    for each, answer in answered(record):
        if isinstance(each.step, Measure | Precondition):
            yield from _load_flaws(each, each.step, answer, record)
        elif isinstance(each.step, Perform):
            asked = each.step.work
            if isinstance(asked, SqlBench | Transactions):
                continue  # the time decides how many they are
            name = asked.statement if isinstance(asked, Sql) else asked.operation
            done = sum(part.count + sum(part.errors.values()) for part in answer.of(name))
            if done != asked.count:
                text = "its results are of other streams or directions than it asks for"
                yield Flaw(check=Check.RESULTS, text=text, step=each.seq)
        elif answer.results or answer.commands:
            text = "it asks for no I/O, and has results"
            yield Flaw(check=Check.RESULTS, text=text, step=each.seq)


def _load_flaws(
    each: StepRecord, step: Measure | Precondition, answer: StepResult, record: Record
) -> Flaws:
    fio = engine_is_fio(record)
    streams = {stream.name: stream for stream in step.workload.streams}
    found = [(part.stream, part.operation) for part in answer.results]
    if found != [(one.name, way) for one in step.workload.streams for way in _ways(one)]:
        text = "its results are of other streams or directions than it asks for"
        yield Flaw(check=Check.RESULTS, text=text, step=each.seq)
        return
    for part in answer.results:
        least, most = _bytes_of(part, streams[part.stream], step, record.geometry)
        if not least <= part.moved_bytes <= most:
            text = say(
                "{stream}, {direction}: {ios:,} I/Os cannot be {bytes:,} B",
                stream=part.stream,
                direction=part.operation,
                ios=part.count,
                bytes=part.bytes,
            )
            yield Flaw(check=Check.RESULTS, text=text, step=each.seq)
    parts = (*answer.results, *answer.commands)
    if isinstance(step, Precondition) and not any(part.errors for part in parts):
        moved = sum(part.moved_bytes for part in parts)
        # fio ends with the blocks it has begun.
        queued = sum(one.outstanding_ios * one.block_size_bytes for one in step.workload.streams)
        over = moved - step.total_bytes
        if not 0 <= over <= (2 * queued if fio else 0) and "failure" not in answer.detail:
            text = say(
                "it moved {moved:,} B of the {asked:,} B that were asked for",
                moved=moved,
                asked=step.total_bytes,
            )
            yield Flaw(check=Check.RESULTS, text=text, step=each.seq)


def _ways(stream: Stream) -> list[str]:
    reads, writes = stream.read_percent > 0, stream.read_percent < 100
    return [*(["read"] if reads else []), *(["write"] if writes else [])]


def _bytes_of(
    part: OperationResult, stream: Stream, step: Step, geometry: Geometry
) -> tuple[int, int]:
    """Return how many bytes so many I/Os may be.

    A block ends with its segment and with the bytes asked for, so an ordered stream may have a
    short one at each end of a segment, and any that is bound by bytes has short ones at its end.
    """
    sizes = stream.sizes_bytes
    most = part.count * max(sizes)
    if stream.verified and stream.access is not Access.RANDOM:
        return 0, most  # blocks end where the stamps of earlier steps begin
    short = stream.threads if isinstance(step, Precondition) else 0
    if stream.access is Access.SEQUENTIAL:
        length_bytes = stream.active_range.span_bytes(geometry.capacity_bytes, max(sizes))
        length_bytes = min(length_bytes, stream.active_range.amount_bytes or length_bytes)
        passes = 2 + most // max(length_bytes, 1)
        short += stream.active_range.segments * passes
    return part.count * min(sizes) - short * max(sizes), most


@dataclass(frozen=True)
class _Part:
    """A result with its place."""

    seq: int
    stream: Stream | None
    depth: int
    """How many operations there are at one time."""
    elapsed_ns: int
    part: OperationResult


def _parts(record: Record) -> list[_Part]:
    return [
        _Part(each.seq, streams.get(part.stream), _depth(each, part), answer.elapsed_ns, part)
        for each, answer in answered(record)
        for streams in (_streams_of(each.step),)
        for part in (*answer.results, *answer.commands)
    ]


def _depth(each: StepRecord, part: OperationResult) -> int:
    match each.step:
        case Perform(work=FileIo(workers=workers)):
            return workers
        case Perform(work=SqlBench(clients=clients) | Transactions(clients=clients)):
            return clients if part.stream == "sql" else _UNKNOWN_DEPTH
        case Perform():
            return 1
        case step:
            stream = _streams_of(step).get(part.stream)
            hosts = hosts_at(each.answer.detail) if isinstance(each.answer, StepResult) else 1
            return 0 if stream is None else hosts * stream.outstanding_ios


def _streams_of(step: Step) -> dict[str, Stream]:
    if isinstance(step, Measure | Precondition):
        return {stream.name: stream for stream in step.workload.streams}
    return {}


def latency_flaws(record: Record) -> Flaws:
    """Give each result whose sum or extremes its histogram does not allow."""
    parts = _parts(record)
    slack = _FIO_SHARE if engine_is_fio(record) else 0.0
    yield from _histogram_flaws([(one, one.part.timed) for one in parts], slack)
    open_loops = [(one, one.part.response) for one in parts if one.part.response is not None]
    responses = [(one, response) for one, response in open_loops if response is not None]
    yield from _histogram_flaws(responses, slack)
    for one, response in responses:
        service = one.part.timed
        if response.count != service.count or response.sum_ns < service.sum_ns:
            text = say(
                "{stream}, {direction}: responses are not as many, or shorter than the service",
                stream=one.part.stream,
                direction=one.part.operation,
            )
            yield Flaw(check=Check.LATENCIES, text=text, step=one.seq)


def _histogram_flaws(parts: Sequence[tuple[_Part, Histogram]], slack: float) -> Flaws:
    """Hold sums and extremes to buckets: exact for ours, within `slack` of each for fio's."""
    for one, empty in parts:
        if not empty.count and (empty.sum_ns, empty.min_ns, empty.max_ns) != (0, 0, 0):
            yield _latency_flaw(one)
    full = [(one, histogram) for one, histogram in parts if histogram.count]
    if not full:
        return
    sizes = [len(histogram.values_ns) for _, histogram in full]
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    ends = np.cumsum(sizes) - 1
    low = np.concatenate([histogram.values_ns for _, histogram in full])
    high = low + _widths(low) - 1
    counts = np.concatenate([histogram.counts for _, histogram in full]).astype(np.float64)
    least = np.add.reduceat(low * counts, begins) * (1 - slack)
    most = np.add.reduceat(high * counts, begins) * (1 + slack)
    sums = np.array([float(histogram.sum_ns) for _, histogram in full])
    shortest = np.array([float(histogram.min_ns) for _, histogram in full])
    longest = np.array([float(histogram.max_ns) for _, histogram in full])
    rounded = 1e-9 * most  # of doubles: a sum of 10¹⁵ ns has 53 bits
    good = (least - rounded <= sums) & (sums <= most + rounded)
    good &= (low[begins] * (1 - slack) <= shortest) & (shortest <= high[begins] * (1 + slack))
    good &= (low[ends] * (1 - slack) <= longest) & (longest <= high[ends] * (1 + slack))
    for place in np.flatnonzero(~good):
        yield _latency_flaw(full[place][0])


def _latency_flaw(one: _Part) -> Flaw:
    text = say(
        "{stream}, {direction}: sum, minimum or maximum is not what the histogram holds",
        stream=one.part.stream,
        direction=one.part.operation,
    )
    return Flaw(check=Check.LATENCIES, text=text, step=one.seq)


def _widths(low_ns: Ints) -> Ints:
    """Return how wide the bucket of each lowest value is, as `bucket_width_ns` for one."""
    _, bits = np.frexp(low_ns.astype(np.float64))
    widths: Ints = np.left_shift(1, np.clip(bits - _LINEAR_BITS, 0, _SHIFT_MOST).astype(np.int64))
    return widths


def interval_flaws(record: Record) -> Flaws:
    """Give each result whose time series does not add up to it, or cannot be one."""
    timed = [
        (one, series)
        for one in _parts(record)
        if (series := one.part.intervals) is not None and len(series.index)
    ]
    for one in _parts(record):
        series = one.part.intervals
        if series is not None and not len(series.index) and (one.part.count or one.part.errors):
            yield _interval_flaw(one)
    if not timed:
        return
    bad = _unsummed(timed, fio=engine_is_fio(record)) | _impossible(timed, record)
    for place in np.flatnonzero(bad):
        yield _interval_flaw(timed[place][0])


def _interval_flaw(one: _Part) -> Flaw:
    text = say(
        "{stream}, {direction}: the time series is not that of the result",
        stream=one.part.stream,
        direction=one.part.operation,
    )
    return Flaw(check=Check.INTERVALS, text=text, step=one.seq)


_Timed = Sequence[tuple[_Part, Intervals]]


def _joined(timed: _Timed, column: Callable[[Intervals], Ints]) -> Ints:
    return np.concatenate([column(series) for _, series in timed])


def _begins(timed: _Timed) -> tuple[Ints, Ints]:
    """Return where each series begins among all, and how long each is."""
    sizes = np.array([len(series.index) for _, series in timed])
    return np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes


def _unsummed(timed: _Timed, *, fio: bool) -> NDArray[np.bool_]:
    """Tell of each series whether its sums are not those of the result."""
    begins, _ = _begins(timed)
    columns: tuple[_Column, ...] = (
        (lambda series: series.ios, lambda part: part.count, False),
        (lambda series: series.bytes, lambda part: part.moved_bytes, False),
        (lambda series: series.errors, lambda part: sum(part.errors.values()), False),
        (lambda series: series.latency_ns_sum, lambda part: part.timed.sum_ns, fio),
    )
    bad = np.zeros(len(timed), bool)
    for column, of_result, rounded in columns:
        sums = np.add.reduceat(_joined(timed, column), begins)
        wanted = np.array([of_result(one.part) for one, _ in timed])
        slack = np.abs(wanted * _FIO_SHARE) if rounded else 0
        bad |= np.abs(sums - wanted) > slack
    return bad


def _impossible(timed: _Timed, record: Record) -> NDArray[np.bool_]:
    """Tell of each series whether its entries cannot be: their order, their end, their extremes.

    In an interval and one place of the queue lie I/Os that fill it, but for the first of them.
    """
    begins, sizes = _begins(timed)
    index = _joined(timed, lambda series: series.index)
    steps = np.diff(index, prepend=-1)
    # The first of a series follows none: any number from 0 on is right.
    steps[begins] = 1 + np.minimum(index[begins], 0)
    bad: NDArray[np.bool_] = np.minimum.reduceat(steps, begins) < 1
    ends = begins + sizes - 1
    lengths = np.array([float(series.length_ns) for _, series in timed])
    elapsed = np.array([float(one.elapsed_ns) for one, _ in timed])
    bad |= index[ends] * lengths > elapsed
    ios = _joined(timed, lambda series: series.ios)
    total = _joined(timed, lambda series: series.latency_ns_sum).astype(np.float64)
    bad |= np.minimum.reduceat(np.where(ios < 0, -1, 0), begins) < 0
    if engine_is_fio(record):
        return bad  # it logs no extremes
    shortest = _joined(timed, lambda series: series.latency_ns_min)
    longest = _joined(timed, lambda series: series.latency_ns_max)
    odd = (total < shortest * ios.astype(np.float64)) | (total > longest * ios.astype(np.float64))
    depth = np.array([one.depth for one, _ in timed])
    odd |= total > np.repeat(depth, sizes) * (np.repeat(lengths, sizes) + longest)
    bad |= np.maximum.reduceat(odd, begins)
    none = np.iinfo(np.int64).max
    lowest = np.minimum.reduceat(np.where(ios > 0, shortest, none), begins)
    highest = np.maximum.reduceat(longest, begins)
    some = np.array([one.part.count > 0 for one, _ in timed])
    bad |= some & (lowest != np.array([one.part.timed.min_ns for one, _ in timed]))
    bad |= some & (highest != np.array([one.part.timed.max_ns for one, _ in timed]))
    return bad
