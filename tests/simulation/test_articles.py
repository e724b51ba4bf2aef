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
    known = script.Result(article="a", said="9", found="1", met=False, why="it compresses")
    assert script.status_of([good, known]) == 0
    assert script.table([known]).endswith("  no: it compresses")
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
    monkeypatch.setitem(server_files.FILES, "count", "100")
    found = server_files.create(script.Desk(folder=tmp_path))
    assert [each.said for each in found if not each.met and not each.why] == []
    (lies,) = [each for each in found if "lies about flushes, " in each.found]
    assert lies.met


def test_a_table_is_priced_by_the_operations_that_a_server_was_seen_to_make(
    script: ModuleType,
) -> None:
    server_files = sys.modules["server_files"]
    prices = server_files.Prices(made=1, unlinked=10, new_flush=100, log_flush=1000)
    took = {name: prices.table(recipe) for name, recipe in server_files.RECIPES.items()}
    assert took == {"SQLite 3.40": 4422, "MariaDB 10.11": 13232, "PostgreSQL 15": 2122}


def test_a_number_of_the_server_that_is_out_is_excused_on_the_known_device_alone(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench, desk = sys.modules["server_bench"], script.Desk(folder=tmp_path)
    row = bench.Row("block", "put_block", (100.0, 200.0, 300.0), "fit", "SSD", "it compresses")

    def found(**told: float) -> tuple[bool, str]:
        monkeypatch.setattr(bench, "rates", lambda *words: {"put_block": told[words[2]]})
        (result,) = bench.table(desk, "bonnie", (row,), "KB/s")
        return result.met, result.why

    assert found(disk=100, SSD=240, ioDrive=300) == (True, "")
    assert found(disk=100, SSD=400, ioDrive=300) == (False, "it compresses")
    assert found(disk=300, SSD=400, ioDrive=300) == (False, "")
    assert found(disk=300, SSD=200, ioDrive=300) == (False, "")


@pytest.mark.long
def test_the_server_with_three_devices_is_found_or_it_is_said_why_not(
    script: ModuleType, tmp_path: Path
) -> None:
    found = sys.modules["server_bench"].server(script.Desk(folder=tmp_path))
    assert [each.said for each in found if not each.met and not each.why] == []
    assert len(list(tmp_path.glob("server-*.html"))) == 12


def test_make_examples_runs_the_articles_too() -> None:
    assert "examples/articles.py" in text(ROOT / "Makefile")
