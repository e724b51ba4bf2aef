"""kill -9 at every point of a run that can be told apart, enumerated, and then going on."""

from collections.abc import Callable
from pathlib import Path

import pytest

import teijo.api
from teijo.errors import RunFileError
from teijo.methods.parts import findings_of
from teijo.runfile import reader, recorder, seal
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner.events import Event, Observer, Progress, StepStarted, unobserved
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap
from teijo.terms.step import Measure
from tests.crash.runs import DRIVE, SHORT, in_a_child, kill_me, killed_after, run_iops
from tests.runner.acts import resume_paper, run_paper

STEPS = 22
"""Steps of the short run on the simulated drive: purge, preconditioning, five rounds of four."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> teijo.api.Run:
    """The short run, uninterrupted."""
    return run_iops(tmp_path_factory.mktemp("whole") / "run.teijo")


def test_the_short_run_has_as_many_steps_as_are_killed_below(whole: teijo.api.Run) -> None:
    assert len(whole.record.steps) == STEPS


@pytest.mark.parametrize("seq", range(1, STEPS + 1))
def test_killed_after_a_step_and_resumed_it_finds_what_the_whole_run_finds(
    tmp_path: Path, whole: teijo.api.Run, seq: int
) -> None:
    path = tmp_path / "run.teijo"
    assert in_a_child(lambda: run_iops(path, observer=killed_after(seq))) == -9
    killed = teijo.api.open(path)
    assert killed.path.name == "run.teijo.open"
    assert killed.record.run.ending == "running"
    assert killed.record.steps == whole.record.steps[:seq]
    resumed = teijo.api.resume(path)
    assert resumed.findings == whole.findings
    assert resumed.record.steps == whole.record.steps
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]
    assert [item.name for item in tmp_path.iterdir()] == ["run.teijo"]


@pytest.mark.usefixtures("made_up")
def test_killed_after_any_transaction_nothing_committed_is_lost(tmp_path: Path) -> None:
    expected = run_paper(tmp_path / "whole")
    points = 0
    while True:
        points += 1
        path = tmp_path / f"killed-{points}"
        ended = in_a_child(lambda path=path, last=points: run_dying(path, last))
        if ended == 0:
            break
        assert ended == -9, "it died of something else"
        assert resumed(path).steps == expected.steps, f"killed after transaction {points}"
    assert points > 2 * len(expected.steps)


def run_dying(path: Path, last: int) -> None:
    """Run the paper method and die right after its transaction of this number."""
    commit, count = Recorder._commit, 0

    def counted(self: Recorder, write: Callable[..., object], **how: bool) -> None:
        nonlocal count
        commit(self, write, **how)
        count += 1
        if count == last:
            kill_me()

    Recorder._commit = counted  # type: ignore[method-assign]
    run_paper(path)


def resumed(path: Path) -> Record:
    """Go on as `teijo.api.resume` does: an ended run is only sealed."""
    ending = reader.read(Names.of(path).open).run.ending
    if ending in ("running", "interrupted"):
        return resume_paper(path)
    again = Recorder.reopen(path)
    return reader.read(again.seal())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("room", "name"),
    [
        (seal, "_check"),
        (seal, "_sync"),
        (seal, "_name"),
        (seal, "sync_folder"),
        (recorder, "_remove"),
    ],
)
def test_killed_at_any_point_of_sealing_the_run_is_sealed_again(
    tmp_path: Path, room: object, name: str, when: str
) -> None:
    path = tmp_path / "run.teijo"
    expected = run_paper(tmp_path / "whole")
    assert in_a_child(lambda: run_dying_in(path, room, name, when)) == -9
    assert reader.read(path).steps == expected.steps
    if Names.of(path).open.exists():
        assert resumed(path).steps == expected.steps
    names = {item.name for item in tmp_path.iterdir()}
    assert names == {"run.teijo", "whole.teijo"}


def run_dying_in(path: Path, room: object, name: str, when: str) -> None:
    """Run the paper method and die before or after this function is called at its end."""
    real = getattr(room, name)

    def dying(*arguments: object) -> object:
        ended = path.with_name("run.teijo.open").exists() and reader.read(
            path.with_name("run.teijo.open")
        ).run.ending not in ("running",)
        if ended and when == "before":
            kill_me()
        result = real(*arguments)
        if ended:
            kill_me()
        return result

    setattr(room, name, dying)
    run_paper(path)


def test_killed_as_it_began_it_blocks_no_name(tmp_path: Path) -> None:
    path = tmp_path / "run.teijo"

    def die(*arguments: object) -> None:
        kill_me()

    def act() -> None:
        recorder.insert_header = die
        run_paper(path)

    assert in_a_child(act) == -9
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".open")] == []
    with pytest.raises(RunFileError, match="There is no run file"):
        Recorder.reopen(path)
    run_paper(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_killed_in_a_round_on_a_file_the_gap_is_remarked_and_the_window_starts_anew(
    tmp_path: Path,
) -> None:
    path, target = tmp_path / "run.teijo", f"{tmp_path}/target.dat?size=8MiB&direct=no"
    seq = 2 + 4 + 2  # purge, preconditioning, round 1, half of round 2

    def die(event: Event) -> None:
        if isinstance(event, StepStarted) and event.seq == seq:
            kill_me()

    killed = in_a_child(lambda: run_iops(path, target, observer=die))
    assert killed == -9
    before = reader.read(path)
    assert len(before.steps) == seq - 1
    resumed = teijo.api.resume(path)
    steps = resumed.record.steps
    assert [step.seq for step in steps if isinstance(step.answer, Gap)] == [seq]
    assert steps[: seq - 1] == before.steps
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]
    again = steps[seq].step
    assert (again.round_number, again.cell) == (2, steps[2].step.cell)  # type: ignore[union-attr]
    found = findings_of(resumed.record)
    assert found.window_rounds is not None
    assert found.window_rounds[0] >= 2, "round 1 was before the gap"
    assert int(SHORT["rounds"]) + 1 >= found.rounds >= 6


def test_killed_in_a_long_step_at_most_a_second_of_it_is_lost(tmp_path: Path) -> None:
    path, target = tmp_path / "run.teijo", f"{tmp_path}/target.dat?size=8MiB&direct=no"
    asked = {"rw": "randwrite", "bs": "4KiB", "qd": "1", "seconds": "60"}

    looked = tmp_path / "looked"

    def die(event: Event) -> None:
        if isinstance(event, Progress):
            if event.elapsed_ns > 2_400_000_000:
                kill_me()
            looked.write_text(str(event.elapsed_ns))

    def act() -> None:
        teijo.api.run("workload", target, output=path, settings=asked, observer=die)

    assert in_a_child(act) == -9
    running = reader.read_running(path)
    assert running is not None
    series = running.intervals["main", "write"]
    assert series.index.tolist() == list(range(len(series.index)))
    # Of what was over at the look before the last, a second at most.
    assert len(series.index) >= int(looked.read_text()) // 10**9 - 1
    assert series.ios.sum() > 0


@pytest.mark.parametrize("seq", [1, 2, 5, 9])
def test_a_continuous_stimulus_killed_and_resumed_is_the_whole_one(
    tmp_path: Path, seq: int
) -> None:
    whole = run_wsat(tmp_path / "whole", DRIVE)
    assert len(whole.record.steps) > 10
    path = tmp_path / "run.teijo"
    assert in_a_child(lambda: run_wsat(path, DRIVE, killed_after(seq))) == -9
    resumed = teijo.api.resume(path)
    assert resumed.findings == whole.findings
    assert resumed.record.steps == whole.record.steps


def test_a_continuous_stimulus_on_a_file_starts_again_from_its_purge(tmp_path: Path) -> None:
    path, target = tmp_path / "run.teijo", f"{tmp_path}/target.dat?size=8MiB&direct=no"
    assert in_a_child(lambda: run_wsat(path, target, killed_after(4))) == -9
    steps = teijo.api.resume(path).record.steps
    kinds = [step.step.kind if not isinstance(step.answer, Gap) else "gap" for step in steps]
    assert kinds[:7] == ["purge", "measure", "measure", "measure", "gap", "purge", "measure"]
    assert isinstance(steps[6].step, Measure)
    assert not steps[6].step.continues


def run_wsat(path: Path, target: str, observer: Observer = unobserved) -> teijo.api.Run:
    """Run a short PTS WSAT."""
    settings = {"minute": "20ms", "max_minutes": "12", "capacity_times": "100000"}
    return teijo.api.run(
        "wsat",
        target,
        output=path,
        spec="1.0-enterprise",
        settings=settings,
        seed=3,
        observer=observer,
    )
