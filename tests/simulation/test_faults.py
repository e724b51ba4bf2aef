"""Faults of a simulated device in a run: what the run noticed is what the record says was injected.

The counts are the model's own (`count.…` in a step's detail); a real device would not tell.
"""

import errno
from pathlib import Path

import pytest

from teijo import api
from teijo.errors import DeviceError, InvalidMeasurement, PlanError
from teijo.runfile import reader
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.verification import Fault

PART = "faulty(slc-a?nominal_capacity=128MiB&scale=1)"
WRITES = {"rw": "write", "bs": "16KiB", "qd": "4"}


def answers(record: Record) -> list[StepResult]:
    """Return the answers of a run's steps."""
    found = [step.answer for step in record.steps]
    return [answer for answer in found if isinstance(answer, StepResult)]


def injected(record: Record, name: str) -> int:
    """Return what was counted under a name in all steps."""
    return sum(int(answer.detail.get(f"count.{name}", 0)) for answer in answers(record))


def failed(record: Record, number: int) -> int:
    """Return how many I/Os the run saw fail with an errno."""
    results = [result for answer in answers(record) for result in answer.results]
    return sum(result.errors.get(number, 0) for result in results)


@pytest.mark.parametrize(
    ("faults", "sectors", "faces"),
    [
        ("stale_percent=1", "stale_sectors", {Fault.STALE, Fault.ZERO}),
        ("drop_percent=1", "dropped_sectors", {Fault.STALE, Fault.ZERO}),
        ("torn_percent=1", "torn_sectors", {Fault.TORN, Fault.ZERO}),
        ("flip_percent=1", "flipped_sectors", {Fault.FLIPPED}),
        ("cut_after=192MiB&volatile=1MiB", "lost_sectors", {Fault.STALE}),
    ],
)
def test_verification_finds_every_sector_that_was_harmed(
    tmp_path: Path, faults: str, sectors: str, faces: set[Fault]
) -> None:
    path = tmp_path / "run.teijo"
    settings = WRITES | {"verify": "after", "bytes": "256MiB", "qd": "1"}
    with pytest.raises(InvalidMeasurement):
        api.run("workload", f"sim:{PART}?{faults}", output=path, settings=settings)
    record = reader.read(path)
    found = [answer.verification for answer in answers(record) if answer.verification]
    seen = {one.fault for each in found for one in each.faults}
    assert seen <= faces
    harmed = sum(one.sectors for each in found for one in each.faults)
    if sectors in {"dropped_sectors", "torn_sectors"}:
        # What the first of two passes missed, the second may have mended.
        assert 0 < harmed <= injected(record, f"content.{sectors}")
    else:
        assert harmed == injected(record, f"content.{sectors}") > 0
    assert RemarkKind.WRONG_DATA in [remark.kind for remark in record.remarks]


@pytest.mark.parametrize("faults", ["drop_percent=1", "torn_percent=1"])
def test_of_one_pass_every_sector_that_was_not_stored_is_found(tmp_path: Path, faults: str) -> None:
    path = tmp_path / "run.teijo"
    settings = WRITES | {"verify": "after", "bytes": "128MiB"}
    with pytest.raises(InvalidMeasurement):
        api.run("workload", f"sim:{PART}?{faults}", output=path, settings=settings)
    record = reader.read(path)
    (found,) = [answer.verification for answer in answers(record) if answer.verification]
    name = "dropped" if faults.startswith("drop") else "torn"
    assert {one.fault: one.sectors for one in found.faults} == {
        Fault.ZERO: injected(record, f"content.{name}_sectors")
    }


def test_a_simulated_device_without_a_fault_holds_what_is_written(tmp_path: Path) -> None:
    settings = {"rw": "randrw", "qd": "8", "verify": "on", "bytes": "64MiB"}
    for target in ("sim:slc-a?nominal_capacity=128MiB&scale=1", f"sim:{PART}"):
        run = api.run("workload", target, output=tmp_path / target[4:8], settings=settings)
        (answer,) = answers(run.record)
        assert answer.verification is not None
        assert answer.verification.sectors > 0
        assert answer.verification.faults == ()


