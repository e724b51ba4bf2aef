"""How long the list of `teijo serve` takes with many run files: cold, while it reads, and warm.

    python benchmarks/serve_list.py [--files 10000] [--cold 500] [--times 30] [--folder DIR]

The run files are names of a few simulated runs (hard links), so that they take no room. Cold is a
folder of some of them without an index: how long until all is read, each name by itself, and how
long the page takes meanwhile. Warm is a server with all of them that is started anew with the index
there, for which each run is read once: its first page, and the least, the median and the longest of
many of each kind. Times in ms as a client on this machine waits, all of the answer read; on a
machine that is shared the least says most. A server is a process of its own.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from teijo import api
from teijo.api import run_files

RUNS: Final = 5
"""Different runs that the names are of."""
SETTINGS: Final = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
PAGES: Final = {
    "the list": "/",
    "a search": "/?q=name-0099",
    "by device": "/?sort=device",
    "the last page": "/?page=200",
    "a menu and days": "/?ending=done&since=2020-01-01&until=2100-01-01",
    "as JSON": "/api/v1/runs",
}
SERVER: Final = "from teijo.cli import program; program()"


def made(runs: Path) -> None:
    """Make the runs that the names are of."""
    runs.mkdir()
    for number in range(RUNS):
        api.run("quick", "sim:mlc-a", output=runs / str(number), settings=SETTINGS, seed=number,
                group={"campaign": f"c{number % 2}", "host": f"h{number}"})  # fmt: skip


def filled(folder: Path, runs: Path, files: int) -> Path:
    """Return a folder with so many names of run files."""
    folder.mkdir()
    for number in range(files):
        os.link(runs / f"{number % RUNS}.teijo", folder / f"name-{number:05}.teijo")
    return folder


def indexed(folder: Path) -> None:
    """Make the index of a folder, each run read once whatever its names."""
    looks: dict[int, run_files.Look] = {}

    def look(path: Path, _: object = None) -> run_files.Look:
        inode = path.stat().st_ino
        if inode not in looks:
            looks[inode] = read(path)
        return looks[inode]

    read, run_files.look = run_files.look, look
    began_s = time.perf_counter()
    shelf = api.Shelf(folder)
    list(shelf.refresh())
    shelf.close()
    run_files.look = read
    print(f"the index made in {time.perf_counter() - began_s:.1f} s")


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve a folder by a process of its own, and give its address."""
    command = [sys.executable, "-c", SERVER, "serve", str(folder), "--port", "0", "--lang", "en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = urlsplit(server.stdout.readline().split(": ", 1)[1].strip())
        try:
            yield str(address.hostname), int(address.port or 0)
        finally:
            server.terminate()


def asked(place: tuple[str, int], path: str) -> tuple[float, bytes]:
    """Return how long an answer takes in ms, and what it is."""
    began_s = time.perf_counter()
    connection = http.client.HTTPConnection(*place, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == http.client.OK, body
    return (time.perf_counter() - began_s) * 1000, body


def cold(folder: Path, files: int) -> None:
    """Print how long the first reading takes, and the page meanwhile."""
    began_s = time.perf_counter()
    waits = []
    with served(folder) as place:
        while True:
            waits.append(asked(place, "/")[0])
            told = json.loads(asked(place, "/api/v1/runs")[1])
            if told["total"] == files and not told["reading"]:
                break
            time.sleep(0.2)
    took_s = time.perf_counter() - began_s
    each_ms = took_s / files * 1000
    print(f"cold: all {files} files read after {took_s:.1f} s ({each_ms:.2f} ms each)")
    shown(f"cold: the list while they are read ({len(waits)} times)", waits)


def warm(folder: Path, times: int) -> None:
    """Print how long pages take when all is known."""
    with served(folder) as place:
        first, body = asked(place, "/")
        print(f"warm: the first page {first:.0f} ms, {len(body)} bytes")
        while json.loads(asked(place, "/api/v1/runs")[1])["reading"]:
            time.sleep(0.2)
        for name, path in PAGES.items():
            shown(f"warm: {name}", [asked(place, path)[0] for _ in range(times)])


def shown(name: str, waits: list[float]) -> None:
    """Print some times."""
    least, median, longest = min(waits), statistics.median(waits), max(waits)
    print(f"{name}: least {least:.0f} ms, median {median:.0f} ms, longest {longest:.0f} ms")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--cold", type=int, default=500, help="files of the cold folder")
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--folder", type=Path, help="where the files are made for the while")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as root:
        runs = Path(root) / "runs"
        made(runs)
        cold(filled(Path(root) / "cold", runs, arguments.cold), arguments.cold)
        folder = filled(Path(root) / "warm", runs, arguments.files)
        indexed(folder)
        warm(folder, arguments.times)


if __name__ == "__main__":
    main()
