"""A lake has each run once, whoever writes to it, and its answers are those of the run files."""

import hashlib
import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from teijo import api
from teijo.errors import HostError, RunFileError, UsageError
from teijo.lake import adding, door
from teijo.lake.adding import add_slice
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.schema import MARKER, TABLES, names_of
from teijo.lake.writing import batch_id, write_batches
from teijo.terms.histogram import bucket_width_ns, merged
from tests.lake.made import another, copied, lake_of


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return api.lake(tmp_path / "lake")


def ids(lake: Lake) -> list[str]:
    return [row["run_id"] for row in lake.sql("SELECT run_id FROM runs ORDER BY 1").to_pylist()]


def files(lake: Lake) -> dict[str, str]:
    root = Path(lake.store.root)
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_run_files_that_are_added_are_there_once_however_often(lake: Lake, run_files: Path) -> None:
    added = lake.add([run_files])
    assert (added.runs, added.there, added.refused) == (4, 0, ())
    before = files(lake)
    again = lake.add([run_files, run_files / "run-1.teijo"])
    assert (again.runs, again.there) == (0, 4)
    assert files(lake) == before
    expected = sorted(api.open(path).record.run.id for path in run_files.glob("*.teijo"))
    assert ids(lake) == expected


def test_every_row_of_every_table_leads_with_run_device_host_and_group(
    lake: Lake, run_files: Path
) -> None:
    lake.add([run_files])
    for table in TABLES:
        answer = lake.sql(f"FROM {table}")
        assert tuple(answer.column_names) == names_of(table)
        for row in answer.slice(0, 50).to_pylist():
            assert row["run_id"]
            assert row["model"] == "Simulated MLC-A"
            assert row["serial"]
            assert row["host"]
            assert row["group_fleet"] == "north"
            assert row["method"] == "quick"
            assert row["month"] == f"{row['started_at']:%Y-%m}"


def test_a_percentile_of_summed_histograms_is_that_of_all_operations_within_a_bucket(
    lake: Lake, run_files: Path
) -> None:
    lake.add([run_files])
    every = [
        result.latency
        for path in run_files.glob("*.teijo")
        for answer in api.open(path).record.answers
        for result in answer.results
        if result.operation == "read"
    ]
    whole = merged(each for each in every if each is not None)
    for share in (0.0, 0.07, 0.5, 0.9, 0.99, 0.999, 1.0):
        exact = whole.quantile_ns(share)
        one = f'SELECT percentile_ns({share}, bucket_ns, "count") AS p FROM histograms'
        found = lake.sql(f"{one} WHERE operation = 'read'").to_pylist()[0]["p"]
        assert found <= exact <= found + bucket_width_ns(found)
        listed = lake.sql(
            "WITH reads AS (FROM histograms WHERE operation = 'read') "
            f"FROM percentiles('reads', [{share}])"
        ).to_pylist()[0]
        assert listed["bucket_ns"] == found
        assert listed["latency_ns"] == found + bucket_width_ns(found) // 2


def test_a_percentile_macro_agrees_with_counting_one_by_one(tmp_path: Path, rows: RunRows) -> None:
    lake = lake_of(tmp_path, [rows])
    rng = np.random.default_rng(7)
    low = np.unique(rng.integers(1, 1 << 20, 40))
    counts = rng.integers(1, 9, len(low))
    pairs = ", ".join(f"({a}, {b})" for a, b in zip(low, counts, strict=True))
    singles = np.sort(np.repeat(low, counts))
    for share in (0.001, 0.25, 0.5, 0.75, 0.999):
        question = f"SELECT percentile_ns({share}, b, n) AS p FROM (VALUES {pairs}) AS v(b, n)"
        rank = max(1, int(np.ceil(share * len(singles) - 1e-9)))
        assert lake.sql(question).to_pylist()[0]["p"] == singles[rank - 1]


