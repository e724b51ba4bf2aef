"""Files are made and removed in a folder of ours, and a directory is left as it was."""

import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.engine.session import Progress
from teijo.errors import DeviceError, HostError, PlanError, TargetError, UnsafeError
from teijo.files.caches import drop_caches
from teijo.files.worker import PREFIX, FilesWorker
from teijo.terms.work import FileIo, FileOperation, Files, Sql
from teijo.units import MIB
from tests.crash.runs import in_a_child

TOKEN = "ab12"


def always(done: int, now: Progress | None = None) -> bool:
    del done, now
    return True


def work(operation: FileOperation, count: int = 5, **more: object) -> Files:
    return Files(operation=operation, count=count, **more)  # type: ignore[arg-type]


def few_descriptors() -> None:
    """Let this process, which was forked, have 64 of its own, whatever its parent had open."""
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


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
    (result,) = worker.perform(work("create", size_bytes=5000), 1, always).results
    files = made(tmp_path)
    assert [path.stat().st_size for path in files] == [5000] * 5
    assert len({path.read_bytes() for path in files}) == 5
    assert (result.operation, result.count, result.bytes) == ("create", 5, 25_000)
    assert result.timed.count == 5
    worker.close()


def test_a_flush_is_a_result_of_its_own(worker: FilesWorker) -> None:
    create, flushed = worker.perform(work("create", fsync=True), 1, always).results
    assert (create.operation, flushed.operation) == ("create", "fsync")
    assert (flushed.count, flushed.bytes) == (5, None)
    worker.close()


def test_stat_and_delete_go_over_what_was_created(tmp_path: Path, worker: FilesWorker) -> None:
    worker.perform(work("create"), 1, always)
    (seen,) = worker.perform(work("stat", order="random"), 2, always).results
    (gone,) = worker.perform(work("delete", order="random"), 3, always).results
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
    (seen,) = worker.perform(work("stat"), 2, always).results
    assert (seen.count, dict(seen.errors)) == (4, {2: 1})
    assert seen.timed.count == 4
    worker.close()


def test_work_stops_where_somebody_asks(tmp_path: Path, worker: FilesWorker) -> None:
    many = 300_000
    (result,) = worker.perform(work("create", many), 1, lambda done, now: done < 1).results
    assert 0 < result.count < many
    assert result.count == sum(1 for _ in next(tmp_path.glob(f"{PREFIX}*")).iterdir())
    worker.close()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_there_is_nothing_to_stat_before_something_was_created(worker: FilesWorker) -> None:
    with pytest.raises(PlanError, match="no files"):
        worker.perform(work("stat"), 1, always)
    with pytest.raises(PlanError, match="no files"):
        worker.perform(Sql(statement="select", count=1), 1, always)
    worker.close()


def test_a_large_file_stays_between_the_steps_of_a_run_and_is_removed_at_its_end(
    tmp_path: Path, worker: FilesWorker
) -> None:
    made_anew = FileIo(operation="write", file_bytes=10_000, chunk_bytes=1000, fresh=True)
    done = worker.perform(made_anew, 1, always)
    written, flushed, closed = done.results
    assert (written.operation, written.count, written.bytes) == ("write", 10, 10_000)
    assert (flushed.operation, flushed.count, closed.operation) == ("fsync", 1, "close")
    assert done.elapsed_ns is not None
    assert done.elapsed_ns >= written.timed.sum_ns + flushed.timed.sum_ns
    assert set(done.detail) == {"cpu_user_ns", "cpu_system_ns"}
    (path,) = made(tmp_path)
    assert path.stat().st_size == 10_000
    before = path.read_bytes()
    rewritten, *_ = worker.perform(
        replace(made_anew, operation="rewrite", fresh=False), 2, always
    ).results
    assert (rewritten.count, rewritten.bytes) == (10, 10_000)
    changed = [place for place in range(10_000) if path.read_bytes()[place] != before[place]]
    assert changed == [1000 * chunk + chunk for chunk in range(10)]
    worker.close()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_directories_that_cannot_all_be_open_are_refused_and_none_is_left(
    tmp_path: Path,
) -> None:
    def act() -> None:
        few_descriptors()
        worker = FilesWorker("dir:x", tmp_path, token=TOKEN)
        with pytest.raises(DeviceError, match="refuses mkdir: Too many open files"):
            worker.perform(work("create", 200, directories=100), 1, always)
        worker.close()

    assert in_a_child(act) == 0
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_in_more_directories_than_can_be_open_is_removed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / f"{PREFIX}{TOKEN}"
    folder.mkdir(mode=0o700)
    for number in range(100):
        (folder / f"{number:05}").mkdir(mode=0o700)
        (folder / f"{number:05}" / f"{number:010}").write_text("left")

    def act() -> None:
        few_descriptors()
        FilesWorker("dir:x", tmp_path, token=TOKEN).close()

    assert in_a_child(act) == 0
    assert not list(tmp_path.iterdir())


def test_threads_that_the_host_refuses_leave_nothing_and_are_said(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user whose threads are limited")
    nobody = 65534
    os.chown(tmp_path, nobody, -1)

    def act() -> None:
        # Nobody else may go through the folders above.
        os.chdir(tmp_path)
        os.setuid(nobody)
        resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))
        worker = FilesWorker("dir:x", Path(), token=TOKEN)
        many = FileIo(operation="write", file_bytes=4096, chunk_bytes=4096, fresh=True)
        with pytest.raises(HostError, match="A worker was lost: Resource temporarily"):
            worker.perform(replace(many, workers=100), 1, always)
        worker.close()

    assert in_a_child(act) == 0
    assert not list(tmp_path.iterdir())


