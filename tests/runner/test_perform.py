"""A step of work on files: held to the memory it asks for, recorded with its time series."""

from pathlib import Path
from unittest.mock import patch

import pytest

import teijo.api
from teijo.errors import HostError
from teijo.runner.stage import Stage
from teijo.terms.result import StepResult
from teijo.terms.step import Perform

SMALL = {"count": "20", "passes": "1"}


class Held:
    """Stands for a limit of memory, and notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []
        self.left = 0
        self.met = 0

    def hold(self, memory_bytes: int | None) -> dict[str, str]:
        self.asked.append(memory_bytes)
        return {"memory_max_bytes": str(memory_bytes)}

    def hits(self) -> int:
        self.met += 3
        return self.met

    def leave(self) -> None:
        self.left += 1


def run(tmp_path: Path, **settings: str) -> teijo.api.Run:
    home = tmp_path / "home"
    home.mkdir()
    return teijo.api.run(
        "files", f"dir:{home}", output=tmp_path / "x.teijo", settings=SMALL | settings, seed=1
    )


def test_each_step_is_held_to_the_limit_and_says_how_often_it_was_met(tmp_path: Path) -> None:
    held, make = Held(), Stage.__init__

    def made(stage: Stage, **more: object) -> None:
        make(stage, **more, memory=held)  # type: ignore[arg-type]

    unchecked = patch("teijo.device.memory_limit.MemoryLimit.check")
    with unchecked, patch.object(Stage, "__init__", made):
        done = run(tmp_path, memory="512MiB")
    assert held.asked == [512 << 20] * 3
    assert held.left == 1
    for each in done.record.steps:
        assert isinstance(each.step, Perform)
        assert isinstance(each.answer, StepResult)
        assert each.step.memory_bytes == 512 << 20
        assert each.answer.detail["memory_max_bytes"] == str(512 << 20)
        assert each.answer.detail["memory_limit_hits"] == "3"


def test_a_limit_that_cannot_be_held_is_refused_before_there_is_a_run_file(tmp_path: Path) -> None:
    refused = HostError("The memory cannot be limited here: x.", remedy="Leave memory away.")
    with (
        patch("teijo.device.memory_limit.MemoryLimit._parent", side_effect=refused),
        pytest.raises(HostError, match="cannot be limited here"),
    ):
        run(tmp_path, memory="1GiB")
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]
    assert not list((tmp_path / "home").iterdir())


def test_the_time_series_and_the_cpu_time_of_a_step_are_in_its_record(tmp_path: Path) -> None:
    for each in run(tmp_path).record.steps:
        assert isinstance(each.answer, StepResult)
        first = each.answer.results[0]
        assert first.intervals is not None
        assert int(first.intervals.ios.sum()) == first.count == 20
        assert int(each.answer.detail["cpu_user_ns"]) >= 0
        assert "memory_max_bytes" not in each.answer.detail
        assert each.answer.elapsed_ns > 0
