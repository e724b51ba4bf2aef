"""What a hundred who look at one run cost it, and the server: two numbers beside their goals.

A run writes to a file in memory (`--target`) in a process of its own. Pairs of the same run are
made, one that nobody looks at and one that `--viewers` follow as pages do (a stream each, and the
report whenever it is another), the order of each pair turned round. What the run did is in its
file: its IOPS, and the CPU time of its server from /proc. Printed are the median of the pairs'
ratios with its 95 % interval (by order statistics), and the server's share of one core.

    python3 benchmarks/serve_load.py [--pairs 6] [--viewers 100] [--seconds 20] [--target FILE]
"""

import argparse
import http.client
import json
import os
import selectors
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
TICKS: Final = os.sysconf("SC_CLK_TCK")
SLOWER_MOST: Final = 0.01
"""By how much a run may be slower for those who look at it."""
CORE_MOST: Final = 0.10
"""Of one core, for the server."""
SURE: Final = 0.95


@dataclass(frozen=True)
class Watched:
    """One run: its I/Os a second, and the server's share of a core while it went on."""

    iops: float
    core: float
    told_bytes: int


class Viewers:
    """So many pages of one run: each holds a stream and fetches the reports that it tells of."""

    def __init__(self, port: int, key: str, count: int) -> None:
        """Open all streams."""
        self.told_bytes = 0
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


def run(target: str, seconds: int, viewers: int) -> Watched:
    """Measure one run; the server is there with nobody too."""
    with (
        tempfile.TemporaryDirectory(prefix="teijo-load-") as name,
        server(Path(name)) as (port, pid),
    ):
        words = ("workload", target, "rw=randwrite", "bs=4KiB", "qd=4", f"seconds={seconds}")
        child = subprocess.Popen(
            [*PROGRAM, "run", *words, "--report", "none", "-o", f"{name}/load"],
            env=os.environ | {"PYTHONPATH": str(HERE)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (rows := json.loads(fetched(port, "/api/v1/runs"))["runs"]):
            time.sleep(0.1)
        began_s, before_s = time.monotonic(), cpu_s(pid)
        watching = Viewers(port, rows[0]["id"], viewers) if viewers else None
        child.wait()
        core = (cpu_s(pid) - before_s) / (time.monotonic() - began_s)
        if watching is not None:
            watching.close()
        state = json.loads(fetched(port, f"/api/v1/runs/{rows[0]['id']}"))
        points = state["course"]["points"]
        iops = sum(each[1] * each[2] for each in points) / sum(each[1] for each in points)
        return Watched(iops, core, watching.told_bytes if watching else 0)


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
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--target", default="/dev/shm/teijo-load.img?size=64MiB")
    asked = parser.parse_args()
    ratios, cores, alone = [], [], []
    for number in range(asked.pairs):
        order = (0, asked.viewers) if number % 2 else (asked.viewers, 0)
        found = {count: run(asked.target, asked.seconds, count) for count in order}
        quiet, seen = found[0], found[asked.viewers]
        ratios.append(seen.iops / quiet.iops)
        cores.append(seen.core)
        alone.append(quiet.core)
        print(f"pair {number + 1}: {quiet.iops:,.0f} IOPS alone, {seen.iops:,.0f} with "
              f"{asked.viewers} viewers, server {seen.core:.1%} of a core, "
              f"{seen.told_bytes / 1e6:.1f} MB told", flush=True)  # fmt: skip
    low, high = interval(ratios)
    slower, core = 1 - statistics.median(ratios), statistics.median(cores)
    words = (judged(1 - high, 1 - low, SLOWER_MOST), judged(min(cores), max(cores), CORE_MOST))
    print(f"the run is slower by {slower:.2%} (by {1 - high:.2%} to {1 - low:.2%}), goal at most "
          f"{SLOWER_MOST:.0%}: {words[0]}")  # fmt: skip
    print(f"the server takes {core:.1%} of a core ({statistics.median(alone):.1%} alone), "
          f"goal at most {CORE_MOST:.0%}: {words[1]}; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    return 1 if "MISSED" in words else 0


if __name__ == "__main__":
    sys.exit(main())
