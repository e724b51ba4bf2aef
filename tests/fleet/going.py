"""Fleets over the nodes of a Ray cluster, as the long tests begin and look at them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.api.own_process import PROGRAM
from tests.fleet.plans import DRIVE

SHORT, LONG = 300, 3000
"""Seconds of virtual time: LONG takes long enough to be killed amid it."""


def written(
    folder: Path, hosts: Sequence[str], runs: int, files: int, seconds: int = SHORT
) -> Path:
    """Return a plan: so many simulated drives on each host, and files on two of them."""
    text = 'fleet = "lab"\nmethod = "workload"\nseed = 7\nat_once = 1\n'
    text += f'settings = {{ seconds = {seconds}, rw = "randread" }}\n'
    text += "".join(f'[[host]]\nname = "{name}"\n' for name in hosts)
    text += f'[[targets]]\nsim = "{DRIVE}"\ncount = {runs}\n'
    for name in hosts[:2]:  # of one machine, so the files have other names
        text += f'[[targets]]\nhosts = ["{name}"]\ncount = {files}\n'
        text += f'file = "{folder}/{name}{{n}}.img?size=8MiB"\n'
        text += 'settings = { seconds = "200ms", rw = "randwrite" }\n'
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def teijo(*words: object, within: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [*within, sys.executable, *PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def begun(*words: object, within: Sequence[str] = ()) -> "subprocess.Popen[str]":
    command = [*within, sys.executable, *PROGRAM, *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def until(
    said: Callable[[], Any], process: "subprocess.Popen[str]", log: Callable[[], str] = str
) -> Any:
    """Return what is waited for; `log` is what a process without a pipe wrote."""
    while not (found := said()):
        if process.poll() is not None:
            told = process.stderr.read() if process.stderr else log()
            pytest.fail(f"it ended first: {told}")
        time.sleep(0.05)
    return found


def sealed(folder: Path, host: str = "*") -> dict[str, int]:
    """Return the sealed files at their hosts, with their inodes."""
    return {path.name: path.stat().st_ino for path in folder.glob(f"hosts/{host}/*.teijo")}


def check_whole(folder: Path, count: int, apart: Path) -> None:
    """All runs are here, each sealed once, and simulated ones are what they are alone."""
    orders = json.loads((folder / "fleet.json").read_text())["orders"]
    assert len(orders) == count
    for order in orders:
        record = api.open(folder / "runs" / order["run"]).record
        assert (record.run.ending, record.run.seed) == ("done", order["seed"])
    simulated = [order for order in orders if order["target"].startswith("sim:")]
    for order in simulated[:: max(1, len(simulated) // 4)]:
        record = api.open(folder / "runs" / order["run"]).record
        alone = api.run("workload", order["target"], output=apart / order["run"],
                        seed=order["seed"], settings=order["settings"]).record  # fmt: skip
        assert [step.answer for step in record.steps] == [step.answer for step in alone.steps]
