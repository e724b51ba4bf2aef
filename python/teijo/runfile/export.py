"""A record and its findings for other programs: JSON with a versioned schema, CSV, Parquet.

Pure serialisation. docs/schema/run.v1.schema.json describes the JSON; a test keeps them together.
"""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Literal

from teijo.errors import HostError
from teijo.outside.text import spreadsheet_cell, visible_json
from teijo.runfile import columns
from teijo.runfile.columns import Table
from teijo.terms.finding import Findings, SteadyState
from teijo.terms.histogram import Histogram
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Gap, OperationResult, StepResult, Witness
from teijo.terms.step import step_to_json
from teijo.terms.workload import Workload

SCHEMA: Final = "teijo.run/1"

Format = Literal["json", "csv", "parquet"]

_TIMES: Final = ("started_ns", "elapsed_ns", "gap_ns")
_LEDGER_COLUMNS: Final = (
    "requirement", "name", "asked", "evidence", "verdict", "optional", "decisive",
    "advisory",
)  # fmt: skip


def export(
    record: Record,
    findings: Findings | None,
    *,
    to: Format,
    table: Table = "results",
    limits: Sequence[Mapping[str, object]] = (),
) -> bytes:
    """Return the run as the bytes of one file.

    JSON holds everything; CSV and Parquet hold one `table` of `columns`. `findings` are None for
    a run that has measured nothing yet; `limits` are what became of those that were asked.

    Raises:
        HostError: Parquet was asked for and pyarrow is not installed.
    """
    match to:
        case "json":
            return to_json(record, findings, limits).encode()
        case "csv":
            return to_csv(record, table).encode()
        case "parquet":
            return to_parquet(record, table)


