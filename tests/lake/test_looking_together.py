"""Writers, compactions and readers of one lake at the same time: nothing is lost or there twice."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teijo.lake import store as store_module
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.schema import TABLES
from teijo.lake.store import store_at
from teijo.lake.writing import write_batches
from tests.lake.made import another, lake_of

BATCHES = 12
WRITERS = 2
SEEN = (
    "SELECT run_id, count(*) AS n FROM figures WHERE run_id IN (SELECT run_id FROM runs) GROUP BY 1"
)


def write(place: str, rows: RunRows, first: int) -> None:
    store = store_at(place)
    for number in range(first, first + BATCHES):
        write_batches(store, [another(rows, number)])


def compact(place: str, times: int) -> None:
    for _ in range(times):
        Lake(store_at(place)).compact()


def write_and_die(place: str, rows: RunRows, flushes: int) -> None:
    """Write a batch, and be killed when so many files and folders were flushed."""
    flush, left = os.fsync, [flushes]

    def counted(descriptor: int) -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        flush(descriptor)

    os.fsync = counted
    write_batches(store_at(place), [rows])


@pytest.mark.parametrize("flushes", range(0, 8, 2))
def test_a_writer_that_is_killed_anywhere_leaves_what_was_there(
    tmp_path: Path, rows: RunRows, flushes: int
) -> None:
    lake = lake_of(tmp_path, [another(rows, 1)])
    start = multiprocessing.get_context("spawn")
    writer = start.Process(target=write_and_die, args=(lake.store.given, another(rows, 2), flushes))
    writer.start()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    assert [row["run_id"] for row in lake.sql("FROM runs").to_pylist()] == ["run-000001"]
    lake.compact()
    write_batches(lake.store, [another(rows, 2)])
    assert lake.sql("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 2}]
    assert lake.sql("SELECT DISTINCT run_id FROM figures").num_rows == 2


def test_what_was_written_stays_while_others_write_and_compact(
    tmp_path: Path, rows: RunRows
) -> None:
    lake = lake_of(tmp_path / "lake", [])
    start = multiprocessing.get_context("spawn")
    place = lake.store.given
    workers = [
        *(start.Process(target=write, args=(place, rows, 100 * n)) for n in range(WRITERS)),
        *(start.Process(target=compact, args=(place, BATCHES)) for _ in range(2)),
    ]
    for each in workers:
        each.start()
    seen: set[str] = set()
    while any(each.is_alive() for each in workers):
        found = {row["run_id"]: row["n"] for row in lake.sql(SEEN).to_pylist()}
        assert seen <= set(found), "a run that was there has gone"
        assert set(found.values()) <= {len(rows.figures)}, "a run is there twice, or in part"
        seen |= set(found)
    for each in workers:
        each.join()
    assert [each.exitcode for each in workers] == [0] * len(workers)
    lake.compact()
    alone = lake_of(
        tmp_path / "alone",
        [another(rows, 100 * n + number) for n in range(WRITERS) for number in range(BATCHES)],
    )
    for table in TABLES:
        every = f"SELECT * EXCLUDE batch FROM {table} ORDER BY ALL"
        assert lake.sql(every).equals(alone.sql(every)), table
    assert sum(each.is_whole for each in lake.store.batches()) == 1


@pytest.mark.parametrize("moment", range(5))
def test_a_listing_amid_a_compaction_shows_each_run(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """The lake is compacted whole before the folder number `moment` of a listing is looked at."""
    lake = lake_of(tmp_path, [another(rows, number) for number in range(4)], batches=2)
    look: Callable[..., Any] = store_module._local
    looks: list[str] = []

    def local(root: str, folder: str) -> Any:
        if folder in TABLES:
            looks.append(folder)
            if len(looks) == moment + 1:
                with monkeypatch.context() as patch:
                    patch.setattr(store_module, "_local", look)
                    lake.compact()
        yield from look(root, folder)

    monkeypatch.setattr(store_module, "_local", local)
    found = lake.look.whole()
    with lake.look.session(found) as db:
        count = db.execute("SELECT count(*), count(DISTINCT run_id) FROM runs").fetchone()
    assert count == (4, 4)


def test_a_folder_that_changes_while_it_is_listed_hides_no_run(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look at the runs shows neither what was there nor what takes its place."""
    lake = lake_of(tmp_path, [another(rows, number) for number in range(4)], batches=2)
    look: Callable[..., Any] = store_module._local
    looks: list[str] = []

    def local(root: str, folder: str) -> Any:
        if folder in TABLES:
            looks.append(folder)
            if len(looks) == 1:
                with monkeypatch.context() as patch:
                    patch.setattr(store_module, "_local", look)
                    lake.compact()
                return
        yield from look(root, folder)

    monkeypatch.setattr(store_module, "_local", local)
    assert [batch.is_whole for batch in lake.look.whole()] == [True]
