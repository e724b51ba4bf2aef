"""A fleet over the nodes of a Ray cluster on this machine: killed piece by piece, and gone on with.

What is killed: a run, an actor, a node, the conductor, the head. After each the fleet goes on by
`fleet resume`, every run file is sealed once, and simulated drives give what they give alone.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.going import LONG, SHORT, begun, check_whole, sealed, teijo, until, written

pytestmark = pytest.mark.long

HOSTS = ("a", "b", "c", "d")
WHOLE, SMALL = (10, 4), (2, 1)
"""Simulated drives on each of the hosts, and files on each of two: all, and few."""
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = dict(num_cpus=1, object_store_memory=80 << 20)
cluster = Cluster(initialize_head=True, head_node_args=dict(include_dashboard=False, **small))
for name in sys.argv[1:]:
    node = cluster.add_node(labels={"teijo-host": name}, **small)
    print(name, node.all_processes["raylet"][0].process.pid, flush=True)
head = cluster.head_node.all_processes["gcs_server"][0].process.pid
print("at", cluster.address, head, flush=True)
for line in sys.stdin:
    node = cluster.add_node(labels={"teijo-host": line.strip()}, **small)
    print(line.strip(), node.all_processes["raylet"][0].process.pid, flush=True)
"""


class Cluster:
    """Four nodes with labels, in a process of their own."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin all of it."""
        environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLUSTER, *HOSTS], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.raylets: dict[str, int] = {}
        self.address = ""
        while not self.address:
            name, *more = self._line()
            if name == "at":
                self.address, self.head = more[0], int(more[1])
            else:
                self.raylets[name] = int(more[0])

    def again(self, host: str) -> None:
        """Begin a node that was killed."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{host}\n")
        self.process.stdin.flush()
        name, pid = self._line()
        self.raylets[name] = int(pid)

    def _line(self) -> list[str]:
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, "the cluster ended"
            words = line.split()
            if words and words[0] in ("at", *HOSTS):
                return words

    def end(self) -> None:
        """Kill all that it began."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        subprocess.run(["pkill", "-KILL", "-f", f"gcs-address={self.address}"], check=False)


@pytest.fixture
def cluster(own_token: None) -> Iterator[Cluster]:
    pytest.importorskip("ray")
    one = Cluster()
    yield one
    one.end()


def actors(cluster: Cluster) -> list[int]:
    """Return the processes that are hands of hosts: of this cluster, for tests run side by side."""
    raylets = ",".join(map(str, cluster.raylets.values()))
    words = ["pgrep", "-P", raylets, "-f", "^ray::Messenger"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def measuring(path: Path) -> list[int]:
    """Return the processes that write a run file."""
    words = ["pgrep", "-f", f"run -o .*{path.name.removesuffix('.open')}"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def killed(what: str, cluster: Cluster, conductor: "subprocess.Popen[str]", folder: Path) -> None:
    """Kill one part of a fleet under way."""
    match what:
        case "run":
            known = {*folder.glob("hosts/*/*.open")}
            opened = until(lambda: {*folder.glob("hosts/*/*slc*.open")} - known, conductor)
            os.kill(measuring(opened.pop())[0], signal.SIGKILL)
        case "actor":
            os.kill(actors(cluster)[0], signal.SIGKILL)
        case "node":
            os.kill(cluster.raylets["c"], signal.SIGKILL)
        case "conductor":
            os.kill(conductor.pid, signal.SIGKILL)
        case "head":
            os.kill(cluster.head, signal.SIGKILL)


@pytest.mark.parametrize("what", ["run", "actor", "node", "conductor", "head"])
def test_a_fleet_survives_the_kill_of_any_part(what: str, cluster: Cluster, tmp_path: Path) -> None:
    runs, files = WHOLE if what == "node" else SMALL
    plan = written(tmp_path, HOSTS, runs, files, LONG if what == "run" else SHORT)
    folder = tmp_path / "lab"
    conductor = begun("fleet", "run", plan, "-o", folder, "--address", cluster.address)
    until(lambda: sealed(folder), conductor)
    killed(what, cluster, conductor, folder)
    _, err = conductor.communicate()
    before = sealed(folder)
    if what == "conductor":
        assert conductor.returncode == -signal.SIGKILL
    elif what != "head" or conductor.returncode:  # without a head the fleet may get to its end
        assert conductor.returncode == 7, err
        assert "fleet resume" in err
    if what == "node":
        cluster.again("c")
    if what == "head":
        cluster.end()
        cluster.begin()
    # A run that a host of the cluster cannot see any more may go on for a moment.
    for _ in range(3):
        done = teijo("fleet", "resume", folder, "--address", cluster.address)
        if done.returncode != 7:
            break
    assert done.returncode == 0, done.stderr
    # What was sealed then is the same file now: nothing is measured twice.
    assert before.items() <= sealed(folder).items()
    check_whole(folder, len(HOSTS) * runs + 2 * files, tmp_path)


def test_run_files_are_removed_at_their_hosts_only_once_they_are_here(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder, words = tmp_path / "lab", ("--address", cluster.address, "--remove-at-source")
    done = teijo("fleet", "run", written(tmp_path, HOSTS, *SMALL), "-o", folder, *words)
    assert done.returncode == 0, done.stderr
    assert not sealed(folder)
    check_whole(folder, len(HOSTS) * SMALL[0] + 2 * SMALL[1], tmp_path)
    before = {path.name: path.stat().st_ino for path in (folder / "runs").iterdir()}
    again = teijo("fleet", "resume", folder, *words)
    assert again.returncode == 0, again.stderr
    assert not sealed(folder)
    assert {path.name: path.stat().st_ino for path in (folder / "runs").iterdir()} == before


def test_a_host_of_the_plan_that_is_no_node_is_refused_by_name(
    cluster: Cluster, tmp_path: Path
) -> None:
    plan = written(tmp_path, HOSTS, *SMALL)
    plan.write_text(plan.read_text().replace('name = "d"', 'name = "elsewhere"'))
    done = teijo("fleet", "check", plan, "--address", cluster.address)
    assert done.returncode == 2
    assert "elsewhere: 0 nodes" in done.stderr
