"""Writing a run file: exact, one writer, never over another file."""

import fcntl
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teijo.errors import HostError, RunFileError
from teijo.runfile import reader, schema, seal
from teijo.runfile.recorder import Recorder
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, Intervals
from tests.runfile.samples import SECOND, measure, open_run, record, sealed_run


def columns(first: int, *ios: int) -> Intervals:
    """Return finished intervals as the engine gives them."""
    counts = np.array(ios, np.int64)
    return Intervals(
        length_ns=SECOND,
        index=np.arange(first, first + len(ios), dtype=np.int64),
        ios=counts,
        bytes=counts,
        errors=counts,
        latency_ns_sum=counts,
        latency_ns_min=counts,
        latency_ns_max=counts,
    )


def test_what_was_recorded_is_read_back_to_the_last_value(tmp_path: Path) -> None:
    found = reader.read(sealed_run(tmp_path / "run"))
    expected = record()
    assert found.steps == expected.steps
    assert found.remarks == expected.remarks
    assert found.identity == expected.identity
    assert found.geometry == expected.geometry
    assert found.environment == expected.environment
    ended = replace(expected.run, ending="steady", ended_at=found.run.ended_at)
    assert found.run == ended


def test_while_it_grows_it_has_another_name_and_a_reserve(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    names = {item.name for item in tmp_path.iterdir()}
    assert names == {
        "run.teijo.open",
        "run.teijo.open-wal",
        "run.teijo.open-shm",
        "run.teijo.reserve",
    }
    recorder.close()


def test_a_sealed_run_is_one_file_in_no_log_mode(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    assert [item.name for item in tmp_path.iterdir()] == ["run.teijo"]
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert db.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    db.close()


def test_the_mark_of_a_run_file_is_readable_in_its_bytes(tmp_path: Path) -> None:
    assert sealed_run(tmp_path / "run").read_bytes()[68:72] == b"Tjo1"


def test_every_table_is_strict(tmp_path: Path) -> None:
    db = sqlite3.connect(sealed_run(tmp_path / "run"))
    tables = {row[1]: row[5] for row in db.execute("PRAGMA table_list") if row[1][:7] != "sqlite_"}
    assert tables == dict.fromkeys(schema.TABLES, 1)
    db.close()


def test_the_growing_file_is_flushed_at_every_answer(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    assert recorder._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert recorder._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    recorder.close()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    with pytest.raises(RunFileError, match="being written by another"):
        Recorder.reopen(tmp_path / "run")
    recorder.close()
    Recorder.reopen(tmp_path / "run").close()


def test_a_reader_in_the_same_process_does_not_loosen_the_lock(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    reader.read(tmp_path / "run")
    other = os.open(tmp_path / "run.teijo.open", os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    recorder.close()


@pytest.mark.parametrize("ending", ["", ".open"])
def test_an_existing_file_is_never_overwritten(tmp_path: Path, ending: str) -> None:
    taken = tmp_path / f"run.teijo{ending}"
    taken.write_text("precious")
    with pytest.raises(RunFileError, match="exists already"):
        open_run(tmp_path / "run")
    assert taken.read_text() == "precious"


def test_a_file_that_appears_during_the_run_is_not_overwritten(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.end("steady")
    (tmp_path / "run.teijo").write_text("precious")
    with pytest.raises(RunFileError, match="has appeared"):
        recorder.seal()
    recorder.close()
    assert (tmp_path / "run.teijo").read_text() == "precious"
    assert reader.read(tmp_path / "run.teijo.open").steps == record().steps
    assert not (tmp_path / "run.teijo.sealing").exists()


def test_a_folder_on_the_device_under_test_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="lies on the device"):
        Recorder.create(tmp_path / "run", record(), lies_on_device=lambda folder: True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="No such file or directory"):
        Recorder.create(tmp_path / "none" / "run", record())


def test_a_foreign_database_is_not_touched_by_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "run.teijo.open"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    before = path.read_bytes()
    with pytest.raises(RunFileError, match="not a run file"):
        Recorder.reopen(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_the_intervals_of_a_running_step_are_there_at_once(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.begin(7, measure(3), 1, interval_ns=SECOND)
    recorder.append(7, [("oltp", "read", columns(0, 5, 6))])
    recorder.append(7, [("oltp", "read", columns(2, 7)), ("log", "write", columns(0, 1))])
    recorder.append(7, [])
    running = reader.read_running(tmp_path / "run")
    assert running is not None
    assert (running.seq, running.step) == (7, measure(3))
    assert running.intervals["oltp", "read"].ios.tolist() == [5, 6, 7]
    assert running.intervals["log", "write"].ios.tolist() == [1]
    assert len(reader.read(tmp_path / "run").steps) == 6
    recorder.close()


def test_the_answer_replaces_the_intervals_that_went_before(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run", replace(record(), steps=record().steps[:3]))
    answer = record().steps[3].answer
    recorder.begin(4, measure(1), 1, interval_ns=SECOND)
    recorder.append(4, [("oltp", "read", columns(0, 9, 9, 9, 9))])
    recorder.record(4, answer)  # type: ignore[arg-type]
    assert reader.read(tmp_path / "run").steps[3].answer == answer
    assert reader.read_running(tmp_path / "run") is None
    recorder.close()


def test_a_step_begun_again_forgets_what_was_left_of_it(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    for _ in range(2):
        recorder.begin(7, measure(3), 1, interval_ns=SECOND)
        running = reader.read_running(tmp_path / "run")
        assert running is not None
        assert running.intervals == {}
        recorder.append(7, [("oltp", "read", columns(0, 5))])
    recorder.close()


def test_an_answer_without_a_beginning_is_a_mistake(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    with pytest.raises(AssertionError, match="not begun"):
        recorder.record(9, record().steps[0].answer)  # type: ignore[arg-type]
    assert len(reader.read(tmp_path / "run").steps) == 6
    recorder.close()


def test_going_on_takes_the_interruption_back(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.remark(Remark(kind=RemarkKind.INTERRUPTED, text="by hand"))
    recorder.end("interrupted", "by hand")
    recorder.close()
    recorder = Recorder.reopen(tmp_path / "run")
    recorder.go_on(Remark(kind=RemarkKind.RESUMED, text="again"))
    found = reader.read(tmp_path / "run")
    assert (found.run.ending, found.run.ended_at, found.run.error) == ("running", "", "")
    kinds = [remark.kind for remark in found.remarks]
    assert RemarkKind.INTERRUPTED not in kinds
    assert kinds[-1] is RemarkKind.RESUMED
    recorder.close()


def test_a_discarded_run_leaves_nothing(tmp_path: Path) -> None:
    open_run(tmp_path / "run").discard()
    assert list(tmp_path.iterdir()) == []


def test_a_migration_and_its_mark_are_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE remark ADD COLUMN extra TEXT")
        raise sqlite3.OperationalError("the power went")

    open_run(tmp_path / "run").close()
    db = sqlite3.connect(tmp_path / "run.teijo.open", isolation_level=None)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, half))
    with pytest.raises(sqlite3.OperationalError, match="power"):
        schema.migrate(db)
    assert schema.user_version(db) == schema.VERSION
    assert "extra" not in [row[1] for row in db.execute("PRAGMA table_info(remark)")]
    db.close()


def test_the_first_statement_of_the_script_is_the_first_table() -> None:
    statements = schema._statements(schema.schema_text())
    tables = [table for table in schema.TABLES if table not in ("tally", "health")]
    assert all(
        f"CREATE TABLE {table} " in statement
        for table, statement in zip(tables, statements, strict=True)
    )


def test_a_fact_that_changes_stands_once(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    for limit in ("3 drive writes", "5 drive writes"):
        recorder.note("write limit", limit)
    recorder.close()
    assert reader.read(tmp_path / "run.teijo.open").environment["write limit"] == "5 drive writes"


def test_what_a_step_without_an_answer_wrote_is_known_from_its_intervals(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    seq = len(record().steps) + 1
    before = recorder.abandoned_bytes()
    recorder.begin(seq, measure(9), 7, interval_ns=SECOND)
    recorder.append(seq, [("main", "write", columns(0, 10, 12)), ("main", "read", columns(0, 99))])
    assert recorder.abandoned_bytes() - before == 22
    recorder.record_gap(seq, measure(9), 7, Gap(), interval_ns=SECOND)
    assert recorder.abandoned_bytes() - before == 22
    recorder.close()


def test_what_is_written_again_is_all_of_a_file_and_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = tmp_path / "file", os.urandom((2 << 20) + 17)
    path.write_bytes(body)
    written, flushed = bytearray(), []
    real_write, real_flush = os.pwrite, os.fsync

    def pwrite(fd: int, data: bytes, place: int) -> int:
        assert place == len(written)
        written.extend(data)
        return real_write(fd, data, place)

    def fsync(fd: int) -> None:
        flushed.append(len(written))
        real_flush(fd)

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(os, "fsync", fsync)
    seal.write_again(path)
    assert written == body == path.read_bytes()
    assert flushed == [len(body)]
    seal.write_again(tmp_path / "none")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_run_that_goes_on_first_writes_again_what_the_one_before_may_not_have_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.close()
    names: list[str] = []
    monkeypatch.setattr(seal, "write_again", lambda path: names.append(path.name))
    Recorder.reopen(tmp_path / "run").close()
    assert names == ["run.teijo.open", "run.teijo.open-wal"]
