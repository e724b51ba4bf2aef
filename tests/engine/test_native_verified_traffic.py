"""A gibibyte of verified traffic through the kernel raises no alarm; ten are a benchmark.

Reads and writes of the same blocks are in flight at once, in every shape of
benchmarks/clean_traffic.py, which drives 10 GiB of them.
"""

import runpy
from pathlib import Path

import pytest

from teijo.units import GIB

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "clean_traffic.py"


def test_a_gibibyte_of_crossing_reads_and_writes_raises_no_alarm(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(PROGRAM), "--total", "1GiB", "--folder", str(scratch)]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(PROGRAM), run_name="__main__")
    *shapes, total = capsys.readouterr().out.splitlines()
    assert left.value.code == 0, shapes
    assert total.endswith(" 0 wrong")
    assert float(total.split()[0]) * GIB >= GIB
    judged, unjudged = (
        int(each.split()[0].replace(",", "")) for each in total.split(": ")[1].split(", ")[:2]
    )
    assert judged > 9 * unjudged
