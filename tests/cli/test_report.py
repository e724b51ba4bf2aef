"""The verbs `report` and `export`: a run file becomes pages and data, at any time again."""

import csv
import io
import json
import os
from pathlib import Path

import pyarrow.parquet
import pytest

from teijo import creating
from tests.cli.conftest import Teijo


@pytest.fixture
def run_file(teijo: Teijo, tmp_path: Path) -> Path:
    path = tmp_path / "a.teijo"
    teijo(
        "run", "workload", "sim:mlc-a", "rw=randrw", "qd=4", "seconds=1", "-o", path,
        "--report", "none",
    )  # fmt: skip
    return path


def test_reports_lie_beside_the_run_file_unless_a_folder_is_named(
    teijo: Teijo, run_file: Path, tmp_path: Path
) -> None:
    assert teijo("report", run_file)[1].split() == [
        str(run_file.with_suffix(".html")),
        str(run_file.with_suffix(".pdf")),
    ]
    folder = tmp_path / "out"
    _, out, _ = teijo("report", run_file, "--format", "csv", "-o", folder)
    assert out.split() == [str(folder / "a-tables")]
    assert all(path.suffix == ".csv" for path in (folder / "a-tables").iterdir())


def test_the_text_report_is_read_here_and_now(teijo: Teijo, run_file: Path) -> None:
    code, out, err = teijo("report", run_file, "--format", "text")
    assert (code, err) == (0, "")
    assert "SIMULATED DEVICE" in out
    assert not run_file.with_suffix(".txt").exists()


def test_a_report_in_japanese_lies_beside_the_english_one(teijo: Teijo, run_file: Path) -> None:
    _, out, _ = teijo("report", run_file, "--lang", "ja", "--format", "html,text,csv")
    html, text = (run_file.with_suffix(ending) for ending in (".ja.html", ".ja.txt"))
    assert out.split() == [str(html), str(text), str(run_file.with_name("a-tables"))]
    assert '<html lang="ja">' in html.read_text("utf-8")
    assert "シミュレーションデバイス" in text.read_text("utf-8")
    assert (
        "シミュレーションデバイス"
        in teijo("report", run_file, "--lang", "ja", "--format", "text")[1]
    )
    assert teijo("report", run_file, "--lang", "fr")[0] == 2


def test_a_report_needs_a_format(teijo: Teijo, run_file: Path) -> None:
    assert teijo("report", run_file, "--format", "none")[0] == 2


def test_the_json_export_is_the_whole_run_on_stdout(teijo: Teijo, run_file: Path) -> None:
    code, out, err = teijo("export", run_file)
    exported = json.loads(out)
    assert (code, err) == (0, "")
    assert exported["schema"] == "teijo.run/1"
    assert {"run", "environment", "device", "steps", "findings", "remarks"} <= set(exported)


def test_the_csv_export_has_a_row_for_each_stream_and_direction(
    teijo: Teijo, run_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    assert teijo("export", run_file, "--to", "csv", "-o", path)[1] == f"{path}\n"
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert sorted(row["direction"] for row in rows) == ["read", "write"]


def test_the_parquet_export_holds_the_table_asked_for(
    teijo: Teijo, run_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "r.parquet"
    teijo("export", run_file, "--to", "parquet", "--table", "intervals", "-o", path)
    assert pyarrow.parquet.read_table(path).num_rows > 0


def test_an_export_that_cannot_be_written_is_a_host_error(teijo: Teijo, run_file: Path) -> None:
    code, out, err = teijo("export", run_file, "-o", run_file / "below-a-file")
    assert (code, out) == (6, "")
    assert "Cannot write" in err


def test_a_run_is_judged_by_another_version_in_a_report_of_its_own(
    teijo: Teijo, tmp_path: Path
) -> None:
    made = teijo("run", "iops", "sim:mlc-a", "-o", tmp_path / "a", "--seed", 1, "--report", "none")
    assert made[0] == 0
    code, out, _ = teijo("report", tmp_path / "a.teijo", "--spec", "1.1", "--format", "text")
    assert code == 0
    assert "PTS-E 1.1" in out
    assert "Measured under 2.0.2-client, judged here by 1.1-enterprise" in out
    code, out, _ = teijo("report", tmp_path / "a.teijo", "--spec", "1.1", "--format", "html")
    assert (code, out.strip()) == (0, str(tmp_path / "a-1.1-enterprise.html"))
    code, _, err = teijo("report", tmp_path / "a.teijo", "--spec", "9")
    assert code == 2
    assert "Unknown version" in err


def test_each_test_of_a_campaign_has_a_report_of_its_own_where_it_is_asked_for(
    teijo: Teijo, tmp_path: Path
) -> None:
    made = teijo(
        "run", "all", "sim:mlc-a", "--set", "tests=tp,lat", "-o", tmp_path / "all",
        "--seed", 1, "--report", "none",
    )  # fmt: skip
    assert made[0] == 0
    code, out, _ = teijo("report", tmp_path / "all.teijo", "--each", "--format", "html")
    assert (code, out.split()) == (
        0,
        [str(tmp_path / f"all-{test}.html") for test in ("tp", "lat")],
    )
    code, out, _ = teijo(
        "report", tmp_path / "all.teijo", "--each", "--spec", "1.1", "--format", "csv"
    )
    assert code == 0
    assert (tmp_path / "all-lat-1.1-enterprise-tables").is_dir()
    whole = teijo("report", tmp_path / "all.teijo", "--format", "text")[1]
    assert (
        whole.index("Summary of some tests")
        < whole.index("TP: Summary")
        < whole.index("LAT: Summary")
    )


def test_a_report_that_cannot_be_written_whole_leaves_the_one_before(
    teijo: Teijo, run_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert teijo("report", run_file, "--format", "html")[0] == 0
    before = run_file.with_suffix(".html").read_bytes()

    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(creating, "_write", full)
    code, _, err = teijo("report", run_file, "--format", "html")
    assert code == 6
    assert "No space left on device" in err
    assert run_file.with_suffix(".html").read_bytes() == before
    assert teijo("export", run_file, "-o", run_file.with_suffix(".json"))[0] == 6
    assert {path.name for path in run_file.parent.iterdir()} == {"a.teijo", "a.html"}
