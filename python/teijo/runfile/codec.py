"""An answer as rows and back: pure, exact, and the same bytes for the same answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from teijo.terms.census import Census, ContentSample
from teijo.terms.histogram import Histogram, open_together
from teijo.terms.reading import MOST, Reading
from teijo.terms.remark import Remark
from teijo.terms.result import (
    COMMANDS,
    Gap,
    Health,
    Intervals,
    OperationResult,
    StepResult,
    Witness,
)
from teijo.terms.verification import Fault, Faults, Verification, Written

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
    "witness",
    "verification",
    "written",
    "census",
)
"""The columns of `step` that its answer fills."""

RESULT_COLUMNS: Final = (
    "place",
    "stream",
    "operation",
    "count",
    "bytes",
    "errors",
    "latency_ns_sum",
    "latency_ns_min",
    "latency_ns_max",
    "histogram",
    "intervals",
    "backlog_max",
    "backlog_end",
    "response_ns_sum",
    "response_ns_min",
    "response_ns_max",
    "response_histogram",
)
"""The columns of `result` behind the step's number."""

_SERIES: Final = ("ios", "bytes", "errors", "latency_ns_sum", "latency_ns_min", "latency_ns_max")
_NO_LINES: Final = np.empty((0, 1 + len(_SERIES)), np.int64)


@dataclass(frozen=True, kw_only=True)
class AnswerRows:
    """An answer as it is stored. Two answers are the same when these are equal.

    `step` has the values of STEP_COLUMNS; `results` and `intervals` are whole rows of their
    tables without the leading step number and the checksum; `remarks` are (kind, text).
    """

    step: Row
    results: tuple[Row, ...] = ()
    intervals: tuple[Row, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


def differing(one: AnswerRows, other: AnswerRows) -> tuple[str, ...]:
    """Return the names of what two answers differ in, none where they are the same.

    They are columns of `step`, "STREAM, DIRECTION: COLUMN, …" of results, and what else there is.
    """
    pairs = zip(STEP_COLUMNS, one.step, other.step, strict=True)
    found = [name for name, first, second in pairs if first != second]
    rows, others = ({_place(row): row for row in each.results} for each in (one, other))
    for place in dict.fromkeys((*rows, *others)):
        row, own = rows.get(place, ()), others.get(place, ())
        if row != own:
            columns = _columns_apart(row, own)
            found.append(f"{place}: {', '.join(columns)}")
    found += [
        name
        for name, first, second in (
            ("intervals", one.intervals, other.intervals),
            ("remarks", one.remarks, other.remarks),
        )
        if first != second
    ]
    return tuple(found)


def _place(row: Row) -> str:
    return ", ".join(str(value) for value in row[1:3])


def _columns_apart(one: Row, other: Row) -> list[str]:
    if not (one and other):
        return ["the whole row"]
    pairs = zip(RESULT_COLUMNS, one, other, strict=True)
    return [name for name, first, second in pairs if first != second]


def rows_of(answer: StepResult | Gap, *, intervals: bool = True) -> AnswerRows:
    """Return the rows that hold `answer`, on demand without its time series."""
    match answer:
        case Gap():
            return AnswerRows(step=("gap", None, None, None, answer.reason, *[None] * 8))
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
                    None if answer.witness is None else to_json(asdict(answer.witness)),
                    None if answer.verification is None else to_json(asdict(answer.verification)),
                    to_json([asdict(each) for each in answer.written]) if answer.written else None,
                    to_json([_plain(each) for each in answer.census]) if answer.census else None,
                ),
                results=tuple(
                    _result_row(place, result)
                    for place, result in enumerate((*answer.results, *answer.commands))
                ),
                intervals=tuple(
                    row
                    for result in answer.results
                    if intervals and result.intervals is not None
                    for row in interval_rows(result.stream, result.operation, result.intervals)
                ),
                remarks=tuple((remark.kind.value, remark.text) for remark in answer.remarks),
            )


def _plain(found: Census) -> dict[str, object]:
    """Return its fields as `asdict` does, which copies each of its thousands of numbers."""
    plain = {field.name: getattr(found, field.name) for field in fields(found)}
    return plain | {"content": None if found.content is None else asdict(found.content)}


def _result_row(place: int, result: OperationResult) -> Row:
    return (
        place,
        result.stream,
        result.operation,
        result.count,
        result.bytes,
        to_json({str(errno): count for errno, count in result.errors.items()}),
        *_histogram_columns(result.latency),
        None if result.intervals is None else len(result.intervals.index),
        result.backlog_max,
        result.backlog_end,
        *_histogram_columns(result.response),
    )


