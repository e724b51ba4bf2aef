"""Whatever somebody put under a name beforehand, a run or a report leaves it as it was."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import teijo.api
from teijo import creating
from teijo.cli import outcome
from teijo.cli.export import written
from teijo.errors import HostError, TeijoError
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from tests.crash.runs import DRIVE, in_a_child, kill_me
from tests.runner.acts import resume_paper, run_paper

PRECIOUS = b"seven b"
KINDS = ["link", "dangling link", "second name", "file", "pipe"]


def plant(path: Path, kind: str, precious: Path) -> None:
    """Put something under a name that leads to a file of somebody, or could."""
    precious.write_bytes(PRECIOUS)
    match kind:
        case "link":
            path.symlink_to(precious)
        case "dangling link":
            path.symlink_to(precious.with_name("not there"))
        case "second name":
            os.link(precious, path)
        case "file":
            path.write_bytes(b"of somebody else")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
            (path / "inside").write_bytes(PRECIOUS)


def untouched(precious: Path) -> bool:
    """Return whether the file is as it was, and the dangling link led nowhere."""
    return precious.read_bytes() == PRECIOUS and not precious.with_name("not there").exists()


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    return tmp_path / "precious"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".reserve", ".sealing", ".open-wal", ".open-shm"])
def test_what_is_planted_beside_a_new_run_is_not_written_to(
    tmp_path: Path, precious: Path, ending: str, kind: str
) -> None:
    path = tmp_path / "run.teijo"
    plant(path.with_name(path.name + ending), kind, precious)
    run_paper(path)
    assert untouched(precious)
    assert stat.S_ISREG(path.lstat().st_mode)


@pytest.mark.parametrize("ending", [".reserve", ".open-wal", ".open-shm"])
def test_a_folder_in_the_way_of_a_run_is_an_error_of_this_host_and_stays(
    tmp_path: Path, precious: Path, ending: str
) -> None:
    path = tmp_path / "run.teijo"
    plant(path.with_name(path.name + ending), "folder", precious)
    with pytest.raises(HostError) as caught:
        run_paper(path)
    assert caught.value.exit_code == 6
    assert (path.with_name(path.name + ending) / "inside").read_bytes() == PRECIOUS


@pytest.mark.parametrize("kind", [*KINDS, "folder"])
@pytest.mark.parametrize("ending", ["", ".open"])
def test_a_name_that_is_taken_is_refused_before_anything_is_measured(
    tmp_path: Path, precious: Path, ending: str, kind: str
) -> None:
    path = tmp_path / "run.teijo"
    plant(path.with_name(path.name + ending), kind, precious)
    with pytest.raises(TeijoError, match="exists already") as caught:
        teijo.api.run("workload", "sim:mlc-a", output=path)
    assert caught.value.exit_code == 2
    assert untouched(precious)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".reserve", ".sealing"])
def test_what_is_planted_beside_a_killed_run_is_not_written_to_by_its_resume(
    tmp_path: Path, precious: Path, ending: str, kind: str
) -> None:
    path = tmp_path / "run.teijo"
    interrupt(path)
    names = Names.of(path)
    for left in (names.reserve, names.sealing):
        left.unlink(missing_ok=True)
    plant(path.with_name(path.name + ending), kind, precious)
    try:
        resume_paper(path)
    except TeijoError as error:
        assert error.exit_code in {2, 3, 6}  # noqa: PT017
    assert untouched(precious)


@pytest.mark.parametrize("act", [teijo.api.open, teijo.api.resume], ids=["report", "resume"])
@pytest.mark.parametrize("kind", ["link", "second name", "pipe", "folder"])
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_run_file_with_something_planted_where_sqlite_writes_is_not_opened(
    tmp_path: Path, precious: Path, ending: str, kind: str, act: Callable[[Path], object]
) -> None:
    path = tmp_path / "run.teijo"
    interrupt(path)
    place = path.with_name(path.name + ".open" + ending)
    place.unlink(missing_ok=True)
    plant(place, kind, precious)
    with pytest.raises(TeijoError) as caught:
        act(Names.of(path).open)
    assert caught.value.exit_code in {2, 3}
    assert place.name in str(caught.value)
    assert precious.read_bytes() == PRECIOUS


def interrupt(path: Path) -> None:
    """Leave a run file as a kill does after some steps."""
    record, count = Recorder.record, 0

    def dying(self: Recorder, *arguments: object) -> None:
        nonlocal count
        record(self, *arguments)  # type: ignore[arg-type]
        count += 1
        if count == 2:
            kill_me()

    def act() -> None:
        Recorder.record = dying  # type: ignore[method-assign]
        run_paper(path)

    assert in_a_child(act) == -9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("printer", ["html", "text", "csv"])
def test_a_report_takes_the_place_of_what_is_planted_and_follows_nothing(
    tmp_path: Path, precious: Path, run: teijo.api.Run, printer: str, kind: str
) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    name = folder / ("run" + outcome.ENDINGS[printer])
    if printer == "csv":
        name.mkdir()
        (first,) = outcome.reports(run.document(), run.path, [printer], folder)
        name = sorted(first.iterdir())[0]
        name.unlink()
    plant(name, kind, precious)
    outcome.reports(run.document(), run.path, [printer], folder)
    assert untouched(precious)
    assert stat.S_ISREG(name.lstat().st_mode)
    assert name.stat().st_nlink == 1


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> teijo.api.Run:
    path = tmp_path_factory.mktemp("run") / "run.teijo"
    return teijo.api.run(
        "workload",
        DRIVE,
        output=path,
        settings={"rw": "randread", "seconds": "100ms"},
        seed=1,
    )


def test_tables_are_not_put_into_a_folder_a_link_leads_to(
    tmp_path: Path, run: teijo.api.Run
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "run-tables").symlink_to(elsewhere)
    with pytest.raises(HostError, match="symbolic link"):
        outcome.reports(run.document(), run.path, ["csv"], tmp_path)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("printer", ["html", "text"])
def test_a_folder_in_the_place_of_a_report_is_an_error_and_stays(
    tmp_path: Path, precious: Path, run: teijo.api.Run, printer: str
) -> None:
    name = tmp_path / ("run" + outcome.ENDINGS[printer])
    plant(name, "folder", precious)
    with pytest.raises(HostError, match="Cannot write the report"):
        outcome.reports(run.document(), run.path, [printer], tmp_path)
    assert (name / "inside").read_bytes() == PRECIOUS
    assert {one.name for one in tmp_path.iterdir()} == {name.name, "precious"}


@pytest.mark.parametrize("kind", ["link", "dangling link", "second name", "file"])
def test_an_export_takes_the_place_of_what_is_planted(
    tmp_path: Path, precious: Path, kind: str
) -> None:
    name = tmp_path / "run.json"
    plant(name, kind, precious)
    written(name, b"data")
    assert untouched(precious)
    assert name.read_bytes() == b"data"
    assert not name.is_symlink()


def test_an_export_goes_to_a_pipe_somebody_reads(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        written(pipe, b"data")
        assert os.read(reader, 100) == b"data"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def test_an_export_to_stdout_by_name_does_not_replace_that_name(tmp_path: Path) -> None:
    before = Path("/dev/stdout").readlink()
    target = tmp_path / "redirected"

    def act() -> None:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, 1)
        written(Path("/dev/stdout"), b"data")

    assert in_a_child(act) == 0
    assert target.read_bytes() == b"data"
    assert Path("/dev/stdout").readlink() == before


@pytest.mark.parametrize("make", [creating.create, creating.create_anew])
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_is_never_one_that_was_there(
    tmp_path: Path, precious: Path, make: Callable[[Path], int], kind: str
) -> None:
    plant(tmp_path / "new", kind, precious)
    try:
        os.close(make(tmp_path / "new"))
    except FileExistsError:
        assert make is creating.create
    else:
        assert (tmp_path / "new").lstat().st_size == 0
        assert make is creating.create_anew
    assert untouched(precious)


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_bytes(b"old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="space"):
            creating.replace_atomically(tmp_path / "old", b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["old"]


def test_a_file_whose_writer_is_killed_leaves_the_old_one_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_bytes(b"old")
    monkeypatch.setattr(os, "write", lambda *_: kill_me())
    assert in_a_child(lambda: creating.replace_atomically(tmp_path / "old", b"new")) == -9
    assert (tmp_path / "old").read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("missing", ["open", "link"])
def test_a_file_system_without_nameless_files_has_files_written_whole_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    real = os.open

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    def without(path: str, flags: int, mode: int = 0o777) -> int:
        return refused() if flags & os.O_TMPFILE == os.O_TMPFILE else real(path, flags, mode)

    monkeypatch.setattr(os, missing, without if missing == "open" else refused)
    for data in (b"one", b"two"):
        creating.replace_atomically(tmp_path / "new", data)
        assert (tmp_path / "new").read_bytes() == data
    assert [one.name for one in tmp_path.iterdir()] == ["new"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be somebody else")
@pytest.mark.parametrize("kind", ["link", "second name", "file", "pipe"])
def test_in_a_folder_for_everybody_what_another_planted_is_refused_or_left(
    tmp_path: Path, precious: Path, kind: str
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for above in (tmp_path, *tmp_path.parents[:3]):
        above.chmod(above.stat().st_mode | 0o055)
    plant(shared / "run.html", kind, precious)
    os.chown(shared / "run.html", 1234, 1234, follow_symlinks=False)
    precious.chmod(0o666)

    def act() -> None:
        os.setuid(4321)
        with pytest.raises(PermissionError):
            creating.replace_atomically(shared / "run.html", b"report")
        with pytest.raises(PermissionError):
            creating.create_anew(shared / "run.html")

    assert in_a_child(act) == 0
    assert untouched(precious)
    assert [one.name for one in shared.iterdir()] == ["run.html"]
