"""Reading what others left: growing, killed, truncated, changed, foreign, newer."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from teijo.errors import HostError, RunFileError
from teijo.runfile import reader, schema
from teijo.terms.record import Record
from tests.runfile.forging import Forger, forged
from tests.runfile.samples import open_run, record, sealed_run


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sealed run."""
    return sealed_run(tmp_path_factory.mktemp("sealed") / "run").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, sealed: bytes) -> Record:
    """The record in it."""
    path = tmp_path_factory.mktemp("whole") / "run.teijo"
    path.write_bytes(sealed)
    return reader.read(path)


@pytest.mark.parametrize("name", ["run", "run.teijo", "run.teijo.open"])
def test_a_growing_run_is_found_under_each_of_its_names(tmp_path: Path, name: str) -> None:
    recorder = open_run(tmp_path / "run")
    assert reader.read(tmp_path / name).run.ending == "running"
    recorder.close()


def test_the_sealed_file_is_read_when_both_are_there(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    shutil.copy(sealed_run(tmp_path / "other"), tmp_path / "run.teijo")
    assert reader.read(tmp_path / "run").run.ending == "steady"
    recorder.close()


def test_reading_changes_nothing(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    reader.read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [item.name for item in tmp_path.iterdir()] == ["run.teijo"]


def test_a_log_that_a_kill_left_is_read_too(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from tests.runfile.samples import open_run;"
        "r = open_run(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "run"], env=where, check=False)
    assert done.returncode == -9
    assert (tmp_path / "run.teijo.open-wal").stat().st_size > 0
    assert reader.read(tmp_path / "run").steps == record().steps
    (tmp_path / "run.teijo.open-shm").unlink()
    assert reader.read(tmp_path / "run").steps == record().steps


def test_a_growing_file_in_a_folder_that_cannot_be_written_is_read_through_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = open_run(tmp_path / "run")
    real = reader._open

    def refuse(path: Path) -> sqlite3.Connection:
        if path.parent == tmp_path:
            raise sqlite3.OperationalError("unable to open database file")
        return real(path)

    monkeypatch.setattr(reader, "_open", refuse)
    assert reader.read(tmp_path / "run").steps == record().steps
    recorder.close()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="no run file"):
        reader.read(tmp_path / "none")
    with pytest.raises(RunFileError, match="no run file"):
        reader.read(tmp_path)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, sealed: bytes) -> None:
    path = tmp_path / "run.teijo"
    path.write_bytes(sealed)
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.unlink()
        path.mkdir()  # root may read all files, but not a folder as one
        assert stat.S_ISDIR(path.stat().st_mode)
        with pytest.raises(HostError, match="cannot be read"), reader.reading(path):
            pass
        return
    with pytest.raises(HostError, match="cannot be read"):
        reader.read(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"hello", b"SQLite format 3\0", b"SQLite format 3\0" + bytes(5000)):
        path = tmp_path / "run.teijo"
        path.write_bytes(content)
        with pytest.raises(RunFileError):
            reader.read(path)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.teijo"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE run (x)")
    db.close()
    with pytest.raises(RunFileError, match="not a run file"):
        reader.read(path)


def test_a_newer_version_is_refused(tmp_path: Path, sealed: bytes) -> None:
    path = tmp_path / "run.teijo"
    path.write_bytes(sealed)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(RunFileError, match=rf"version 99.*knows 1 to {schema.VERSION}\."):
        reader.read(path)


def test_a_changed_number_in_a_sealed_file_is_noticed(tmp_path: Path, sealed: bytes) -> None:
    path = tmp_path / "run.teijo"
    path.write_bytes(sealed)
    db = sqlite3.connect(path)
    db.execute("UPDATE result SET bytes = bytes + 1 WHERE step = 4")
    db.commit()
    db.close()
    with pytest.raises(RunFileError, match=r"table result .*checksum"):
        reader.read(path)


