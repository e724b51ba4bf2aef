"""A run file of an older version is read as it is, and goes on as one of the newest."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

from teijo.runfile import reader, schema
from teijo.runfile.recorder import Recorder
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult
from tests.runfile.samples import record

DUMP = Path(__file__).with_name("version-1.dump")
"""The sample run, sealed by teijo 0.1.0 before version 2 was made, as `.dump` prints it."""


ADDED_LATER: dict[str, Any] = {
    "witness": None,
    "commands": (),
    "verification": None,
    "written": (),
}


def as_of_version_1(step: StepRecord) -> StepRecord:
    """Return an exchange without what versions 2 and 3 have added."""
    if not isinstance(step.answer, StepResult):
        return step
    results = tuple(
        replace(part, response=None, backlog_max=None, backlog_end=None)
        for part in step.answer.results
    )
    return replace(step, answer=replace(step.answer, results=results, **ADDED_LATER))


OLD = tuple(as_of_version_1(step) for step in record().steps)


def version_1(path: Path, *, sealed: bool = True) -> Path:
    """Write the old file, or the same before it was sealed."""
    db = sqlite3.connect(path)
    db.executescript(DUMP.read_text(encoding="utf-8"))
    if not sealed:
        db.execute("UPDATE run SET digest = '', ending = 'running', ended_at = ''")
    db.commit()
    db.close()
    return path


def test_a_sealed_file_of_version_1_opens_with_all_it_held(tmp_path: Path) -> None:
    path = version_1(tmp_path / "run.teijo")
    before = path.read_bytes()
    old = reader.read(path)
    assert old.steps == OLD
    assert path.read_bytes() == before, "a sealed file never changes"


def test_an_open_file_of_version_1_is_migrated_when_its_run_goes_on(tmp_path: Path) -> None:
    path = version_1(tmp_path / "run.teijo.open", sealed=False)
    recorder = Recorder.reopen(path)
    recorder.end("steady")
    sealed = recorder.seal()
    db = sqlite3.connect(sealed)
    assert schema.user_version(db) == schema.VERSION
    db.close()
    assert reader.read(sealed).steps == OLD


def test_a_migrated_file_has_the_tables_of_a_new_one(tmp_path: Path) -> None:
    path = version_1(tmp_path / "run.teijo.open", sealed=False)
    db = sqlite3.connect(path, isolation_level=None)
    schema.migrate(db)
    new = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(new)
    for table in schema.TABLES:
        query = f"PRAGMA table_info({table})"
        assert db.execute(query).fetchall() == new.execute(query).fetchall()
    db.close()


def test_an_open_file_of_version_2_goes_on_with_rows_of_discards(tmp_path: Path) -> None:
    path = version_1(tmp_path / "run.teijo.open", sealed=False)
    db = sqlite3.connect(path, isolation_level=None)
    schema.MIGRATIONS[1](db)
    db.execute("PRAGMA user_version = 2")
    db.close()
    assert reader.read(path).steps == OLD
    recorder = Recorder.reopen(path)
    last = record().steps[-1]
    assert isinstance(last.answer, StepResult)
    seq = last.seq + 1
    recorder.begin(seq, last.step, last.seed, interval_ns=1_000_000_000)
    answer = replace(last.answer, remarks=())
    recorder.record(seq, answer)
    recorder.end("done")
    steps = reader.read(recorder.seal()).steps
    assert steps[:-1] == OLD
    assert steps[-1].answer == answer
