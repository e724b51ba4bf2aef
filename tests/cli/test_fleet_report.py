"""The verb `fleet report`: what it prints where, and how it leaves."""

import json
import shutil
from pathlib import Path

import pytest

from teijo import api
from tests.cli.conftest import Teijo
from tests.crash.runs import DRIVE, SHORT, in_a_child, killed_after, run_iops

DRIVES = 7
SLOW = 4


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the runs of seven simulated drives, in a folder for each host."""
    root = tmp_path_factory.mktemp("lab")
    for number in range(DRIVES):
        host = f"h{number % 2}"
        (root / host).mkdir(exist_ok=True)
        times = 2.0 if number == SLOW else 1.0
        target = (
            f"sim:mlc-a?capacity=64MiB&dies=2&seed={number + 1}"
            f"&program_us={1150 * times}&read_us={50 * times}&read_command_us={19 * times}"
        )
        api.run(
            "iops", target,
            output=root / host / f"d{number}.teijo",
            settings=SHORT,
            seed=number,
            group={"fleet": "spring", "host": host, "drive": f"bay-{number}"},
        )  # fmt: skip
    return root


def test_the_reports_lie_in_the_folder_that_was_named(
    teijo: Teijo, lab: Path, tmp_path: Path
) -> None:
    code, out, err = teijo("fleet", "report", lab, "--format", "html,csv,json", "-o", tmp_path)
    assert (code, err) == (0, "")
    names = {Path(line).name for line in out.split()}
    assert names == {"fleet-spring.html", "fleet-spring-tables", "fleet-spring.json"}
    assert json.loads((tmp_path / "fleet-spring.json").read_text())["fleet"] == "spring"


def test_the_text_is_read_here_and_now_in_either_language(teijo: Teijo, lab: Path) -> None:
    code, out, err = teijo("fleet", "report", lab, "--format", "text")
    assert (code, err) == (0, "")
    assert "DRIVES THAT DIFFER" in out
    assert "bay-4" in out
    _, out, _ = teijo("fleet", "report", lab, "--format", "text", "--lang", "ja")
    assert "他と異なるドライブ" in out


def test_json_has_every_drive_and_its_run(teijo: Teijo, lab: Path) -> None:
    code, out, _ = teijo("fleet", "report", *sorted(lab.glob("*/*.teijo")), "--json")
    assert code == 0
    found = json.loads(out)
    assert [each["name"] for each in found["drives"]] == [f"bay-{at}" for at in range(DRIVES)]
    assert {each["host"] for each in found["drives"]} == {"h0", "h1"}
    assert json.loads(teijo("fleet", "report", lab, "--format", "json", "-o", "-")[1]) == found


@pytest.mark.parametrize(("bound", "expected"), [(1, 0), (10**9, 9)])
def test_a_limit_that_one_drive_misses_is_exit_code_9(
    teijo: Teijo, lab: Path, bound: int, expected: int
) -> None:
    code, out, _ = teijo(
        "fleet", "report", lab, "--json", "--limit", f"iops[0/100,4KiB] >= {bound}"
    )
    assert code == expected
    (limit,) = json.loads(out)["limits"]
    assert len(limit["not_met"]) == (DRIVES if expected else 0)


def test_a_file_that_cannot_be_read_is_left_out_and_leaves_limits_unknown(
    teijo: Teijo, lab: Path, tmp_path: Path
) -> None:
    whole = shutil.copytree(lab, tmp_path / "lab")
    (whole / "h1" / "cut.teijo").write_bytes((whole / "h0" / "d0.teijo").read_bytes()[:5000])
    code, out, _ = teijo("fleet", "report", whole, "--json")
    assert code == 0
    left = json.loads(out)["left_out"]
    assert [Path(each["file"]).name for each in left] == ["cut.teijo"]
    code, _, _ = teijo("fleet", "report", whole, "--json", "--limit", "iops[0/100,4KiB] >= 1")
    assert code == 11


def test_a_place_and_its_files_count_once(teijo: Teijo, lab: Path) -> None:
    _, out, _ = teijo("fleet", "report", lab, lab / "h0" / "d0.teijo", "--json")
    assert len(json.loads(out)["drives"]) == DRIVES
    assert json.loads(out)["left_out"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--format", "docx"), "'docx' is no report format"),
        (("--format", "none"), "No format is named"),
        (("--fleet", "winter"), "No run names the fleet 'winter'"),
        (("--allow", "colour"), "--allow colour names nothing"),
        (("--limit", "iops"), "'iops' is no limit"),
        (("--json", "-o", "-", "--format", "html"), "cannot both go to stdout"),
    ],
)
def test_what_cannot_be_done_is_refused(
    teijo: Teijo, lab: Path, words: tuple[str, ...], told: str
) -> None:
    code, out, err = teijo("fleet", "report", lab, *words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_place_that_is_not_there_or_empty_is_said(teijo: Teijo, tmp_path: Path) -> None:
    code, _, err = teijo("fleet", "report", tmp_path / "nowhere")
    assert code == 2
    assert "There is no run file" in err
    code, _, err = teijo("fleet", "report", tmp_path)
    assert code == 2
    assert "There is no run file here" in err


def test_a_verb_of_two_words_is_found_and_a_part_of_it_is_not_another(teijo: Teijo) -> None:
    code, out, _ = teijo("fleet", "report", "-h")
    assert code == 0
    assert out.startswith("Usage: teijo fleet report PLACE...")
    code, _, err = teijo("--lang", "ja", "fleet", "report")
    assert code == 2
    assert "PLACE" in err


def test_a_run_that_was_killed_is_listed_with_how_far_it_came(
    teijo: Teijo, lab: Path, tmp_path: Path
) -> None:
    whole = shutil.copytree(lab, tmp_path / "lab")
    place = whole / "h0" / "d9.teijo"
    group = {"fleet": "spring", "host": "h0", "drive": "bay-9"}
    in_a_child(lambda: run_iops(place, f"{DRIVE}&seed=10", group=group, observer=killed_after(8)))
    code, out, err = teijo("fleet", "report", whole, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    (half,) = found["unfinished"]
    assert (half["name"], half["ending"], half["steps"]) == ("bay-9", "running", 8)
    assert half["file"].endswith("d9.teijo.open")
    assert len(found["drives"]) == DRIVES
    _, told, _ = teijo("fleet", "report", whole, "--format", "text")
    assert "running, or left open" in told
    code, _, _ = teijo("fleet", "report", place, "--json")
    assert code == 0
