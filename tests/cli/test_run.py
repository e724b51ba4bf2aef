"""The verb `run`: paths on stdout, messages on stderr, and a run that can be repeated."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import teijo as package
from teijo import api
from tests.cli.conftest import Teijo
from tests.house.tree import PACKAGE

WRITES = ("--set", "rw=randwrite", "bs=4KiB", "qd=8", "seconds=1")
SIM = "sim:mlc-a"


def test_a_run_prints_the_paths_of_its_file_and_its_reports_and_nothing_else(
    teijo: Teijo, tmp_path: Path
) -> None:
    code, out, err = teijo(
        "run", "workload", SIM, *WRITES, "-o", tmp_path / "a", "--report", "html,pdf,text,csv"
    )
    assert code == 0
    names = ("a.teijo", "a.html", "a.pdf", "a.txt", "a-tables")
    assert out.splitlines() == [str(tmp_path / name) for name in names]
    assert all((tmp_path / name).exists() for name in names)
    assert " IOPS, " in err
    assert "remarks: simulated" in err


def test_the_report_folder_is_made_where_it_is_asked_for(teijo: Teijo, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "er"
    code, out, _ = teijo(
        "run", "workload", SIM, *WRITES, "-o", tmp_path, "--report", "text", "--report-dir", folder
    )
    run_file, report = map(Path, out.split())
    assert code == 0
    assert run_file.parent == tmp_path
    assert run_file.name.startswith("workload-mlc-a-")
    assert report == folder / f"{run_file.stem}.txt"


def test_the_same_seed_gives_the_same_numbers(teijo: Teijo, tmp_path: Path) -> None:
    for name in ("a", "b"):
        teijo(
            "run", "workload", SIM, *WRITES, "-o", tmp_path / name, "--report", "none",
            "--seed", 7,
        )  # fmt: skip
    a, b = (api.open(tmp_path / f"{name}.teijo") for name in ("a", "b"))
    assert [step.answer for step in a.record.steps] == [step.answer for step in b.record.steps]
    assert a.record.run.seed == 7


def test_a_program_reads_every_line_of_stderr_as_json(teijo: Teijo, tmp_path: Path) -> None:
    arguments = ("run", "workload", SIM, *WRITES, "-o", tmp_path / "a", "--report", "none")
    _, _, err = teijo(*arguments, "--progress", "ndjson")
    told = [json.loads(line) for line in err.splitlines()]
    assert told[-1]["event"] == "verdict"
    code, _, err = teijo(*arguments, "--progress", "ndjson")
    told = [json.loads(line) for line in err.splitlines()]
    assert (code, told[-1]["event"], told[-1]["code"]) == (2, "error", 2)


def test_the_verdict_is_that_of_the_findings(teijo: Teijo, tmp_path: Path) -> None:
    code, _, err = teijo("run", "iops", SIM, "-o", tmp_path / "a", "--report", "none")
    found = api.open(tmp_path / "a.teijo").findings
    assert code == 0
    assert f"STEADY STATE: {'YES' if found.converged else 'NO'}, " in err


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupted_run_ends_with_7_and_the_command_that_goes_on(
    scratch: Path, signals: int
) -> None:
    command = "from teijo.cli import main; main()"
    process = subprocess.Popen(
        [
            sys.executable, "-c", command, "run", "workload", f"{scratch}/f.img?size=16MiB",
            "rw=randwrite", "seconds=600", "-o", scratch / "a", "--progress", "ndjson",
        ],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if json.loads(line)["event"] == "progress":
            break
    for _ in range(signals):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = process.communicate()
    assert process.returncode == 7
    assert out.split() == [f"{scratch}/a.teijo.open"]
    assert f"teijo resume {scratch}/a.teijo.open" in json.loads(err.splitlines()[-1])["remedy"]


def test_holes_are_read_only_where_that_is_set_and_the_run_file_knows_it(
    teijo: Teijo, scratch: Path
) -> None:
    with (scratch / "sparse").open("wb") as file:
        file.truncate(2**24)
    reads = ("rw=randread", "bs=4KiB", "bytes=1MiB", "-o", scratch / "a", "--report", "none")
    code, _, messages = teijo("run", "workload", scratch / "sparse", *reads)
    assert code == 2
    assert "--set holes=allow" in messages
    assert teijo("run", "workload", scratch / "sparse", *reads, "--set", "holes=allow")[0] == 0
    run = package.open(scratch / "a.teijo")
    assert run.record.identity.target == f"{scratch}/sparse?holes=allow"
    assert "holes" not in run.record.run.settings


def test_python_opens_what_the_command_wrote(teijo: Teijo, tmp_path: Path) -> None:
    teijo("run", "workload", SIM, *WRITES, "-o", tmp_path / "a", "--report", "none")
    run = package.open(tmp_path / "a.teijo")
    assert run.findings.method == "workload"
    assert len(run.columns["results"]) > 0
