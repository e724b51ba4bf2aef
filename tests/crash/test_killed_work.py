"""Work on files and statements, killed: resume removes what its run made, and nothing else."""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

import teijo.api
from teijo.device.working import Look, WorkingDevice
from teijo.engine.session import Progress
from teijo.errors import HostError, TargetError, UnsafeError
from teijo.files.worker import PREFIX, FilesWorker
from teijo.runner.events import Event, Observer, RunStarted, unobserved
from teijo.runner.run import _Act
from teijo.terms.result import Performed
from teijo.terms.step import Perform
from teijo.terms.work import Files, Sql
from tests.crash.runs import in_a_child, kill_me

SMALL = {"count": "10", "passes": "2"}
FILES_PASS = ("create", "stat", "delete")
SQL_PASS = ("insert", "select", "update", "delete")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a directory with a file of somebody else in it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "theirs").write_text("kept")
    return home


def target(method: str, home: Path, journal: str = "wal") -> str:
    return f"dir:{home}" if method == "files" else f"sqlite:{home / 'x.db'}?journal={journal}"


def run(method: str, where: str, path: Path, observer: Observer = unobserved) -> teijo.api.Run:
    return teijo.api.run(method, where, output=path, settings=SMALL, seed=1, observer=observer)


def dying(seq: int, last: int) -> Callable[..., Performed]:
    """Return a `perform` that dies in its work of this number, after so many operations.

    Of work on files, which the engine counts by itself, when it is done and not recorded yet.
    """
    perform, works = WorkingDevice.perform, 0

    def performed(device: WorkingDevice, work: Files | Sql, seed: int, look: Look) -> Performed:
        nonlocal works
        works += 1
        mine = works == seq

        def die(done: int, now: Progress | None = None, /) -> bool:
            if mine and done == last:
                kill_me()
            return look(done, now)

        performed = perform(device, work, seed, die)
        if mine:
            kill_me()
        return performed

    return performed


def killed(method: str, where: str, path: Path, *, seq: int = 1) -> Path:
    """Run until a kill in the middle of a work; return the run file that is left."""

    def act() -> None:
        with patch.object(WorkingDevice, "perform", dying(seq, 5)):
            run(method, where, path)

    assert in_a_child(act) == -9
    return path.with_name(f"{path.name}.open")


def left_in(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != "theirs")


def cells_of(done: teijo.api.Run) -> list[str]:
    return [each.step.cell for each in done.record.steps if isinstance(each.step, Perform)]


@pytest.mark.parametrize(
    ("method", "seq", "journal"),
    [("files", seq, "") for seq in range(1, 7)]
    + [("sql", seq, journal) for seq in range(1, 9) for journal in ("wal", "delete")],
)
def test_killed_in_any_operation_it_goes_on_and_leaves_the_directory_as_it_was(
    tmp_path: Path, home: Path, method: str, seq: int, journal: str
) -> None:
    path = tmp_path / "run.teijo"
    killed(method, target(method, home, journal), path, seq=seq)
    assert left_in(home)
    assert teijo.api.open(path).record.run.ending == "running"
    resumed = teijo.api.resume(path)
    assert resumed.record.run.ending == "done"
    works = FILES_PASS if method == "files" else SQL_PASS
    assert tuple(cells_of(resumed)[-len(works) :]) == works
    assert [path.name for path in home.iterdir()] == ["theirs"]
    assert (home / "theirs").read_text() == "kept"


def test_killed_among_many_files_it_leaves_them_to_who_goes_on(home: Path) -> None:
    many = Files(operation="create", count=300_000, directories=3, names="number-first")

    def act() -> None:
        # The engine is in the middle of them when it is looked at for the first time.
        FilesWorker("dir:x", home, token="ab12").perform(many, 1, lambda *_: kill_me())

    assert in_a_child(act) == -9
    (folder,) = home.glob(f"{PREFIX}*")
    assert 0 < sum(1 for _ in folder.rglob("0*[!0-9]*")) < 300_000
    FilesWorker("dir:x", home, token="ab12").close()
    assert not left_in(home)


@pytest.mark.parametrize("method", ["files", "sql"])
@pytest.mark.parametrize("last", ["_tidy", "_end"])
def test_killed_after_its_last_operation_it_leaves_nothing_that_resume_does_not_remove(
    tmp_path: Path, home: Path, method: str, last: str
) -> None:
    path = tmp_path / "run.teijo"

    def act() -> None:
        with patch.object(_Act, last, lambda *_: kill_me()):
            run(method, target(method, home), path)

    assert in_a_child(act) == -9
    assert teijo.api.resume(path).record.run.ending == "done"
    assert not left_in(home)


@pytest.mark.parametrize("method", ["files", "sql"])
def test_killed_once_its_end_is_recorded_it_has_left_nothing(
    tmp_path: Path, home: Path, method: str
) -> None:
    def act() -> None:
        with patch.object(_Act, "_sealed", lambda *_: kill_me()):
            run(method, target(method, home), tmp_path / "run.teijo")

    assert in_a_child(act) == -9
    assert not left_in(home)


@pytest.mark.parametrize("method", ["files", "sql"])
def test_killed_before_its_run_file_is_there_it_has_made_nothing(
    tmp_path: Path, home: Path, method: str
) -> None:
    def act() -> None:
        with patch("teijo.runner.run.Recorder.create", lambda *_, **__: kill_me()):
            run(method, target(method, home), tmp_path / "run.teijo")

    assert in_a_child(act) == -9
    assert not left_in(home)


