"""A day in virtual time, a second at a time: its report is still one that can be sent by mail."""

from pathlib import Path

import pytest

import teijo
from teijo.report import html, pdf

MIB = 1 << 20


@pytest.mark.parametrize("hours", [4, pytest.param(24, marks=pytest.mark.long)])
def test_the_report_of_a_day_of_seconds_has_them_all_and_keeps_under_five_mib(
    tmp_path: Path, hours: int
) -> None:
    settings = {"rw": "randrw", "bs": "4KiB", "qd": "1", "rate": "20", "seconds": f"{hours}h"}
    run = teijo.run("workload", "sim:slc-a", output=tmp_path / "day", settings=settings, seed=1)
    reads = run.columns["intervals"]["direction"] == "read"
    assert reads.sum() == hours * 3600
    document = run.document()
    assert len(html.render(document).encode()) < 5 * MIB
    assert len(pdf.render(document)) < 5 * MIB
