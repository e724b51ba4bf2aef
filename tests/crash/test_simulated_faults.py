"""Runs on simulated devices that fail, killed and resumed, find what they would have found."""

from pathlib import Path

import pytest

import teijo.api
from teijo.errors import InvalidMeasurement
from teijo.runfile import reader
from teijo.terms.record import Record
from tests.crash.runs import SHORT, in_a_child, killed_after, run_iops

DRIVE = "sim:faulty(mlc-a?capacity=64MiB&dies=2)?eio_percent=2&hang_at_ms=400&hang_ms=30"
DATA = "sim:faulty(mlc-a?nominal_capacity=64MiB&scale=1&dies=2)?drop_percent=1&stale_percent=1"
VERIFIED = {"rw": "write", "bs": "16KiB", "qd": "4", "verify": "after", "bytes": "64MiB"}


def run_verified(path: Path, *, kill_after: int = 0) -> Record:
    """Write a faulty device, read it back, and return the record."""
    with pytest.raises(InvalidMeasurement):
        teijo.api.run(
            "workload",
            DATA,
            output=path,
            settings=VERIFIED,
            seed=4,
            observer=killed_after(kill_after),
        )
    return reader.read(path)


@pytest.mark.parametrize("seq", [1, 2, 9])
def test_a_standard_test_on_a_device_with_errors_goes_on_as_it_would_have(
    tmp_path: Path, seq: int
) -> None:
    assert SHORT["rounds"] == "6"
    whole = run_iops(tmp_path / "whole.teijo", DRIVE)
    path = tmp_path / "run.teijo"
    assert in_a_child(lambda: run_iops(path, DRIVE, observer=killed_after(seq))) == -9
    resumed = teijo.api.resume(path)
    assert resumed.record.steps == whole.record.steps
    details = [step.answer.detail for step in whole.record.steps]  # type: ignore[union-attr]
    assert sum(int(one.get("count.errors", 0)) for one in details) > 10


def test_what_was_written_before_the_kill_is_there_to_be_read_after_it(tmp_path: Path) -> None:
    whole = run_verified(tmp_path / "whole.teijo")
    path = tmp_path / "run.teijo"
    assert in_a_child(lambda: run_verified(path, kill_after=1)) == -9
    with pytest.raises(InvalidMeasurement):
        teijo.api.resume(path)
    assert reader.read(path).steps == whole.steps
    found = whole.steps[-1].answer.verification  # type: ignore[union-attr]
    assert found is not None
    assert sum(one.sectors for one in found.faults) > 100