def _histogram_columns(times: Histogram | None) -> Row:
    if times is None:
        return (None, None, None, None)
    return (times.sum_ns, times.min_ns, times.max_ns, times.v2)


def interval_rows(stream: str, operation: str, series: Intervals) -> list[Row]:
    """Return the rows of one time series, without the leading step number."""
    return [(stream, operation, *values) for values in numbers_of(series).tolist()]


def numbers_of(series: Intervals) -> NDArray[np.int64]:
    """Return the numbers of a time series, a row a line: `number` and what follows it."""
    return np.column_stack([getattr(series, name) for name in ("index", *_SERIES)])


def reading_row(reading: Reading) -> Row:
    """Return the row of `health` that holds a reading, without the leading place."""
    counters = to_json(dict(reading.counters))
    return (reading.step, reading.at_ns, reading.cost_ns, counters, reading.error)


def reading_of(row: Mapping[str, Value]) -> Reading:
    """Return the reading that a row holds; it has either counters or a reason why not."""
    counters, error = _counters(row["counters"]), row["error"]
    if not isinstance(error, str) or bool(counters) == bool(error):
        raise ValueError("a reading of the drive says both what it told and why it did not")
    if not all(0 <= count <= MOST for count in counters.values()):
        raise ValueError("a drive counted what no drive counts")
    return Reading(
        step=_whole(row["step"]),
        at_ns=_count(row["at_ns"]),
        cost_ns=_count(row["cost_ns"]),
        counters=counters,
        error=error,
    )


def answer_of(
    step: Mapping[str, Value],
    results: Iterable[Mapping[str, Value]],
    intervals: Mapping[tuple[str, str], NDArray[np.int64]],
    remarks: tuple[Remark, ...],
    *,
    untimed: bool = False,
) -> StepResult | Gap:
    """Return the answer that a step's rows hold; of imported ones some may be `untimed`.

    `intervals` has, for each (stream, operation), lines of (number, ios, bytes, errors,
    latency_ns_sum, latency_ns_min, latency_ns_max) in order of number. Histograms are not looked
    into: `check_histograms` does that for many answers at once.
    """
    if step["status"] == "gap":
        return Gap(reason=str(step["gap_reason"]))
    interval_ns = _whole(step["interval_ns"])
    of_blocks = step["kind"] in ("measure", "precondition")
    parts = [
        _stream_result(
            row,
            intervals.get((str(row["stream"]), str(row["operation"])), _NO_LINES),
            interval_ns,
            of_blocks=of_blocks,
        )
        for row in results
    ]
    if not untimed and any(part.latency is None for part in parts):
        raise ValueError("a result that was measured has no histogram")
    return StepResult(
        started_ns=_whole(step["started_ns"]),
        elapsed_ns=_count(step["elapsed_ns"]),
        gap_ns=_whole(step["gap_ns"]),
        results=tuple(part for part in parts if part.operation not in COMMANDS),
        commands=tuple(part for part in parts if part.operation in COMMANDS),
        cursors=_counters(step["cursors"]),
        health_before=_counters(step["health_before"]),
        health_after=_counters(step["health_after"]),
        detail=texts(step["detail"]),
        remarks=remarks,
        # Files of older versions lack these columns.
        witness=_witness(step.get("witness")),
        verification=_verification(step.get("verification")),
        written=_written(step.get("written")),
        census=_census(step.get("census")),
    )


def _witness(text: Value) -> Witness | None:
    if text is None:
        return None
    values: dict[str, Any] = from_json(text)
    # JSON has no tuples, and what is read must equal what was recorded.
    tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    places = tuple((cpu, node) for cpu, node in tuples.pop("places", ()))
    return Witness(**{**values, **tuples, "places": places})


def _verification(text: Value) -> Verification | None:
    if text is None:
        return None
    values: dict[str, Any] = from_json(text)
    faults = (
        Faults(
            fault=Fault(each["fault"]),
            sectors=each["sectors"],
            first_bytes=tuple(each["first_bytes"]),
        )
        for each in values["faults"]
    )
    return Verification(**{**values, "faults": tuple(faults)})


def _written(text: Value) -> tuple[Written, ...]:
    if text is None:
        return ()
    return tuple(Written(**each) for each in _loaded(text))


