"""The hand on a host: a run is begun once, outlives a kill as a file, and is the run by itself."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.errors import RunFileError
from teijo.fleet.drives import meant_by
from teijo.fleet.hand import Hand
from tests.fleet.plans import DRIVE, plan, told

SLOW = "settings = { seconds = 40000 }\n"
"""Of virtual time, which takes some seconds."""


def orders(rule: str = "") -> list[dict[str, Any]]:
    asked = plan(f'[[targets]]\nsim = "{DRIVE}"\ncount = 2\n{rule}')
    return [each.model_dump(mode="json") for each in meant_by(asked, {"local": told()}, 7).orders]


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[Hand]:
    one = Hand(tmp_path / "runs")
    assert one.prepare() == ""
    yield one
    for process in one._begun.values():
        if process.look() is None:
            os.killpg(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)
    one.leave()


def until(said: Callable[[], bool]) -> None:
    while not said():
        time.sleep(0.02)


def state(hand: Hand, order: dict[str, Any]) -> str:
    return str(hand.look([order["run"]])[0]["state"])


def test_a_run_is_begun_once_and_equals_the_same_run_by_itself(hand: Hand, tmp_path: Path) -> None:
    order = orders()[0]
    assert state(hand, order) == "absent"
    assert hand.begin(order) == "starting"
    assert hand.begin(order) in ("starting", "running", "sealed")
    until(lambda: state(hand, order) == "sealed")
    seen = hand.look([order["run"]])[0]
    assert (seen["ending"], seen["share"], seen["told"]) == ("done", 1.0, "")
    assert hand.begin(order) == "sealed"
    there = api.open(hand.folder / order["run"]).record
    alone = api.run(
        "workload", order["target"], output=tmp_path / "alone.teijo", seed=order["seed"],
        settings=order["settings"],
    ).record  # fmt: skip
    assert [step.answer for step in there.steps] == [step.answer for step in alone.steps]
    assert there.run.group == {"fleet": "lab", "host": "local", "drive": "slc-a-1"}


def test_a_run_that_is_killed_is_left_and_goes_on_where_it_was(hand: Hand) -> None:
    order = orders(SLOW)[0]
    hand.begin(order)
    until(lambda: state(hand, order) == "running")
    process = hand._begun[order["run"]]
    os.killpg(process.pid, signal.SIGKILL)
    until(lambda: process.look() is not None)
    assert state(hand, order) == "left"
    other = Hand(hand.folder)  # which never knew of the process
    # A file that was written a moment ago may be written by somebody this host cannot see.
    assert state(other, order) == "running"
    for path in hand.folder.iterdir():
        os.utime(path, (0, 0))
    assert state(other, order) == "left"
    assert other.look([order["run"]])[0]["share"] < 1.0
    hand.stop(order["run"])
    assert hand.begin(order) in ("starting", "running")


def test_a_run_that_is_refused_says_why_and_leaves_no_file(hand: Hand) -> None:
    order = orders("settings = { bs = 5 }\n")[0]
    assert "5" in hand.examine(order)["problem"]
    hand.begin(order)
    until(lambda: state(hand, order) == "refused")
    assert "5" in hand.look([order["run"]])[0]["told"]
    assert not list(hand.folder.iterdir())


def test_a_run_that_is_asked_to_stop_can_be_resumed(hand: Hand) -> None:
    order = orders(SLOW)[0]
    hand.begin(order)
    until(lambda: state(hand, order) == "running")
    hand.stop(order["run"])
    until(lambda: hand._begun[order["run"]].look() is not None)
    assert state(hand, order) == "left"
    assert hand.begin(order) in ("starting", "running")


def test_what_a_run_takes_is_told_before_it_begins(hand: Hand) -> None:
    takes = hand.examine(orders()[0])
    assert takes["problem"] == ""
    assert takes["seconds"][0] <= takes["seconds"][1] <= takes["seconds"][2]
    assert not list(hand.folder.iterdir())


@pytest.mark.parametrize("name", ["../x.teijo", "/etc/x.teijo", "x", "a/b.teijo", ""])
def test_a_name_that_is_a_path_reaches_nothing(hand: Hand, name: str) -> None:
    for ask in (
        hand.digest,
        hand.stop,
        lambda run: hand.look([run]),
        lambda run: hand.part(run, 0),
    ):
        with pytest.raises(RunFileError):
            ask(name)


def test_a_host_tells_its_program_and_its_drives(hand: Hand, loop_device: Path) -> None:
    found = hand.told()
    assert found["build"]
    (drive,) = [each for each in found["drives"] if each["target"] == str(loop_device)]
    assert drive["serial"].startswith("loop-")
    assert drive["use"] == ""
