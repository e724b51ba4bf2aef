"""The verb `compare`: paths on stdout, refusals with exit code 2, JSON for programs."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo
from tests.crash.runs import SHORT

DRIVE = "sim:mlc-a?capacity=64MiB&dies=2"


def made(teijo: Teijo, path: Path, target: str, *more: str) -> Path:
    settings = [f"{key}={value}" for key, value in {**SHORT, "rounds": "5"}.items()]
    code, _, err = teijo(
        "run", "iops", target, *settings, *more, "-o", path, "--seed", "3", "--report", "none"
    )
    assert code == 0, err
    return path


@pytest.fixture
def files(teijo: Teijo, tmp_path: Path) -> list[Path]:
    targets = {"before": DRIVE, "after": f"{DRIVE}&seed=9"}
    return [made(teijo, tmp_path / f"{name}.teijo", each) for name, each in targets.items()]


def test_the_reports_lie_beside_the_first_file_unless_a_folder_is_named(
    teijo: Teijo, files: list[Path], tmp_path: Path
) -> None:
    code, out, err = teijo("compare", *files, "--format", "html")
    assert (code, err) == (0, "")
    (path,) = map(Path, out.split())
    assert path.parent == tmp_path
    assert path.name.startswith("compare-")
    _, out, _ = teijo("compare", *files, "--format", "csv", "-o", tmp_path / "out")
    assert Path(out.strip()).parent == tmp_path / "out"


def test_the_text_is_read_here_and_now_in_either_language(teijo: Teijo, files: list[Path]) -> None:
    code, out, err = teijo("compare", *files, "--format", "text")
    assert (code, err) == (0, "")
    assert "How differences are judged" in out
    _, out, _ = teijo("compare", *files, "--format", "text", "--lang", "ja")
    assert "差の判定" in out


def test_names_are_given_with_an_equals_sign_and_runs_of_one_name_repeat_each_other(
    teijo: Teijo, files: list[Path]
) -> None:
    before, after = files
    _, out, _ = teijo("compare", f"old={before}", f"new={after}", "--json")
    assert [side["name"] for side in json.loads(out)["sides"]] == ["old", "new"]
    code, _, err = teijo("compare", f"x={before}", f"x={after}", "--json")
    assert code == 2
    assert "at least two sides" in err


def test_json_has_every_figure_with_its_interval_and_makes_no_report(
    teijo: Teijo, files: list[Path], tmp_path: Path
) -> None:
    code, out, err = teijo("compare", *files, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["schema"] == "teijo.comparison/2"
    (test,) = told["tests"]
    (pairing,) = test["pairings"]
    assert (test["name"], test["method"]) == ("iops", "pts.iops")
    assert len(pairing["figures"]) == 4
    for figure in [*pairing["figures"], pairing["all_cells"]]:
        assert figure["ratio_low"] <= figure["ratio"] <= figure["ratio_high"]
        assert figure["verdict"] in pairing["verdicts"]
    assert sum(pairing["verdicts"].values()) == pairing["compared"]
    assert not list(tmp_path.glob("*.html"))


def test_json_keeps_stdout_for_itself_when_reports_are_asked_too(
    teijo: Teijo, files: list[Path]
) -> None:
    _, out, err = teijo("compare", *files, "--json", "--format", "html")
    assert json.loads(out)
    assert err.strip().endswith(".html")


def test_runs_that_were_not_made_alike_are_refused_with_the_list_of_what_differs(
    teijo: Teijo, files: list[Path], tmp_path: Path
) -> None:
    other = made(teijo, tmp_path / "other.teijo", DRIVE, "qd=4", "content=zero")
    code, out, err = teijo("compare", files[0], other)
    assert (code, out) == (2, "")
    assert "queue_depth (oio)" in err
    assert "content" in err
    assert "--allow content,oio" in err
    code, out, _ = teijo("compare", files[0], other, "--allow", "content,oio", "--format", "text")
    assert code == 0
    assert "NOT MADE ALIKE: oio, content" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--format", "none"], "No format is named"),
        (["--format", "xml"], "'xml' is no report format"),
        (["--allow", "oil"], "--allow oil names nothing"),
    ],
)
def test_what_is_asked_wrongly_is_said(
    teijo: Teijo, files: list[Path], arguments: list[str], told: str
) -> None:
    code, out, err = teijo("compare", *files, *arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_one_file_alone_is_nothing_to_compare(teijo: Teijo, files: list[Path]) -> None:
    code, _, err = teijo("compare", files[0])
    assert code == 2
    assert "at least two sides" in err
