"""The method that CONTRIBUTING.md shows is whole: a file and a card are all that it adds."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teijo import api
from teijo.document.model import XYChart
from teijo.errors import PlanError
from teijo.methods import registry
from teijo.methods.knobs import describe
from teijo.methods.parts import found_in
from teijo.methods.registry import Card
from teijo.report import html, text
from teijo.report.language import translator
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap
from tests.house.tree import ROOT, of_kind
from tests.house.tree import text as read
from tests.methods.canned import Canned, play
from tests.report.english import data_of, untranslated

LINES_MOST = 120
OWN_TEXTS = {
    "IOPS by queue depth",
    "Queue depth",
    "Queue depths",
    "queue depth",
    "{count} measured",
}
"""What the example says that no other method does: its lines of ja.toml."""


def example() -> str:
    (block,) = re.findall(r"```python\n(.*?)```", read(ROOT / "CONTRIBUTING.md"), re.DOTALL)
    return str(block)


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the example as a module of the methods, with its card in the registry."""
    module = ModuleType("teijo.methods.depths")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(example(), "CONTRIBUTING.md", "exec"), module.__dict__)
    made = module.Depths()
    card = Card(id=made.id, title="Queue depths", summary="", place="depths:Depths")
    monkeypatch.setattr(registry, "CARDS", (*registry.CARDS, card))
    return made


def run(folder: Path, seed: int) -> api.Run:
    settings = {"deepest": "4", "seconds": "100ms"}
    return api.run("depths", "sim:slc-a", output=folder / str(seed), seed=seed, settings=settings)


def test_the_example_is_one_file_of_at_most_so_many_lines() -> None:
    assert len(example().splitlines()) <= LINES_MOST
    named = [path for path in of_kind(".py") if "Depths(" in read(path) and path != Path(__file__)]
    assert named == [], "nothing else knows it"


def test_the_example_runs_reports_exports_and_compares(method: Any, tmp_path: Path) -> None:
    one, other = (run(tmp_path, seed) for seed in (1, 2))
    assert one.findings.converged
    assert [cell.labels for cell in one.findings.cells] == [
        (("queue depth", depth),) for depth in ("1", "2", "4")
    ]
    charts = [
        block
        for section in one.document().sections
        for block in section.blocks
        if isinstance(block, XYChart)
    ]
    assert "IOPS by queue depth" in [chart.title for chart in charts]
    assert "Queue depth" in text.render(one.document())
    assert html.page(one.document(), library="")
    assert api.export(one.path, to="json")
    compared = api.compare({"a": [one], "b": [other]})
    assert "QD 4" in text.render(api.comparison_document(compared))


def test_the_example_begins_a_round_again_after_a_gap_and_says_what_is_left(method: Any) -> None:
    overrides = {"deepest": "4", "seconds": "1s"}
    canned = Canned(lambda step: 1000.0, gaps=frozenset({2}))
    played = play(method, canned, overrides=overrides)
    assert [step.cell for step in played.measured[:4]] == ["QD 1", "QD 2", "QD 1", "QD 2"]
    assert isinstance(played.steps[1].answer, Gap)
    found = found_in(played.record, method)
    assert (found.rounds, found.converged, len(found.quantities)) == (5, True, 6)


def test_only_the_examples_own_texts_want_a_line_in_japanese(method: Any) -> None:
    played = play(method, Canned(lambda step: 1000.0), overrides={"deepest": "4"})
    document = replace(method.document(found_in(played.record, method)), name="")
    left = untranslated(document, translator("ja"), data_of(played.record, played.settings))
    assert left <= OWN_TEXTS


def test_the_example_has_a_setting_for_every_field_and_refuses_the_others(method: Any) -> None:
    drive = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)
    settings = method.settings("", {}, drive)
    assert {one.field for one in describe(settings)} == set(type(settings).model_fields) - {"spec"}
    with pytest.raises(PlanError, match="did you mean 'deepest'"):
        method.settings("", {"depest": "4"}, drive)
    with pytest.raises(PlanError, match="follows no standard"):
        method.settings("2.0.2", {}, drive)