def to_json(
    record: Record,
    findings: Findings | None,
    limits: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return the run as JSON of schema "teijo.run/1", indented, ending in a newline."""
    whole = document(record, findings, limits)
    text = json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)
    # A control character in a name from outside must not reach a terminal.
    return visible_json(text) + "\n"


def to_csv(record: Record, table: Table = "results") -> str:
    """Return one table with a header line; numbers are never rounded.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    content = columns.tables(record)[table]
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(content)
    writer.writerows(zip(*(_cells(column.tolist()) for column in content.values()), strict=True))
    return target.getvalue()


def _cells(values: list[Any]) -> list[Any]:
    return [spreadsheet_cell(value) if isinstance(value, str) else value for value in values]


def to_parquet(record: Record, table: Table = "results") -> bytes:
    """Return one table as Parquet, with the run as JSON in its metadata (key "teijo.run").

    Raises:
        HostError: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise HostError(
            "Parquet needs the package pyarrow, which is not installed.",
            remedy="Install it: pip install 'teijo[parquet]'. JSON and CSV need nothing more.",
        ) from error
    content = pyarrow.table(
        {name: pyarrow.array(column.tolist(), _arrow_type(pyarrow, column.dtype.kind))
         for name, column in columns.tables(record)[table].items()}
    ).replace_schema_metadata({"teijo.run": json.dumps(_run(record))})  # fmt: skip
    target = io.BytesIO()
    parquet.write_table(content, target)
    return target.getvalue()


def document(
    record: Record,
    findings: Findings | None,
    limits: Sequence[Mapping[str, object]] = (),
) -> dict[str, Any]:
    """Return the run as JSON-ready values, in the order a person wants to read them."""
    return {
        "schema": SCHEMA,
        "run": _run(record),
        "environment": dict(record.environment),
        "device": _device(record),
        "findings": None if findings is None else _findings(findings),
        "limits": [dict(each) for each in limits],
        "remarks": [
            {"kind": remark.kind.value, "text": remark.text, "step": remark.step}
            for remark in record.remarks
        ],
        "steps": [_step(step) for step in record.steps],
        "readings": [
            {**asdict(reading), "counters": dict(reading.counters)} for reading in record.readings
        ],
    }


def _run(record: Record) -> dict[str, Any]:
    run = record.run
    return {**asdict(run), "settings": dict(run.settings), "group": dict(run.group)}


def _device(record: Record) -> dict[str, Any]:
    identity = record.identity
    sizes = {name: size or None for name, size in asdict(record.geometry).items()}
    return {**asdict(identity), "facts": dict(identity.facts), **sizes}


def _step(record: StepRecord) -> dict[str, Any]:
    head = {
        "seq": record.seq,
        "kind": record.step.kind,
        "phase": record.step.phase,
        "part": record.step.part,
        "round": columns.round_of(record),
        "cell": columns.cell_of(record),
        "seed": record.seed,
        "workload": _workload(record),
        "asked": json.loads(step_to_json(record.step)),
    }
    match record.answer:
        case Gap() as gap:
            answer, reason = StepResult(started_ns=0, elapsed_ns=0), gap.reason
            times: dict[str, Any] = dict.fromkeys(_TIMES)
        case StepResult() as answer:
            reason = ""
            times = {name: getattr(answer, name) for name in _TIMES}
    return {
        **head,
        "gap": reason or None,
        **times,
        "results": [_result(result) for result in answer.results],
        "health_before": dict(answer.health_before),
        "health_after": dict(answer.health_after),
        "detail": dict(answer.detail),
        "witness": None if answer.witness is None else _witness(answer.witness),
        "commands": [_result(command) for command in answer.commands],
        "verification": None if answer.verification is None else asdict(answer.verification),
        "census": [asdict(each) for each in answer.census],
        "remarks": columns.remarks_of(answer),
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {**asdict(witness), "clock": witness.clock}


def _workload(record: StepRecord) -> list[dict[str, Any]] | None:
    workload = getattr(record.step, "workload", None)
    if not isinstance(workload, Workload):
        return None
    return [asdict(stream) for stream in workload.streams]


def _result(result: OperationResult) -> dict[str, Any]:
    return {
        "stream": result.stream,
        "direction": result.operation,
        "ios": result.count,
        "bytes": result.bytes,
        "errors": {str(errno): count for errno, count in result.errors.items()},
        "latency_ns": None if result.latency is None else _latency(result.latency),
        "response_ns": None if result.response is None else _latency(result.response),
        "backlog_max": result.backlog_max,
        "backlog_end": result.backlog_end,
    }


def _latency(latency: Histogram) -> dict[str, Any]:
    return {
        "min": latency.min_ns,
        "mean": latency.mean_ns,
        "max": latency.max_ns,
        **{name: latency.quantile_ns(share) for name, share in columns.QUANTILES},
    }


def _findings(findings: Findings) -> dict[str, Any]:
    return {
        "method": findings.method,
        "spec": findings.spec,
        "converged": findings.converged,
        "rounds": findings.rounds,
        "window_rounds": findings.window_rounds,
        "steady_states": [_steady_state(state) for state in findings.steady_states],
        "scalars": [
            {**asdict(scalar), "value": _finite(scalar.value)} for scalar in findings.scalars
        ],
        "cells": [{**asdict(cell), "labels": dict(cell.labels)} for cell in findings.cells],
        "parts": [
            {"name": part.name, "findings": _findings(part.findings)} for part in findings.parts
        ],
        "ledger": [
            {name: getattr(line, name) for name in _LEDGER_COLUMNS} for line in findings.ledger
        ],
    }


def _steady_state(state: SteadyState) -> dict[str, Any]:
    return {
        "variable": state.variable,
        "unit": state.unit,
        "rounds": list(state.rounds),
        "values": [_finite(value) for value in state.values],
        "reached": state.reached,
        "windows": [
            {
                **{name: _finite(value) for name, value in asdict(window).items()
                   if name != "values"},
                "values": [_finite(value) for value in window.values],
                "range_ok": window.range_ok,
                "slope_ok": window.slope_ok,
                "steady": window.steady,
            }
            for window in state.windows
        ],
    }  # fmt: skip


def _finite(value: float | None) -> float | None:
    """JSON has no NaN and no infinity: what is not a number is null."""
    return value if value is None or math.isfinite(value) else None


def _arrow_type(pyarrow: Any, kind: str) -> Any:
    types = {"U": pyarrow.string(), "b": pyarrow.bool_(), "f": pyarrow.float64()}
    return types.get(kind, pyarrow.int64())
