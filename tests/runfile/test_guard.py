"""A file that somebody made to harm: refused before anything of it runs, and left as it was."""

import _thread
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.errors import RunFileError, UnsafeError
from teijo.runfile import guard, reader, schema
from teijo.runfile.blame import blame
from teijo.runfile.recorder import Recorder
from teijo.units import GIB
from tests.runfile.samples import open_run, record, sealed_run

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {} FROM n"

FORGED: dict[str, str] = {
    "an endless view named like a table": (
        "DROP TABLE remark; CREATE VIEW remark AS "
        + ENDLESS.format(
            "x AS place, 'simulated' AS kind, 'x' AS text, NULL AS step, 0 AS checksum"
        )
    ),
    "a view instead of the run": (
        "DROP TABLE run; CREATE VIEW run AS "
        + ENDLESS.format("'' AS digest, 'running' AS ending, x AS id")
    ),
    "SQL in the name of a column": (
        'ALTER TABLE remark ADD COLUMN "x FROM remark UNION ' + ENDLESS.format("x") + ' --" TEXT'
    ),
    "a trigger that fires at a resume": (
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM interval; END"
    ),
    "a trigger that has no end": (
        "CREATE TRIGGER t BEFORE INSERT ON remark BEGIN INSERT INTO environment "
        + ENDLESS.format("x, 'y'")
        + "; END"
    ),
    "a generated column": (
        "ALTER TABLE remark ADD COLUMN g TEXT AS (hex(zeroblob(900000000))) VIRTUAL"
    ),
    "a check that takes long": (
        "DROP TABLE tally; CREATE TABLE tally (row_count INTEGER NOT NULL, checksum_sum INTEGER"
        " NOT NULL, checksum INTEGER NOT NULL, CHECK (length(hex(randomblob(99999999))) > 0))"
    ),
    "the wrong kind of table": (
        "DROP TABLE remark; CREATE TABLE remark (place INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
        " text TEXT NOT NULL, step INTEGER REFERENCES step (seq), checksum INTEGER NOT NULL"
        " DEFAULT 0) STRICT, WITHOUT ROWID"
    ),
    "a partial index": "CREATE INDEX i ON remark (text) WHERE length(hex(text)) > 7",
    "an index over an expression": "CREATE INDEX i ON remark (hex(text))",
    "a further table": "CREATE TABLE mine (x)",
    "a table of sequences": "CREATE TABLE s (x INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE s",
    "statistics": "ANALYZE",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "names with quotes": """CREATE TABLE "a""b'c; DROP TABLE run" ("x'] --" TEXT)""",
    "a column less": "ALTER TABLE tally DROP COLUMN checksum_sum",
    "a default": "ALTER TABLE remark ADD COLUMN more TEXT DEFAULT 'x'",
    "a hundred thousand tables": "",
}


def forged(path: Path, change: str) -> bytes:
    """Change the tables of a file that is there, and return its bytes."""
    db = sqlite3.connect(path)
    if change:
        db.executescript(change)
    else:
        db.execute("PRAGMA writable_schema = ON")
        db.executemany(
            "INSERT INTO sqlite_schema VALUES ('table', ?, ?, 0, ?)",
            ((f"t{i}", f"t{i}", f"CREATE VIEW t{i} AS SELECT 1") for i in range(100_000)),
        )
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path.read_bytes()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the steps of SQLite's machine, in hundreds, of all connections that read."""
    taken = [0]
    real = guard.allow

    def allow(db: sqlite3.Connection, *, ticks: int) -> None:
        left = [ticks * 10]

        def spend() -> bool:
            taken[0] += 1
            left[0] -= 1
            return left[0] < 0

        real(db, ticks=ticks)
        db.set_progress_handler(spend, 100)

    monkeypatch.setattr(guard, "allow", allow)
    return lambda: taken[0]


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED.keys())
@pytest.mark.parametrize("ending", ["", ".open"])
def test_a_forged_file_is_refused_within_few_steps_and_left_as_it_was(
    tmp_path: Path, change: str, ending: str, steps: Callable[[], int]
) -> None:
    path = tmp_path / f"run.teijo{ending}"
    if ending:
        open_run(tmp_path / "run").close()
    else:
        sealed_run(tmp_path / "run")
    content = forged(path, change)
    for act in (reader.read, reader.read_running, *([Recorder.reopen] if ending else [])):
        with pytest.raises(RunFileError) as caught:
            act(path)
        assert caught.value.exit_code == 2
        assert str(path) in caught.value.message
    assert steps() < 10 * guard.SCHEMA_TICKS * 4, "in hundreds, of three readings"
    assert path.read_bytes() == content
    assert not (tmp_path / "run.teijo.reserve").exists()