def test_a_symbolic_link_is_looked_at_and_never_read(tmp_path: Path, worker: FilesWorker) -> None:
    links = work("create", size_bytes=10, links="symbolic")
    worker.perform(links, 1, always)
    (seen,) = worker.perform(replace(links, operation="stat"), 2, always).results
    assert (seen.count, dict(seen.errors)) == (5, {})
    with pytest.raises(PlanError, match="symbolic link is not followed"):
        worker.perform(replace(links, operation="stat", read=True), 2, always)
    worker.close()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


WHOLE = FileIo(operation="write", file_bytes=16 * MIB, chunk_bytes=4096, fresh=True)
DRAWN = replace(WHOLE, operation="random-write", calls=60_000, sparse=True)


@pytest.mark.parametrize(
    "asked",
    [
        WHOLE,
        replace(WHOLE, synchronous=True, chunk_bytes=65536),
        replace(WHOLE, style="stdio", chunk_bytes=1),
        replace(WHOLE, style="mmap", sparse=True),
        replace(WHOLE, workers=3, positioned=True),
        replace(WHOLE, chunk_bytes=1, timed_calls=8192),
        DRAWN,
        replace(DRAWN, style="mmap"),
        replace(DRAWN, workers=2),
        work("create", 20_000, size_bytes=4096),
        work("create", 20_000, size_bytes=4096, fsync=True),
        work("create", 20_000, size_bytes=4096, directories=900),
    ],
    ids=lambda one: f"{one.operation} {getattr(one, 'style', '')}",
)
def test_a_disk_that_fills_up_in_any_operation_is_said_and_left_as_it_was(
    asked: FileIo | Files, small_disk: Callable[[int], Path]
) -> None:
    home = small_disk(6)
    before = sorted(path.name for path in home.iterdir())
    worker = FilesWorker(f"dir:{home}", home, token=TOKEN)
    with pytest.raises(HostError, match="is full"):
        worker.perform(asked, 1, always)
    worker.close()
    assert sorted(path.name for path in home.iterdir()) == before


def test_memory_of_a_file_that_cannot_be_read_fails_each_time_it_is_looked_at(
    tmp_path: Path, worker: FilesWorker
) -> None:
    whole = FileIo(operation="write", file_bytes=16 * 4096, chunk_bytes=4096, fresh=True)
    worker.perform(whole, 1, always)
    os.truncate(made(tmp_path)[0], 8 * 4096)
    drawn = replace(whole, operation="random-read", fresh=False, style="mmap", calls=400)
    read, *_ = worker.perform(drawn, 2, always).results
    assert 150 < read.count < 250, "half of it is there"
    assert dict(read.errors) == {5: 400 - read.count}
    worker.close()


def test_nothing_is_opened_that_no_step_made(worker: FilesWorker) -> None:
    with pytest.raises(PlanError, match="no file to work on"):
        worker.perform(FileIo(operation="read", file_bytes=10, chunk_bytes=1), 1, always)
    worker.close()


def test_a_run_that_goes_on_removes_all_that_its_killed_self_left(tmp_path: Path) -> None:
    folder = tmp_path / f"{PREFIX}{TOKEN}"
    (folder / "00000").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    for name in ("0000000001", "00000000ffAb9", "zZ00000000ff", "large-00007", "00000/0000000002"):
        (folder / name).write_text("left")
    (folder / "0000000003").symlink_to("../00000/0000000002")
    FilesWorker("dir:x", tmp_path, token=TOKEN).close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: (folder / "thesis").write_text("kept"),
        lambda folder: (folder / "00000" / "thesis").write_text("kept"),
        lambda folder: (folder / "00000" / "00000").mkdir(),
        lambda folder: (folder / "0000000009").symlink_to("/etc/passwd"),
        lambda folder: (folder / "00001").symlink_to("/etc"),
        lambda folder: (folder / "00000").chmod(0o777),
        lambda folder: folder.chmod(0o770),
    ],
)
def test_what_a_killed_run_did_not_leave_is_refused_and_all_stays(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    folder = tmp_path / f"{PREFIX}{TOKEN}"
    (folder / "00000").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    (folder / "0000000001").write_text("left")
    make(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(UnsafeError, match="is not as this run left it"):
        FilesWorker("dir:x", tmp_path, token=TOKEN)
    assert sorted(folder.rglob("*")) == before


def test_caches_are_dropped_by_who_may_and_kept_with_the_reason_else(tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    with pytest.raises(HostError, match=r"cannot be emptied: .*No such file"):
        drop_caches(lambda: True, switch)
    switch.write_text("")
    drop_caches(lambda: True, switch)
    assert switch.read_text() == "3"


def test_a_directory_that_is_not_there_is_no_target(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be opened"):
        FilesWorker("dir:x", tmp_path / "x", token=TOKEN)


def test_a_directory_in_which_nothing_can_be_made_is_refused_before_a_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with pytest.raises(TargetError, match=f"{tmp_path}: Permission denied"):
        FilesWorker("dir:x", tmp_path, token=TOKEN)


def test_a_directory_that_is_mounted_read_only_is_refused_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mounted:
        f_flag = os.ST_RDONLY

    monkeypatch.setattr("os.access", lambda *_, **__: False)
    monkeypatch.setattr("os.fstatvfs", lambda _: Mounted())
    with pytest.raises(TargetError, match="Read-only file system"):
        FilesWorker("dir:x", tmp_path, token=TOKEN)
