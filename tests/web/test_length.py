"""A run of a day by the second: few points, and little memory of the server."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from teijo import api
from teijo.analysis.course import POINTS_MOST

DAY_S = 86_400
SERVER_MB_MOST = 150
PROGRAM = (sys.executable, "-u", "-c", "from teijo.cli import program; program()")


@pytest.mark.long
def test_a_day_has_few_points_and_the_server_little_memory(tmp_path: Path) -> None:
    settings = {"seconds": "24h", "rw": "randrw", "rate": "20", "qd": "1"}
    api.run("workload", "sim:slc-a", output=tmp_path / "day.teijo", settings=settings, seed=1)
    command = [*PROGRAM, "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            address = child.stdout.readline().split()[-1].rstrip("/")

            def asked(path: str) -> bytes:
                with urlopen(address + path) as answer:
                    return bytes(answer.read())

            while not (rows := json.loads(asked("/api/v1/runs"))["runs"]):
                threading.Event().wait(0.1)  # more often, the server would refuse
            key = rows[0]["id"]
            points = json.loads(asked(f"/api/v1/runs/{key}"))["course"]["points"]
            assert sum(each[1] for each in points) >= DAY_S
            assert len(points) <= POINTS_MOST
            assert b"</html>" in asked(f"/runs/{key}")
            status = Path(f"/proc/{child.pid}/status").read_text()
            (resident,) = (row for row in status.splitlines() if row.startswith("VmRSS:"))
            assert int(resident.split()[1]) / 1000 < SERVER_MB_MOST
        finally:
            child.terminate()
