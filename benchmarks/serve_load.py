"""What a hundred who look at one run cost it, and the server: two numbers beside their goals.

One run writes to a file in memory (`--target`) in a process of its own, and readers come and go: a
pair is a spell (`--spell` seconds) with nobody and one with `--viewers` that follow the run as
pages do (a stream each, and the report whenever it is another), in an order that is drawn. So what
a host does in a minute falls on both, where two runs of a minute each differ by more than the goal.
What the run did in each second is in its file; the first seconds of a spell (`SETTLING_S`) are left
out. The CPU time of server and run is from /proc. Printed are the median of the pairs' ratios with
its 95 % interval (by order statistics), and the server's share of one core.

The readers of this benchmark keep to one processor (`--readers-on`), and the run to the others, as
readers on other machines would take nothing of it: their own time is no part of the question. The
server is where the kernel puts it.

    python3 benchmarks/serve_load.py [--pairs 30] [--viewers 100] [--spell 10] [--target FILE]
"""

import argparse
import http.client
import json
import os
import random
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent.parent / "python"
PROGRAM: Final = (sys.executable, "-c", "from teijo.cli import program; program()")
QUIETLY: Final = ("--report", "none", "--progress", "none")
TICKS: Final = os.sysconf("SC_CLK_TCK")
SLOWER_MOST: Final = 0.01
"""By how much a run may be slower for those who look at it."""
CORE_MOST: Final = 0.10
"""Of one core, for the server."""
SURE: Final = 0.95
SPARE_S: Final = 60
"""What the run goes on for after the last pair, at most: it is stopped then."""


SETTLING_S: Final = 2.0
"""Of each spell, what is not counted: readers come, and a second is told when it is over."""


@dataclass(frozen=True)
class Spell:
    """A part of the run: when it was, in seconds of the measurement, and what was spent in it."""

    viewers: int
    begin_s: float
    end_s: float
    server_core: float
    run_cpu_s: float
    told_bytes: int

    def rate(self, points: Sequence[Sequence[float]]) -> float:
        """Return the run's IOPS in it, of seconds that lie in it whole."""
        within = [
            each
            for each in points
            if each[0] >= self.begin_s + SETTLING_S and each[0] + each[1] <= self.end_s
        ]
        return sum(each[1] * each[2] for each in within) / sum(each[1] for each in within)


class Viewers:
    """So many pages of one run: each holds a stream and fetches the reports that it tells of."""

    def __init__(self, port: int, key: str, count: int, processor: int) -> None:
        """Open all streams."""
        self.told_bytes = 0
        self._processor = processor
        self._port, self._key = port, key
        self._selector = selectors.DefaultSelector()
        self._over = threading.Event()
        self._sockets = [self._opened() for _ in range(count)]
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def close(self) -> None:
        """Close all streams."""
        self._over.set()
        self._thread.join()
        for each in self._sockets:
            each.close()

    def _opened(self) -> socket.socket:
        stream = socket.create_connection(("127.0.0.1", self._port))
        asked = f"GET /runs/{self._key}/events HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n\r\n"
        stream.sendall(asked.encode())
        self._selector.register(stream, selectors.EVENT_READ)
        return stream

    def _read(self) -> None:
        os.sched_setaffinity(threading.get_native_id(), {self._processor})
        while not self._over.is_set():
            reports = 0
            for key, _ in self._selector.select(0.2):
                stream = key.fileobj
                assert isinstance(stream, socket.socket)
                text = stream.recv(1 << 20)
                self.told_bytes += len(text)
                reports += text.count(b"event: report")
                if not text:
                    self._selector.unregister(stream)
            for _ in range(reports):
                self.told_bytes += len(fetched(self._port, f"/runs/{self._key}/report"))


def fetched(port: int, path: str) -> bytes:
    """Return what the server answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, int]]:
    """Serve a folder, and give its port and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    child = subprocess.Popen(
        [*PROGRAM, "serve", str(folder), "--port", str(port)],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        stdout=subprocess.DEVNULL,
    )
    try:
        while child.poll() is None:
            try:
                fetched(port, "/")
                break
            except OSError:
                time.sleep(0.05)
        yield port, child.pid
    finally:
        child.terminate()
        child.wait()


