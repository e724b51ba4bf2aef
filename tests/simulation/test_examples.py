"""`make examples`: what it asks of the program, on one drive and one test."""

import subprocess
import sys
from pathlib import Path

import pytest

from teijo.engine.native import simulated_presets
from tests.house.tree import ROOT

SCRIPT = ROOT / "examples" / "pts.py"


def test_the_examples_print_each_test_and_the_whole_campaign_in_every_language(
    tmp_path: Path,
) -> None:
    command = [sys.executable, SCRIPT, tmp_path, "--drives", "slc-a", "--tests", "tp"]
    ran = subprocess.run(
        [*command, "--languages", "en,ja"], capture_output=True, text=True, check=True
    )
    printed = {Path(line).name for line in ran.stdout.split()}
    assert printed == {
        f"{name}{language}.{kind}"
        for name in ("slc-a", "slc-a-tp")
        for language in ("", ".ja")
        for kind in ("html", "pdf")
    }
    assert (tmp_path / "slc-a.teijo").exists()


def test_the_examples_are_of_drives_that_there_are() -> None:
    text = SCRIPT.read_text()
    names = {preset.name for preset in simulated_presets()}
    drives = text[text.index("DRIVES = (") :].partition(")")[0].partition("(")[2]
    assert {name.strip(' "') for name in drives.split(",")} <= names


@pytest.mark.long
def test_the_table_of_how_far_from_the_truth_is_what_its_script_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import truth  # type: ignore[import-not-found]

    assert truth.table() in (ROOT / "docs" / "classic-tools.md").read_text("utf-8")
