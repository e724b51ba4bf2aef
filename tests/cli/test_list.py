"""The verb `list`: every run file, and what is none, without ever stopping."""

import json
import os
from pathlib import Path

import pytest

from teijo import api
from tests.cli.conftest import Teijo
from tests.crash.runs import in_a_child, killed_after

SETTINGS = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
SIM = "sim:mlc-a"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run, one that was killed, and files that are none or were damaged."""
    root = tmp_path_factory.mktemp("runs")
    limits = ["iops[RND 4KiB Q32T1 read] >= 1G".replace("G", "000M")]
    asked = {"settings": SETTINGS, "seed": 1, "limits": limits, "group": {"Campaign": "spring"}}
    api.run("quick", SIM, output=root / "sealed", **asked)  # type: ignore[arg-type]
    stopped = root / "stopped"
    assert in_a_child(
        lambda: api.run(
            "quick", SIM, output=stopped, settings=SETTINGS, seed=1, observer=killed_after(4)
        )
    ) == -9  # fmt: skip
    sealed = (root / "sealed.teijo").read_bytes()
    (root / "cut.teijo").write_bytes(sealed[: len(sealed) // 2])
    (root / "text.teijo").write_text("not a run file\n")
    (root / "empty.teijo").write_bytes(b"")
    (root / "gone.teijo").symlink_to("nowhere")
    os.mkfifo(root / "pipe.teijo")
    (root / "folder.teijo").mkdir()
    (root / "evil\x1b[2J\n.teijo").write_text("\x1b[2J")
    (root / "notes.txt").write_text("nothing of ours")
    below = root / "below"
    below.mkdir()
    (below / "deep.teijo").write_bytes(sealed)
    return root


def test_every_run_file_is_listed_with_device_method_date_and_verdict(
    teijo: Teijo, folder: Path
) -> None:
    code, out, err = teijo("list", folder)
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == ["DATE", "DEVICE", "METHOD", "FILE", "VERDICT"]
    (sealed,) = [line for line in lines if " sealed.teijo " in line]
    assert "Simulated MLC-A" in sealed
    assert " quick " in sealed
    assert "not a steady-state test" in sealed
    assert sealed.endswith("limits not met")
    assert sealed[:4].isdecimal()
    (stopped,) = [line for line in lines if " stopped.teijo.open " in line]
    assert "LEFT OPEN" in stopped


def test_a_run_that_has_no_verdict_yet_is_listed_by_its_state_alone(
    teijo: Teijo, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teijo.api.run_files._verdict", lambda _: "")
    lines = teijo("list", folder)[1].splitlines()
    (stopped,) = [line for line in lines if " stopped.teijo.open " in line]
    assert stopped.endswith(" LEFT OPEN")


def test_what_cannot_be_read_is_shown_as_that_and_stops_nothing(teijo: Teijo, folder: Path) -> None:
    _, out, _ = teijo("list", folder)
    unreadable = [line for line in out.splitlines() if "UNREADABLE" in line]
    assert len(unreadable) == 6
    for name in ("cut.teijo", "text.teijo", "empty.teijo", "gone.teijo", "pipe.teijo", "evil"):
        assert any(name in line for line in unreadable), name
    assert "notes.txt" not in out
    assert "folder.teijo" not in out
    assert "\x1b" not in out


def test_a_program_gets_the_same_as_json(teijo: Teijo, folder: Path) -> None:
    code, out, _ = teijo("list", folder, "--json")
    told = {Path(each["path"]).name: each for each in json.loads(out)}
    assert code == 0
    assert told["sealed.teijo"]["ending"] == "done"
    assert told["sealed.teijo"]["limits"] == "not met"
    assert told["sealed.teijo"]["provenance"] == "simulated"
    assert told["sealed.teijo"]["group"] == {"campaign": "spring"}
    assert (told["sealed.teijo"]["open"], told["stopped.teijo.open"]["open"]) == (False, True)
    assert told["text.teijo"]["trouble"]
    assert "deep.teijo" not in told


def test_folders_below_are_listed_where_they_are_asked_for(teijo: Teijo, folder: Path) -> None:
    _, out, _ = teijo("list", folder, "--recursive")
    assert "below/deep.teijo" in out


def test_an_empty_folder_says_so_and_none_is_refused(teijo: Teijo, tmp_path: Path) -> None:
    code, out, err = teijo("list", tmp_path)
    assert (code, out) == (0, "")
    assert "no run file" in err
    code, _, err = teijo("list", tmp_path / "nowhere")
    assert (code, "is no folder" in err) == (2, True)
    assert json.loads(teijo("list", tmp_path, "--json")[1]) == []


def test_a_method_that_breaks_on_a_file_stops_no_listing(
    teijo: Teijo, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: object) -> str:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr("teijo.api.run_files._verdict", breaks)
    code, out, _ = teijo("list", folder)
    assert code == 0
    assert sum("UNREADABLE" in line for line in out.splitlines()) == 8