def cpu_s(pid: int) -> float:
    """Return the CPU seconds a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def state_of(port: int, key: str) -> dict:
    """Return what the API says of the run."""
    return json.loads(fetched(port, f"/api/v1/runs/{key}"))


def begun(port: int, child: subprocess.Popen[bytes]) -> tuple[str, float]:
    """Wait for the run, and return its id and the moment its measurement began, to a second."""
    while not (rows := json.loads(fetched(port, "/api/v1/runs"))["runs"]):
        if child.poll() is not None:
            raise SystemExit(f"the run has ended before it began (exit code {child.returncode})")
        time.sleep(0.1)
    key = rows[0]["id"]
    while not (points := state_of(port, key)["course"]["points"]):
        time.sleep(0.1)
    return key, time.monotonic() - (points[-1][0] + points[-1][1])


def run(asked: argparse.Namespace) -> list[tuple[Spell, Spell, float]]:
    """Measure: pairs of a spell with nobody and one with readers, and the ratio of their rates."""
    draw = random.Random(asked.seed)
    seconds = int(asked.pairs * 2 * (asked.spell + 1)) + SPARE_S
    with (
        tempfile.TemporaryDirectory(prefix="teijo-load-") as name,
        server(Path(name)) as (port, pid),
    ):
        words = ("workload", asked.target, "rw=randwrite", "bs=4KiB", "qd=4", f"seconds={seconds}")
        child = subprocess.Popen(
            [*PROGRAM, "run", *words, *QUIETLY, "-o", f"{name}/load", "--overwrite"],
            env=os.environ | {"PYTHONPATH": str(HERE)},
            stdout=subprocess.DEVNULL,
        )
        others = os.sched_getaffinity(0) - {asked.readers_on}
        os.sched_setaffinity(child.pid, others or {asked.readers_on})
        try:
            key, zero_s = begun(port, child)
            worker = next(iter(children(child.pid)), child.pid)

            def spell(viewers: int) -> Spell:
                watching = Viewers(port, key, viewers, asked.readers_on) if viewers else None
                began_s, server_s, run_s = time.monotonic(), cpu_s(pid), cpu_s(worker)
                time.sleep(asked.spell)
                ended_s = time.monotonic()
                core = (cpu_s(pid) - server_s) / (ended_s - began_s)
                spent_s = cpu_s(worker) - run_s
                if watching is not None:
                    watching.close()
                told = watching.told_bytes if watching else 0
                return Spell(viewers, began_s - zero_s, ended_s - zero_s, core, spent_s, told)

            pairs = []
            for _ in range(asked.pairs):
                order = draw.sample((0, asked.viewers), 2)
                found = {viewers: spell(viewers) for viewers in order}
                pairs.append((found[0], found[asked.viewers]))
            time.sleep(SETTLING_S)
            points = state_of(port, key)["course"]["points"]
        finally:
            child.send_signal(signal.SIGINT)
            child.wait()
    return [(alone, seen, seen.rate(points) / alone.rate(points)) for alone, seen in pairs]


def children(pid: int) -> list[int]:
    """Return the processes that one has begun: `teijo run` is two, and the second measures."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest pair of order statistics that holds the median so surely, or all."""
    ordered, count = sorted(values), len(values)
    for depth in range(count // 2, 0, -1):
        beyond = 2 * sum(comb(count, k) for k in range(depth)) / 2**count
        if beyond <= 1 - SURE:
            return ordered[depth - 1], ordered[-depth]
    return ordered[0], ordered[-1]


def judged(least: float, most: float, goal: float) -> str:
    """Return what an interval says of a goal; one that holds the goal says nothing."""
    if most <= goal:
        return "kept"
    return "MISSED" if least > goal else "cannot be known from these pairs"


def main() -> int:
    """Measure and print; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--spell", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readers-on", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--target", default="/dev/shm/teijo-load.img?size=64MiB")
    asked = parser.parse_args()
    pairs = run(asked)
    for number, (alone, seen, ratio) in enumerate(pairs, start=1):
        print(f"pair {number}: rate with {asked.viewers} viewers {ratio:.4f} of that alone, "
              f"run's CPU time {seen.run_cpu_s / alone.run_cpu_s:.3f}, "
              f"server {seen.server_core:.1%} of a core, "
              f"{seen.told_bytes / 1e6:.1f} MB told")  # fmt: skip
    ratios = [ratio for _, _, ratio in pairs]
    cores = [seen.server_core for _, seen, _ in pairs]
    low, high = interval(ratios)
    words = (judged(1 - high, 1 - low, SLOWER_MOST), judged(*interval(cores), CORE_MOST))
    print(f"the run is slower by {1 - statistics.median(ratios):.2%} (by {1 - high:.2%} to "
          f"{1 - low:.2%}), goal at most {SLOWER_MOST:.0%}: {words[0]}")  # fmt: skip
    quiet = statistics.median(alone.server_core for alone, _, _ in pairs)
    print(f"the server takes {statistics.median(cores):.1%} of a core ({quiet:.1%} alone), "
          f"goal at most {CORE_MOST:.0%}: {words[1]}; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    return 1 if "MISSED" in words else 0


if __name__ == "__main__":
    sys.exit(main())