@pytest.mark.parametrize(
    "form",
    ["page_size = 512", "page_size = 65536", "auto_vacuum = FULL", "auto_vacuum = INCREMENTAL"],
)
def test_a_file_in_another_form_holds_the_same(tmp_path: Path, form: str) -> None:
    path = sealed_run(tmp_path / "run")
    whole = reader.read(path)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA {form}")
    db.execute("VACUUM")
    db.close()
    assert reader.read(path) == whole


def test_a_file_in_utf_16_holds_the_same(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    db = sqlite3.connect(path)
    lines = list(db.iterdump())
    db.close()
    other = sqlite3.connect(tmp_path / "other.teijo", isolation_level=None)
    other.execute("PRAGMA encoding = 'UTF-16be'")
    other.executescript("\n".join(lines))
    other.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    other.execute(f"PRAGMA user_version = {schema.VERSION}")
    assert other.execute("PRAGMA encoding").fetchone() == ("UTF-16be",)
    other.close()
    assert reader.read(tmp_path / "other.teijo") == reader.read(path)


def test_what_lies_beside_a_sealed_file_is_none_of_it(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    whole, content = reader.read(path), path.read_bytes()
    open_run(tmp_path / "other")
    log = (tmp_path / "other.teijo.open-wal").read_bytes()
    for ending in ("-wal", "-journal", "-shm"):
        beside = path.with_name(path.name + ending)
        for other in (log, bytes(4096), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + os.urandom(5000)):
            beside.write_bytes(other)
            assert reader.read(path) == whole
            assert beside.read_bytes() == other
        beside.unlink()
    assert path.read_bytes() == content


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_link_under_the_name_of_a_log_is_not_followed(tmp_path: Path, ending: str) -> None:
    open_run(tmp_path / "run").close()
    path = tmp_path / "run.teijo.open"
    precious = tmp_path / "precious"
    precious.write_text("mine")
    beside = path.with_name(path.name + ending)
    for plant in (lambda: beside.symlink_to(precious), lambda: os.mkfifo(beside)):
        beside.unlink(missing_ok=True)
        plant()
        with pytest.raises(RunFileError, match="no plain file"):
            reader.read(path)
        with pytest.raises(UnsafeError, match="no regular file"):
            Recorder.reopen(path)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_file_larger_than_any_run_is_refused(tmp_path: Path, ending: str) -> None:
    open_run(tmp_path / "run").close()
    path = tmp_path / "run.teijo.open"
    with path.with_name(path.name + ending).open("ab") as file:
        file.truncate(2 * GIB + 1)
    with pytest.raises(RunFileError, match=r"no run file takes more than 2.* GiB"):
        reader.read(path)


def test_reading_takes_a_tenth_of_the_steps_it_may(
    tmp_path: Path, steps: Callable[[], int]
) -> None:
    path = sealed_run(tmp_path / "run")
    reader.read(path)
    assert steps() < guard._TICKS_LEAST
    assert reader.read(path).steps == record().steps


def test_reading_that_never_ends_is_stopped(tmp_path: Path) -> None:
    db = sqlite3.connect(":memory:")
    guard.harden(db)
    guard.allow(db, ticks=guard.SCHEMA_TICKS)
    with pytest.raises(sqlite3.OperationalError, match="interrupted") as caught:
        db.execute(ENDLESS.format("count(*)")).fetchone()
    assert "more work" in blame(tmp_path, caught.value).message
    db.close()


def test_a_signal_while_sqlite_works_is_that_signal_and_no_fault_of_the_file() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    db = sqlite3.connect(":memory:")
    db.create_function("interrupt", 1, _thread.interrupt_main)
    guard.allow(db, ticks=10**6)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            db.execute(f"{numbers} SELECT interrupt(?), (SELECT max(i) FROM n)", (signal.SIGUSR1,))
    finally:
        signal.signal(signal.SIGUSR1, before)
        db.close()
