"""`examples/articles.py`: what the articles found, found again; here what takes few seconds."""

import importlib.util
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

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


def test_an_article_is_met_and_leaves_its_report(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, "--only", "write-back"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    verdicts = [row[-10:].strip() for row in ran.stdout.splitlines()[2:] if len(row) > 120]
    assert verdicts == ["yes"] * 2
    names = {"raid5-write-back-copy"}
    assert {path.stem for path in tmp_path.glob("*.teijo")} == names
    assert {path.stem for path in tmp_path.glob("*.html")} == names


def result(script: ModuleType, value: float, **more: str) -> Any:
    held = (script.near(value, 56_000, 2, 0),)
    return script.Result(article="a", said="56,000", found="{} IOPS", held=held, **more)


def test_a_result_that_is_not_met_is_told_and_is_an_error(script: ModuleType) -> None:
    good, bad = result(script, 56_190), result(script, 1)
    assert script.status_of([good]) == 0
    assert script.status_of([good, bad]) == 1
    assert script.status_of([]) == 1
    known = result(script, 9, why="it compresses")
    assert script.status_of([good, known]) == 0
    assert script.table([known]).splitlines()[-1] == "    no: it compresses"
    head, _, _, article, first, second = script.table([good, bad]).splitlines()
    assert " ".join(head.split()) == "said Teijo's simulated device held to rests on within"
    assert article == "a"
    assert first.split() == ["56,000", "56,190", "IOPS", "±", "2", "%", "prediction", "yes"]
    assert second.split() == ["56,000", "1", "IOPS", "±", "2", "%", "prediction", "NO"]


def test_a_row_with_nothing_to_hold_it_to_is_not_judged_and_has_to_say_why(
    script: ModuleType,
) -> None:
    told = script.Result(article="a", said="a picture", found="5", why="no number was told")
    assert (told.met, told.verdict, told.failed) == (None, "not judged", False)
    assert script.table([told]).splitlines()[-1] == "    not judged: no number was told"
    assert script.Result(article="a", said="a picture", found="5").failed


@pytest.mark.parametrize(
    ("bounds", "told", "within", "outside"),
    [
        ({"least": 1.38, "most": 1.81}, "1.38 to 1.81", (1.38, 1.81), (1.379, 1.811)),
        ({"above": 1}, "> 1", (1.01,), (1, 0)),
        ({"below": 4}, "< 4", (3.9,), (4, 5)),
        ({"least": 50}, "≥ 50", (50,), (49.9,)),
        ({"most": 30.7}, "≤ 30.7", (30.7,), (30.8,)),
        ({"above": 0}, "> 0", (1,), (math.nan,)),
    ],
)
def test_bounds_hold_for_all_values(
    script: ModuleType,
    bounds: dict[str, float],
    told: str,
    within: tuple[float, ...],
    outside: tuple[float, ...],
) -> None:
    held = script.Held(values=within, **bounds)
    assert (held.met, held.bound) == (True, told)
    for value in outside:
        assert not script.Held(values=(*within, value), **bounds).met
    assert not script.Held(values=(), **bounds).met


def test_numbers_are_told_as_their_least_and_their_most(script: ModuleType) -> None:
    held = script.Held(values=(1.643, 1.4, 1.5), above=1)
    assert held.text == "1.40 to 1.64"
    assert script.Held(values=(0.98, 0.981), above=1).text == "0.98"


def test_near_and_within_times_turn_on_both_sides(script: ModuleType) -> None:
    desk = sys.modules["desk"]
    assert [desk.near(value, 100, 25).met for value in (74, 75, 125, 126)] == [
        False, True, True, False
    ]  # fmt: skip
    assert [desk.within_times(value, 30, 3).met for value in (9, 10, 90, 91)] == [
        False, True, True, False
    ]  # fmt: skip


def test_a_disk_that_lies_explains_the_factor_of_create(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server_files = sys.modules["server_files"]
    monkeypatch.setattr(server_files, "real", lambda _: [])
    monkeypatch.setitem(server_files.FILES, "count", "100")
    found = server_files.create(script.Desk(folder=tmp_path, reports=False))
    assert [each.said for each in found if each.failed] == []
    (lies,) = [each for each in found if "lies about flushes; " in each.found]
    assert lies.met


def test_where_the_disk_is_not_the_slowest_nothing_excuses_the_numbers_of_create(
    script: ModuleType,
) -> None:
    server_files = sys.modules["server_files"]

    def all_ms(value: float) -> Any:
        return server_files.Prices(made=0, unlinked=0, new_flush=value, log_flush=value)

    slow = {"disk": all_ms(10), "SSD": all_ms(1), "ioDrive": all_ms(1)}
    quick = {"disk": all_ms(0.001), "SSD": all_ms(1), "ioDrive": all_ms(1)}
    servers, lies = (slice(0, 3), slice(3, 5))
    found = server_files.verdicts(slow, all_ms(0.08))
    assert [each.verdict for each in found[servers]] == ["no"] * 3
    assert [each.verdict for each in found[lies]] == ["yes", "yes"]
    found = server_files.verdicts(quick, all_ms(10))
    assert [each.verdict for each in found[servers]] == ["NO"] * 3
    assert [each.verdict for each in found[lies]] == ["NO", "NO"]


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
    row = bench.Row(
        name="block", phase="put_block", said=(100.0, 200.0, 300.0), out="SSD above",
        why="it compresses",
    )  # fmt: skip

    def found(**told: float) -> tuple[bool, str]:
        monkeypatch.setattr(bench, "rates", lambda *words: {"put_block": told[words[2]]})
        (result,) = bench.table(desk, "bonnie", (row,), "KB/s")
        return result.met, result.why

    assert found(disk=100, SSD=240, ioDrive=300) == (True, "")
    assert found(disk=100, SSD=400, ioDrive=300) == (False, "it compresses")
    assert found(disk=100, SSD=20, ioDrive=300) == (False, "")
    assert found(disk=300, SSD=400, ioDrive=300) == (False, "")
    assert found(disk=300, SSD=200, ioDrive=300) == (False, "")


def test_make_examples_runs_the_articles_too() -> None:
    assert "examples/articles.py" in text(ROOT / "Makefile")
