"""The verb `quick`: a table on stdout, a file that goes, and no consent but where it is needed."""

import json
import os
import time
from pathlib import Path

import pytest

from teijo import api
from teijo.api.quick_look import quick_target
from teijo.errors import TargetError
from tests.cli.conftest import Teijo
from tests.crash.runs import in_a_child, killed_after

SHORT = ("--set", "seconds=10ms", "rest=1ms", "passes=2", "--report", "none", "--seed", 1)
SIM = "sim:mlc-a"
PATIENCE_S = 60.0


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_the_table_is_data_and_the_paths_follow_it(teijo: Teijo, tmp_path: Path) -> None:
    code, out, err = teijo(
        "quick", SIM, *SHORT[:-4], "--seed", 1, "--report", "html", "-o", tmp_path / "a"
    )
    assert code == 0
    lines = out.splitlines()
    assert "not a steady-state test" in lines[0]
    rows = [line for line in lines if line.startswith(("SEQ 1 MiB Q", "RND 4 KiB Q"))]
    assert len(rows) == 8
    assert len({len(row) for row in rows}) == 1
    assert lines[-2:] == [str(tmp_path / "a.teijo"), str(tmp_path / "a.html")]
    assert all(len(line) <= 80 for line in lines[:-2]), "a terminal of 80 columns breaks nothing"
    assert "ended: done" in err


