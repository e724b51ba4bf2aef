"""An answer as rows and back: pure, exact, and the same bytes for the same answer."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from teijo.engine import decode_histogram, encode_histogram
from teijo.engine.session import IntervalColumns
from teijo.errors import RunFileError
from teijo.terms.histogram import Histogram
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Direction, Gap, Health, Intervals, StepResult, StreamResult

Value = str | int | bytes | None
Row = tuple[Value, ...]

STEP_COLUMNS: Final = (
    "status",
    "started_ns",
    "elapsed_ns",
    "gap_ns",
    "gap_reason",
    "cursors",
    "health_before",
    "health_after",
    "detail",
)
"""The columns of `step` that its answer fills."""

_SERIES: Final = ("ios", "bytes", "errors", "latency_ns_sum", "latency_ns_min", "latency_ns_max")


@dataclass(frozen=True, kw_only=True)
class AnswerRows:
    """An answer as it is stored. Two answers are the same when these are equal.

    `step` has the values of STEP_COLUMNS; `results` and `intervals` are whole rows of their
    tables without the leading step number; `remarks` are (kind, text).
    """

    step: Row
    results: tuple[Row, ...] = ()
    intervals: tuple[Row, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


def rows_of(answer: StepResult | Gap) -> AnswerRows:
    """Return the rows that hold `answer`."""
    match answer:
        case Gap():
            return AnswerRows(step=("gap", None, None, None, answer.reason, *[None] * 4))
        case StepResult():
            return AnswerRows(
                step=(
                    "done",
                    answer.started_ns,
                    answer.elapsed_ns,
                    answer.gap_ns,
                    None,
                    to_json(answer.cursors),
                    to_json(answer.health_before),
                    to_json(answer.health_after),
                    to_json(answer.detail),
                ),
                results=tuple(
                    _result_row(place, result) for place, result in enumerate(answer.results)
                ),
                intervals=tuple(
                    row
                    for result in answer.results
                    if result.intervals is not None
                    for row in interval_rows(result.stream, result.direction, result.intervals)
                ),
                remarks=tuple((remark.kind.value, remark.text) for remark in answer.remarks),
            )


def _result_row(place: int, result: StreamResult) -> Row:
    latency = result.latency
    return (
        place,
        result.stream,
        result.direction,
        result.ios,
        result.bytes,
        to_json({str(errno): count for errno, count in result.errors.items()}),
        latency.sum_ns,
        latency.min_ns,
        latency.max_ns,
        encode_histogram(latency.values_ns, latency.counts),
        None if result.intervals is None else len(result.intervals.index),
    )


def interval_rows(stream: str, direction: str, series: Intervals | IntervalColumns) -> list[Row]:
    """Return the rows of one time series, without the leading step number."""
    columns = [getattr(series, name).tolist() for name in ("index", *_SERIES)]
    return [(stream, direction, *values) for values in zip(*columns, strict=True)]


def answer_of(
    step: Mapping[str, Value],
    results: Iterable[Mapping[str, Value]],
    intervals: Mapping[tuple[str, str], list[Row]],
    remarks: tuple[Remark, ...],
) -> StepResult | Gap:
    """Return the answer that a step's rows hold.

    `intervals` has, for each (stream, direction), rows of (number, ios, bytes, errors,
    latency_ns_sum, latency_ns_min, latency_ns_max) in order of number.
    """
    if step["status"] == "gap":
        return Gap(reason=str(step["gap_reason"]))
    interval_ns = _whole(step["interval_ns"])
    return StepResult(
        started_ns=_whole(step["started_ns"]),
        elapsed_ns=_whole(step["elapsed_ns"]),
        gap_ns=_whole(step["gap_ns"]),
        results=tuple(
            _stream_result(
                row, intervals.get((str(row["stream"]), str(row["direction"])), []), interval_ns
            )
            for row in results
        ),
        cursors=_counters(step["cursors"]),
        health_before=_counters(step["health_before"]),
        health_after=_counters(step["health_after"]),
        detail=texts(step["detail"]),
        remarks=remarks,
    )


def _stream_result(
    row: Mapping[str, Value], intervals: list[Row], interval_ns: int
) -> StreamResult:
    blob = row["histogram"]
    assert isinstance(blob, bytes)
    try:
        values_ns, counts = decode_histogram(blob)
    except RunFileError as error:
        raise ValueError(error.message) from error
    latency = Histogram(
        values_ns,
        counts,
        _whole(row["latency_ns_sum"]),
        _whole(row["latency_ns_min"]),
        _whole(row["latency_ns_max"]),
    )
    ios = _whole(row["ios"])
    if latency.count != ios:
        raise ValueError(f"a histogram of {latency.count} I/Os stands beside a count of {ios}")
    if row["intervals"] is not None and len(intervals) != row["intervals"]:
        raise ValueError(f"{len(intervals)} intervals are there, {row['intervals']!r} were written")
    return StreamResult(
        stream=str(row["stream"]),
        direction=_direction(row["direction"]),
        ios=ios,
        bytes=_whole(row["bytes"]),
        errors={int(errno): _whole(n) for errno, n in from_json(row["errors"]).items()},
        latency=latency,
        intervals=None if row["intervals"] is None else series_of(intervals, interval_ns),
    )


def series_of(rows: list[Row], interval_ns: int) -> Intervals:
    """Return a time series from its rows (number, ios, bytes, …), in order of number."""
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 1 + len(_SERIES))
    number, *columns = (np.ascontiguousarray(column) for column in table.T)
    return Intervals(
        length_ns=interval_ns,
        index=number,
        **dict(zip(_SERIES, columns, strict=True)),
    )


def remark_of(kind: str, text: str, step: int | None) -> Remark:
    """Return the remark a row holds."""
    return Remark(kind=RemarkKind(kind), text=text, step=step)


def to_json(values: object) -> str:
    """Return canonical JSON: the same values, the same text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_json(text: Value) -> dict[str, Value]:
    """Return the object a column holds as JSON."""
    assert isinstance(text, str)
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError(f"{text!r} is no JSON object")
    return values


def texts(text: Value) -> dict[str, str]:
    """Return the object of strings a column holds as JSON."""
    values = from_json(text)
    if not all(isinstance(value, str) for value in values.values()):
        raise ValueError(f"{text!r} holds more than text")
    return {name: str(value) for name, value in values.items() if isinstance(value, str)}


def _counters(text: Value) -> Health:
    return {name: _whole(count) for name, count in from_json(text).items()}


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} stands where a whole number should")
    return value


def _direction(value: Value) -> Direction:
    match value:
        case "read":
            return "read"
        case "write":
            return "write"
        case _:
            raise ValueError(f"{value!r} is no direction")
