"""The device's counters against our own on a real kernel: alone the share is 1, in company more."""

import os
from pathlib import Path

import pytest

from teijo import api
from teijo.analysis.validity import device_shares
from teijo.runner.events import Event, Observer, Progress, unobserved
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult


def measured(device: Path, output: Path, observer: Observer = unobserved) -> StepResult:
    run = api.run(
        "workload",
        str(device),
        output=output,
        settings={"rw": "randread", "qd": "4", "rate": "2000", "bytes": "4MiB"},
        observer=observer,
    )
    answer = run.record.steps[0].answer
    assert isinstance(answer, StepResult)
    return answer


def kinds(answer: StepResult) -> set[RemarkKind]:
    return {remark.kind for remark in answer.remarks}


def test_alone_the_device_does_what_we_do_and_nothing_else(
    loop_device: Path, tmp_path: Path
) -> None:
    answer = measured(loop_device, tmp_path / "run")
    shares = device_shares(answer)
    assert shares.bytes_share == 1.0
    assert shares.ios_share == pytest.approx(1, abs=1e-3), "neighbours by chance may be joined"
    assert not kinds(answer) & {RemarkKind.FOREIGN_IO, RemarkKind.BUFFERED, RemarkKind.IO_SPLIT}


def test_another_reader_is_noticed(loop_device: Path, tmp_path: Path) -> None:
    def read_beside(event: Event) -> None:
        if isinstance(event, Progress):
            descriptor = os.open(loop_device, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(descriptor, 8 << 20, 0)
            os.close(descriptor)

    answer = measured(loop_device, tmp_path / "run", read_beside)
    assert RemarkKind.FOREIGN_IO in kinds(answer)
    assert (device_shares(answer).bytes_share or 0) > 1.001


def test_the_depth_asked_for_was_there_and_the_clock_was_told(
    loop_device: Path, tmp_path: Path
) -> None:
    witness = measured(loop_device, tmp_path / "run").witness
    assert witness is not None
    assert witness.in_flight_asked == 4
    assert 0 < witness.in_flight_mean <= 4
    assert witness.ceiling_iops is not None
    assert witness.ceiling_iops > 0
