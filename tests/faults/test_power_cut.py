"""A power cut after the disk failed: every step that was told to be recorded is still there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from teijo.runfile import reader
from tests.faults import shim

SCRIPT = """
import errno, os, sys
from dataclasses import replace
from pathlib import Path
from teijo.errors import HostError
from teijo.runfile.recorder import Recorder
from tests.faults.shim import Calls, Mode, Shim
from tests.runfile.samples import measure, measured, record
folder, fails_at, error = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for name in ("disk", "attic"):
    (folder / name).mkdir()
shim = Shim()
shim.restrict_to(folder / "disk")
shim.track(folder / "attic")
recorder = Recorder.create(folder / "disk" / "run", replace(record(), steps=(), remarks=()))
shim.begin(Calls.SYNC)
shim.add(fails_at, error=error)
told = 0
try:
    for seq in (1, 2, 3):
        recorder.begin(seq, measure(seq), seq, interval_ns=10**9)
        recorder.record(seq, measured(seq))
        told = seq
except HostError:
    pass
shim.disarm()
shim.power_cut()
print(told, shim.fired, flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("error", [errno.EIO, errno.EINTR], ids=["EIO", "EINTR"])
@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_step_told_after_a_flush_failed_is_kept_in_a_power_cut(
    library: Path, tmp_path: Path, fails_at: int, error: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(fails_at), str(error)],
        env={
            **os.environ,
            **shim.environment(library),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told, fired = (int(word) for word in done.stdout.split())
    assert fired == 1
    assert told == 3
    kept = reader.read(tmp_path / "disk" / "run.teijo.open").steps
    assert [each.seq for each in kept] == [1, 2, 3]
