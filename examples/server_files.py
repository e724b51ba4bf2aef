"""An article's server with a disk, an SSD and a card: what `create` of sql-bench costs where
flushes are honoured and where a device lies about them, simulated, and on ext4 on a loop.

The article's `create` made and dropped 30,000 tables: 34 s on the disk, 1,060 s on the SSD. Here a
table is what servers were seen to ask of the file system for CREATE and DROP, counted with strace;
what each of these operations takes on a device is measured on the simulated one.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from desk import Desk, Result, within_times

from teijo import api, units

FILES: Final = {"count": "500", "size": "512B", "fsync": "yes", "passes": "1"}
"""Small files that are made, flushed and deleted."""
LOG: Final = {
    "kind": "write", "factor": "sequential", "block": "4KiB", "depth": "1",
    "pools": "1@0+64MiB", "seconds": "2s",
}  # fmt: skip
"""Blocks of a log, each through the drive's cache before the next: -BN, SQLIO's default."""
ARTICLE: Final = "create of sql-bench on disk, SSD and ioDrive"
TABLES = 30_000
SAID_MS: Final = {
    "disk": 34_000 / TABLES, "SSD": 1_060_000 / TABLES, "ioDrive": 1_031_000 / TABLES,
}  # fmt: skip
HONEST: Final = {"disk": "hdd-7200", "SSD": "intel-330", "ioDrive": "iodrive"}
LIAR: Final = "faulty(hdd-7200)?flush=ignore"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What CREATE TABLE and DROP TABLE of one table (five columns and a key) ask for together."""

    made: int
    unlinked: int
    new_flushes: int
    """Of files just made, and of directories: the file system commits its journal."""
    log_flushes: int
    """Of a log or a file that was there, written in place."""

    @property
    def flushes(self) -> int:
        """Return how many flushes reach the drive."""
        return self.new_flushes + self.log_flushes


RECIPES: Final[Mapping[str, Recipe]] = {
    # Twice a journal of its own: two flushes of it, one of the database, one of the directory.
    "SQLite 3.40": Recipe(made=2, unlinked=2, new_flushes=4, log_flushes=4),
    # .frm and .ibd; redo log, dictionary, DDL log.
    "MariaDB 10.11": Recipe(made=2, unlinked=3, new_flushes=2, log_flushes=13),
    # Table and index; the index is flushed, and the WAL by each statement.
    "PostgreSQL 15": Recipe(made=2, unlinked=2, new_flushes=1, log_flushes=2),
}
"""With their defaults, durable. The article's server is not told, nor its engine of tables."""
OURS: Final = "MariaDB 10.11"
"""The nearest to MySQL, of which sql-bench is a part."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What the operations of a recipe take on a device, in ms."""

    made: float
    unlinked: float
    new_flush: float
    log_flush: float

    def table(self, recipe: Recipe) -> float:
        """Return the ms of a table that is made and dropped."""
        return (
            recipe.made * self.made
            + recipe.unlinked * self.unlinked
            + recipe.new_flushes * self.new_flush
            + recipe.log_flushes * self.log_flush
        )


def prices(files: api.Run, log: api.Run) -> Prices:
    """Return what the operations took in a run of small files and one of a log."""
    took = {
        dict(cell.labels)["operation"]: (cell.latency_ns_mean or 0) / units.NS_PER_MS
        for cell in files.findings.cells
    }
    (written,) = log.findings.cells
    return Prices(
        made=took["create"],
        unlinked=took["delete"],
        new_flush=took.get("fsync of create", 0.0),
        log_flush=(written.latency_ns_mean or 0) / units.NS_PER_MS,
    )


def _priced(desk: Desk, name: str, device: str) -> Prices:
    return prices(
        desk.run(f"create-{name}", "files", f"os({device})", **FILES),
        desk.run(f"create-log-{name}", "classic.sqlio", device, **LOG),
    )


def _told(values: Iterable[float]) -> str:
    return " / ".join(f"{ms:.{_digits(ms)}f}" for ms in values)


def _digits(ms: float) -> int:
    return 0 if ms >= 10 else 1


TIMES: Final = 3
"""By how much the ms of a table may differ: the article's server and its tables are not told."""


