"""Compacting changes files and no answer; what goes wrong in it loses nothing."""

import os
from pathlib import Path

import pytest
from pyarrow import parquet

from teijo.errors import HostError
from teijo.lake import compacting
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.schema import METADATA, SCHEMA, TABLES
from teijo.lake.store import Store
from tests.lake.made import another, at, lake_of

DAY_NS = 24 * 3600 * 10**9


def runs_of(rows: RunRows, count: int) -> list[RunRows]:
    return [
        another(rows, number, serial=f"S{number}", started_at=at(2025, 1 + number % 2, 1 + number))
        for number in range(count)
    ]


def answers(lake: Lake) -> dict[str, list[dict[str, object]]]:
    return {
        table: lake.sql(f"SELECT * EXCLUDE batch FROM {table} ORDER BY ALL").to_pylist()
        for table in TABLES
    }


def test_compacting_changes_no_answer_and_leaves_one_file_a_table_and_month(
    tmp_path: Path, rows: RunRows
) -> None:
    lake = lake_of(tmp_path, runs_of(rows, 8), batches=4)
    before = answers(lake)
    done = lake.compact()
    assert (done.runs, done.files_before, done.files) == (8, 32, 8)
    assert done.bytes < done.bytes_before
    assert answers(lake) == before
    assert len(list(tmp_path.rglob("*.parquet"))) == 8
    again = lake.compact()
    assert (again.files_before, again.files, again.bytes) == (8, 8, done.bytes)


def test_runs_that_are_there_twice_are_once_after_compacting(tmp_path: Path, rows: RunRows) -> None:
    runs = runs_of(rows, 6)
    lake = lake_of(tmp_path / "lake", runs)
    lake_of(tmp_path / "lake", runs[1:4])
    lake.compact()
    stored = sum(parquet.read_metadata(path).num_rows for path in (tmp_path).rglob("runs/*/*/*"))
    assert stored == 6
    assert answers(lake) == answers(lake_of(tmp_path / "fresh", runs))


def test_much_becomes_several_files(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacting, "RUNS_A_FILE", 3)
    lake = lake_of(tmp_path, [another(rows, number) for number in range(8)], batches=8)
    before = answers(lake)
    assert lake.compact().files == 4 * 3
    assert answers(lake) == before


def test_every_file_tells_its_schema(tmp_path: Path, rows: RunRows) -> None:
    lake = lake_of(tmp_path, runs_of(rows, 4), batches=2)
    lake.compact()
    paths = list(tmp_path.rglob("*.parquet"))
    for path in paths:
        assert parquet.read_metadata(path).metadata[METADATA.encode()] == str(SCHEMA).encode()


@pytest.mark.parametrize("kept", range(8))
def test_a_compaction_that_is_cut_short_anywhere_loses_nothing(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """Of its writes and removals the first `kept` are carried out, and the next one fails."""
    lake = lake_of(tmp_path, [another(rows, number) for number in range(6)], batches=2)
    before = answers(lake)
    left = [kept]
    writing, local = Store.writing, type(lake.store.files)
    removing = local.delete_file

    def count() -> None:
        if not left[0]:
            raise OSError(28, "No space left on device")
        left[0] -= 1

    def writes(store: Store, name: str) -> object:
        try:
            count()
        except OSError as error:
            raise HostError(str(error)) from error
        return writing(store, name)

    class Failing:
        def delete_file(self, path: str) -> None:
            count()
            removing(lake.store.files, path)

        def __getattr__(self, name: str) -> object:
            return getattr(lake.store.files, name)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "writing", writes)
        patch.setattr(Store, "is_local", True)
        broken = Lake(Store(lake.store.place, lake.store.given, lake.store.root, Failing()))
        with pytest.raises(HostError):
            broken.compact()
    assert answers(lake) == before
    lake.compact()
    assert answers(lake) == before
    assert sum(batch.is_whole for batch in lake.store.batches()) == 1


def test_what_a_writer_left_long_ago_is_removed_and_what_one_writes_now_is_not(
    tmp_path: Path, rows: RunRows
) -> None:
    lake = lake_of(tmp_path, [another(rows, number) for number in range(3)], batches=3)
    old, young, whole = lake.store.batches()
    for batch in (old, young):
        (tmp_path / batch.partition.name_of("runs", batch.id)).unlink()
    for table in ("figures", "histograms", "remarks"):
        path = tmp_path / old.partition.name_of(table, old.id)  # type: ignore[arg-type]
        moment = path.stat().st_mtime_ns - 2 * DAY_NS
        os.utime(path, ns=(moment, moment))
    folder = (tmp_path / whole.partition.name_of("runs", whole.id)).parent
    for name, age_ns in (("old", 2 * DAY_NS), ("young", 0)):
        path = folder / f".{whole.id}.parquet.0123abc{len(name)}"
        path.write_bytes(b"half")
        moment = path.stat().st_mtime_ns - age_ns
        os.utime(path, ns=(moment, moment))
    lake.compact()
    assert [batch.id for batch in lake.store.batches()] == sorted([young.id, whole.id])
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [
        f".{whole.id}.parquet.0123abc5"
    ]