def _census(text: Value) -> tuple[Census, ...]:
    found: list[dict[str, Any]] = [] if text is None else _loaded(text)
    return tuple(_census_of(each) for each in found)


def _census_of(values: dict[str, Any]) -> Census:
    lists = {name: tuple(values[name]) for name in ("hashes", "counts")}
    content = values["content"]
    if content is not None:
        numbers = {name: _count(content[name]) for name in content if name != "prints"}
        content = ContentSample(**numbers, prints=tuple(map(_count, content["prints"])))
    return Census(**{**values, **lists, "content": content})


def _stream_result(
    row: Mapping[str, Value], intervals: NDArray[np.int64], interval_ns: int, *, of_blocks: bool
) -> OperationResult:
    is_timed = row["histogram"] is not None
    has_response = row.get("response_histogram") is not None
    if row["intervals"] is not None and len(intervals) != row["intervals"]:
        raise ValueError(f"{len(intervals)} intervals are there, {row['intervals']!r} were written")
    return OperationResult(
        stream=str(row["stream"]),
        operation=_operation(row["operation"], of_blocks=of_blocks),
        count=_count(row["count"]),
        bytes=_count_or_none(row["bytes"]),
        errors={int(errno): _count(n) for errno, n in from_json(row["errors"]).items()},
        latency=_histogram(row, "histogram", "latency") if is_timed else None,
        intervals=None if row["intervals"] is None else series_of(intervals, interval_ns),
        response=_histogram(row, "response_histogram", "response") if has_response else None,
        backlog_max=_count_or_none(row.get("backlog_max")),
        backlog_end=_count_or_none(row.get("backlog_end")),
    )


def _histogram(row: Mapping[str, Value], column: str, name: str) -> Histogram:
    blob = row[column]
    assert isinstance(blob, bytes)
    return Histogram(blob, *(_whole(row[f"{name}_ns_{what}"]) for what in ("sum", "min", "max")))


def check_histograms(results: Sequence[OperationResult]) -> None:
    """Open the histograms of results, and check each against the count beside it.

    Raises:
        ValueError: one is damaged, or of other I/Os.
    """
    pairs = [(one, latency) for one in results for latency in (one.latency, one.response)]
    found = [(one.count, latency) for one, latency in pairs if latency is not None]
    open_together(latency for _, latency in found)
    for count, latency in found:
        if latency.count != count:
            raise ValueError(
                f"a histogram of {latency.count} I/Os stands beside a count of {count}"
            )


def series_of(numbers: NDArray[np.int64], interval_ns: int) -> Intervals:
    """Return a time series from its lines (number, ios, bytes, …), in order of number."""
    number, *columns = (np.ascontiguousarray(column) for column in numbers.T)
    return Intervals(
        length_ns=interval_ns,
        index=number,
        **dict(zip(_SERIES, columns, strict=True)),
    )


def to_json(values: object) -> str:
    """Return canonical JSON: the same values, the same text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_json(text: Value) -> dict[str, Value]:
    """Return the object a column holds as JSON."""
    values = _loaded(text)
    if not isinstance(values, dict):
        raise ValueError(f"{text!r} is no JSON object")
    return values


def _loaded(text: Value) -> Any:
    """Return what a column holds as JSON, as long as it could be written again."""
    assert isinstance(text, str)
    values = _DECODER.decode(text)
    if "\\u" in text:
        to_json(values).encode()  # half a character of two can be escaped, but is no text
    return values


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
"""Made once; Python would take NaN and Infinity."""


def texts(text: Value) -> dict[str, str]:
    """Return the object of strings a column holds as JSON."""
    values = from_json(text)
    if not all(isinstance(value, str) for value in values.values()):
        raise ValueError(f"{text!r} holds more than text")
    return {name: str(value) for name, value in values.items() if isinstance(value, str)}


def _counters(text: Value) -> Health:
    return {name: _whole(count) for name, count in from_json(text).items()}


def _whole(value: Value) -> int:
    if not isinstance(value, int) or isinstance(value, bool):  # to Python True is an int
        raise ValueError(f"{value!r} stands where a whole number should")
    return value


def _count(value: Value) -> int:
    if (count := _whole(value)) < 0:
        raise ValueError(f"{count} stands where a count should")
    return count


def _count_or_none(value: Value) -> int | None:
    return None if value is None else _count(value)


def _operation(value: Value, *, of_blocks: bool) -> str:
    if of_blocks and value not in ("read", "write", *COMMANDS):
        raise ValueError(f"{value!r} is no direction")
    return str(value)