def test_what_is_refused_is_named_with_its_reason_and_the_others_are_added(
    lake: Lake, run_files: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mixed"
    copied(run_files / "run-1.teijo", folder / "good.teijo")
    data = (run_files / "run-2.teijo").read_bytes()
    (folder / "cut.teijo").write_bytes(data[: len(data) // 2])
    (folder / "text.teijo").write_text("not a run file\n")
    (folder / "gone.teijo").symlink_to("nowhere")
    (folder / "open.teijo.open").write_bytes(data)
    added = lake.add([folder])
    assert (added.runs, added.unsealed) == (1, 1)
    assert {each.path.name for each in added.refused} == {"cut.teijo", "text.teijo", "gone.teijo"}
    assert all(each.why for each in added.refused)
    assert len(ids(lake)) == 1


def test_another_file_of_a_run_that_is_there_is_refused(
    tmp_path: Path, rows: RunRows, run_files: Path
) -> None:
    lake = lake_of(tmp_path / "lake", [another(rows, 1)])
    same = another(rows, 1)
    writer = adding._Writer(lake.look, anew=False)
    writer.take(Path("b.teijo"), same)
    writer.take(Path("c.teijo"), same)
    writer.write()
    assert writer.runs == 0
    assert [each.path.name for each in writer.refused] == ["c.teijo", "b.teijo"]


def test_much_is_written_in_several_batches(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "_SLICE_ROWS", 1)
    lake = lake_of(tmp_path / "lake", [])
    writer = adding._Writer(lake.look, anew=False)
    for number in range(3):
        writer.take(Path(f"{number}.teijo"), another(rows, number))
    assert len(set(writer.batches)) == 3
    assert len(ids(lake)) == 3


def test_writers_at_once_leave_each_run_once(tmp_path: Path, run_files: Path) -> None:
    lake = api.lake(tmp_path / "lake")
    lake.store.make("test")
    paths = sorted(run_files.glob("*.teijo"))
    # Different slices of the same files, so that their batches overlap.
    parts = [paths, paths[:3], paths[1:], paths[::2]]
    start = multiprocessing.get_context("spawn")
    writers = [
        start.Process(target=add_slice, args=(lake.store.given, part, True)) for part in parts
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert [each.exitcode for each in writers] == [0] * 4
    alone = api.lake(tmp_path / "alone")
    alone.add([run_files])
    assert ids(lake) == ids(alone)
    for table in TABLES:
        rest = f"SELECT * EXCLUDE batch FROM {table} ORDER BY ALL"
        assert lake.sql(rest).equals(alone.sql(rest)), table


def test_several_processes_add_what_one_adds(
    tmp_path: Path, run_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "_ALONE_MOST", 1)
    told: list[tuple[int, int]] = []
    lake = api.lake(tmp_path / "lake")
    added = lake.add([run_files], processes=2, tell=lambda done, all_: told.append((done, all_)))
    assert (added.runs, told) == (4, [(2, 4), (4, 4)])
    assert len(ids(lake)) == 4


def test_a_batch_counts_only_once_all_of_it_is_there(tmp_path: Path, rows: RunRows) -> None:
    lake = lake_of(tmp_path, [another(rows, number) for number in range(4)], batches=2)
    assert len(ids(lake)) == 4
    first = lake.store.batches()[0]
    for table in TABLES:
        path = tmp_path / first.partition.name_of(table, first.id)
        data = path.read_bytes()
        path.unlink()
        assert len(ids(lake)) == 2, table
        assert len(lake.sql("SELECT DISTINCT run_id FROM figures").to_pylist()) == 2
        path.write_bytes(data)
    assert len(ids(lake)) == 4


def test_a_writer_that_is_killed_leaves_nothing_that_counts(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, [another(rows, 0)])
    before = files(lake)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("teijo.lake.store.os.fsync", fails)
    with pytest.raises(HostError, match="No space left"):
        write_batches(lake.store, [another(rows, 1)])
    assert files(lake) == before
    monkeypatch.undo()
    assert write_batches(lake.store, [another(rows, 1)])
    assert len(ids(lake)) == 2


def test_files_of_a_batch_are_the_same_whoever_writes_them(tmp_path: Path, rows: RunRows) -> None:
    runs = [another(rows, number) for number in range(3)]
    one = lake_of(tmp_path / "one", runs)
    other = lake_of(tmp_path / "other", reversed(runs))
    assert files(one) == files(other)
    (batch,) = one.store.batches()
    assert batch.id == batch_id(batch.partition, (run.digest for run in runs))


def test_a_lake_of_another_schema_and_what_is_none_are_refused(
    tmp_path: Path, run_files: Path
) -> None:
    with pytest.raises(UsageError, match="There is no lake"):
        api.lake(tmp_path / "none").sql("FROM runs")
    used = tmp_path / "used"
    used.mkdir()
    (used / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="other files"):
        api.lake(used).add([run_files])
    lake = lake_of(tmp_path / "lake", [])
    marker = tmp_path / "lake" / MARKER
    told = json.loads(marker.read_text())
    for content, words in (
        (told | {"schema": 2}, "has schema 2"),
        (told | {"schema": 0}, "is no lake"),
        (told | {"schema": True}, "is no lake"),
        (told | {"format": "other"}, "is no lake"),
        ([1], "is no lake"),
    ):
        marker.write_text(json.dumps(content))
        with pytest.raises(UsageError, match=words):
            lake.sql("FROM runs")
        with pytest.raises(UsageError, match=words):
            lake.add([run_files])
    marker.write_bytes(b"[" * 100_000)
    with pytest.raises(UsageError, match="is no lake"):
        lake.sql("FROM runs")


def test_an_empty_lake_answers_and_no_folder_is_refused(lake: Lake, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert lake.add([empty]).runs == 0
    assert ids(lake) == []
    assert lake.sql("FROM fleet_spread").num_rows == 0
    with pytest.raises(RunFileError, match="no folder"):
        lake.add([tmp_path / "nowhere"])


def test_a_damaged_file_of_the_lake_is_said_as_that(tmp_path: Path, rows: RunRows) -> None:
    lake = lake_of(tmp_path, [rows])
    (batch,) = lake.store.batches()
    (tmp_path / batch.partition.name_of("runs", batch.id)).write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(HostError, match="cannot be read"):
        lake.sql("FROM runs")


def test_a_file_that_is_gone_when_it_is_read_is_looked_for_again(
    tmp_path: Path, rows: RunRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = lake_of(tmp_path, [another(rows, number) for number in range(2)], batches=2)
    batches, looks = type(lake.store).batches, []

    def stale(store: object) -> object:
        found = batches(lake.store)
        if not looks:
            looks.append(1)
            lake.compact()
        return found

    monkeypatch.setattr(type(lake.store), "batches", stale)
    assert len(ids(lake)) == 2


def test_a_link_among_the_files_of_a_lake_is_not_followed(tmp_path: Path, rows: RunRows) -> None:
    other = lake_of(tmp_path / "other", [another(rows, 9)])
    lake = lake_of(tmp_path / "lake", [another(rows, 0)])
    (batch,) = other.store.batches()
    for table in TABLES:
        name = batch.partition.name_of(table, batch.id)
        (tmp_path / "lake" / name).symlink_to(tmp_path / "other" / name)
    assert ids(lake) == ["run-000000"]


def test_a_missing_package_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "find_spec", lambda name: None if name == "duckdb" else name)
    with pytest.raises(HostError, match="duckdb") as refusal:
        api.lake(tmp_path)
    assert "pip install 'teijo[lake]'" in refusal.value.remedy


def test_rebuilding_makes_the_same_lake_and_loses_no_run_unasked(
    tmp_path: Path, run_files: Path, rows: RunRows
) -> None:
    fresh = api.lake(tmp_path / "fresh")
    fresh.add([run_files])
    lake = api.lake(tmp_path / "lake")
    for path in sorted(run_files.glob("*.teijo")):
        lake.add([path])
    assert files(lake) != files(fresh)
    lake.rebuild([run_files])
    assert files(lake) == files(fresh)
    write_batches(lake.store, [another(rows, 1)])
    with pytest.raises(UsageError, match="1 runs whose run files are not in"):
        lake.rebuild([run_files])
    assert len(ids(lake)) == 5
    lake.rebuild([run_files], drop_missing=True)
    assert files(lake) == files(fresh)


def test_a_run_of_another_month_lies_in_its_own_folder(tmp_path: Path, run_files: Path) -> None:
    lake = api.lake(tmp_path / "lake")
    lake.add([run_files])
    month = lake.sql("SELECT DISTINCT month FROM runs").to_pylist()[0]["month"]
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} == {f"month={month}"}
    assert {path.parent.parent.name for path in tmp_path.rglob("*.parquet")} == {"method=quick"}
