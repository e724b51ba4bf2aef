"""`make examples`: what it asks of the program, on one drive and one test."""

import subprocess
import sys
from pathlib import Path

import pytest

from teijo.engine.native import simulated_presets
from tests.house.tree import ROOT

SCRIPT = ROOT / "examples" / "pts.py"


@pytest.mark.parametrize("languages", ["ja", pytest.param("en,ja", marks=pytest.mark.long)])
def test_the_examples_print_each_test_and_the_whole_campaign_in_every_language(
    tmp_path: Path, languages: str
) -> None:
    command = [sys.executable, SCRIPT, tmp_path, "--drives", "slc-a", "--tests", "tp"]
    ran = subprocess.run(
        [*command, "--languages", languages], capture_output=True, text=True, check=True
    )
    printed = {Path(line).name for line in ran.stdout.split()}
    assert printed == {
        f"{name}{language}.{kind}"
        for name in ("slc-a", "slc-a-tp")
        for language in languages.replace("en", "").replace("ja", ".ja").split(",")
        for kind in ("html", "pdf")
    }
    assert (tmp_path / "slc-a.teijo").exists()


def test_the_examples_are_of_drives_that_there_are() -> None:
    text = SCRIPT.read_text()
    names = {preset.name for preset in simulated_presets()}
    drives = text[text.index("DRIVES = (") :].partition(")")[0].partition("(")[2]
    assert {name.strip(' "') for name in drives.split(",")} <= names


@pytest.mark.long
def test_the_six_runs_of_orion_find_what_the_article_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import articles  # type: ignore[import-not-found]
    import orion_s3700  # type: ignore[import-not-found]

    found = orion_s3700.six_runs(articles.Desk(folder=tmp_path))
    assert [each.said for each in found if each.failed] == []
    assert [each.met for each in found[:4]] == [True, True, False, True]
    assert len(list(tmp_path.glob("s3700-orion-*.html"))) == 7


@pytest.mark.long
def test_the_64_cells_of_sqlio_find_what_the_article_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import articles
    import sqlio_arrays  # type: ignore[import-not-found]

    assert len(set(sqlio_arrays.places())) == 64
    found = sqlio_arrays.arrays(articles.Desk(folder=tmp_path))
    assert [each.said for each in found if not each.met] == []
    assert len(list(tmp_path.glob("sqlio-*.html"))) == 64


@pytest.mark.long
def test_the_table_of_how_far_from_the_truth_is_what_its_script_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import truth  # type: ignore[import-not-found]

    assert truth.table() in (ROOT / "docs" / "classic-tools.md").read_text("utf-8")