def test_a_program_gets_json_and_nothing_else(teijo: Teijo, tmp_path: Path) -> None:
    code, out, _ = teijo("quick", SIM, *SHORT, "-o", tmp_path / "a", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["run"] == str(tmp_path / "a.teijo")
    assert [each["direction"] for each in told["figures"]] == ["read"] * 4 + ["write"] * 4
    assert {"mb_s", "iops", "latency_us"} < set(told["figures"][0])
    assert told["figures"][0]["iops"]["plus_minus"] > 0
    assert (told["passes"], told["confidence"]) == (2, 0.95)
    assert "quick look" in {each["kind"] for each in told["remarks"]}


def test_the_same_seed_gives_the_same_table(teijo: Teijo, tmp_path: Path) -> None:
    tables = [
        teijo("quick", SIM, *SHORT, "-o", tmp_path / name)[1].partition(str(tmp_path))[0]
        for name in ("a", "b")
    ]
    assert tables[0] == tables[1]


def test_in_a_folder_a_file_is_made_and_removed(teijo: Teijo, scratch: Path) -> None:
    folder, runs = scratch / "disk", scratch / "runs"
    folder.mkdir()
    runs.mkdir()
    code, _, err = teijo("quick", folder, "--size", "8MiB", *SHORT, "-o", runs)
    assert code == 0, err
    assert files(folder) == []
    (name,) = files(runs)
    assert name.startswith("quick-disk-")
    record = api.open(runs / name).record
    assert record.geometry.capacity_bytes == 8 * 1024**2
    assert record.run.settings["amount_bytes"] == 8 * 1024**2
    assert record.run.settings["prepare"] == "no", "it was laid out right before"
    assert "&keep=no" in record.identity.target


def test_a_path_without_a_file_is_a_file_for_the_run(teijo: Teijo, scratch: Path) -> None:
    code, _, err = teijo("quick", f"{scratch}/x.img?size=8MiB", *SHORT, "-o", scratch / "a")
    assert code == 0, err
    assert files(scratch) == ["a.teijo"]


def test_an_error_removes_the_file_too(teijo: Teijo, scratch: Path) -> None:
    code, _, err = teijo("quick", scratch, "--size", "8MiB", *SHORT, "-o", scratch / "a.teijo/b")
    assert code != 0, err
    assert files(scratch) == []


def test_an_existing_file_takes_consent_or_is_only_read(teijo: Teijo, scratch: Path) -> None:
    path = scratch / "thesis.img"
    content = os.urandom(8 * 1024**2)
    path.write_bytes(content)
    code, _, err = teijo("quick", path, *SHORT, "-o", scratch / "a")
    assert code == 3
    assert "--overwrite" in err
    assert "--read-only" in err
    code, out, err = teijo("quick", path, *SHORT, "-o", scratch / "a", "--read-only")
    assert code == 0, err
    assert "write" not in "".join(line for line in out.splitlines() if line.startswith("RND"))
    assert "blocks may be unwritten" in out
    assert path.read_bytes() == content
    code, _, err = teijo("quick", path, *SHORT, "-o", scratch / "b", "--overwrite")
    assert code == 0, err
    assert path.exists(), "what was there before the run stays there"


def test_a_killed_look_leaves_no_file_and_goes_on_from_its_run_file(
    teijo: Teijo, scratch: Path
) -> None:
    runs = scratch / "runs"
    disk = scratch / "disk"
    runs.mkdir()
    disk.mkdir()
    settings = {"seconds": "10ms", "rest": "1ms", "passes": "2"}

    def act() -> None:
        api.quick(
            str(disk), output=runs / "a", size="8MiB", settings=settings, seed=1,
            observer=killed_after(3),
        )  # fmt: skip

    assert in_a_child(act) == -9
    end = time.monotonic() + PATIENCE_S
    while files(disk) and time.monotonic() < end:
        time.sleep(0.01)
    assert files(disk) == [], "the keeper removed it"
    code, _, err = teijo("resume", runs / "a.teijo.open", "--report", "none")
    assert code == 0, err
    assert files(disk) == []
    record = api.open(runs / "a.teijo").record
    assert len(record.measured("pass")) == 16
    assert "resumed" in {remark.kind.value for remark in record.remarks}


def test_a_block_device_takes_its_serial_or_is_only_read(
    teijo: Teijo, loop_device: Path, tmp_path: Path
) -> None:
    whole = ("quick", loop_device, *SHORT, "--size", "8MiB")
    code, _, err = teijo(*whole, "-o", tmp_path / "a")
    assert code == 3
    assert "--destroy" in err
    assert "--read-only" in err
    before = loop_device.read_bytes()
    code, out, err = teijo(*whole, "-o", tmp_path / "a", "--read-only")
    assert code == 0, err
    assert loop_device.read_bytes() == before
    serial = api.open(tmp_path / "a.teijo").record.identity.serial
    code, out, err = teijo(*whole, "-o", tmp_path / "b", "--destroy", serial)
    assert code == 0, err
    assert "RND 4 KiB Q1T1 write" in out
    after = loop_device.read_bytes()
    assert after[: 8 * 1024**2] != before[: 8 * 1024**2]
    assert after[8 * 1024**2 :] == before[8 * 1024**2 :], "no more is touched than was asked"


def test_it_can_be_previewed_and_run_as_any_method(teijo: Teijo, tmp_path: Path) -> None:
    assert teijo("preview", "quick", SIM)[0] == 0
    code, out, _ = teijo("run", "quick", SIM, *SHORT, "-o", tmp_path / "a")
    assert (code, out.splitlines()) == (0, [str(tmp_path / "a.teijo")])


@pytest.mark.parametrize("text", ["sim:mlc-a", "stripe:/a,/b", "https://example.org/disk"])
def test_what_is_no_path_is_left_as_it_is(text: str) -> None:
    assert quick_target(text) == (text, False)


def test_a_target_becomes_a_file_only_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"x")
    assert quick_target(f"{tmp_path}/there") == (f"{tmp_path}/there", False)
    assert quick_target(f"{tmp_path}/new") == (f"{tmp_path}/new?size=1GiB&keep=no", True)
    kept = quick_target(f"{tmp_path}/new?keep=yes&size=2GiB")
    assert kept == (f"{tmp_path}/new?keep=yes&size=2GiB", True)
    in_folder, made = quick_target(f"{tmp_path}?direct=no", "4GiB")
    assert made
    assert in_folder.startswith(f"{tmp_path}/teijo-quick-")
    assert in_folder.endswith(".dat?direct=no&size=4GiB&keep=no")
    for text, size in (
        (f"{tmp_path}/nowhere/", ""), (str(tmp_path), "much"), (f"{tmp_path}/x?size=1GiB", "2GiB"),
    ):  # fmt: skip
        with pytest.raises(TargetError) as refused:
            quick_target(text, size)
        assert refused.value.remedy
