"""A run file that others could have written is read by everybody and acted on by nobody."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.errors import UnsafeError
from teijo.runfile import reader
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from tests.runfile.samples import open_run

SOMEBODY = 12345
"""A user who is neither root nor, as long as nobody has this number, who runs the tests."""


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A run file that was left open, in a folder of its own."""
    folder = tmp_path / "runs"
    folder.mkdir(mode=0o755)
    open_run(folder / "run").close()
    return folder / "run.teijo.open"


def given_away(path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root: to give a file to another user")
    os.chown(path, SOMEBODY, -1)


def file_of_another(file: Path) -> None:
    given_away(file)


def writable_by_the_group(file: Path) -> None:
    file.chmod(0o664)


def writable_by_all(file: Path) -> None:
    file.chmod(0o646)


def folder_of_all(file: Path) -> None:
    file.parent.chmod(0o777)


def a_link(file: Path) -> None:
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def beside(ending: str, make: Callable[[Path], None]) -> Callable[[Path], None]:
    def put(file: Path) -> None:
        make(file.with_name(file.name.removesuffix(".open") + ending))

    put.__name__ = f"{ending[1:]}-{make.__name__}"
    return put


def written_by_another(path: Path) -> None:
    path.write_bytes(b"")
    given_away(path)


def written_for_all(path: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0o666)


def linked(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def linked_nowhere(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


BESIDE = [
    beside(ending, make)
    for ending in (".open-wal", ".open-shm", ".open-journal", ".reserve", ".sealing")
    for make in (written_by_another, written_for_all, linked, linked_nowhere)
]


@pytest.mark.parametrize(
    "spoil",
    [
        file_of_another,
        writable_by_the_group,
        writable_by_all,
        folder_of_all,
        a_link,
        a_pipe,
        *BESIDE,
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_what_others_can_have_written_is_not_acted_on(
    left: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(left)
    before = {path.name: path.lstat().st_size for path in left.parent.iterdir()}
    with pytest.raises(UnsafeError, match="acted on only") as caught:
        Recorder.reopen(left)
    assert caught.value.remedy
    assert {path.name: path.lstat().st_size for path in left.parent.iterdir()} == before


@pytest.mark.parametrize(
    "spoil", [file_of_another, writable_by_the_group, writable_by_all, folder_of_all, a_link]
)
def test_it_is_read_all_the_same(left: Path, spoil: Callable[[Path], None]) -> None:
    spoil(left)
    assert reader.read(left).run.ending == "running"


@pytest.mark.parametrize(
    ("spoil", "remedy"),
    [
        (file_of_another, "chown {me} {file}"),
        (writable_by_the_group, "chmod go-w {file}"),
        (folder_of_all, "chmod o-w {folder}"),
    ],
)
def test_the_remedy_is_a_command_that_mends_it(
    left: Path, spoil: Callable[[Path], None], remedy: str
) -> None:
    spoil(left)
    with pytest.raises(UnsafeError) as caught:
        Recorder.reopen(left)
    command = remedy.format(me=os.geteuid(), file=left, folder=left.parent)
    assert command in caught.value.remedy
    assert os.system(command) == 0
    Recorder.reopen(left).close()


def test_a_copy_is_acted_on(left: Path, tmp_path: Path) -> None:
    left.chmod(0o666)
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    shutil.copyfile(left, own / left.name)
    Recorder.reopen(own / left.name).close()


def test_a_folder_of_all_in_which_nobody_removes_anothers_files_is_no_fault(left: Path) -> None:
    """As /tmp is: there the sticky bit keeps each file to its owner."""
    left.parent.chmod(0o1777)
    Recorder.reopen(left).close()


def test_a_file_of_root_is_acted_on_by_anybody(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid():
        pytest.skip("needs root: to own a file of root's")
    monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    Recorder.reopen(left).close()


def test_what_teijo_leaves_may_be_acted_on_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        recorder = open_run(tmp_path / "run")
        names = Names.of(tmp_path / "run")
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in (names.open, *names.beside)
            if path.exists()
        }
        recorder.close()
    finally:
        os.umask(before)
    assert modes
    assert not [name for name, mode in modes.items() if mode & 0o022]
