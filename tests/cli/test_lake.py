"""The verb `lake`: what it prints, its formats, its exit codes, and mistakes with it."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.cli.conftest import Teijo
from tests.lake.made import another, copied, lake_of, make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sealed runs."""
    root = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        make_run(root / f"run-{seed}", seed, group={"fleet": "north"})
    return root


@pytest.fixture
def lake(folder: Path, tmp_path: Path, teijo: Teijo, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "lake"
    monkeypatch.setenv("TEIJO_LAKE", str(place))
    assert teijo("lake", "add", folder)[0] == 0
    return place


def test_adding_says_what_came_of_it_and_is_done_once(
    teijo: Teijo, folder: Path, tmp_path: Path
) -> None:
    place = tmp_path / "lake"
    code, out, err = teijo("lake", "add", folder, "--lake", place)
    assert (code, err) == (0, "")
    assert out == "2 runs added, 0 were there already, 0 refused\n"
    code, out, _ = teijo("lake", "add", folder, "--lake", place)
    assert (code, out) == (0, "0 runs added, 2 were there already, 0 refused\n")


def test_what_is_refused_is_named_and_the_exit_code_says_so(
    teijo: Teijo, folder: Path, tmp_path: Path
) -> None:
    mixed = tmp_path / "mixed" / "below"
    copied(folder / "run-1.teijo", mixed / "good.teijo")
    (mixed / "evil\x1b[2J.teijo").write_text("\x1b[2J")
    copied(folder / "run-2.teijo", mixed / "growing.teijo.open")
    asked = ("lake", "add", mixed.parent, "--lake", tmp_path / "lake")
    assert teijo(*asked)[1].startswith("0 runs added")
    code, out, err = teijo(*asked, "--recursive")
    assert (code, out) == (2, "1 runs added, 0 were there already, 1 refused\n")
    assert "refused: " in err
    assert "evil" in err
    assert "\x1b" not in err
    assert "1 left out: their runs are not sealed" in err


def test_an_answer_is_a_table_csv_json_or_parquet(teijo: Teijo, lake: Path, tmp_path: Path) -> None:
    asked = ("lake", "sql", "SELECT serial, started_at, steady, 1.5 AS x FROM runs ORDER BY serial")
    code, out, err = teijo(*asked)
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == ["serial", "started_at", "steady", "x"]
    assert [line.split()[0] for line in lines] == ["SIM-MLC-A-1", "SIM-MLC-A-2"]
    assert lines[0].split()[-2:] == ["-", "1.5"]
    rows = json.loads(teijo(*asked, "--format", "json")[1])
    assert [(row["serial"], row["steady"], row["x"]) for row in rows] == [
        ("SIM-MLC-A-1", None, 1.5), ("SIM-MLC-A-2", None, 1.5),
    ]  # fmt: skip
    assert rows[0]["started_at"].startswith("20")
    told = list(csv.DictReader(io.StringIO(teijo(*asked, "--format", "csv")[1])))
    assert [row["serial"] for row in told] == ["SIM-MLC-A-1", "SIM-MLC-A-2"]
    file = tmp_path / "answer.parquet"
    code, out, _ = teijo(*asked, "--format", "parquet", "-o", file)
    assert (code, out) == (0, f"{file}\n")
    assert pyarrow.parquet.read_table(file).column("serial").to_pylist() == [
        row["serial"] for row in rows
    ]


def test_text_of_a_lake_obeys_no_terminal_and_no_spreadsheet(
    teijo: Teijo, folder: Path, tmp_path: Path
) -> None:
    from teijo.lake.rows import rows_of

    rows = rows_of(folder / "run-1.teijo", "d")
    lake_of(tmp_path / "lake", [another(rows, 1, model="\x1b[2J=1+1", serial="=cmd()")])
    asked = ("lake", "sql", "SELECT model, serial FROM runs", "--lake", tmp_path / "lake")
    for form in ("table", "json", "csv"):
        out = teijo(*asked, "--format", form)[1]
        assert form == "csv" or "\x1b" not in out, form
    assert "'=cmd()" in teijo(*asked, "--format", "csv")[1]
    teijo(*asked, "-o", tmp_path / "table.txt")
    assert "\x1b" not in (tmp_path / "table.txt").read_text()


def test_a_report_is_printed_in_both_languages(teijo: Teijo, lake: Path, tmp_path: Path) -> None:
    code, out, _ = teijo("lake", "report", "--format", "html,text", "-o", tmp_path / "out")
    assert code == 0
    assert [Path(line).name for line in out.splitlines()] == ["lake.html", "lake.txt"]
    assert "Spread within fleets" in (tmp_path / "out" / "lake.txt").read_text()
    code, out, _ = teijo("lake", "report", "-o", "-", "--lang", "ja")
    assert code == 0
    assert "Spread within fleets" not in out
    assert "フリート" in out


def test_compacting_and_rebuilding_say_what_they_did(
    teijo: Teijo, lake: Path, folder: Path, tmp_path: Path
) -> None:
    extra = make_run(tmp_path / "third", 3)
    assert teijo("lake", "add", extra)[0] == 0
    code, out, _ = teijo("lake", "compact")
    assert code == 0
    assert out.startswith("3 runs: 8 files of ")
    assert " are 4 of " in out
    code, out, err = teijo("lake", "rebuild", folder)
    assert (code, out) == (2, "")
    assert "1 runs whose run files are not in these folders" in err
    code, out, _ = teijo("lake", "rebuild", folder, "--drop-missing")
    assert (code, out) == (0, "2 runs added, 0 were there already, 0 refused\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add"], "No folder is named"),
        (["rebuild"], "No folder is named"),
        (["add", "nowhere"], "nowhere is no folder"),
        (["sql"], "one question"),
        (["sql", "FROM", "runs"], "one question"),
        (["sql", "FROM runs", "--format", "xml"], "no format of an answer"),
        (["sql", "FROM runs", "--memory", "much"], "--memory"),
        (["sql", "FROM runs", "--memory", "1KiB"], "too few"),
        (["sql", "FROM nothing"], "cannot answer this"),
        (["sql", "COPY runs TO 'x'"], "only read"),
        (["report", "results"], "'results' is one word too many"),
        (["report", "--format", "none"], "No format is named"),
        (["report", "--format", "docx"], "no report format"),
        (["compact", "--lake", "http://host"], "no place for a lake"),
        (["drain"], "none of add, sql, report, compact, rebuild"),
    ],
)
def test_a_mistake_is_one_line_of_cause_and_a_remedy(
    teijo: Teijo, lake: Path, words: list[str], says: str
) -> None:
    code, out, err = teijo("lake", *words)
    assert (code, out) == (2, "")
    cause, _, remedy = err.partition("\n\n")
    assert says in cause, err
    assert "\n" not in cause.strip()
    assert remedy.strip()


def test_there_is_no_lake_until_something_is_added(
    teijo: Teijo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TEIJO_LAKE", raising=False)
    code, _, err = teijo("lake", "sql", "FROM runs")
    assert code == 2
    assert "There is no lake teijo-lake" in err
    assert "teijo lake add DIR" in err
    assert list(tmp_path.iterdir()) == []
