"""A run file of an older version is read as it is, and goes on as one of the newest."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from teijo.errors import RunFileError
from teijo.runfile import reader, schema
from teijo.runfile.columns import Table
from teijo.runfile.content import content_of
from teijo.runfile.export import to_csv, to_json
from teijo.runfile.recorder import Recorder
from teijo.terms.record import StepRecord
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from tests.runfile.forging import as_version, sum_up
from tests.runfile.samples import record, sealed_run

DUMPS = {number: Path(__file__).with_name(f"version-{number}.dump") for number in range(1, 7)}
"""The sample run as each version sealed it, as `.dump` prints it: 2 by the migration and the digest
of its time, the others by the teijo of their time."""

ADDED: dict[int, dict[str, Any]] = {
    1: {"witness": None, "commands": (), "verification": None, "written": (), "census": ()},
    2: {"commands": (), "verification": None, "written": (), "census": ()},
    3: {"census": ()},
    4: {"census": ()},
    5: {"census": ()},
    6: {},
}
"""What later versions have added to an answer, as it is without them."""

TOLD_SINCE: dict[str, Any] = {"made_ns": None, "judged_ns": None, "places": ()}
"""What the witness of a file of version 4 tells, and no older one."""


def as_of(version: int) -> tuple[StepRecord, ...]:
    """Return the sample's exchanges without what versions after this one have added."""
    return tuple(_as_of(step, version) for step in record().steps)


def _as_of(step: StepRecord, version: int) -> StepRecord:
    if not isinstance(step.answer, StepResult):
        return step
    answer = step.answer
    if version == 1:
        results = tuple(
            replace(part, response=None, backlog_max=None, backlog_end=None)
            for part in answer.results
        )
        answer = replace(answer, results=results)
    if answer.witness is not None and version < schema.CHECKED_SINCE:
        answer = replace(answer, witness=replace(answer.witness, **TOLD_SINCE))
    return replace(step, answer=replace(answer, **ADDED[version]))


def old(path: Path, version: int, *, sealed: bool = True) -> Path:
    """Write the file of an old version, or the same before it was sealed."""
    db = sqlite3.connect(path)
    db.executescript(DUMPS[version].read_text(encoding="utf-8"))
    if not sealed:
        db.execute("UPDATE run SET digest = '', ending = 'running', ended_at = ''")
        if version >= schema.CHECKED_SINCE:
            sum_up(db, version)
    db.commit()
    db.close()
    return path


each_version = pytest.mark.parametrize("version", DUMPS)
each_unchecked_version = pytest.mark.parametrize(
    "version", [version for version in DUMPS if version < schema.CHECKED_SINCE]
)


@each_version
def test_a_sealed_file_of_an_old_version_opens_with_all_it_held(
    tmp_path: Path, version: int
) -> None:
    path = old(tmp_path / "run.teijo", version)
    before = path.read_bytes()
    found = reader.read(path)
    assert found.steps == as_of(version)
    assert RemarkKind.RECORD_UNCHECKED not in [remark.kind for remark in found.remarks]
    assert path.read_bytes() == before, "a sealed file never changes"


@each_version
def test_a_changed_number_in_a_sealed_file_of_an_old_version_is_noticed(
    tmp_path: Path, version: int
) -> None:
    path = old(tmp_path / "run.teijo", version)
    db = sqlite3.connect(path)
    db.execute("UPDATE interval SET bytes = bytes + 1 WHERE number = 1")
    db.commit()
    db.close()
    with pytest.raises(RunFileError, match="digest" if version < 4 else "checksum"):
        reader.read(path)


@each_unchecked_version
def test_an_open_file_of_an_old_version_says_that_its_rows_have_no_checksums(
    tmp_path: Path, version: int
) -> None:
    path = old(tmp_path / "run.teijo.open", version, sealed=False)
    found = reader.read(path)
    assert found.steps == as_of(version)
    assert [remark.kind for remark in found.remarks][-1] is RemarkKind.RECORD_UNCHECKED


@each_version
def test_an_open_file_of_an_old_version_is_migrated_when_its_run_goes_on(
    tmp_path: Path, version: int
) -> None:
    path = old(tmp_path / "run.teijo.open", version, sealed=False)
    recorder = Recorder.reopen(path)
    recorder.end("steady")
    recorder.close()
    kinds = [remark.kind for remark in reader.read(path).remarks]
    kinds.remove(RemarkKind.RECORD_UNSEALED)  # which it is, until it is sealed
    once = int(version < schema.CHECKED_SINCE)
    assert kinds.count(RemarkKind.RECORD_UNCHECKED) == once, "it is said once, for ever"
    sealed = Recorder.reopen(path).seal()
    db = sqlite3.connect(sealed)
    assert schema.user_version(db) == schema.VERSION
    db.close()
    found = reader.read(sealed)
    assert found.steps == as_of(version)
    assert [remark.kind for remark in found.remarks] == kinds


@each_version
def test_a_migrated_file_has_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    path = old(tmp_path / "run.teijo.open", version, sealed=False)
    db = sqlite3.connect(path, isolation_level=None)
    schema.migrate(db)
    schema.check_layout(db, path, schema.VERSION)
    db.close()


def test_an_open_file_of_version_2_goes_on_with_rows_of_discards(tmp_path: Path) -> None:
    path = old(tmp_path / "run.teijo.open", 2, sealed=False)
    recorder = Recorder.reopen(path)
    last = record().steps[-1]
    assert isinstance(last.answer, StepResult)
    seq = last.seq + 1
    recorder.begin(seq, last.step, last.seed, interval_ns=1_000_000_000)
    answer = replace(last.answer, remarks=())
    recorder.record(seq, answer)
    recorder.end("done")
    steps = reader.read(recorder.seal()).steps
    assert steps[:-1] == as_of(2)
    assert steps[-1].answer == answer


@pytest.mark.parametrize(("kind", "provenance"), [("simulated", "simulated"), ("file", "measured")])
@pytest.mark.parametrize("version", [one for one in DUMPS if one < schema.NAMED_SINCE])
def test_the_provenance_of_an_old_run_follows_from_its_device(
    tmp_path: Path, version: int, kind: str, provenance: str
) -> None:
    content = record()
    identity = replace(content.identity, kind=kind)  # type: ignore[arg-type]
    content = replace(content, identity=identity, steps=as_of(version), readings=())
    whole = sealed_run(tmp_path / "new", content)
    old_one = as_version(whole, tmp_path / "old.teijo", version)
    assert reader.read(old_one).run.provenance == provenance
    db = sqlite3.connect(old_one, isolation_level=None)
    schema.migrate(db)
    found = db.execute("SELECT provenance, run_group FROM run").fetchall()
    assert found == [(provenance, "{}")]
    content_of(db)  # every checksum and the tally are right
    db.close()


@each_version
def test_an_old_file_exports_what_a_new_one_does(tmp_path: Path, version: int) -> None:
    new = sealed_run(tmp_path / "new", replace(record(), steps=as_of(version), readings=()))
    old_one = as_version(new, tmp_path / "old.teijo", version)
    assert to_json(reader.read(old_one), None) == to_json(reader.read(new), None)
    for table in get_args(Table):
        assert to_csv(reader.read(old_one), table) == to_csv(reader.read(new), table)
