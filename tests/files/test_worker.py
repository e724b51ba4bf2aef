"""Files are made and removed in a folder of ours, and a directory is left as it was."""

from pathlib import Path

import pytest

from teijo.errors import PlanError, TargetError
from teijo.files.worker import PREFIX, FilesWorker
from teijo.terms.work import FileOperation, Files, Sql

TOKEN = "ab12"


def always(done: int) -> bool:
    del done
    return True


def work(operation: FileOperation, count: int = 5, **more: object) -> Files:
    return Files(operation=operation, count=count, **more)  # type: ignore[arg-type]


def made(directory: Path) -> list[Path]:
    """Return the files of ours that are there."""
    return sorted(path for folder in directory.glob(f"{PREFIX}*") for path in folder.iterdir())


@pytest.fixture
def worker(tmp_path: Path) -> FilesWorker:
    (tmp_path / "theirs").write_text("kept")
    return FilesWorker(f"dir:{tmp_path}", tmp_path, token=TOKEN)


def test_each_file_is_created_with_its_size_and_a_content_of_its_own(
    tmp_path: Path, worker: FilesWorker
) -> None:
    (result,) = worker.perform(work("create", size_bytes=5000), 1, always)
    files = made(tmp_path)
    assert [path.stat().st_size for path in files] == [5000] * 5
    assert len({path.read_bytes() for path in files}) == 5
    assert (result.operation, result.count, result.bytes) == ("create", 5, 25_000)
    assert result.timed.count == 5
    worker.close()


def test_a_flush_is_a_result_of_its_own(worker: FilesWorker) -> None:
    create, flushed = worker.perform(work("create", fsync=True), 1, always)
    assert (create.operation, flushed.operation) == ("create", "fsync")
    assert (flushed.count, flushed.bytes) == (5, None)
    worker.close()


def test_stat_and_delete_go_over_what_was_created(tmp_path: Path, worker: FilesWorker) -> None:
    worker.perform(work("create"), 1, always)
    (seen,) = worker.perform(work("stat", order="random"), 2, always)
    (gone,) = worker.perform(work("delete", order="random"), 3, always)
    assert (seen.count, gone.count) == (5, 5)
    assert not made(tmp_path)
    worker.close()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_what_is_left_is_removed_at_the_end(tmp_path: Path, worker: FilesWorker) -> None:
    worker.perform(work("create"), 1, always)
    worker.close()
    worker.close()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_what_others_put_into_the_folder_is_not_removed(
    tmp_path: Path, worker: FilesWorker
) -> None:
    worker.perform(work("create"), 1, always)
    (folder,) = tmp_path.glob(f"{PREFIX}*")
    (folder / "foreign").write_text("kept")
    worker.close()
    assert [path.name for path in folder.iterdir()] == ["foreign"]


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path, worker: FilesWorker) -> None:
    worker.perform(work("create", size_bytes=10), 1, always)
    first = made(tmp_path)[0]
    first.unlink()
    first.symlink_to(tmp_path / "theirs")
    worker.perform(work("stat"), 2, always)
    worker.perform(work("delete"), 3, always)
    worker.close()
    assert (tmp_path / "theirs").read_text() == "kept"


def test_an_operation_that_fails_is_counted_by_its_errno_and_not_timed(
    tmp_path: Path, worker: FilesWorker
) -> None:
    worker.perform(work("create"), 1, always)
    made(tmp_path)[0].unlink()
    (seen,) = worker.perform(work("stat"), 2, always)
    assert (seen.count, dict(seen.errors)) == (4, {2: 1})
    assert seen.timed.count == 4
    worker.close()


def test_work_stops_where_somebody_asks(tmp_path: Path, worker: FilesWorker) -> None:
    (result,) = worker.perform(work("create"), 1, lambda done: done < 3)
    assert result.count == len(made(tmp_path)) == 3
    worker.close()


def test_there_is_nothing_to_stat_before_something_was_created(worker: FilesWorker) -> None:
    with pytest.raises(PlanError, match="no files"):
        worker.perform(work("stat"), 1, always)
    with pytest.raises(PlanError, match="no files"):
        worker.perform(Sql(statement="select", count=1), 1, always)
    worker.close()


def test_a_directory_that_is_not_there_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be opened"):
        FilesWorker("dir:x", tmp_path / "x", token=TOKEN)
