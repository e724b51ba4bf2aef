"""Discards and flushes of a run: recorded, exported and shown beside the I/Os, not in them."""

import json
from pathlib import Path

import pytest

from teijo import api
from teijo.document.model import Table
from teijo.errors import UnsafeError
from teijo.terms.result import StepResult

SETTINGS = {"rw": "randrw", "discard": "10%", "fsync": "8", "qd": "4", "seconds": "1"}


def test_commands_have_rows_of_their_own_everywhere(tmp_path: Path) -> None:
    run = api.run("workload", "sim:s3700", output=tmp_path / "run", settings=SETTINGS, seed=1)
    answer = run.record.steps[0].answer
    assert isinstance(answer, StepResult)
    counts = {part.operation: part.count for part in answer.commands}
    assert set(counts) == {"flush", "discard"}
    total = answer.ios + counts["discard"]
    assert counts["discard"] / total == pytest.approx(0.1, abs=0.02)
    scalars = {scalar.name: scalar.value for scalar in run.findings.scalars}
    assert scalars["IOPS"] == answer.ios * 1e9 / answer.elapsed_ns, "reads and writes alone"

    exported = json.loads(api.export(run.path, to="json"))
    assert {one["direction"]: one["ios"] for one in exported["steps"][0]["commands"]} == counts
    directions = run.columns["results"]["direction"].tolist()
    assert directions == ["read", "write", "flush", "discard"]

    (table,) = [
        block
        for part in run.document().sections
        for block in part.blocks
        if isinstance(block, Table) and block.caption == "Result"
    ]
    shown = {row[0]: row[1] for row in table.rows}
    assert shown["all"] == answer.ios
    assert {name: shown[name] for name in counts} == counts


def test_a_rate_counts_its_discards(tmp_path: Path) -> None:
    settings = SETTINGS | {"rate": "500", "discard": "50"}
    run = api.run("workload", "sim:s3700", output=tmp_path / "run", settings=settings, seed=1)
    assert "schedule not kept" not in [remark.kind.value for remark in run.remarks]


def test_discards_alone_need_the_consent_that_writes_do(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious" * 4096)
    settings = {"rw": "randread", "discard": "5", "seconds": "1"}
    with pytest.raises(UnsafeError):
        api.run("workload", str(target), output=tmp_path / "run", settings=settings)
    assert target.read_bytes() == b"precious" * 4096
