"""Work on files on simulated devices: the same terms as on a directory, in virtual time."""

from dataclasses import replace
from pathlib import Path

import pytest

from teijo import api
from teijo.device.simulated import SimulatedDevice, make_simulated
from teijo.device.target import SimulatedTarget, check_work, parse_target
from teijo.engine.session import Progress
from teijo.errors import PlanError, TargetError
from teijo.terms.result import PAGE_CACHE
from teijo.terms.work import FileIo, Files, Sql

MIB = 1024 * 1024
SETTINGS = {"count": "50", "fsync": "yes", "passes": "2"}


def device(text: str) -> SimulatedDevice:
    target = parse_target(text)
    assert isinstance(target, SimulatedTarget)
    return make_simulated(target)


def test_a_simulated_target_does_blocks_and_files_and_no_statements() -> None:
    target = parse_target("sim:os(s3700)")
    check_work(target, "blocks")
    check_work(target, "files")
    with pytest.raises(TargetError):
        check_work(target, "sql")
    with pytest.raises(PlanError, match="no files"):
        device("sim:s3700").perform(Sql(statement="insert", count=1), 1, lambda *_: True)


def test_large_files_are_written_and_read_in_virtual_time() -> None:
    with_files = device("sim:os(hdd-7200)?memory=16MiB")
    write = FileIo(operation="write", file_bytes=64 * MIB, chunk_bytes=8192, fresh=True)
    done = with_files.perform(write, 1, lambda *_: True)
    names = [result.operation for result in done.results]
    assert names == ["write", "fsync", "close"]
    assert done.results[0].count == write.count
    assert done.elapsed_ns is not None
    assert 80 < 64 * MIB * 1e3 / done.elapsed_ns < 110
    read = replace(write, operation="read", fresh=False, fsync=False, drop_caches=True)
    done = with_files.perform(read, 1, lambda *_: True)
    assert done.results[0].bytes == 64 * MIB
    assert with_files.counts()["read_ahead_bytes"] >= 63 * MIB


def test_a_look_may_stop_the_work() -> None:
    looks = []

    def look(done: int, now: Progress | None = None, /) -> bool:
        looks.append((done, now))
        return False

    io = FileIo(operation="write", file_bytes=64 * MIB, chunk_bytes=1, fresh=True)
    done = device("sim:os(s3700)").perform(io, 1, look)
    assert len(looks) == 1
    assert done.results[0].count < 64 * MIB


def test_files_that_were_not_made_cannot_be_looked_at() -> None:
    with pytest.raises(PlanError):
        device("sim:s3700").perform(Files(operation="stat", count=5), 1, lambda *_: True)


def test_the_same_run_gives_the_same_numbers(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.teijo"
        api.run("files", "sim:os(hdd-7200)", output=path, settings=SETTINGS, seed=3)
        found.append([cell.iops for cell in api.open(path).findings.cells])
    assert found[0] == found[1]


def test_what_may_hold_pages_is_said_of_an_operating_system_and_unknown_of_an_added_one(
    tmp_path: Path,
) -> None:
    for number, (target, told) in enumerate(
        (("sim:os(intel-330)?memory=64MiB", "64MiB"), ("sim:intel-330", ""))
    ):
        run = api.run("files", target, output=tmp_path / str(number), settings={"count": "2"})
        assert {answer.detail[PAGE_CACHE] for answer in run.record.answers} == {told}
