"""Exports are what the published schema says, and lose nothing on the way."""

import csv
import io
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from teijo.runfile.export import SCHEMA, export, to_csv, to_json
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import RunInfo, StepRecord
from teijo.terms.result import StepResult
from teijo.terms.step import Configure
from tests.runfile.samples import findings, record

PUBLISHED = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "run.v1.schema.json").read_text()
)


def exported(found: Findings | None = None) -> dict[str, Any]:
    """Return the sample run as a reader of the JSON has it."""
    content: dict[str, Any] = json.loads(to_json(record(), found or findings()))
    return content


def test_the_published_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)
    assert PUBLISHED["properties"]["schema"]["const"] == SCHEMA


def test_an_export_keeps_to_the_published_schema() -> None:
    jsonschema.validate(exported(), PUBLISHED)
    jsonschema.validate(json.loads(to_json(record(), None)), PUBLISHED)


def test_a_configuration_is_a_step_with_its_place_and_what_it_left_behind() -> None:
    step = Configure(settings=(("chunk", "64KiB"),), hook=("./apply",), round_number=2, cell="64")
    answer = StepResult(started_ns=1, elapsed_ns=2, detail={"hook_stdout": "“ok”"})
    whole = record()
    more = StepRecord(seq=len(whole.steps) + 1, step=step, seed=7, answer=answer)
    content = json.loads(to_json(replace(whole, steps=(*whole.steps, more)), None))
    jsonschema.validate(content, PUBLISHED)
    told = content["steps"][-1]
    assert (told["kind"], told["round"], told["cell"], told["workload"]) == (
        "configure", 2, "64", None,
    )  # fmt: skip
    assert told["asked"]["hook"] == ["./apply"]
    assert told["detail"] == {"hook_stdout": "“ok”"}


def test_the_schema_refuses_what_it_does_not_describe() -> None:
    content = exported()
    content["steps"][3]["results"][0]["latency_ns"]["p42"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, PUBLISHED)


def test_every_definition_of_the_schema_has_a_description_for_every_field() -> None:
    for definition in [PUBLISHED, *PUBLISHED["$defs"].values()]:
        for name, field in definition["properties"].items():
            assert "$ref" in field or field.get("description"), name


def test_what_issue_readers_ask_for_is_there() -> None:
    content = exported()
    assert {"id", "method", "spec", "settings", "seed", "ending"} <= content["run"].keys()
    step = content["steps"][3]
    assert (step["kind"], step["round"], step["cell"]) == ("measure", 1, "65/35 8 KiB")
    assert step["workload"][0]["queue_depth"] == 16
    assert step["results"][0]["latency_ns"] == {
        "min": 100,
        "mean": 350.25,
        "max": 901,
        "p50": 200,
        "p99": 901,
        "p999": 901,
        "p99999": 901,
    }
    assert step["results"][0]["errors"] == {"5": 2, "0": 1}
    assert step["health_after"] == {"host_writes_bytes": 20, "temperature_kelvin": 301}
    assert content["steps"][4]["gap"] == "resumed"
    assert content["steps"][4]["started_ns"] is None
    window = content["findings"]["steady_states"][0]["windows"][0]
    assert window["range_limit"] == 0.235
    assert window["steady"] is False
    assert content["remarks"][1] == {"kind": "i/o errors", "text": "3 I/Os failed", "step": 4}


def test_service_and_response_stand_side_by_side() -> None:
    oltp, _, log = exported()["steps"][3]["results"]
    assert oltp["response_ns"] is None, "in a closed loop the two are one"
    assert oltp["backlog_max"] is None
    assert (log["latency_ns"]["p99"], log["response_ns"]["p99"]) == (1500, 1900)
    assert (log["backlog_max"], log["backlog_end"]) == (7, 0)


def test_a_step_says_how_it_was_made_and_what_touches_it() -> None:
    purge, measured = exported()["steps"][0], exported()["steps"][3]
    assert purge["witness"] is None
    assert measured["witness"]["in_flight_mean"] == 32.5
    assert measured["witness"]["clock"] == "tsc"
    assert (purge["remarks"], measured["remarks"]) == ([], ["i/o errors"])


def test_a_number_json_does_not_have_is_null() -> None:
    assert exported()["findings"]["scalars"][0]["value"] is None
    assert "NaN" not in to_json(record(), findings())


@pytest.mark.parametrize(
    ("kind", "part"), [(RunInfo, "run"), (Identity, "device"), (Geometry, "device")]
)
def test_every_field_of_the_record_is_exported(kind: Any, part: str) -> None:
    assert {field.name for field in fields(kind)} <= exported()[part].keys()


@pytest.mark.parametrize(("table", "rows"), [("steps", 6), ("results", 8), ("intervals", 4)])
def test_csv_has_a_line_per_row(table: Any, rows: int) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(record(), table))))
    assert len(lines) == rows
    assert all(None not in line.values() for line in lines)


def test_csv_does_not_round() -> None:
    line = next(csv.DictReader(io.StringIO(to_csv(record()))))
    assert line["latency_ns_mean"] == "350.25"
    assert line["cell"] == "65/35 8 KiB"


@pytest.mark.parametrize("table", ["steps", "results", "intervals"])
def test_parquet_holds_the_same_table_and_the_run(table: Any) -> None:
    from pyarrow import parquet

    data = export(record(), None, to="parquet", table=table)
    content = parquet.read_table(io.BytesIO(data))
    lines = list(csv.DictReader(io.StringIO(to_csv(record(), table))))
    assert content.num_rows == len(lines)
    assert content.column_names == list(lines[0])
    for name in content.column_names:
        assert [str(value) for value in content[name].to_pylist()] == [x[name] for x in lines]
    assert json.loads(content.schema.metadata[b"teijo.run"])["id"] == "0001"
