"""A record as columns: NumPy arrays by name, ready for pandas, polars or a plot.

`pandas.DataFrame(columns.steps(record))` and `polars.DataFrame(…)` take them as they are.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Gap, OperationResult, StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge

Columns = dict[str, NDArray[Any]]

QUANTILES: Final = (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("p99999", 0.99999))

_Kinds = dict[str, type[np.generic]]

_STEPS: Final[_Kinds] = {
    "seq": np.int64,
    "part": np.str_,
    "kind": np.str_,
    "phase": np.str_,
    "round": np.int64,
    "cell": np.str_,
    "gap": np.bool_,
    "seed": np.int64,
    "started_ns": np.int64,
    "elapsed_ns": np.int64,
    "gap_ns": np.int64,
    "ios": np.int64,
    "bytes": np.int64,
    "iops": np.float64,
}
_RESULTS: Final[_Kinds] = {
    "seq": np.int64,
    "part": np.str_,
    "phase": np.str_,
    "round": np.int64,
    "cell": np.str_,
    "stream": np.str_,
    "direction": np.str_,
    "elapsed_ns": np.int64,
    "ios": np.int64,
    "bytes": np.int64,
    "errors": np.int64,
    "latency_ns_min": np.int64,
    "latency_ns_mean": np.float64,
    "latency_ns_max": np.int64,
    **{f"latency_ns_{name}": np.int64 for name, _ in QUANTILES},
    "response_ns_min": np.int64,
    "response_ns_mean": np.float64,
    "response_ns_max": np.int64,
    **{f"response_ns_{name}": np.int64 for name, _ in QUANTILES},
    "backlog_max": np.int64,
    "backlog_end": np.int64,
    "remarks": np.str_,
}


_HEALTH: Final[_Kinds] = {
    "step": np.int64,
    "at_ns": np.int64,
    "cost_ns": np.int64,
    "counter": np.str_,
    "value": np.int64,
    "error": np.str_,
}

Table = Literal["steps", "results", "intervals", "health"]


def tables(record: Record) -> dict[Table, Columns]:
    """Return all columns, by table."""
    return {
        "steps": steps(record),
        "results": results(record),
        "intervals": intervals(record),
        "health": health(record),
    }


def steps(record: Record) -> Columns:
    """Return one entry per step that was answered. Times ns, sizes bytes; round 0 is none.

    A gap has `gap` set, and zeros where it has no answer.
    """
    return _columns(_STEPS, [_step_row(step) for step in record.steps])


def _step_row(record: StepRecord) -> tuple[object, ...]:
    step, answer = record.step, record.answer
    named = (record.seq, step.part, step.kind, step.phase)
    place = (*named, round_of(record) or 0, cell_of(record) or "")
    match answer:
        case Gap():
            return (*place, True, record.seed, 0, 0, 0, 0, 0, 0.0)
        case StepResult():
            times = (answer.started_ns, answer.elapsed_ns, answer.gap_ns)
            return (*place, False, record.seed, *times, answer.ios, answer.bytes, answer.iops)


def results(record: Record) -> Columns:
    """Return one entry per step, stream and operation (`direction`), with latencies in ns.

    `ios` counts operations. Latencies are 0 where an operation was only counted; `response_ns_…`
    and the backlog are 0 where there is no open loop. `remarks` are the kinds of
    warning that touch the step's numbers, parted by "; ".
    """
    rows = [
        (
            step.seq,
            step.step.part,
            step.step.phase,
            round_of(step) or 0,
            cell_of(step) or "",
            result.stream,
            result.operation,
            answer.elapsed_ns,
            result.count,
            result.moved_bytes,
            sum(result.errors.values()),
            *_latency(result.latency or EMPTY),
            *_latency(result.response or EMPTY),
            result.backlog_max or 0,
            result.backlog_end or 0,
            "; ".join(remarks_of(answer)),
        )
        for step, answer, result in _results(record)
    ]
    return _columns(_RESULTS, rows)


def _latency(latency: Histogram) -> tuple[float, ...]:
    quantiles = (latency.quantile_ns(share) for _, share in QUANTILES)
    return (latency.min_ns, latency.mean_ns, latency.max_ns, *quantiles)


def remarks_of(answer: StepResult) -> list[str]:
    """Return the kinds of warning that touch a step's numbers, each once."""
    return list(dict.fromkeys(remark.kind.value for remark in answer.remarks))


def intervals(record: Record) -> Columns:
    """Return one entry per interval of every result; `start_ns` counts from the step's start."""
    series = [
        (step.seq, result, result.intervals)
        for step, _, result in _results(record)
        if result.intervals is not None
    ]
    lengths = [len(part.index) for _, _, part in series]
    columns: Columns = {
        "seq": np.repeat(np.array([seq for seq, _, _ in series], np.int64), lengths),
        "stream": np.repeat(np.array([one.stream for _, one, _ in series], np.str_), lengths),
        "direction": np.repeat(np.array([one.operation for _, one, _ in series], np.str_), lengths),
        "start_ns": _joined(part.index * part.length_ns for _, _, part in series),
        "length_ns": np.repeat(
            np.array([part.length_ns for _, _, part in series], np.int64), lengths
        ),
    }
    for name in ("ios", "bytes", "errors", "latency_ns_sum", "latency_ns_min", "latency_ns_max"):
        columns[name] = _joined(getattr(part, name) for _, _, part in series)
    return columns


def health(record: Record) -> Columns:
    """Return one entry per counter of every reading of the drive, in the order it was asked.

    A reading that failed is one entry with its `error`, and no counter.
    """
    rows = [
        (reading.step, reading.at_ns, reading.cost_ns, *counted)
        for reading in record.readings
        for counted in (
            *((name, value, "") for name, value in sorted(reading.counters.items())),
            *((("", 0, reading.error),) if reading.error else ()),
        )
    ]
    return _columns(_HEALTH, rows)


def round_of(record: StepRecord) -> int | None:
    """Return the round a step belongs to, None for none."""
    match record.step:
        case (
            Measure(round_number=number)
            | Idle(round_number=number)
            | Configure(round_number=number)
            | Perform(round_number=number)
        ):
            return number
        case Purge() | Precondition():
            return None


def cell_of(record: StepRecord) -> str | None:
    """Return the matrix cell a step measures or configures, None for none."""
    match record.step:
        case Measure(cell=cell) | Configure(cell=cell) | Perform(cell=cell):
            return cell
        case Purge() | Precondition() | Idle():
            return None


def _results(record: Record) -> Iterable[tuple[StepRecord, StepResult, OperationResult]]:
    """Yield (step, its answer, result) of every result, flushes and discards after the I/Os."""
    for step in record.steps:
        if isinstance(step.answer, StepResult):
            for result in (*step.answer.results, *step.answer.commands):
                yield step, step.answer, result


def _columns(kinds: _Kinds, rows: Sequence[tuple[object, ...]]) -> Columns:
    columns = zip(*rows, strict=True) if rows else ((),) * len(kinds)
    return {
        name: np.array(column, kind)
        for (name, kind), column in zip(kinds.items(), columns, strict=True)
    }


def _joined(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    arrays = list(parts)
    return np.concatenate(arrays) if arrays else np.array([], np.int64)
