"""An article's server with a disk, an SSD and a card: its Bonnie++ and tiotest, simulated.

It was started with mem=512M. Some runs are made again with less memory for pages, or on a drive
that does not compress, to see what explains a number that does not come out as there. Bonnie++ has
its own default, a file of twice the memory, and tiotest is `-t 8 -f 128 -b 4096 -r 32768`: not
scaled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from desk import CARD, Desk, Held, Result, near

from teijo import units
from teijo.terms.finding import Cell

DEVICES: Final = {"disk": "hdd-7200", "SSD": "intel-330", "ioDrive": CARD}
PLAIN: Final = "SSD that does not compress"
_TARGETS: Final = {**DEVICES, PLAIN: "intel-330?compression=off"}
BONNIE: Final = {"like": "1.97", "size": "1GiB", "ram": "512MiB", "files": "0"}
TIOTEST: Final = {"threads": "8", "size": "128MiB", "block": "4KiB", "random": "32768"}
MEMORY, LESS = "512MiB", "128MiB"
NEAR: Final = 25.0
"""How near each number has to come, in percent."""
OVER: Final = 16_384.0
"""Seeks a second from which on Bonnie++ prints "+++++": 8,192 in less than half a second."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the article's table: our phase, its numbers of disk, SSD and card."""

    name: str
    phase: str
    said: tuple[float, float, float]
    fits: tuple[str, ...] = ()
    """Of which devices a parameter was made to this number."""
    out: str = ""
    """Which devices are known not to come near, and to which side: "disk below, SSD above"."""
    why: str = ""
    """Why those do not."""


ALL: Final = ("disk", "SSD", "ioDrive")
BONNIE_ROWS: Final = (
    Row(name="write per chr", phase="putc", said=(1_214, 1_238, 1_221), fits=ALL),
    Row(
        name="write block", phase="put_block", said=(101_934, 258_506, 578_389), fits=ALL,
        out="SSD above",
        why="the simulated SSD compresses, and Bonnie++ writes nearly zeros; one that does not "
        "compress: below",
    ),
    Row(
        name="rewrite", phase="rewrite", said=(43_441, 124_805, 260_766),
        out="SSD above, ioDrive above",
        why="the SSD compresses (one that does not: below); the card's number is not explained",
    ),
    Row(name="read per chr", phase="getc", said=(5_793, 5_963, 5_425), fits=ALL),
    Row(
        name="read block", phase="get_block", said=(141_667, 300_527, 824_549), fits=ALL,
        out="SSD above",
        why="the SSD's 301 MB/s were fitted to one request in flight; readahead reads on "
        "meanwhile",
    ),
    Row(
        name="random seeks", phase="seeks", said=(489, 15_958, OVER), out="disk above, SSD above",
        why="half the file is in the simulated memory; with less of it: below",
    ),
)  # fmt: skip
TIOTEST_ROWS: Final = (
    Row(
        name="seq write", phase="write", said=(83.826, 251.427, 535.675), fits=("disk",),
        out="SSD above",
        why="tiotest writes zeros, and the simulated SSD compresses; one that does not: below",
    ),
    Row(
        name="random write", phase="rwrite", said=(4.727, 170.547, 593.659),
        fits=("SSD", "ioDrive"), out="disk above",
        why="more of the disk's files stays in the simulated memory; with less of it: below",
    ),
    Row(
        name="seq read", phase="read", said=(158.834, 712.450, 437.936), fits=("disk",),
        out="disk below, SSD below, ioDrive above",
        why="the article's disk and SSD read more here than in Bonnie++, and the SSD more than its "
        "link carries: from memory; the simulated disk seeks between eight readers; the card's "
        "number is not explained",
    ),
    Row(
        name="random read", phase="rread", said=(2.264, 98.142, 120.311),
        fits=("SSD", "ioDrive"), out="disk above, SSD above, ioDrive above",
        why="half the files is in the simulated memory, and SSD and card were fitted without any; "
        "with less of it: below",
    ),
)  # fmt: skip


def rates(desk: Desk, tool: str, device: str, memory: str) -> dict[str, float]:
    """Return what the tool prints of each phase: KiB/s or seeks/s of Bonnie++, MiB/s of tiotest."""
    settings = BONNIE if tool == "bonnie" else TIOTEST
    name = f"server-{tool}-{device.replace(' ', '-')}-{memory}"
    target = f"os({_TARGETS[device]})?memory={memory}"
    run = desk.run(name, f"classic.{tool}", target, **settings)
    return {dict(cell.labels)["test"]: _printed(tool, cell) for cell in run.findings.cells}


def _printed(tool: str, cell: Cell) -> float:
    rate = cell.iops if dict(cell.labels)["test"] == "seeks" else cell.throughput_mb_s
    assert rate is not None, "it was measured"
    if rate == cell.iops:
        return rate
    return rate * units.MEGA / (units.KIB if tool == "bonnie" else units.MIB)


