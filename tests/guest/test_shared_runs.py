"""One file on NFS measured from two hosts: network namespaces with addresses of their own.

The storage is a third one. What they say to each other, and what they read and write, goes over a
bridge on which `tc netem` delays, loses and cuts.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo import api
from teijo.runfile import reader
from teijo.terms.histogram import bucket_width_ns, merged
from teijo.terms.record import Record
from teijo.terms.result import Gap
from teijo.terms.shared import hosts_in, parts_in
from tests.guest.machine import Guest, Ran, Started

pytestmark = pytest.mark.vm

HOSTS = {"one": "10.9.0.1", "two": "10.9.0.2", "store": "10.9.0.3"}
PORT = 7000
TEIJO = "/run/shared/teijo"
PROGRAM = b"""#!/bin/sh
# The emulated processor has an AVX2 with which numpy's argsort is wrong.
export NPY_DISABLE_CPU_FEATURES="AVX2 X86_V3"
export PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=/run/shared/compiled
exec python3 -P -c "from teijo.cli import program; program()" "$@"
"""
REMOTE = "/teijo/tests/guest/remote.py"
FOLDER = "/run/shared"
FILE = f"{FOLDER}/run.teijo"
TARGET = "/mnt/shared/disk.img"
ONE_AT_A_TIME = "block=4KiB access=random outstanding=1 buffering=u"
SECONDS = 300
CUT_S = 60
DELAY_MS = 5
AWAIT = "for look in $(seq 600); do {} && exit 0; sleep 0.1; done; exit 1"
SET_UP = """
set -e
mkdir -p /srv/store /mnt/shared /var/lib/nfs/v4recovery /run/shared
for module in veth bridge sch_netem nfsd nfs nfsv4; do modprobe $module; done
mount -t tmpfs -o size=64m store /srv/store
ip link add lab type bridge
ip link set lab up
"""
HOST_UP = """
set -e
ip netns add {name}
ip link add {name} type veth peer name eth0 netns {name}
ip link set {name} master lab up
ip -n {name} address add {address}/24 dev eth0
ip -n {name} link set eth0 up
ip -n {name} link set lo up
"""
STORE_UP = """
set -e
mkdir -p /run/rpc_pipefs /var/lib/nfs
touch /etc/exports
mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
rpc.mountd --no-nfs-version 3
exportfs -o rw,insecure,no_root_squash,fsid=0,no_subtree_check '*:/srv/store'
rpc.nfsd --no-nfs-version 3 --no-udp --lease-time 90 --grace-time 10 4
echo Y >/proc/fs/nfsd/v4_end_grace || true
"""
MOUNT = "mount -t nfs4 -o addr={address},vers=4.2,soft,timeo=100,retrans=3 {address}:/ /mnt/shared"


@dataclass
class Lab:
    """The two hosts and the storage, as the guest has them."""

    guest: Guest

    def inside(self, name: str, script: str) -> str:
        """Return a line that runs a script in a namespace of a host, mounts of its own included."""
        return f"nsenter --net=/run/netns/{name} --mount=/run/mounts/{name} bash -c '{script}'"

    def good(self, script: str) -> str:
        return self.guest.run(["bash", "-c", script], SECONDS).good()

    def netem(self, name: str, words: str) -> None:
        """Have what a host sends and gets treated so by the network, both ways."""
        self.good(f"tc qdisc replace dev {name} root netem {words}")
        self.good(f"tc -n {name} qdisc replace dev eth0 root netem {words}")

    def command(self, verb: str, settings: str, *more: str) -> list[str]:
        """Return the words that conduct a run on host one, with host two beside it."""
        two = f"two=python3 {REMOTE} connect {HOSTS['two']} {PORT}"
        line = [
            "nsenter", "--net=/run/netns/one", "--mount=/run/mounts/one", TEIJO, verb, *more,
            "--host", "here", "--host", two, "--host-timeout", "20s", "--report", "none",
            "--progress", "ndjson",
        ]  # fmt: skip
        return [*line, "--set", *settings.split()] if settings else line

    def fetch(self, name: str, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(self.guest.get(f"{FOLDER}/{name}"))
        return path


@contextmanager
def laboratory(guest: Guest) -> Iterator[Lab]:
    lab = Lab(guest)
    lab.good(SET_UP)
    guest.put(TEIJO, PROGRAM)
    # A start compiles all of it, which takes a guest a minute: the first is none of a run.
    lab.good(f"chmod +x {TEIJO}; {TEIJO} join </dev/null; {TEIJO} run -h")
    # A mount namespace is kept by a bind, which a shared place does not take.
    lab.good("mkdir -p /run/mounts; mount --bind /run/mounts /run/mounts; "
             "mount --make-private /run/mounts")  # fmt: skip
    for name, address in HOSTS.items():
        lab.good(HOST_UP.format(name=name, address=address))
        lab.good(f"touch /run/mounts/{name}; unshare --mount=/run/mounts/{name} true")
    lab.good(lab.inside("store", STORE_UP.replace("'", '"')))
    for name in ("one", "two"):
        lab.good(lab.inside(name, MOUNT.format(address=HOSTS["store"])))
    worker = guest.start(
        ["nsenter", "--net=/run/netns/two", "--mount=/run/mounts/two", "python3", REMOTE, "serve",
         str(PORT), TEIJO, "join"]
    )  # fmt: skip
    try:
        yield lab
    finally:
        worker.kill("SIGKILL")
        worker.wait()
        for name in ("one", "two"):
            lab.good(lab.inside(name, "umount -f -l /mnt/shared; true"))
        lab.good(lab.inside("store", "rpc.nfsd 0; exportfs -au; pkill rpc.mountd; true"))
        lab.good("umount /proc/fs/nfsd; umount /run/mounts/*; umount /run/mounts; "
                 "for name in one two store; do ip netns delete $name; done; "
                 "ip link delete lab; umount /srv/store; rm -rf /run/shared; "
                 "test -z \"$(ip netns list)\"")  # fmt: skip


def await_progress(started: Started) -> None:
    """Wait until I/Os of a measured step were told."""
    for _ in range(SECONDS):
        found, ended = started.look(1)
        events = [json.loads(line) for line in found.err.splitlines() if line.startswith("{")]
        if any(event["event"] == "progress" and event["ios"] for event in events):
            return
        assert not ended, found
    raise AssertionError("no progress")


def ios_of(record: Record) -> list[int]:
    """Return the latency of every I/O of a run, from time series fine enough to tell each.

    Each host has one I/O in flight, and none is over within an interval's length: of an interval
    with two, one of each host, the shortest and the longest are both.
    """
    found: list[int] = []
    for answer in record.answers:
        for result in answer.results:
            series = result.intervals
            assert series is not None
            assert int(series.ios.max()) <= 2, "two I/Os of one host ended in one interval"
            for ios, least, most in zip(
                series.ios.tolist(), series.latency_ns_min.tolist(),
                series.latency_ns_max.tolist(), strict=True,
            ):  # fmt: skip
                found += {0: [], 1: [most], 2: [least, most]}[ios]
    return found


@pytest.fixture
def lab(guest: Guest) -> Iterator[Lab]:
    with laboratory(guest) as made:
        yield made


def test_the_tail_of_two_hosts_is_that_of_all_their_ios(lab: Lab, tmp_path: Path) -> None:
    lab.netem("one", f"delay {DELAY_MS}ms 1ms loss 0.2%")
    lab.netem("two", f"delay {2 * DELAY_MS}ms 4ms loss 0.2%")
    done: Ran = lab.guest.run(
        lab.command(
            "run", f"{ONE_AT_A_TIME} seconds=60 warm_up=1s interval=2ms",
            "diskspd", f"{TARGET}?size=4MiB", "-o", FILE,
        ),
        SECONDS,
    )  # fmt: skip
    assert done.code == 0, done
    record = api.open(lab.fetch("run.teijo", tmp_path)).record
    every = sorted(ios_of(record))
    results = [result for answer in record.answers for result in answer.results]
    whole = merged(result.timed for result in results)
    assert whole.count == len(every) > 100
    for share in (0.5, 0.99, 0.999):
        truth = every[math.ceil(share * len(every)) - 1]
        assert abs(whole.quantile_ns(share) - truth) <= bucket_width_ns(truth)
    parts = [part for answer in record.answers for part in parts_in(answer.detail)]
    assert {part.name for part in parts if part.ios} == {"here", "two"}
    _, two = hosts_in(record.environment)
    # The way to host two takes twice the delay of both ends, and the error is half of it.
    assert two.error_ns >= DELAY_MS * 10**6


@pytest.mark.long
def test_a_host_that_is_cut_off_for_a_minute_makes_its_step_a_gap_and_comes_back(
    lab: Lab, tmp_path: Path
) -> None:
    started = lab.guest.start(
        lab.command("run", "rw=randrw read=50 bs=4KiB qd=2 seconds=30", "workload",
                    f"{TARGET}?size=4MiB", "-o", FILE)
    )  # fmt: skip
    await_progress(started)
    lab.netem("two", "loss 100%")
    ended = started.wait(SECONDS)
    assert ended.code == 7, ended
    assert "Host two went away, last heard of at 20" in ended.err
    record = reader.read(lab.fetch("run.teijo.open", tmp_path))
    answer = record.steps[-1].answer
    assert isinstance(answer, Gap)
    assert "nothing was heard of it for 20" in answer.reason
    # Whoever is cut off has stopped as well, before the run can go on.
    lab.good(AWAIT.format('! pgrep -f "[p]rogram.. join" >/dev/null'))
    lab.good(f"sleep {CUT_S - 20}")
    lab.netem("two", "delay 1ms")
    again = lab.guest.run(lab.command("resume", "", f"{FILE}.open", "--overwrite"), SECONDS)
    assert again.code == 0, again
    done = api.open(lab.fetch("run.teijo", tmp_path)).record
    assert done.run.ending == "done"
    assert [each.answer for each in done.steps if isinstance(each.answer, Gap)] == [answer]
