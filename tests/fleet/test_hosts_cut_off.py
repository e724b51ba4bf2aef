"""A fleet over hosts of which one loses its network for a minute: each host has a namespace of its
own, on wires that take 5 ms and lose 1 % of what they carry (`wires.py`).

The runs of a host that was cut off go on there; Ray counts its node as dead meanwhile, so that it
has to be begun anew. `fleet resume` goes on with what is not done, and measures nothing twice.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from teijo import api
from teijo.errors import TeijoError
from tests.fleet.going import LONG, begun, check_whole, sealed, teijo, until, written
from tests.fleet.wires import Wires

pytestmark = pytest.mark.long

CENTRE: Final = "centre"
HOSTS: Final = ("a", "b")
RUNS, FILES = 4, 1
"""Simulated drives and files on each of the hosts, one after the other."""
PORT: Final = 6379
CUT_S: Final = 60.0
ENDS_S: Final = 300
"""A node that was cut off, or killed, has ended within this."""


class Nodes:
    """A node of Ray on each host, and the head on one more, from which the fleet is conducted."""

    def __init__(self, wires: Wires) -> None:
        self.wires = wires
        self.address = f"{wires.address[CENTRE]}:{PORT}"
        self._own = Path(tempfile.mkdtemp(prefix="tj"))  # short: Ray's sockets lie below it
        self._begun: dict[str, subprocess.Popen[str]] = {}

    def begin(self, name: str) -> None:
        """Begin the node of a host, and wait until it is one of the cluster."""
        log = self._own / f"{name}.log"
        where = ("--head", f"--port={PORT}", "--include-dashboard=false")
        if name != CENTRE:
            where = (f"--address={self.address}", "--labels", f"teijo-host={name}")
        command = [*self.wires.within(name), sys.executable, "-m", "ray.scripts.scripts", "start",
                   *where, f"--node-ip-address={self.wires.address[name]}", "--block",
                   "--num-cpus=1", f"--object-store-memory={80 << 20}",
                   f"--temp-dir={self._own / name}"]  # fmt: skip
        environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
        with log.open("w") as said:
            self._begun[name] = subprocess.Popen(
                command, env=environment, stdout=said, stderr=said, text=True,
                start_new_session=True,
            )  # fmt: skip
        started = "Ray runtime started"
        until(lambda: started in log.read_text(), self._begun[name], log.read_text)

    def again(self, name: str) -> None:
        """Begin the node of a host anew, once the one that was cut off has ended."""
        self._begun[name].wait(ENDS_S)
        self.begin(name)

    def clear(self) -> None:
        """Take away what the nodes leave, whose processes were killed."""
        for process in self._begun.values():
            process.wait(ENDS_S)
        shutil.rmtree(self._own, ignore_errors=True)


@pytest.fixture
def nodes(need: Callable[[str], str], own_token: None) -> Iterator[Nodes]:
    need("ip")
    pytest.importorskip("ray")
    with Wires((CENTRE, *HOSTS), seed=17) as wires:
        made = Nodes(wires)
        try:
            for name in (CENTRE, *HOSTS):
                made.begin(name)
            yield made
        finally:
            wires.end_processes()
            made.clear()


def under_way(folder: Path) -> tuple[str, str] | None:
    """Return the run that is written on the host: its file, by its sealed name, and its id."""
    for path in folder.glob("hosts/b/*slc*.open"):
        with suppress(TeijoError):  # it has just begun, or was just sealed
            return path.name.removesuffix(".open"), api.open(path).record.run.id
    return None


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_fleet_goes_on_after_a_host_was_cut_off(
    meanwhile: bool, nodes: Nodes, tmp_path: Path
) -> None:
    plan, folder, wires = written(tmp_path, HOSTS, RUNS, FILES, LONG), tmp_path / "lab", nodes.wires
    resume = ("fleet", "resume", folder, "--address", nodes.address)
    conductor = begun("fleet", "run", plan, "-o", folder, *resume[-2:], within=wires.within(CENTRE))
    name, run_id = until(lambda: sealed(folder, "b") and under_way(folder), conductor)
    wires.cut("b")
    began_s = time.monotonic()
    data, told = conductor.communicate()
    assert conductor.returncode == 7, told
    assert "b does not answer" in told
    assert "Traceback" not in told
    assert not data, "Ray has something to say"
    before = sealed(folder)
    # The other host is done, and what was under way went on where nobody saw it.
    assert len(sealed(folder, "a")) == RUNS + FILES
    assert name in sealed(folder, "b")
    if meanwhile:
        away = teijo(*resume, within=wires.within(CENTRE))
        assert away.returncode == 7, away.stderr
        assert "b does not answer" in away.stderr
        assert "Traceback" not in away.stderr
        assert sealed(folder) == before
    time.sleep(max(0.0, began_s + CUT_S - time.monotonic()))
    wires.mend("b")
    nodes.again("b")
    done = teijo(*resume, within=wires.within(CENTRE))
    assert done.returncode == 0, done.stderr
    assert before.items() <= sealed(folder).items()
    assert api.open(folder / "runs" / name).record.run.id == run_id
    check_whole(folder, len(HOSTS) * (RUNS + FILES), tmp_path)
    assert wires.lost > 0
