"""A run as a handle: its events, its state, its stop, from other threads and other processes."""

import re
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

import teijo
from teijo import api
from teijo.errors import Interrupted, PlanError
from teijo.runfile.names import Names
from teijo.runner import running as handles
from teijo.runner.events import Ended, Event, Progress, RunStarted, StepDone, Stopping
from teijo.runner.running import Running
from teijo.terms.step import Measure
from tests.crash.runs import SHORT
from tests.house.tree import ROOT

DRIVE = "sim:mlc-a?capacity=64MiB&dies=2"
LONG = {"rw": "randread", "bs": "4KiB", "qd": "4", "seconds": "1h"}


def test_a_started_run_tells_each_reader_the_same_and_ends_as_run_does(tmp_path: Path) -> None:
    running = teijo.start("iops", DRIVE, output=tmp_path / "a", settings=SHORT, seed=1)
    seen: list[list[Event]] = [[], []]
    readers = [Thread(target=lambda to=each: to.extend(running.events())) for each in seen]
    for reader in readers:
        reader.start()
    made = running.result()
    for reader in readers:
        reader.join()
    assert seen[0] == seen[1] == list(running.events())
    assert isinstance(seen[0][0], RunStarted)
    assert isinstance(seen[0][-1], Ended)
    whole = teijo.run("iops", DRIVE, output=tmp_path / "b", settings=SHORT, seed=1)
    assert made.record.steps == whole.record.steps
    state = running.state()
    assert (state.ending, state.share, state.path) == (made.record.run.ending, 1.0, made.path)
    assert {each.cell for each in state.cells} == {
        each.step.cell for each in made.record.steps if isinstance(each.step, Measure)
    }


def stopped(running: Running[api.Run]) -> Interrupted:
    with pytest.raises(Interrupted) as caught:
        running.result()
    return caught.value


def test_a_started_run_is_stopped_by_its_handle_and_goes_on_in_another(tmp_path: Path) -> None:
    running = teijo.start("workload", DRIVE, output=tmp_path / "a", settings=LONG)
    assert any(isinstance(event, Progress) for event in running.events())
    assert not running.wait(0)
    running.stop()
    assert "Stopped by its caller" in stopped(running).message
    assert running.state().ending == "interrupted"
    assert any(isinstance(event, Stopping) for event in running.events())
    again = api.start_resume(tmp_path / "a.teijo.open")
    assert any(isinstance(event, Progress) for event in again.events())
    again.stop()
    again.stop()
    stopped(again)


def test_what_is_wrong_with_a_start_is_raised_by_its_result(tmp_path: Path) -> None:
    running = teijo.start("iops", DRIVE, output=tmp_path / "a", settings={"minut": "1s"})
    with pytest.raises(PlanError, match="minut"):
        running.result()
    assert list(running.events()) == []


def test_a_late_reader_gets_the_newest_events_and_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handles, "KEPT_EVENTS", 5)
    running = teijo.start("iops", DRIVE, output=tmp_path / "a", settings=SHORT)
    assert running.wait(60)
    events = list(running.events())
    assert len(events) == 5
    assert isinstance(events[-1], Ended)


RUN = """
import sys, teijo
teijo.run("workload", sys.argv[1], output=sys.argv[2], settings={"rw": "randread", "bs": "4KiB",
          "qd": "4", "seconds": "1h"}, observer=lambda event: print(type(event).__name__,
          flush=True))
"""


def test_a_run_of_another_process_is_watched_and_stopped_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, DRIVE, str(path)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        while process.stdout.readline().strip() != "Progress":
            pass
        watched = teijo.watch(path)
        state = watched.state()
        assert (state.ending, state.phase, state.path) == (
            "running", "measure", tmp_path / "run.teijo.open",
        )  # fmt: skip
        watched.stop()
        _, err = process.communicate()
    assert "Stopped by another process" in err
    assert watched.state().ending == "interrupted"
    assert not Names.of(path).stop.exists()


def test_what_a_file_tells_of_a_run_is_what_its_events_told(tmp_path: Path) -> None:
    states = []

    def look(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 6:
            states.append(teijo.watch(tmp_path / "a").state())

    run = teijo.run("iops", DRIVE, output=tmp_path / "a", settings=SHORT, seed=1, observer=look)
    (state,) = states
    assert state.step is not None
    assert state.step.step == run.record.steps[5].step
    assert (state.ending, state.time_left) == ("running", None)
    assert teijo.watch(tmp_path / "a").state().share == 1.0


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for example in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(example, {})
    told = capsys.readouterr().out
    assert "100% Ended" in told
    assert "reads.teijo" in told
