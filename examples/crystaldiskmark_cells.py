"""Two articles' CrystalDiskMark, cell by cell, on simulated devices: a drive in four states, and
the matrix of a RAID 5 with its caches. `articles.py` writes their reports and the table.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from teijo import api

Row = tuple[str, str, str, bool]
"""An article, what it said, what was found, and whether that is within it."""
CHUNKS = ("16KiB", "32KiB", "64KiB", "128KiB")
DISKS = "raid5(4×hdd-7200?write_cache=0)?chunk={chunk}"
WRITE_BACK = f"cache({DISKS})?size=26GB&start_percent=0&drain_mb_per_second=52"
ISRT = f"ssd-cache(sp900, {DISKS})?"
TARGETS: Mapping[str, str] = {
    "off, flush on": DISKS,
    "off, flush off": DISKS + "&seed=2",
    "wt, flush on": f"cache({DISKS})?mode=write-through&size=26GB",
    "wt, flush off": f"cache({DISKS})?mode=write-through&size=26GB&seed=2",
    "wb, flush off": WRITE_BACK,
    "enhanced": ISRT + "mode=write-through",
    "maximised": ISRT + "mode=write-back&dirty_limit=27GB&drain_size=64KiB&drain_in_flight=4",
}
"""The cells of one stripe. CrystalDiskMark sends no flush, so whether flushes reach the disks makes
no other stimulus: the two are one target under two seeds, and what differs between them is noise.
"""
SEQ_Q32, RND_Q32, SEQ, RND = (
    "SEQ 128 KiB Q32T1",
    "RND 4 KiB Q32T1",
    "SEQ 1 MiB Q1T1",
    "RND 4 KiB Q1T1",
)
ROWS = (SEQ_Q32, RND_Q32, SEQ, RND)
SHORT = {"like": "5", "size": "256MiB", "measure": "1s", "interval": "0s"}
"""Five passes of a second; the article's have five."""


class Desk(Protocol):
    """Where runs and reports go."""

    def run(self, name: str, method: str, target: str, **settings: str) -> api.Run:
        """Return a run, measured unless it is there already, and write its report."""
        ...


@dataclass(frozen=True)
class Cell:
    """One run of CrystalDiskMark: its scores by row and column."""

    scores: Mapping[str, float]

    def at(self, row: str, column: str) -> float:
        """Return a score in MB/s."""
        return self.scores[f"{row} {column}, score"]


def _cell(desk: Desk, name: str, target: str, **settings: str) -> Cell:
    run = desk.run(name, "classic.crystaldiskmark", target, **settings)
    scalars = run.findings.scalars
    return Cell({each.name: each.value for each in scalars if each.value is not None})


def four_states(desk: Desk) -> list[Row]:
    """Run CrystalDiskMark on an S3700 of 200 GB, empty and with 160 GB used, random and 0Fill; and
    on the two drives with a controller that compresses.
    """
    cells = {
        (used, data): _cell(
            desk, f"s3700-crystaldiskmark-{used}-{data}", "s3700", like="3", used=used, data=data
        )
        for used in ("0", "80")
        for data in ("random", "0fill")
    }
    by_fill = [
        cells[used, "0fill"].at(row, column) / cells[used, "random"].at(row, column)
        for used in ("0", "80")
        for row, column in _places(("SEQ 1 MiB Q1T1", RND, RND_Q32))
    ]
    by_use = [
        cells["80", data].at(row, column) / cells["0", data].at(row, column)
        for data in ("random", "0fill")
        for row, column in _places(("SEQ 1 MiB Q1T1", RND, RND_Q32))
    ]
    rows: list[Row] = [
        (
            "CrystalDiskMark on an S3700",
            "four pictures: 0 and 160 GB used, random and 0Fill",
            f"0Fill by random {_span(by_fill)}; 160 GB by 0 {_span(by_use)} (a prediction)",
            0.98 < min(by_fill) <= max(by_fill) < 1.02,
        )
    ]
    for name in ("sp900", "intel-530"):
        random, zeros = (
            _cell(desk, f"{name}-crystaldiskmark-{data}", name, like="5", data=data)
            for data in ("random", "0fill")
        )
        gap = zeros.at(SEQ_Q32, "write") / random.at(SEQ_Q32, "write")
        rows.append(
            (
                "CrystalDiskMark and 0Fill",
                f"{name}: a large gap between random data and 0Fill",
                f"0Fill writes {gap:.1f} × as fast (SEQ Q32T1)",
                gap > 1.5,
            )
        )
    return rows


