"""The methods of files and SQL: passes of named operations, from a run to its report."""

from pathlib import Path

import pytest

from teijo import api
from teijo.errors import Interrupted, PlanError, TargetError
from teijo.methods.files import FILES, FilesSettings
from teijo.methods.operations import name_of
from teijo.methods.parts import watch_of
from teijo.methods.sql import SQL
from teijo.runfile.export import to_json
from teijo.runner.events import Event, StepDone
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.record import StepRecord
from teijo.terms.result import Gap, OperationResult, StepResult
from teijo.terms.step import Perform, step_from_json, step_to_json
from tests.methods.canned import record_of

SMALL = {"count": "20", "passes": "2"}


def answer(step: Perform) -> StepResult:
    part = OperationResult(stream="files", operation=name_of(step.work), count=1)
    return StepResult(started_ns=0, elapsed_ns=1, results=(part,))


def test_a_pass_that_was_interrupted_begins_anew() -> None:
    steps = FILES.steps(FilesSettings(passes=1), NO_CAPACITY)
    asked = [next(steps)]
    answers = [answer, Gap(), answer, answer]
    for each in answers:
        step = asked[-1]
        assert isinstance(step, Perform)
        asked.append(steps.send(each if isinstance(each, Gap) else each(step)))
    cells = [step.cell for step in asked if isinstance(step, Perform)]
    assert cells == ["create", "stat", "create", "stat", "delete"]


def test_the_watch_counts_the_pass_that_began_anew_after_a_gap() -> None:
    settings = FilesSettings(passes=2)
    steps = FILES.steps(settings, NO_CAPACITY)
    asked, exchanges = next(steps), []
    for number, each in enumerate([answer, Gap(), answer, answer], 1):
        assert isinstance(asked, Perform)
        told = each if isinstance(each, Gap) else each(asked)
        exchanges.append(StepRecord(seq=number, step=asked, seed=number, answer=told))
        asked = steps.send(told)
    watch = watch_of(record_of(FILES, settings, tuple(exchanges), geometry=NO_CAPACITY), FILES)
    assert isinstance(asked, Perform)
    assert (watch.round_number, watch.cell) == (asked.round_number, asked.cell) == (1, "delete")


@pytest.mark.parametrize("size", ["5GB", "1025MiB", "0"])
def test_a_file_that_no_memory_holds_is_refused_with_its_size_and_a_way_out(size: str) -> None:
    with pytest.raises(PlanError, match=f"size={size}: it must be") as caught:
        FILES.settings("", {"size": size}, NO_CAPACITY)
    assert "--set size=4KiB" in caught.value.remedy
    settings = FILES.settings("", {"size": "1GB"}, NO_CAPACITY)
    assert isinstance(settings, FilesSettings)
    assert settings.size_bytes == 10**9


def test_a_step_of_files_or_statements_is_json_and_back() -> None:
    for method in (FILES, SQL):
        settings = method.settings("", {}, NO_CAPACITY)
        for work in settings.works():
            step = Perform(work=work, round_number=1, cell=name_of(work))
            assert step_from_json(step_to_json(step)) == step


def test_files_are_measured_recorded_reported_and_gone(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    run = api.run(
        "files",
        f"dir:{directory}",
        output=tmp_path / "run",
        settings=SMALL | {"fsync": "yes", "size": "1KiB"},
        seed=1,
    )
    assert not list(directory.iterdir())
    assert run.record.run.provenance == "measured"
    assert run.record.geometry == NO_CAPACITY
    assert [cell.labels[0][1] for cell in run.findings.cells] == [
        "create", "fsync of create", "stat", "delete",
    ]  # fmt: skip
    text = run.document()
    rows = text.sections[0].blocks[1].rows  # type: ignore[union-attr]
    assert [row[:2] for row in rows] == [
        ("create", 40), ("fsync of create", 40), ("stat", 40), ("delete", 40),
    ]  # fmt: skip
    assert '"capacity_bytes": null' in to_json(run.record, run.findings)
    assert all(remark.kind != "record inconsistent" for remark in run.record.remarks)


def test_statements_are_measured_and_their_database_is_gone(tmp_path: Path) -> None:
    target = f"sqlite:{tmp_path / 'x.db'}?journal=delete&sync=off"
    run = api.run("sql", target, output=tmp_path / "run", settings=SMALL, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["run.teijo"]
    names = [cell.labels[0][1] for cell in run.findings.cells]
    assert names == [
        "insert", "commit of insert", "select", "update", "commit of update", "delete",
        "commit of delete",
    ]  # fmt: skip
    assert all(cell.iops > 0 for cell in run.findings.cells)


def test_an_interrupted_run_leaves_no_files_and_goes_on(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()

    def stop(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 4:  # in the second pass
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        api.run("files", f"dir:{directory}", output=tmp_path / "run", settings=SMALL, observer=stop)
    assert not list(directory.iterdir())
    run = api.resume(tmp_path / "run.teijo.open")
    asked = [step.step.cell for step in run.record.steps if isinstance(step.step, Perform)]
    assert asked == ["create", "stat", "delete", "create", "stat", "create", "stat", "delete"]
    assert not list(directory.iterdir())


def test_runs_of_files_are_compared_and_previewed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        api.run("files", f"dir:{tmp_path}", output=tmp_path / name, settings=SMALL)
    runs = [api.open(tmp_path / f"{name}.teijo") for name in ("a", "b")]
    assert api.comparison_document(api.compare(runs)).sections
    ahead = api.preview("files", f"dir:{tmp_path}", settings=SMALL)
    assert ahead.expected.written_bytes == 40 * 4096
    assert ahead.drive_writes(ahead.most) is None, "a directory has no capacity"
    assert ahead.assumed == "10,000 operations/s"


@pytest.mark.parametrize(
    ("method", "target", "told"),
    [
        ("iops", "dir:HERE", "is a directory, and this method needs"),
        ("iops", "sqlite:HERE/x.db", "is a database, and this method needs"),
        ("files", "HERE/x.img?size=8MiB", "is no directory"),
        ("files", "sqlite:HERE/x.db", "is no directory"),
        ("sql", "dir:HERE", "is no database"),
    ],
)
def test_a_target_says_which_work_it_cannot_do(
    tmp_path: Path, method: str, target: str, told: str
) -> None:
    with pytest.raises(TargetError, match=told):
        api.run(method, target.replace("HERE", str(tmp_path)), output=tmp_path / "run")
    assert not list(tmp_path.iterdir())
