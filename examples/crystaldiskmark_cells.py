"""Two articles' CrystalDiskMark, cell by cell, on simulated devices: a drive in four states, and
the matrix of a RAID 5 with its caches. `articles.py` writes their reports and the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from desk import Desk, Held, Result, scalars_of, span

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
ARTICLE = "CrystalDiskMark on a RAID 5, 28 cells"
IN_ORDER = "members read on over the parity, so a large I/O in order is as fast with any chunk"


@dataclass(frozen=True)
class Cell:
    """One run of CrystalDiskMark: its scores by row and column."""

    scores: Mapping[str, float]

    def at(self, row: str, column: str) -> float:
        """Return a score in MB/s."""
        return self.scores[f"{row} {column}, score"]


Matrix = Mapping[tuple[str, str], Cell]
"""The 28 cells, by chunk and mode."""


def _cell(desk: Desk, name: str, target: str, **settings: str) -> Cell:
    return Cell(scalars_of(desk.run(name, "classic.crystaldiskmark", target, **settings)))


def four_states(desk: Desk) -> list[Result]:
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
        for row, column in _places((SEQ, RND, RND_Q32))
    ]
    by_use = [
        cells["80", data].at(row, column) / cells["0", data].at(row, column)
        for data in ("random", "0fill")
        for row, column in _places((SEQ, RND, RND_Q32))
    ]
    gaps = {}
    for name in ("sp900", "intel-530"):
        random, zeros = (
            _cell(desk, f"{name}-crystaldiskmark-{data}", name, like="5", data=data)
            for data in ("random", "0fill")
        )
        gaps[name] = zeros.at(SEQ_Q32, "write") / random.at(SEQ_Q32, "write")
    return [
        Result(
            article="CrystalDiskMark on an S3700",
            said="four pictures: 0 and 160 GB used, random and 0Fill",
            found=f"0Fill by random {span(by_fill)}; 160 GB by 0 {span(by_use)}",
            why="the article's numbers are pictures",
        ),
        Result(
            article="CrystalDiskMark and 0Fill",
            said="sp900: a large gap between random data and 0Fill",
            found="0Fill writes {} × as fast (SEQ Q32T1)",
            held=(Held(values=(gaps["sp900"],), above=1.5, digits=1),),
        ),
        Result(
            article="CrystalDiskMark and 0Fill",
            said="(intel-530, whose controller compresses too)",
            found=f"0Fill writes {gaps['intel-530']:.1f} × as fast (SEQ Q32T1)",
            why="the article says that it compresses, and not how much that is",
        ),
    ]


def array_matrix(desk: Desk) -> list[Result]:
    """Run CrystalDiskMark 5 on each of the 28 cells: stripe × (cache and flush, or SSD cache)."""
    cells = {
        (chunk, mode): _cell(
            desk, _name(chunk, mode), target.format(chunk=chunk), shuffle="1", **SHORT
        )
        for chunk in CHUNKS
        for mode, target in TARGETS.items()
    }
    single = _cell(desk, "hdd-crystaldiskmark", "hdd-7200?write_cache=0", **SHORT)
    return [*_flush(cells), *_stripe(cells), *_one_disk(cells, single), *_caches(cells)]


def _flush(cells: Matrix) -> list[Result]:
    noise = [
        cells[chunk, f"{cache}, flush on"].at(*place)
        / cells[chunk, f"{cache}, flush off"].at(*place)
        for chunk in CHUNKS
        for cache in ("off", "wt")
        for place in _places(ROWS)
    ]
    return [
        Result(
            article=ARTICLE,
            said="flushing on or off makes no significant difference",
            found=f"{span(noise)} between two seeds of the disks",
            why="CrystalDiskMark sends no flush, so on and off are one test made twice: what "
            "differs is noise, and of flushes it tells nothing",
        )
    ]


def _stripe(cells: Matrix) -> list[Result]:
    """Hold the largest chunk against the smallest, under both seeds."""
    gains = {
        column: tuple(
            cells["128KiB", mode].at(row, column) / cells["16KiB", mode].at(row, column)
            for mode in ("off, flush on", "off, flush off")
            for row in ROWS
        )
        for column in ("read", "write")
    }
    return [
        Result(
            article=ARTICLE,
            said="a larger stripe is better",
            found="128 KiB by 16 KiB: reads {} ×, writes {} ×",
            held=tuple(Held(values=each, above=1) for each in gains.values()),
            why="an I/O of 4 KiB is on one disk whatever the chunk; " + IN_ORDER,
        )
    ]


def _one_disk(cells: Matrix, single: Cell) -> list[Result]:
    """Hold the array without a cache against one disk, whose write cache is off as theirs."""

    def gains(column: str, *rows: str) -> tuple[float, ...]:
        return tuple(
            cells[chunk, "off, flush on"].at(row, column) / single.at(row, column)
            for chunk in CHUNKS
            for row in rows
        )

    faster = "reads are far faster than of one disk"
    degraded = "writes without a cache are severely degraded"
    return [
        Result(
            article=ARTICLE,
            said=faster,
            found="{} × one disk, 32 in flight",
            held=(Held(values=gains("read", SEQ_Q32, RND_Q32), above=1.5),),
        ),
        Result(
            article=ARTICLE,
            said=f"{faster}, one in flight",
            found="1 MiB {} ×, 4 KiB {} × one disk",
            held=(
                Held(values=gains("read", SEQ), above=1.5),
                Held(values=gains("read", RND), above=1.5),
            ),
            why="one I/O of 4 KiB is on one disk",
        ),
        Result(
            article=ARTICLE,
            said="and below four times",
            found="{} × one disk, all reads",
            held=(Held(values=gains("read", *ROWS), below=4),),
        ),
        Result(
            article=ARTICLE,
            said=degraded,
            found="{} × one disk (4 KiB, one in flight)",
            held=(Held(values=gains("write", RND), below=0.5),),
        ),
        Result(
            article=ARTICLE,
            said=f"{degraded}, others",
            found="{} × one disk (4 KiB 32 in flight, 128 KiB, 1 MiB)",
            held=(Held(values=gains("write", RND_Q32, SEQ_Q32, SEQ), below=0.5),),
            why="four disks share what such a write costs, and the one disk has no write cache "
            "here either; what the article held them against is a picture",
        ),
    ]


def _caches(cells: Matrix) -> list[Result]:
    """Hold write-back against no cache, and an SSD cache (maximised) against write-back."""

    def gains(mode: str, base: str, column: str, *rows: str) -> tuple[float, ...]:
        return tuple(
            cells[chunk, mode].at(row, column) / cells[chunk, base].at(row, column)
            for chunk in CHUNKS
            for row in rows
        )

    def ssd(column: str, *rows: str) -> tuple[float, ...]:
        return gains("maximised", "wb, flush off", column, *rows)

    better = "an SSD cache is better than write-back"
    slower = (
        "the simulated SSD reads 250 MB/s at most, less than four disks together, and "
        "write-back answers from memory what is not yet on the disks"
    )
    return [
        Result(
            article=ARTICLE,
            said="write-back gains dramatically",
            found="{} × off at 4 KiB, {} × at larger writes",
            held=tuple(
                Held(
                    values=gains("wb, flush off", "off, flush on", "write", *rows),
                    above=10,
                    digits=0,
                )
                for rows in ((RND, RND_Q32), (SEQ, SEQ_Q32))
            ),
        ),
        Result(
            article=ARTICLE,
            said=f"{better}: 4 KiB reads",
            found="{} × (1 and 32 in flight)",
            held=(Held(values=ssd("read", RND, RND_Q32), above=1),),
        ),
        Result(
            article=ARTICLE,
            said=f"{better}: 4 KiB writes",
            found="{} × with 1, {} × with 32 in flight",
            held=tuple(Held(values=ssd("write", row), above=1, digits=3) for row in (RND, RND_Q32)),
            why="the simulated write-back cache takes a write at the pace of memory, which no SSD "
            "does; how long the article's driver took is not told",
        ),
        Result(
            article=ARTICLE,
            said=f"{better}: 1 MiB reads in sequence",
            found="{} × (one in flight)",
            held=(Held(values=ssd("read", SEQ), above=1),),
            why=slower,
        ),
        Result(
            article=ARTICLE,
            said=f"{better}: 128 KiB reads in sequence",
            found="{} × (32 in flight)",
            held=(Held(values=ssd("read", SEQ_Q32), above=1),),
            why=slower,
        ),
        Result(
            article=ARTICLE,
            said="but not at sequential writes",
            found="{} × of write-back",
            held=(Held(values=ssd("write", SEQ, SEQ_Q32), below=1, digits=3),),
        ),
    ]


def _name(chunk: str, mode: str) -> str:
    return f"raid5-crystaldiskmark-{chunk}-{mode.replace(', ', '-').replace(' ', '-')}"


def _places(rows: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for row in rows:
        yield row, "read"
        yield row, "write"
