"""Too little room for addresses: a message and exit code 6, at whatever size, or it works."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from teijo.cli import memory
from teijo.errors import HostError
from teijo.units import GIB, MIB
from tests.crash.runs import run_iops

LEAST_FOR_PYTHON_MIB = 28
"""Below, the interpreter itself cannot start; nothing of ours runs then."""


def limited(limit_mib: int, *line: str) -> subprocess.CompletedProcess[str]:
    """Run teijo with so many MiB of addresses."""
    limits = (limit_mib * MIB, limit_mib * MIB)
    return subprocess.run(
        [sys.executable, "-c", "from teijo.cli import main; main()", *line],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("limit_mib", [LEAST_FOR_PYTHON_MIB, 60, 120, 255])
def test_with_too_few_addresses_to_start_it_says_so(limit_mib: int) -> None:
    done = limited(limit_mib, "methods")
    assert done.returncode == 6, done.stderr
    assert done.stderr.startswith("error: ")
    assert "ulimit -v" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_enough_addresses_to_start_it_measures(tmp_path: Path) -> None:
    line = ("run", "workload", "sim:hdd-7200?capacity=64MiB", "rw=randread", "seconds=100ms")
    done = limited(300, *line, "-o", str(tmp_path / "run"), "--report", "none")
    assert done.returncode == 0, done.stderr


def test_memory_that_runs_out_in_a_simulated_device_is_a_host_error(tmp_path: Path) -> None:
    line = ("run", "workload", "sim:nvme-2tb?scale=1", "rw=randread", "seconds=100ms")
    done = limited(400, *line, "-o", str(tmp_path / "run"), "--report", "none")
    assert done.returncode == 6, done.stderr
    assert "The simulated device needs up to" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["raid0(1024×mlc-a)", "raid0(64×nvme-2tb?scale=1)"])
@pytest.mark.parametrize("command", ["device", "run"])
def test_a_simulated_device_too_large_for_the_memory_is_refused_before_it_is_made(
    name: str, command: str, tmp_path: Path
) -> None:
    run = ("run", "workload", f"sim:{name}", "-o", str(tmp_path / "run"))
    done = limited(8000, *run if command == "run" else ("device", f"sim:{name}"))
    assert done.returncode == 6, done.stderr
    assert "needs up to" in done.stderr
    assert "larger scale= or a smaller capacity=" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_report_whose_charts_cannot_be_drawn_is_refused_and_the_run_is_there(
    tmp_path: Path,
) -> None:
    path = run_iops(tmp_path / "run.teijo").path
    done = limited(2048, "report", str(path), "--format", "pdf")
    assert done.returncode == 6, done.stderr
    assert "of addresses" in done.stderr
    assert limited(2048, "report", str(path), "--format", "text").returncode == 0


def test_the_limit_is_held_against_what_a_printer_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (GIB, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        memory.check_for_report("html")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (GIB - MIB, GIB))
    memory.check_for_report("text")
    with pytest.raises(HostError, match="html needs 1 GiB of addresses"):
        memory.check_for_report("html")
