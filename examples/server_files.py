"""An article's server with a disk, an SSD and a card: what `create` of sql-bench costs where
flushes are honoured and where a device lies about them, simulated, and on ext4 on a loop.

The article's `create` made and dropped 30,000 tables: 34 s on the disk, 1,060 s on the SSD. As file
operations a table is a small file that is made, flushed and deleted.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from teijo import api

Row = tuple[str, str, str, bool]
"""An article, what it said, what was found, and whether that is within it."""
TABLES = {"count": "500", "size": "512B", "fsync": "yes", "passes": "1"}
ARTICLE = "create of sql-bench on disk, SSD and ioDrive"
SAID_MS = {"disk": 34_000 / 30_000, "SSD": 1_060_000 / 30_000, "ioDrive": 1_031_000 / 30_000}
HONEST = {"disk": "hdd-7200", "SSD": "intel-330", "ioDrive": "iodrive"}


class Desk(Protocol):
    """Where runs and reports go."""

    folder: Path

    def run(self, name: str, method: str, target: str, **settings: str) -> api.Run:
        """Return a run, measured unless it is there already, and write its report."""
        ...


def pair_ms(run: api.Run) -> float:
    """Return the ms of a table that is made, flushed and dropped."""
    rates = {dict(cell.labels)["operation"]: cell.iops for cell in run.findings.cells}
    made, gone = rates["create"], rates["delete"]
    assert made, "files were made"
    assert gone, "and deleted"
    return 1e3 / made + 1e3 / gone


def create(desk: Desk) -> list[Row]:
    """Make and drop tables on each device, honest and not."""
    honest = {
        name: pair_ms(desk.run(f"create-{name}", "files", f"os({device})", **TABLES))
        for name, device in HONEST.items()
    }
    liar = "os(faulty(hdd-7200)?flush=ignore)"
    lying = pair_ms(desk.run("create-disk-that-lies", "files", liar, **TABLES))
    bare = "os(hdd-7200)?barriers=no"
    without = pair_ms(desk.run("create-disk-without-barriers", "files", bare, **TABLES))
    listed = ", ".join(f"{name} {ms:.2f}" for name, ms in honest.items())
    rows = [
        (
            ARTICLE,
            f"{SAID_MS['disk']:.1f} ms a table on the disk, {SAID_MS['SSD']:.0f} on the SSD: "
            f"{SAID_MS['SSD'] / SAID_MS['disk']:.0f} times",
            f"where flushes are honoured the disk is the slowest: {listed} ms; no medium "
            "explains the article's order",
            honest["disk"] > max(honest["SSD"], honest["ioDrive"]),
        ),
        (
            ARTICLE,
            f"the disk's {SAID_MS['disk']:.1f} ms a table",
            f"{lying:.2f} ms on a disk that lies about flushes, {without:.2f} without barriers, "
            f"{honest['disk']:.1f} on an honest one: {honest['disk'] / lying:.0f} times",
            lying < SAID_MS["disk"] < honest["disk"] and honest["disk"] / lying > 31,
        ),
    ]
    return rows + real(desk)


@contextmanager
def mounted(image: Path, place: Path, options: str) -> Iterator[Path]:
    """Mount an ext4 of 256 MiB in a file of ours, and take it away again."""
    with image.open("wb") as file:
        file.truncate(256 << 20)
    place.mkdir()
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
        mount = ["mount", "-o", f"loop,{options}", image, place]
        subprocess.run(mount, check=True, capture_output=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True, capture_output=True)
    finally:
        with suppress(OSError):
            place.rmdir()
        image.unlink()


def real(desk: Desk) -> list[Row]:
    """Do the same on a real file system, mounted with and without barriers, where that can be."""
    said = "the same on ext4 on a loop device, barrier=1 and barrier=0"
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        return [(ARTICLE, said, "skipped: needs root and mkfs.ext4", True)]
    found = {}
    for options in ("barrier=1", "barrier=0"):
        image, place = (desk.folder / f"create-{options}{end}" for end in (".img", ".mnt"))
        try:
            with mounted(image, place, options) as folder:
                path = desk.folder / f"create-ext4-{options}.teijo"
                path.unlink(missing_ok=True)
                api.run("files", f"dir:{folder}", output=path, settings=TABLES)
                found[options] = pair_ms(api.open(path))
        except (subprocess.CalledProcessError, OSError) as error:
            return [(ARTICLE, said, f"skipped: {error}", True)]
    with_ms, without_ms = found["barrier=1"], found["barrier=0"]
    # What the host's own disk does with a flush is not known: measured, and held against nothing.
    told = (
        f"{with_ms:.2f} and {without_ms:.2f} ms, {with_ms / without_ms:.1f} times (measured here)"
    )
    return [(ARTICLE, said, told, True)]
