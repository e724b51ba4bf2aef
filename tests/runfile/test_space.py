"""Room on the results disk: reserved first, given back when needed, and an honest end."""

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.errors import HostError
from teijo.runfile import reader, space
from teijo.runfile.recorder import Recorder
from teijo.terms.remark import Remark, RemarkKind
from teijo.units import MIB
from tests.crash.runs import fill
from tests.runfile.samples import SECOND, measure, measured, open_run, record


@pytest.fixture
def results_disk(small_disk: Callable[[int], Path]) -> Path:
    """Mount a file system of 8 MiB."""
    return small_disk(8)


def record_steps(recorder: Recorder, count: int) -> int:
    """Record steps until the disk is full or there are enough; return how many there are."""
    for seq in range(7, 7 + count):
        try:
            recorder.begin(seq, measure(3), seq, interval_ns=SECOND)
            recorder.record(seq, measured(1))
        except HostError:
            return seq - 1
    return 6 + count


def test_room_for_the_sealed_copy_is_in_the_estimate() -> None:
    assert space.estimate_bytes(steps=0, intervals=0) == space.LEAST_BYTES
    day = space.estimate_bytes(steps=1440, intervals=86_400)
    assert 40 * MIB < day < 200 * MIB


def test_a_run_that_does_not_fit_is_refused_before_it_begins(results_disk: Path) -> None:
    with pytest.raises(HostError, match="No room") as caught:
        Recorder.create(results_disk / "run", record(), reserve_bytes=20 * MIB)
    assert caught.value.exit_code == 6
    assert list(results_disk.iterdir()) == []


def test_the_room_is_taken_not_promised(results_disk: Path) -> None:
    recorder = Recorder.create(
        results_disk / "run", replace(record(), remarks=()), reserve_bytes=6 * MIB
    )
    assert shutil.disk_usage(results_disk).free < 2 * MIB
    recorder.close()


def test_a_disk_that_fills_up_does_not_end_the_run(results_disk: Path) -> None:
    recorder = open_run(results_disk / "run")
    fill(results_disk)
    assert record_steps(recorder, 100) == 106
    recorder.end("steady")
    found = reader.read(recorder.seal())
    assert len(found.steps) == 106
    assert RemarkKind.RESULTS_DISK in [remark.kind for remark in found.remarks]
    assert {item.name for item in results_disk.iterdir()} == {"others", "run.teijo"}


def test_when_the_reserve_is_used_up_all_that_was_recorded_stays(results_disk: Path) -> None:
    recorder = open_run(results_disk / "run")
    fill(results_disk)
    last = record_steps(recorder, 100_000)
    assert last > 100
    with pytest.raises(HostError, match="cannot be written") as caught:
        recorder.remark(Remark(kind=RemarkKind.DEVIATION, text="x" * MIB))
    assert caught.value.exit_code == 6
    assert "resume" in caught.value.remedy
    recorder.close()
    assert len(reader.read(results_disk / "run").steps) == last
    (results_disk / "others").unlink()
    recorder = Recorder.reopen(results_disk / "run", reserve_bytes=MIB)
    assert record_steps(recorder, 0) == 6
    recorder.close()


def test_a_full_disk_at_sealing_leaves_the_open_file(results_disk: Path) -> None:
    recorder = open_run(results_disk / "run")
    record_steps(recorder, 300)
    recorder._ballast.remove()
    fill(results_disk)
    with pytest.raises(HostError, match=r"cannot be written|could not be sealed"):
        recorder.seal()
    recorder.close()
    assert len(reader.read(results_disk / "run").steps) == 306
    assert not (results_disk / "run.teijo.sealing").exists()


def test_a_reserve_of_a_killed_run_is_used_again(tmp_path: Path) -> None:
    space.Ballast(tmp_path / "reserve", 2 * MIB)
    ballast = space.Ballast(tmp_path / "reserve", MIB)
    assert (tmp_path / "reserve").stat().st_size == MIB
    assert list(ballast.give_way()) == [0]
    assert (tmp_path / "reserve").stat().st_size == 0


def test_a_reserve_gives_way_in_pieces(tmp_path: Path) -> None:
    ballast = space.Ballast(tmp_path / "reserve", 64 * MIB)
    left = list(ballast.give_way())
    assert left[0] == 48 * MIB
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    assert list(ballast.give_way()) == []


def test_a_reserve_somebody_removed_is_not_missed(tmp_path: Path) -> None:
    ballast = space.Ballast(tmp_path / "reserve", MIB)
    (tmp_path / "reserve").unlink()
    assert list(ballast.give_way()) == [0]
    ballast.remove()


def test_a_mistake_in_the_data_is_no_full_disk(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    with pytest.raises(sqlite3.IntegrityError):
        recorder.begin(1, measure(1), 1, interval_ns=SECOND)
    assert len(reader.read(tmp_path / "run").steps) == 6
    recorder.close()
