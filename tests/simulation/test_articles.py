"""`examples/articles.py`: what the articles found, found again; here what takes few seconds."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.tree import ROOT, text

SCRIPT = ROOT / "examples" / "articles.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    if str(SCRIPT.parent) not in sys.path:
        sys.path.append(str(SCRIPT.parent))  # its parts lie beside it
    spec = importlib.util.spec_from_file_location("articles", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["articles"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def test_the_quick_articles_are_met_and_leave_their_reports(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, "--only", "ssd-cache,write-back,wsat"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = ran.stdout.splitlines()[2:]
    assert len(rows) == 6
    assert all(row.endswith(" yes") for row in rows)
    names = {"isrt-maximised-copy", "raid5-copy", "raid5-write-back-copy", "slc-a-wsat"}
    assert {path.stem for path in tmp_path.glob("*.teijo")} == names
    assert {path.stem for path in tmp_path.glob("*.html")} == names


def test_a_result_that_is_not_met_is_told_and_is_an_error(script: ModuleType) -> None:
    good, bad = (
        script.Result(article="a", said="56,000", found=found, met=met)
        for found, met in (("56,190", True), ("1", False))
    )
    assert script.status_of([good]) == 0
    assert script.status_of([good, bad]) == 1
    assert script.status_of([]) == 1
    head, _, first, second = script.table([good, bad]).splitlines()
    assert " ".join(head.split()) == ("article said Teijo's simulated device rests on within")
    assert first.endswith("yes")
    assert second.endswith("NO")


def test_bounds_hold_for_all_values(script: ModuleType) -> None:
    assert script.between(1.38, [1.4, 1.8], 1.81)
    assert not script.between(1.38, [1.4, 1.82], 1.81)
    assert script.span([1.643, 1.4]) == "1.40 to 1.64"
    assert script.span([0.98, 0.981]) == "0.98"


def test_a_disk_that_lies_explains_the_factor_of_create(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server_files = sys.modules["server_files"]
    monkeypatch.setattr(server_files, "real", lambda _: [])
    monkeypatch.setitem(server_files.TABLES, "count", "100")
    rows = server_files.create(script.Desk(folder=tmp_path))
    assert [said for _, said, _, met in rows if not met] == []


@pytest.mark.long
def test_the_64_cells_of_sqlio_find_what_the_article_found(
    script: ModuleType, tmp_path: Path
) -> None:
    rows = sys.modules["sqlio_tier"].tier_matrix(script.Desk(folder=tmp_path))
    assert [said for _, said, _, met in rows if not met] == []
    assert len(list(tmp_path.glob("sqlio-*.html"))) == 64


def test_make_examples_runs_the_articles_too() -> None:
    assert "examples/articles.py" in text(ROOT / "Makefile")