def test_an_ended_run_without_a_digest_is_noticed(tmp_path: Path, sealed: bytes) -> None:
    path = tmp_path / "run.teijo"
    path.write_bytes(sealed)
    db = sqlite3.connect(path)
    db.execute("UPDATE run SET digest = ''")
    db.commit()
    db.close()
    with pytest.raises(RunFileError, match=r"table run .*checksum"):
        reader.read(path)


def test_a_file_cut_at_any_length_is_refused_or_whole(
    tmp_path: Path, sealed: bytes, whole: Record
) -> None:
    path = tmp_path / "run.teijo"
    for length in {*range(0, 200, 7), *range(200, len(sealed), 509), len(sealed) - 1}:
        path.write_bytes(sealed[:length])
        with pytest.raises(RunFileError):
            reader.read(path)
    path.write_bytes(sealed)
    assert reader.read(path) == whole


@pytest.mark.parametrize(("bits", "first"), [(0x01, 100), (0x80, 161), (0xFF, 222)])
def test_a_flipped_byte_is_refused_or_changes_nothing(
    tmp_path: Path, sealed: bytes, whole: Record, bits: int, first: int
) -> None:
    path = tmp_path / "run.teijo"
    refused = 0
    for place in {*range(100), *range(first, len(sealed), 183)}:
        damaged = bytearray(sealed)
        damaged[place] ^= bits
        path.write_bytes(damaged)
        found = read_or_refusal(path)
        if isinstance(found, RunFileError):
            refused += 1
            assert str(path) in str(found)
        else:
            assert found == whole, place
    assert refused > 100


def test_no_value_is_read_from_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index holds copies: a damaged table would go unnoticed behind a whole index."""
    statements: list[str] = []
    real = reader._open

    def traced(path: Path) -> sqlite3.Connection:
        db = real(path)
        db.set_trace_callback(statements.append)
        return db

    monkeypatch.setattr(reader, "_open", traced)
    path = sealed_run(tmp_path / "run")
    reader.read(path)
    db = sqlite3.connect(path)
    selects = [text for text in statements if text.startswith("SELECT")]
    assert len(selects) > 10
    for text in selects:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}")]
        assert not [line for line in plan if " INDEX " in line], (text, plan)
    db.close()


def test_a_growing_file_with_flipped_bytes_never_gives_a_traceback(
    tmp_path: Path, whole: Record
) -> None:
    open_run(tmp_path / "run").close()
    path = tmp_path / "run.teijo.open"
    content = path.read_bytes()
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        found = read_or_refusal(path)
        assert not isinstance(found, RunFileError) or str(path) in str(found), place


def read_or_refusal(path: Path) -> Record | RunFileError:
    """Return what is in the file, or why it is refused; anything else is a failure."""
    try:
        return reader.read(path)
    except RunFileError as error:
        return error


def test_too_little_memory_is_the_hosts_fault_and_not_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sealed_run(tmp_path / "run")

    def starve(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, "_record", starve)
    with pytest.raises(HostError, match="not enough memory"):
        reader.read(path)


@pytest.mark.parametrize(
    ("table", "column", "what"),
    [
        ("run", "ending", "ending"),
        ("run", "provenance", "provenance"),
        ("device", "kind", "kind of device"),
    ],
)
def test_a_word_that_no_run_has_is_damage(
    tmp_path: Path, sealed: bytes, table: str, column: str, what: str
) -> None:
    """SQLite holds a CHECK only where it writes; a file is bytes that anybody wrote."""

    def act(file: Forger) -> None:
        file.db.execute("PRAGMA ignore_check_constraints = ON")
        file.change(table, "1", **{column: "won"})

    whole = tmp_path / "run.teijo"
    whole.write_bytes(sealed)
    with pytest.raises(RunFileError, match=f"'won' is no {what}"):
        reader.read(forged(whole, tmp_path / "forged.teijo", act))
