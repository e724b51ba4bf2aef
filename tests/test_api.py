"""The one door, from Python: run, open, preview, export, and a notebook's view."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import teijo
from teijo import api
from teijo.cli import device as device_verb
from teijo.cli import preview as preview_verb
from teijo.device import parse_target
from teijo.engine import SimulatedSession
from teijo.errors import HostError, Interrupted, PlanError, RunFileError, TargetError
from teijo.methods.parts import watch_of
from teijo.runner.events import Event, Judged, LayingOut, RunStarted, StepDone, StepStarted
from teijo.terms.result import StepResult
from teijo.terms.step import Measure
from tests.crash.runs import SHORT, run_iops

WORKLOAD = {"rw": "randread", "bs": "4KiB", "qd": "4", "seconds": "1"}
BRIEF = {"rw": "randread", "bs": "4KiB", "qd": "4", "bytes": "1MiB"}


def run(path: Path, *, seed: int | None = None) -> teijo.Run:
    """Run a second of reads on a simulated drive."""
    return teijo.run("workload", "sim:mlc-a", output=path, settings=WORKLOAD, seed=seed)


def test_importing_teijo_loads_nothing_heavy() -> None:
    script = (
        "import sys, teijo; print([m for m in ('numpy', 'pydantic', 'altair') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"


def test_every_verb_is_there_by_its_name() -> None:
    for name in teijo.__all__:
        assert getattr(teijo, name) is getattr(api, name)
    with pytest.raises(AttributeError, match="no attribute 'swim'"):
        _ = teijo.swim  # type: ignore[attr-defined]


def test_a_new_file_tells_how_far_it_is_laid_out_before_the_run_begins(scratch: Path) -> None:
    events: list[Event] = []
    target = f"{scratch / 'new.img'}?size=4MiB"
    teijo.run("workload", target, output=scratch / "run", settings=BRIEF, observer=events.append)
    laid_out = [event for event in events if isinstance(event, LayingOut)]
    assert laid_out[-1] == LayingOut(done_bytes=4 * 2**20, total_bytes=4 * 2**20)
    begun = next(place for place, event in enumerate(events) if isinstance(event, RunStarted))
    assert begun >= len(laid_out)


def test_a_run_is_returned_as_its_file_holds_it(tmp_path: Path) -> None:
    made = run(tmp_path / "run")
    found = teijo.open(tmp_path / "run.teijo")
    assert made.record == found.record
    assert made.path == tmp_path / "run.teijo"
    answer = found.record.steps[-1].answer
    assert isinstance(answer, StepResult)
    assert found.columns["results"]["ios"].sum() == answer.ios
    assert found.findings.method == "workload"


def test_the_same_seed_gives_the_same_answers_and_another_does_not(tmp_path: Path) -> None:
    one, two, other = (
        run(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one.record.steps == two.record.steps
    assert one.record.steps != other.record.steps


def test_a_document_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    page = run(tmp_path / "run")._repr_html_()
    assert page.lstrip().lower().startswith("<")
    assert "Simulated MLC-A" in page


def test_an_export_holds_the_findings(tmp_path: Path) -> None:
    path = run(tmp_path / "run").path
    content = json.loads(teijo.export(path, to="json"))
    assert content["findings"]["method"] == "workload"
    assert teijo.export(path, to="csv", table="steps").startswith(b"seq,")
    assert teijo.export(path, to="parquet").startswith(b"PAR1")


def test_what_is_wrong_is_said_before_anything_is_made(tmp_path: Path) -> None:
    target = tmp_path / "target.dat"
    with pytest.raises(PlanError, match="seed"):
        run(tmp_path / "run", seed=-1)
    with pytest.raises(PlanError, match="method"):
        teijo.run("iosp", str(target), output=tmp_path / "run")
    with pytest.raises(PlanError):
        teijo.run("iops", f"{target}?size=8MiB", output=tmp_path / "run", settings={"minut": "1s"})
    (tmp_path / "run.teijo").touch()
    with pytest.raises(RunFileError, match="never overwritten"):
        teijo.run("iops", f"{target}?size=8MiB", output=tmp_path / "run")
    with pytest.raises(HostError):
        run(tmp_path / "nowhere" / "run")
    with pytest.raises(TargetError):
        teijo.run("iops", "sim:nothing", output=tmp_path / "other")
    assert [item.name for item in tmp_path.iterdir()] == ["run.teijo"]


def test_a_preview_needs_no_file_to_be_there(tmp_path: Path) -> None:
    target = tmp_path / "target.dat"
    found = teijo.preview("iops", f"{target}?size=8MiB", settings=SHORT)
    assert found.capacity_bytes == 8 * 2**20
    assert found.most.steps == 2 + 6 * 4
    assert list(tmp_path.iterdir()) == []
    target.write_bytes(bytes(2**20))
    assert teijo.preview("iops", str(target), settings=SHORT).capacity_bytes == 2**20
    assert teijo.preview("iops", "sim:mlc-a").capacity_bytes > 10**9


def test_a_preview_bounds_the_run_it_is_of(tmp_path: Path) -> None:
    drive = "sim:mlc-a?capacity=64MiB&dies=2"
    found = teijo.preview("iops", drive, settings=SHORT)
    made = run_iops(tmp_path / "run", drive)
    assert found.least.steps <= len(made.record.steps) <= found.most.steps


def test_a_continuous_stimulus_on_a_real_file_has_no_gap(tmp_path: Path) -> None:
    events: list[Event] = []
    made = teijo.run(
        "wsat",
        f"{tmp_path}/target.dat?size=8MiB&direct=no",
        output=tmp_path / "run",
        spec="1.0-enterprise",
        settings={"minute": "100ms", "max_minutes": "6", "capacity_times": "1000000"},
        observer=events.append,
    )
    minutes = [step.answer for step in made.record.steps if step.step.kind == "measure"]
    assert len(minutes) >= 2
    gaps = [answer.gap_ns for answer in minutes[1:] if isinstance(answer, StepResult)]
    assert np.max(gaps) == 0
    started = [event.seq for event in events if isinstance(event, StepStarted)]
    assert started == [event.seq for event in events if isinstance(event, StepDone)]


def test_no_two_steps_of_a_run_have_one_seed_but_those_of_one_stimulus(tmp_path: Path) -> None:
    rounds = run_iops(tmp_path / "iops").record.steps
    assert len({each.seed for each in rounds}) == len(rounds)
    settings = {"max_minutes": "6", "minute": "100ms"}
    wsat = teijo.run("wsat", "sim:slc-a", output=tmp_path / "wsat", settings=settings).record.steps
    minutes = [
        each for each in wsat if isinstance(each.step, Measure) and each.step.phase == "minute"
    ]
    assert len(minutes) == 6
    assert len({each.seed for each in minutes}) == 1, "its offsets go on from minute to minute"
    assert all(each.step.continues for each in minutes[1:])


def calls_in(act: Callable[[], object], *functions: Callable[..., object]) -> list[int]:
    """Return how often each function is called while something is done."""
    codes = [each.__code__ for each in functions]  # type: ignore[attr-defined]
    counted = [0] * len(codes)

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code in codes:
            counted[codes.index(frame.f_code)] += 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("verb", ["preview", "run", "quick", "device"])
def test_a_verb_reads_its_target_once_makes_it_once_and_evaluates_settings_once(
    tmp_path: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drive, output = "sim:mlc-a?capacity=64MiB&dies=2", tmp_path / "run"
    limit = ("iops > 1",)
    acts: dict[str, Callable[[], object]] = {
        "preview": lambda: preview_verb.verb("workload", drive, settings=["rw=read", "bytes=1MiB"]),
        "run": lambda: api.run(
            "workload", drive, output=output, settings=BRIEF, max_drive_writes=9, limits=limit
        ),
        "quick": lambda: api.quick(
            drive, output=output, settings={"passes": "2", "seconds": "10ms", "prepare": "no"}
        ),
        "device": lambda: device_verb.verb(drive),
    }
    name = {"quick": "quick", "device": "workload"}.get(verb, "workload")
    counted = calls_in(
        acts[verb], parse_target, SimulatedSession.__init__, type(api.method(name)).settings
    )
    assert counted == [1, 1, 0 if verb == "device" else 1]
    capsys.readouterr()


def test_a_resume_reads_its_target_once_and_the_settings_it_has_once(tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, StepDone):
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        teijo.run("iops", "sim:mlc-a?capacity=64MiB&dies=2", output=tmp_path / "a",
                  settings=SHORT, observer=stop)  # fmt: skip
    method = type(api.method("iops"))
    counted = calls_in(
        lambda: api.resume(tmp_path / "a.teijo.open"),
        parse_target, SimulatedSession.__init__, method.settings,
    )  # fmt: skip
    assert counted == [1, 1, 0]


def test_of_many_short_steps_not_each_is_looked_at_but_the_last_is(tmp_path: Path) -> None:
    events: list[Event] = []
    settings = {"minute": "1ms", "rounds": "7"}
    run = teijo.run(
        "iops", "sim:mlc-a", output=tmp_path / "a", settings=settings, seed=1,
        observer=events.append,
    )  # fmt: skip
    looks = [event for event in events if isinstance(event, Judged)]
    assert 100 < len(looks) < len(run.record.steps)
    assert isinstance(events[-2], Judged)
    assert looks[-1].watch == watch_of(
        replace(run.record, run=replace(run.record.run, ending="running"))
    )
