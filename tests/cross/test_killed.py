"""Every method, killed once in each kind of its steps, on each of its places, and gone on with.

Kinds are read off the record of the whole run, so a new kind of step is killed in as well.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import pytest

import teijo.api
from teijo.methods.operations import name_of
from teijo.runfile.recorder import Recorder
from teijo.runner import drive
from teijo.runner.interrupt import Interrupt
from teijo.runner.run import _Act
from teijo.runner.stage import Outcome, Stage
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.work import SqlBench
from tests.crash.runs import in_a_child, kill_me
from tests.cross.subjects import CLASSIC, KEPT, LARGE, SUBJECTS, Place, Subject
from tests.runfile.memory import tmp_path as tmp_path

Moment = Literal["begun", "under way", "done"]
"""Of a step: nothing of it is done; the first look at it; all is done, and nothing recorded."""


def kind_of(step: Step) -> tuple[str, ...]:
    """Return what a step is for: those of one kind are carried out by the same code."""
    if isinstance(step, Perform):
        # The operations of one test of sql-bench are statements, one like the other.
        name = step.work.test if isinstance(step.work, SqlBench) else name_of(step.work)
        return step.kind, step.phase, step.work.kind, name
    return step.kind, step.phase


def last_of_each_kind(record: Record) -> dict[tuple[str, ...], int]:
    """Return the number of the last step of each kind: most is behind it, least ahead."""
    return {kind_of(each.step): each.seq for each in record.steps}


def answered(record: Record) -> set[tuple[object, ...]]:
    """Return every step that has an answer, by its place in the run."""
    return {
        (*kind_of(each.step), getattr(each.step, "round_number", None),
         getattr(each.step, "cell", None), each.step.part)
        for each in record.steps
        if isinstance(each.answer, StepResult)
    }  # fmt: skip


def labels_of(run: teijo.api.Run) -> list[tuple[tuple[str, str], ...]]:
    return [cell.labels for cell in run.findings.cells]


def run(subject: Subject, place: Place, folder: Path) -> teijo.api.Run:
    """Run a subject with its target in the folder's `home`, where a file of somebody else lies."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    (home / KEPT).write_text("kept")
    return teijo.api.run(
        subject.method,
        subject.target(place, home),
        output=folder / "run.teijo",
        settings={**subject.settings, **subject.once},
        seed=1,
    )


def killed(act: Callable[[], object], seq: int, moment: Moment) -> int:
    """Run `act` in a child that dies at this moment of this step; return how the child ended."""
    carry_out, look, now = drive.carry_out, Interrupt.look, 0

    def carried_out(stage: Stage, at: int, step: Step, seed: int) -> Outcome:
        nonlocal now
        now = at
        if (at, moment) == (seq, "begun"):
            kill_me()
        outcome = carry_out(stage, at, step, seed)
        # Of a step that is over before anybody looks at it, this is the first moment.
        if at == seq:
            kill_me()
        return outcome

    def looked(interrupt: Interrupt) -> None:
        if (now, moment) == (seq, "under way"):
            kill_me()
        look(interrupt)

    def dying() -> None:
        with patch.object(drive, "carry_out", carried_out), patch.object(Interrupt, "look", looked):
            act()

    return in_a_child(dying)


def listed(home: Path) -> dict[str, str]:
    """Return what is in a directory; the target's own file by its name alone."""
    return {
        path.relative_to(home).as_posix(): path.read_text() if path.name == KEPT else ""
        for path in home.rglob("*")
    }


def dies_and_goes_on(
    subject: Subject, place: Place, whole: teijo.api.Run, folder: Path, seq: int, moment: Moment
) -> None:
    before = listed(whole.path.parent / "home")
    assert killed(lambda: run(subject, place, folder), seq, moment) == -9
    left = teijo.api.open(folder / "run.teijo").record
    assert left.run.ending == "running"
    assert len(left.steps) == seq - 1
    resumed = teijo.api.resume(folder / "run.teijo")
    assert resumed.record.run.ending == whole.record.run.ending
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]
    assert answered(resumed.record) >= answered(whole.record)
    assert labels_of(resumed) == labels_of(whole)
    assert resumed.path == folder / "run.teijo"
    assert not teijo.api.verify(resumed.path).flaws
    assert listed(folder / "home") == before
    if place == "simulated":
        assert resumed.record.steps == whole.record.steps
        assert resumed.findings == whole.findings


def crossed() -> Iterator[object]:
    """Give each subject on each of its places, at each moment; most of it is long."""
    for subject in (*SUBJECTS, LARGE):
        # Of a large file nothing but the look at it, in the middle of a step, is another code.
        moments: tuple[Moment, ...] = ("under way", "begun", "done")
        for place in subject.places:
            for moment in moments[:1] if subject is LARGE else moments:
                # A real place leaves a gap, which is more than a simulated one that is replayed.
                is_real = place == subject.places[-1]
                is_long = moment != "under way" or subject not in CLASSIC or not is_real
                yield pytest.param(
                    subject,
                    place,
                    moment,
                    id=f"{subject.name}, {place}, {moment}",
                    marks=[pytest.mark.long] * is_long,
                )


@pytest.mark.parametrize(("subject", "place", "moment"), list(crossed()))
def test_killed_in_each_kind_of_its_steps_it_goes_on_to_the_end_and_leaves_no_trace(
    tmp_path: Path, subject: Subject, place: Place, moment: Moment
) -> None:
    whole = run(subject, place, tmp_path / "whole")
    kinds = last_of_each_kind(whole.record)
    for kind, seq in kinds.items():
        try:
            dies_and_goes_on(subject, place, whole, tmp_path / f"{seq}", seq, moment)
        except Exception as error:
            error.add_note(f"killed in step {seq}, {kind}")
            raise


ENDS: tuple[tuple[str, object, str], ...] = (
    ("before its run file is there", Recorder, "create"),
    ("after its last step", _Act, "_tidy"),
    ("as it ends", _Act, "_end"),
    ("once its end is recorded", _Act, "_sealed"),
)
"""Where a run dies that is in none of its steps: when, and the function that it dies in."""


@pytest.mark.parametrize(
    ("subject", "place"),
    [
        pytest.param(
            subject,
            place,
            id=f"{subject.name}, {place}",
            marks=[pytest.mark.long] * (place == "file"),
        )
        for subject in CLASSIC
        for place in subject.places
        if place != "simulated"
    ],
)
@pytest.mark.parametrize(
    ("room", "name"),
    [
        pytest.param(room, name, id=when, marks=[pytest.mark.long] * (name in ("create", "_end")))
        for when, room, name in ENDS
    ],
)
def test_killed_in_none_of_its_steps_it_leaves_nothing_that_resume_does_not_remove(
    tmp_path: Path, subject: Subject, place: Place, room: object, name: str
) -> None:
    def act() -> None:
        with patch.object(room, name, lambda *_, **__: kill_me()):
            run(subject, place, tmp_path)

    assert in_a_child(act) == -9
    home = tmp_path / "home"
    target = {"disk.img"} if place == "file" else set()
    if name in ("create", "_sealed"):
        assert set(listed(home)) - target == {KEPT}
    if name in ("_tidy", "_end"):
        assert teijo.api.resume(tmp_path / "run.teijo").record.run.ending == "done"
    assert set(listed(home)) - target == {KEPT}
    assert (home / KEPT).read_text() == "kept"