def test_the_folder_of_another_run_stays(tmp_path: Path, home: Path) -> None:
    other = killed("files", target("files", home), tmp_path / "other.teijo")
    (folder,) = home.glob(f"{PREFIX}*")
    files = sorted(folder.iterdir())
    mine = killed("files", target("files", home), tmp_path / "mine.teijo")
    teijo.api.resume(mine)
    assert sorted(folder.iterdir()) == files
    teijo.api.resume(other)
    assert not left_in(home)


def test_what_others_put_into_the_folder_is_refused_and_stays(tmp_path: Path, home: Path) -> None:
    left = killed("files", target("files", home), tmp_path / "run.teijo")
    (folder,) = home.glob(f"{PREFIX}*")
    for name, make in (
        ("thesis", lambda path: path.write_text("kept")),
        ("0000000077", lambda path: path.symlink_to(home / "theirs")),
        ("0000000078", lambda path: path.mkdir()),
    ):
        make(folder / name)
        before = sorted(folder.iterdir())
        with pytest.raises(UnsafeError, match="is not as this run left it"):
            teijo.api.resume(left)
        assert sorted(folder.iterdir()) == before
        (folder / name).rename(tmp_path / name)
    teijo.api.resume(left)
    assert (home / "theirs").read_text() == "kept"


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path, home: Path) -> None:
    left = killed("files", target("files", home), tmp_path / "run.teijo")
    (folder,) = home.glob(f"{PREFIX}*")
    elsewhere = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(elsewhere)
    with pytest.raises(UnsafeError, match="is not as this run left it"):
        teijo.api.resume(left)
    assert len(list(elsewhere.iterdir())) == 10
    folder.unlink()
    elsewhere.rename(folder)
    folder.chmod(0o770)
    with pytest.raises(UnsafeError):
        teijo.api.resume(left)
    assert len(list(folder.iterdir())) == 10


def made_by_somebody(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE piece (id INTEGER PRIMARY KEY, content BLOB NOT NULL)")
        db.execute("INSERT INTO piece VALUES (1, 'thesis')")
        db.commit()


def made_by_another_run(path: Path) -> None:
    killed("sql", f"sqlite:{path}", path.parent.parent / "other.teijo")


def a_link(path: Path) -> None:
    (path.parent.parent / "x.db").rename(path.parent.parent / "moved.db")
    path.symlink_to(path.parent.parent / "moved.db")


def a_second_name(path: Path) -> None:
    os.link(path.parent.parent / "x.db", path)


@pytest.mark.parametrize(
    "put", [made_by_somebody, made_by_another_run, Path.mkdir, Path.touch, os.mkfifo, a_link,
            a_second_name],
)  # fmt: skip
def test_another_database_in_the_place_is_refused_and_stays(
    tmp_path: Path, home: Path, put: Callable[[Path], object]
) -> None:
    left = killed("sql", target("sql", home, "delete"), tmp_path / "run.teijo")
    path = home / "x.db"
    path.with_name("x.db-journal").unlink(missing_ok=True)
    path.rename(tmp_path / "x.db")
    put(path)
    before = (path.lstat(), path.read_bytes() if path.is_file() else b"", left_in(home))
    with pytest.raises(TargetError, match="is there already"):
        teijo.api.resume(left)
    after = (path.lstat(), path.read_bytes() if path.is_file() else b"", left_in(home))
    assert (after[0].st_ino, *after[1:]) == (before[0].st_ino, *before[1:])


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_log_of_a_database_that_somebody_lost_is_not_touched(
    tmp_path: Path, home: Path, ending: str
) -> None:
    log = home / f"x.db{ending}"
    log.write_text("all that is left")
    with pytest.raises(TargetError, match="is there already"):
        run("sql", target("sql", home), tmp_path / "run")
    assert log.read_text() == "all that is left"
    assert left_in(home) == [log.name]


def test_a_name_that_is_taken_once_the_run_began_is_refused(tmp_path: Path, home: Path) -> None:
    def take(event: Event) -> None:
        if isinstance(event, RunStarted):
            (home / "x.db").write_text("kept")

    with pytest.raises(TargetError, match="is there already"):
        run("sql", target("sql", home), tmp_path / "run", observer=take)
    assert (home / "x.db").read_text() == "kept"


@pytest.mark.parametrize("method", ["files", "sql"])
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Callable[[int], Path], method: str
) -> None:
    disk = small_disk(4)
    path = tmp_path / "run.teijo"
    where = target(method, disk)
    with pytest.raises(HostError, match="is full"):
        teijo.api.run(method, where, output=path, settings={**SMALL, "size": "1MiB"})
    assert not list(disk.iterdir())
    assert teijo.api.open(path).record.run.ending == "running"
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    assert teijo.api.resume(path).record.run.ending == "done"
    assert not list(disk.iterdir())


def test_resume_asks_whether_the_server_of_the_file_is_the_callers(
    tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "run.teijo"
    killed("files", target("files", home), path)
    refused = UnsafeError("no", remedy="none")
    with (
        patch("teijo.api.acting.check_receiver", side_effect=refused) as asked,
        pytest.raises(UnsafeError),
    ):
        teijo.api.resume(path, server="postgresql://me@host/db")
    asked.assert_called_once_with("", "postgresql://me@host/db")
    assert teijo.api.resume(path).record.run.ending == "done"