def _held(found: float, said: float, digits: int) -> Held:
    if said == OVER:
        return Held(values=(found,), above=OVER, digits=digits)
    return near(found, said, NEAR, digits)


def _side(found: float, said: float) -> str:
    return "above" if found > said else "below"


def _told(values: Sequence[float], digits: int) -> str:
    return " / ".join("+++++" if value == OVER else f"{value:,.{digits}f}" for value in values)


def table(desk: Desk, tool: str, rows: tuple[Row, ...], unit: str) -> list[Result]:
    """Hold each row of the article's table to runs with all of its memory."""
    found = {device: rates(desk, tool, device, MEMORY) for device in DEVICES}
    digits = 0 if tool == "bonnie" else 1
    results = []
    for row in rows:
        mine = [found[device][row.phase] for device in DEVICES]
        held = [_held(value, said, digits) for value, said in zip(mine, row.said, strict=True)]
        out = [
            f"{device} {_side(value, said)}"
            for device, value, said, each in zip(DEVICES, mine, row.said, held, strict=True)
            if not each.met
        ]
        fits = "" if row.fits == ALL else f" of {', '.join(row.fits)}"
        of = "/s" if row.phase == "seeks" else unit
        results.append(
            Result(
                article=f"{tool}, mem=512M: disk / SSD / ioDrive",
                said=f"{row.name} {_told(row.said, digits)} {of}",
                found="{} / {} / {}",
                held=tuple(held),
                rests=f"fit{fits}" if row.fits else "prediction",
                why=row.why if ", ".join(out) == row.out else "",
            )
        )
    return results


def explained(desk: Desk) -> list[Result]:
    """Run again with the one thing changed that the rows which are not met are blamed on."""
    said = {row.phase: row.said for row in (*BONNIE_ROWS, *TIOTEST_ROWS)}
    return [*_uncompressed(desk, said), *_less_memory(desk, said)]


_Said = Mapping[str, tuple[float, float, float]]


def _uncompressed(desk: Desk, said: _Said) -> list[Result]:
    bonnie, tiotest = (rates(desk, tool, PLAIN, MEMORY) for tool in ("bonnie", "tiotest"))
    return [
        Result(
            article="the SSD, if it did not compress",
            said="block write 258,506 and rewrite 124,805 KB/s",
            found="{} and {}: as if that drive gained nothing by zeros",
            held=tuple(
                near(bonnie[phase], said[phase][1], NEAR, 0) for phase in ("put_block", "rewrite")
            ),
            rests="fit of block",
        ),
        Result(
            article="the SSD, if it did not compress",
            said="tiotest's seq write 251.4 MB/s",
            found="{}",
            held=(near(tiotest["write"], said["write"][1], NEAR, 1),),
        ),
    ]


def _less_memory(desk: Desk, said: _Said) -> list[Result]:
    """Hold what reads at random to runs with less memory; how much less was fitted to the disk."""
    less = {device: rates(desk, "tiotest", device, LESS) for device in DEVICES}
    reads = zip((less[device]["rread"] for device in DEVICES), said["rread"], strict=True)
    return [
        Result(
            article=f"with {LESS} left for pages",
            said=f"tiotest's random read {_told(said['rread'], 1)} MB/s",
            found="{} / {} / {}: one size of memory for all",
            held=tuple(near(found, told, NEAR, 1) for found, told in reads),
            rests="fit",
        ),
        _nearer(desk, ("bonnie", "disk", "seeks"), said["seeks"][0], "fit"),
        _nearer(desk, ("bonnie", "SSD", "seeks"), said["seeks"][1]),
        _nearer(desk, ("tiotest", "disk", "rwrite"), said["rwrite"][0]),
    ]


def _nearer(
    desk: Desk, what: tuple[str, str, str], said: float, rests: str = "prediction"
) -> Result:
    """Hold one number with less memory; where it is too large still, say whether it came nearer."""
    tool, device, phase = what
    less, more = (rates(desk, tool, device, memory)[phase] for memory in (LESS, MEMORY))
    name, digits = ("seeks/s", 0) if phase == "seeks" else ("MB/s written at random", 1)
    return Result(
        article=f"with {LESS} left for pages",
        said=f"the {device}: {said:,.{digits}f} {name}",
        found=f"{{}}, and {more:,.{digits}f} with {MEMORY}",
        held=(near(less, said, NEAR, digits),),
        rests=rests,
        why="nearer than with more memory; the rest is not explained" if said < less < more else "",
    )


def server(desk: Desk) -> list[Result]:
    """Run Bonnie++ and tiotest on the three devices."""
    return [
        *table(desk, "bonnie", BONNIE_ROWS, "KB/s"),
        *table(desk, "tiotest", TIOTEST_ROWS, "MB/s"),
        *explained(desk),
    ]