def test_errors_are_counted_by_errno_and_the_run_goes_on(tmp_path: Path) -> None:
    settings = {"rw": "randread", "bs": "4KiB", "qd": "8", "bytes": "64MiB"}
    target = f"sim:{PART}?eio_percent=2"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings)
    assert failed(run.record, errno.EIO) == injected(run.record, "errors") > 100
    (remark,) = [one for one in run.remarks if one.kind is RemarkKind.IO_ERRORS]
    assert f"{injected(run.record, 'errors')} × Input/output error" in remark.text


def test_a_full_thin_device_takes_no_more_and_the_run_says_so(tmp_path: Path) -> None:
    settings = {"rw": "randwrite", "bs": "64KiB", "qd": "2", "bytes": "128MiB"}
    target = f"sim:{PART}?enospc_after=32MiB"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings)
    assert failed(run.record, errno.ENOSPC) == injected(run.record, "no_space") > 0


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ("hang_after_ios=500", "No such device"),
        ("cut_at_ms=20&cut_ms=forever", "No such device"),
        ("eio_percent=100&eio_after_ios=500", "Input/output error"),
    ],
)
def test_a_device_that_is_gone_ends_the_run_with_what_was_measured(
    tmp_path: Path, faults: str, says: str
) -> None:
    path = tmp_path / "run.teijo"
    settings = {"rw": "randrw", "bs": "4KiB", "qd": "4", "seconds": "1"}
    with pytest.raises(DeviceError, match="the device is gone") as caught:
        api.run("workload", f"sim:{PART}?{faults}", output=path, settings=settings)
    assert caught.value.exit_code == 5
    assert says in caught.value.message
    record = reader.read(path)
    assert record.run.ending == "failed"
    assert answers(record)[-1].ios > 0
    assert "is gone" in answers(record)[-1].detail["failure"]


def test_a_hang_for_ever_ends_a_standard_test_as_well(tmp_path: Path) -> None:
    path = tmp_path / "run.teijo"
    target = "sim:faulty(slc-a?capacity=256MiB)?hang_at_ms=3000"
    with pytest.raises(DeviceError, match="precondition"):
        api.run("pts.iops", target, output=path)
    assert reader.read(path).run.ending == "failed"


def test_a_power_cut_that_ends_is_a_pause_with_errors(tmp_path: Path) -> None:
    settings = {"rw": "randwrite", "bs": "4KiB", "qd": "4", "seconds": "2"}
    target = f"sim:{PART}?cut_at_ms=500&cut_ms=600"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings)
    (answer,) = answers(run.record)
    assert failed(run.record, errno.EIO) == injected(run.record, "cut_in_flight") == 4
    assert 0.6e9 <= answer.results[0].latency.max_ns < 0.61e9


def test_more_than_a_simulated_device_keeps_is_refused_with_what_to_do(tmp_path: Path) -> None:
    settings = {"rw": "write", "verify": "after", "seconds": "1"}
    with pytest.raises(PlanError, match=r"keeps 1 GiB .* a smaller device"):
        api.run("workload", "sim:mlc-a", output=tmp_path / "run", settings=settings)


def test_the_same_run_fails_in_the_same_way(tmp_path: Path) -> None:
    settings = {"rw": "randrw", "qd": "8", "verify": "on", "bytes": "32MiB"}
    target = f"sim:{PART}?eio_percent=1&stale_percent=1&torn_percent=1&cut_at_ms=30&volatile=1MiB"
    twice = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.teijo"
        with pytest.raises(InvalidMeasurement):
            api.run("workload", target, output=path, settings=settings, seed=5)
        twice.append(answers(reader.read(path)))
    assert twice[0] == twice[1]
