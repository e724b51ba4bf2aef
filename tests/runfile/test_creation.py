"""A run file has its name once it holds a run; what a kill left before is in nobody's way."""

import fcntl
import sqlite3
from pathlib import Path

import pytest

from teijo.errors import HostError, RunFileError
from teijo.runfile import creation, reader, seal
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from tests.runfile.samples import record


@pytest.mark.parametrize("left", [b"", b"SQLite format 3\0 and half a page", bytes(512) + b"rest"])
def test_what_a_kill_left_of_the_making_is_removed_by_the_next_run(
    tmp_path: Path, left: bytes
) -> None:
    names = Names.of(tmp_path / "run")
    names.new.write_bytes(left)
    (tmp_path / "run.teijo.new-journal").write_bytes(b"left")
    with_run = Recorder.create(tmp_path / "run", record())
    with_run.close()
    assert [each.name for each in tmp_path.iterdir()] == ["run.teijo.open"]
    assert reader.read(names.open).run == record().run


def test_a_file_of_that_name_that_teijo_did_not_make_is_left_alone(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "run")
    names.new.write_text("my own notes")
    with pytest.raises(RunFileError, match="no teijo has made it"):
        Recorder.create(tmp_path / "run", record())
    assert names.new.read_text() == "my own notes"


def test_a_link_of_that_name_is_not_followed(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "run")
    (tmp_path / "precious").write_bytes(b"")
    names.new.symlink_to(tmp_path / "precious")
    with pytest.raises(HostError):
        Recorder.create(tmp_path / "run", record())
    assert names.new.is_symlink()


def test_a_file_that_another_process_makes_is_left_to_it(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "run")
    with names.new.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(RunFileError, match="by another teijo"):
            Recorder.create(tmp_path / "run", record())
    assert names.new.exists()


def test_who_is_second_to_name_its_file_gives_way(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "run")
    lock = creation.create_locked(names)
    names.open.write_text("the first")
    with pytest.raises(RunFileError, match="by another teijo"):
        creation.give_name(names)
    seal.release(lock)
    assert names.open.read_text() == "the first"


def test_a_file_that_could_not_be_made_leaves_nothing_and_claims_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("teijo.runfile.schema.migrate", refuse)
    with pytest.raises(HostError) as caught:
        Recorder.create(tmp_path / "run", record())
    assert "kept" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