def create(desk: Desk) -> list[Result]:
    """Make and drop tables on each device, honest and not, by the operations of each server."""
    honest = {name: _priced(desk, name, device) for name, device in HONEST.items()}
    lying = _priced(desk, "disk-that-lies", LIAR)
    return [*verdicts(honest, lying), *real(desk)]


def verdicts(honest: Mapping[str, Prices], lying: Prices) -> list[Result]:
    """Hold the ms of a table on each device to the article's, by each server's operations."""
    results = []
    for server, recipe in RECIPES.items():
        took = {name: each.table(recipe) for name, each in honest.items()}
        slowest = took["disk"] == max(took.values())
        results.append(
            Result(
                article=ARTICLE,
                said=f"{_told(SAID_MS.values())} ms a table",
                found=f"{{}} / {{}} / {{}} ms: {server}, {recipe.flushes} flushes, honoured",
                held=tuple(
                    within_times(took[name], said, TIMES, _digits(took[name]))
                    for name, said in SAID_MS.items()
                ),
                why="where flushes are honoured the disk is the slowest, not the quickest"
                if slowest
                else "",
            )
        )
    return [*results, *_liar(honest, lying)]


def _liar(honest: Mapping[str, Prices], lying: Prices) -> list[Result]:
    """Hold a disk that lies about flushes to what the article says of its disk.

    By MariaDB's operations, for the article's server is the one that sql-bench comes with.
    """
    by_disk, by_ssd, by_liar = (
        {server: each.table(recipe) for server, recipe in RECIPES.items()}
        for each in (honest["disk"], honest["SSD"], lying)
    )
    said, factor = SAID_MS["disk"], SAID_MS["SSD"] / SAID_MS["disk"]
    slowed = {server: by_ssd[server] / by_liar[server] for server in RECIPES}
    return [
        Result(
            article=ARTICLE,
            said=f"{said:.1f} ms a table on the disk",
            found=f"{{}} ms ({_others(by_liar, 2)}) on a disk that lies about flushes; "
            f"{by_disk[OURS]:.0f} on an honest one",
            held=(within_times(by_liar[OURS], said, TIMES),),
        ),
        Result(
            article=ARTICLE,
            said=f"the SSD {factor:.0f} times slower than the disk",
            found=f"{{}} times ({_others(slowed, 1)}): an honest SSD beside a disk that lies",
            held=(within_times(slowed[OURS], factor, TIMES, 1),),
            why="the direction is explained; how long a flush took there is not known"
            if min(slowed.values()) > 1
            else "",
        ),
    ]


def _others(found: Mapping[str, float], digits: int) -> str:
    return f"{OURS}; " + ", ".join(
        f"{server} {value:.{digits}f}" for server, value in found.items() if server != OURS
    )


def pair_ms(run: api.Run) -> float:
    """Return the ms of a small file that is made, flushed and deleted."""
    rates = {dict(cell.labels)["operation"]: cell.iops for cell in run.findings.cells}
    made, gone = rates["create"], rates["delete"]
    assert made, "files were made"
    assert gone, "and deleted"
    return 1e3 / made + 1e3 / gone


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


def real(desk: Desk) -> list[Result]:
    """Make small files on a real file system, with and without barriers, where that can be."""
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        return [_measured("nothing: needs root and mkfs.ext4")]
    found = {}
    for options in ("barrier=1", "barrier=0"):
        image, place = (desk.folder / f"create-{options}{end}" for end in (".img", ".mnt"))
        try:
            with mounted(image, place, options) as folder:
                path = desk.folder / f"create-ext4-{options}.teijo"
                path.unlink(missing_ok=True)
                api.run("files", f"dir:{folder}", output=path, settings=FILES)
                found[options] = pair_ms(api.open(path))
        except (subprocess.CalledProcessError, OSError) as error:
            return [_measured(f"nothing: {error}")]
    with_ms, without_ms = found["barrier=1"], found["barrier=0"]
    return [_measured(f"{with_ms:.2f} and {without_ms:.2f} ms, {with_ms / without_ms:.1f} times")]


def _measured(found: str) -> Result:
    return Result(
        article=ARTICLE,
        said="(a small file made, flushed and deleted on ext4 on a loop, barrier=1 and barrier=0)",
        found=found.replace("{", "{{").replace("}", "}}"),
        rests="measured",
        why="what the disk of this host does with a flush is not known",
    )
