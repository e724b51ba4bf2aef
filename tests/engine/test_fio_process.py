"""A running fio is heard as it speaks; here a shell script speaks in its place."""

import errno
import os
from pathlib import Path

import pytest

from teijo.engine.fio.process import FioProcess

REPORT = """cat <<'END'
{
  "fio version" : "fio-3.33",
  "jobs" : [
    NUMBER
  ]
}
END
"""
FAILURE = "echo 'fio: io_u error on file /dev/x: Input/output error: read offset=0, buflen=4' >&2\n"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "lap.fio"


def fio(job: Path, script: str) -> FioProcess:
    job.write_text(script)
    return FioProcess("/bin/sh", job, 0)


def heard(job: Path, script: str) -> FioProcess:
    process = fio(job, script)
    assert process.has_ended(60)
    process.end()
    return process


def test_the_last_report_counts_and_messages_between_are_kept(job: Path) -> None:
    said = "echo; echo 'fio: terminating on signal 2'\n"
    process = heard(job, REPORT.replace("NUMBER", "1") + said + REPORT.replace("NUMBER", "2"))
    assert process.report == {"fio version": "fio-3.33", "jobs": [2]}
    assert process.reports == 2
    assert process.complaints == ["terminating on signal 2"]


def test_a_report_that_is_cut_off_or_spoiled_leaves_the_one_before(job: Path) -> None:
    spoiled = REPORT.replace("NUMBER", "2\nfio: a message in the middle")
    cut = "echo '{'; echo '  \"jobs\" : ['\n"
    process = heard(job, REPORT.replace("NUMBER", "1") + spoiled + cut)
    assert process.report == {"fio version": "fio-3.33", "jobs": [1]}


def test_failed_ios_are_counted_and_are_no_complaints(job: Path) -> None:
    process = heard(job, FAILURE * 3 + "echo 'fio: something else' >&2\n")
    assert process.failed == {"read": {errno.EIO: 3}, "write": {}}
    assert process.complaints == ["something else"]


def test_leaving_it_ends_it(job: Path) -> None:
    with fio(job, "trap 'echo bye; exit' INT; while :; do sleep 0.1; done") as process:
        assert not process.has_ended(0.3)
    assert process.has_ended(0)
    assert process.complaints == ["bye"]


def test_one_that_does_not_end_when_asked_is_killed(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teijo.engine.fio.process.PATIENCE_S", 0.2)
    with fio(job, "trap '' INT; while :; do sleep 0.1; done") as process:
        assert not process.has_ended(0.3)
    assert process.has_ended(0)


def test_ctrl_c_of_the_terminal_is_not_for_it(job: Path) -> None:
    with fio(job, "ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat") as process:
        assert process.has_ended(60)
    assert int(process.complaints[0]) != os.getpgrp()
