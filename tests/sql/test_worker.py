"""Statements run on a database of our own, which is gone at the end."""

from pathlib import Path

import pytest

from teijo.errors import HostError, PlanError, TargetError
from teijo.sql.worker import SqlWorker
from teijo.terms.work import Sql, Statement


def always(done: int) -> bool:
    del done
    return True


def opened(path: Path, token: str = "ab12") -> SqlWorker:
    return SqlWorker(f"sqlite:{path}", path, journal="wal", synchronous="off", token=token)


def work(statement: Statement, count: int = 6, **more: int) -> Sql:
    return Sql(statement=statement, count=count, row_bytes=50, **more)


def test_each_statement_and_each_commit_is_a_result(tmp_path: Path) -> None:
    worker = opened(tmp_path / "x.db")
    inserted, commits = worker.perform(work("insert", rows_per_commit=4), 1, always).results
    assert (inserted.operation, inserted.count, inserted.bytes) == ("insert", 6, 300)
    assert (commits.operation, commits.count, commits.bytes) == ("commit", 2, None)
    (selected,) = worker.perform(work("select"), 2, always).results
    assert (selected.operation, selected.count, selected.bytes) == ("select", 6, None)
    updated, _ = worker.perform(work("update"), 3, always).results
    deleted, _ = worker.perform(work("delete"), 4, always).results
    assert (updated.count, deleted.count) == (6, 6)
    with pytest.raises(PlanError, match="no rows"):
        worker.perform(work("select"), 5, always)
    worker.close()
    assert not list(tmp_path.iterdir())


def test_a_stopped_work_commits_what_it_did(tmp_path: Path) -> None:
    worker = opened(tmp_path / "x.db")
    inserted, commits = worker.perform(
        work("insert", rows_per_commit=10), 1, lambda done: done < 3
    ).results
    assert (inserted.count, commits.count) == (3, 1)
    worker.close()


def test_a_file_that_is_there_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    path.write_text("kept")
    with pytest.raises(TargetError, match="is there already"):
        opened(path)
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TargetError, match="is there already"):
        opened(link)
    assert path.read_text() == "kept"


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be made"):
        opened(tmp_path / "no" / "x.db")


def test_the_identity_names_the_library_and_how_it_flushes(tmp_path: Path) -> None:
    worker = opened(tmp_path / "x.db")
    assert worker.identity.kind == "database"
    assert worker.identity.model.startswith("SQLite 3.")
    assert worker.identity.facts == {"journal": "wal", "synchronous": "off"}
    worker.close()