def array_matrix(desk: Desk) -> list[Row]:
    """Run CrystalDiskMark 5 on each of the 28 cells: stripe × (cache and flush, or SSD cache)."""
    cells = {
        (chunk, mode): _cell(
            desk, _name(chunk, mode), target.format(chunk=chunk), shuffle="1", **SHORT
        )
        for chunk in CHUNKS
        for mode, target in TARGETS.items()
    }
    single = _cell(desk, "hdd-crystaldiskmark", "hdd-7200?write_cache=0", **SHORT)
    flushes = [
        cells[chunk, f"{cache}, flush on"].at(*place)
        / cells[chunk, f"{cache}, flush off"].at(*place)
        for chunk in CHUNKS
        for cache in ("off", "wt")
        for place in _places(ROWS)
    ]
    off = {chunk: cells[chunk, "off, flush on"] for chunk in CHUNKS}
    back = {chunk: cells[chunk, "wb, flush off"] for chunk in CHUNKS}
    stripes = off["128KiB"].at(SEQ, "read") / off["16KiB"].at(SEQ, "read")
    reads = [off["128KiB"].at(row, "read") / single.at(row, "read") for row in ROWS]
    writes = [off[chunk].at(RND, "write") / single.at(RND, "write") for chunk in CHUNKS]
    gains = [back[chunk].at(RND, "write") / off[chunk].at(RND, "write") for chunk in CHUNKS]
    best = {chunk: cells[chunk, "maximised"] for chunk in CHUNKS}
    small = [best[chunk].at(RND, "read") / back[chunk].at(RND, "read") for chunk in CHUNKS]
    small_writes = [best[chunk].at(RND, "write") / back[chunk].at(RND, "write") for chunk in CHUNKS]
    large = [best[chunk].at(SEQ, "write") / back[chunk].at(SEQ, "write") for chunk in CHUNKS]
    article = "CrystalDiskMark on a RAID 5, 28 cells"
    return [
        (
            article,
            "flushing on or off makes no significant difference",
            f"{_span(flushes)}; no flush is sent, so this is the noise",
            0.95 < _geometric(flushes) < 1.05,
        ),
        (article, "a larger stripe is better", f"{stripes:.2f} × (1 MiB reads)", stripes > 1.2),
        (
            article,
            "reads are far faster than of one disk, and below four times",
            f"{_span(reads)} × one disk",
            1.2 < max(reads) < 4.2,
        ),
        (
            article,
            "writes without a cache are severely degraded",
            f"{_span(writes)} × one disk (4 KiB)",
            max(writes) < 0.6,
        ),
        (
            article,
            "write-back gains dramatically",
            f"{_span(gains, 0)} × off (4 KiB)",
            min(gains) > 20,
        ),
        (
            article,
            "an SSD cache is better than write-back, above all at 4 KiB; not at sequential writes",
            f"4 KiB reads {_span(small)} ×, sequential writes {_span(large)} ×; but 4 KiB writes "
            f"{_span(small_writes)} × of a cache in RAM that costs nothing",
            min(small) > 1 and max(large) < 1,
        ),
    ]


def _name(chunk: str, mode: str) -> str:
    return f"raid5-crystaldiskmark-{chunk}-{mode.replace(', ', '-').replace(' ', '-')}"


def _places(rows: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for row in rows:
        yield row, "read"
        yield row, "write"


def _geometric(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _span(values: list[float], digits: int = 2) -> str:
    return f"{min(values):,.{digits}f} to {max(values):,.{digits}f}"
