"""What the page of a run of a day costs: time until its charts answer, and memory at both ends.

A run of second by second in virtual time is served from a process of its own and visited with
Chromium, once sealed and once as it goes on (its process is killed when so many seconds are in its
file). Printed are the seconds from the navigation until the charts are drawn, the memory of the
page's renderer (PSS) and of the server (RSS), beside their goals.

    python3 benchmarks/serve_length.py [--rounds 5] [--hours 24]
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright
from serve_load import HERE, PROGRAM, cpu_s, fetched, server

INTERACTIVE_S: Final = 1.0
BROWSER_BYTES: Final = 300e6
SERVER_BYTES: Final = 150e6
KIB: Final = 1024
S_PER_HOUR: Final = 3600
POLL_MS: Final = 10
DRAWN: Final = {
    "grows": "document.querySelectorAll('#course svg').length >= 3",
    "ended": "document.querySelector('#sections .chart svg') !== null",
}
"""When the first charts of a page answer to pointing: those over time, or those of the report."""


def recorded(folder: Path, hours: int, *, grows: bool) -> None:
    """Write the run file of a day, sealed or as its process left it."""
    words = ("workload", "sim:slc-a", "rw=randrw", "bs=4KiB", "qd=1", "rate=20")
    seconds = hours * S_PER_HOUR
    child = subprocess.Popen(
        [*PROGRAM, "run", *words, f"seconds={seconds * (10 if grows else 1)}", "--seed", "1",
         "--report", "none", "-o", str(folder / "day")],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while grows and child.poll() is None and intervals_in(folder / "day.teijo.open") < seconds:
        time.sleep(0.05)
    if grows:
        child.kill()
    child.wait()


def intervals_in(path: Path) -> int:
    """Return how many intervals a growing file holds."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT coalesce(max(number), -1) + 1 FROM interval").fetchone()[0])


def processes() -> Iterator[tuple[int, str]]:
    """Yield every process with its command line."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            yield int(place.name), (place / "cmdline").read_text(errors="replace")
        except OSError:
            continue  # it has ended


def renderer_of(mark: str) -> tuple[int, float]:
    """Return PSS and CPU seconds of the page's own process, the largest of the browser's renderers.

    The others are Chromium's own: its empty page, and one that it has ready.
    """
    found = []
    for pid, command in processes():
        if "--type=renderer" in command and mark in command:
            rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            pss = sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) * KIB
            found.append((pss, cpu_s(pid)))
    return max(found)


def server_bytes(pid: int, name: str) -> int:
    """Return the memory of the server now (VmRSS) or at most so far (VmHWM)."""
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith(name)) * KIB


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """Give a page of a browser that knows nothing yet, and close it: it would go on drawing."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


def visited(page: Page, address: str, condition: str) -> float:
    """Return the seconds from the navigation until a condition holds."""
    began_s = time.monotonic()
    page.goto(address, wait_until="commit")
    while not page.evaluate(condition):
        page.wait_for_timeout(POLL_MS)
    return time.monotonic() - began_s


def measured(kind: str, hours: int, rounds: int) -> bool:
    """Measure one kind of run and print it; whether every goal is kept."""
    mark = f"teijo-length-{os.getpid()}-{kind}"
    with tempfile.TemporaryDirectory(prefix="teijo-") as name:
        recorded(Path(name), hours, grows=kind == "grows")
        with server(Path(name)) as (port, pid), sync_playwright() as play:
            while not (rows := json.loads(fetched(port, "/api/v1/runs"))["runs"]):
                time.sleep(0.1)
            chromium = shutil.which("chromium") or shutil.which("chromium-browser")
            browser = play.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", f"--user-agent={mark}"]
            )
            address = f"http://127.0.0.1:{port}/runs/{rows[0]['id']}"
            with opened(browser) as page:
                first_s = visited(page, address, DRAWN[kind])
                held, busy_s = renderer_of(mark)
            later_s = []
            for _ in range(rounds):
                with opened(browser) as page:
                    later_s.append(visited(page, address, DRAWN[kind]))
            browser.close()
            now, most = server_bytes(pid, "VmRSS"), server_bytes(pid, "VmHWM")
    return told(kind, hours, first_s, later_s, held, busy_s, now, most)


def told(
    kind: str,
    hours: int,
    first_s: float,
    later_s: list[float],
    held: int,
    busy_s: float,
    now: int,
    most: int,
) -> bool:
    """Print the numbers of one kind beside their goals."""
    kept = {
        f"interactive in {statistics.median(later_s):.2f} s (the first after {first_s:.2f} s, "
        f"with the report to make), goal {INTERACTIVE_S:.0f} s": statistics.median(later_s)
        <= INTERACTIVE_S,
        f"browser {held / 1e6:.0f} MB, {busy_s:.1f} s of CPU, goal "
        f"{BROWSER_BYTES / 1e6:.0f} MB": held <= BROWSER_BYTES,
        f"server {now / 1e6:.0f} MB, {most / 1e6:.0f} MB at most, goal "
        f"{SERVER_BYTES / 1e6:.0f} MB": now <= SERVER_BYTES,
    }
    print(f"{hours} h, {kind}, load {os.getloadavg()[0]:.1f}")
    for words, is_kept in kept.items():
        print(f"  {words}: {'kept' if is_kept else 'MISSED'}", flush=True)
    return all(kept.values())


def main() -> int:
    """Measure and print; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hours", type=int, default=24)
    asked = parser.parse_args()
    kept = [measured(kind, asked.hours, asked.rounds) for kind in DRAWN]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
