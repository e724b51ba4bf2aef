"""The method that CONTRIBUTING.md shows is whole: it converses, finds, and reports."""

import re
from typing import Any

import pytest

from teijo.errors import PlanError
from teijo.methods.parts import document_of, findings_of, watch_of
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record, RunInfo, StepRecord
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Measure
from tests.house.tree import ROOT, text

DRIVE = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)


@pytest.fixture
def method() -> Any:
    (block,) = re.findall(r"```python\n(.*?)```", text(ROOT / "CONTRIBUTING.md"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "depths"}
    exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    return names["Depths"]()


def converse(steps: Any, answers: list[Answer]) -> list[tuple[Measure, Answer]]:
    exchanges = []
    step = next(steps)
    for answer in answers[:-1]:
        exchanges.append((step, answer))
        step = steps.send(answer)
    exchanges.append((step, answers[-1]))
    with pytest.raises(StopIteration) as end:
        steps.send(answers[-1])
    assert end.value.value == "done"
    return exchanges


def test_the_example_converses_survives_a_gap_and_reports(method: Any) -> None:
    settings = method.settings("", {"deepest": "4", "seconds": "1s"}, DRIVE)
    second = StepResult(started_ns=0, elapsed_ns=10**9)
    exchanges = converse(method.steps(settings, DRIVE), [second, Gap(), second, second])
    assert [step.cell for step, _ in exchanges] == ["QD 1", "QD 2", "QD 2", "QD 4"]
    record = Record(
        run=RunInfo(
            id="r",
            method=method.id,
            spec="",
            settings=settings.model_dump(mode="json"),
            seed=1,
            engine="",
            version="0",
            started_at="",
        ),
        geometry=DRIVE,
        identity=Identity(kind="file", target="x"),
        environment={},
        steps=tuple(
            StepRecord(seq=place, step=step, seed=place, answer=answer)
            for place, (step, answer) in enumerate(exchanges, 1)
        ),
    )
    findings = findings_of(record, method)
    assert [cell.labels for cell in findings.cells] == [
        (("queue depth", depth),) for depth in ("QD 1", "QD 2", "QD 4")
    ]
    assert watch_of(record, method).remaining_ns_most == 0
    (section,) = document_of(record, method).sections
    assert len(section.blocks[0].rows) == 3


def test_the_example_has_a_setting_for_every_field_and_refuses_the_others(method: Any) -> None:
    from teijo.methods.knobs import describe

    settings = method.settings("", {}, DRIVE)
    assert {one.field for one in describe(settings)} == set(type(settings).model_fields) - {"spec"}
    with pytest.raises(PlanError, match="did you mean 'deepest'"):
        method.settings("", {"depest": "4"}, DRIVE)
