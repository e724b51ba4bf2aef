"""An article's server with a disk, an SSD and a card: its Bonnie++ and tiotest, simulated.

It was started with mem=512M. Some runs are made again with less memory for pages, or with data that
does not compress, to see what explains a number that does not come out as there. Bonnie++ has its
own default, a file of twice the memory, and tiotest is `-t 8 -f 128 -b 4096 -r 32768`: not scaled.
"""

from dataclasses import dataclass
from typing import Final

from desk import Desk, Rests, Result

from teijo import units
from teijo.terms.finding import Cell

DEVICES: Final = {"disk": "hdd-7200", "SSD": "intel-330", "ioDrive": "iodrive"}
BONNIE: Final = {"like": "1.97", "size": "1GiB", "ram": "512MiB", "files": "0"}
TIOTEST: Final = {"threads": "8", "size": "128MiB", "block": "4KiB", "random": "32768"}
MEMORY, LESS = "512MiB", "128MiB"
NEAR: Final = 0.25
"""How near each number has to come."""
OVER: Final = 16_384.0
"""Seeks a second from which on Bonnie++ prints "+++++": 8,192 in less than half a second."""


@dataclass(frozen=True)
class Row:
    """A row of the article's table: our phase, its numbers of disk, SSD and card."""

    name: str
    phase: str
    said: tuple[float, float, float]
    rests: Rests = "prediction"
    out: str = ""
    """On which devices it is known not to come near, and why."""
    why: str = ""


BONNIE_ROWS: Final = (
    Row("write per chr", "putc", (1_214, 1_238, 1_221), "fit"),
    Row("write block", "put_block", (101_934, 258_506, 578_389), "fit", "SSD",
        "the simulated SSD compresses, and Bonnie++ writes nearly zeros; random data: below"),
    Row("rewrite", "rewrite", (43_441, 124_805, 260_766), "prediction", "SSD, ioDrive",
        "the SSD compresses; the card's number is not explained"),
    Row("read per chr", "getc", (5_793, 5_963, 5_425), "fit"),
    Row("read block", "get_block", (141_667, 300_527, 824_549), "fit", "SSD",
        "the SSD's 301 MB/s were fitted to one request in flight; readahead reads on meanwhile"),
    Row("random seeks", "seeks", (489, 15_958, OVER), "prediction", "disk, SSD",
        "half the file is in the simulated memory; with less of it: below"),
)  # fmt: skip
TIOTEST_ROWS: Final = (
    Row("seq write", "write", (83.826, 251.427, 535.675), "prediction", "SSD",
        "tiotest writes zeros, and the simulated SSD compresses; random data: below"),
    Row("random write", "rwrite", (4.727, 170.547, 593.659), "fit", "disk",
        "the disk: more of the files stays in the simulated memory; with less of it: below"),
    Row("seq read", "read", (158.834, 712.450, 437.936), "prediction", "disk, SSD, ioDrive",
        "the article's disk and SSD read more here than in Bonnie++, and the SSD more than its "
        "link carries: from memory; the simulated disk seeks between eight readers"),
    Row("random read", "rread", (2.264, 98.142, 120.311), "fit", "disk, SSD, ioDrive",
        "SSD and card were fitted without a page cache, and half the files is in the simulated "
        "one; with less of it: below"),
)  # fmt: skip


def rates(desk: Desk, tool: str, device: str, memory: str, strict: str = "off") -> dict[str, float]:
    """Return what the tool prints of each phase: KiB/s or seeks/s of Bonnie++, MiB/s of tiotest."""
    settings = BONNIE if tool == "bonnie" else TIOTEST
    name = f"server-{tool}-{device}-{memory}{'-strict' if strict == 'on' else ''}"
    target = f"os({DEVICES[device]})?memory={memory}"
    run = desk.run(name, f"classic.{tool}", target, **settings, strict=strict)
    return {dict(cell.labels)["test"]: _printed(tool, cell) for cell in run.findings.cells}


def _printed(tool: str, cell: Cell) -> float:
    rate = cell.iops if dict(cell.labels)["test"] == "seeks" else cell.throughput_mb_s
    assert rate is not None, "it was measured"
    if rate == cell.iops:
        return rate
    return rate * units.MEGA / (units.KIB if tool == "bonnie" else units.MIB)


def _near(found: float, said: float) -> bool:
    return found > OVER if said == OVER else abs(found / said - 1) <= NEAR


def _told(values: list[float], digits: int) -> str:
    return " / ".join("+++++" if value == OVER else f"{value:,.{digits}f}" for value in values)


def table(desk: Desk, tool: str, rows: tuple[Row, ...], unit: str) -> list[Result]:
    """Hold each row of the article's table to runs with all of its memory."""
    found = {device: rates(desk, tool, device, MEMORY) for device in DEVICES}
    results = []
    for row in rows:
        mine = [found[device][row.phase] for device in DEVICES]
        near = zip(DEVICES, map(_near, mine, row.said), strict=True)
        out = [device for device, is_near in near if not is_near]
        of = "/s" if row.phase == "seeks" else unit
        digits = 0 if tool == "bonnie" else 1
        results.append(
            Result(
                article=f"{tool}, mem=512M: disk / SSD / ioDrive",
                said=f"{row.name} {_told(list(row.said), digits)} {of} (each 25 %)",
                found=_told(mine, digits),
                met=not out,
                rests=row.rests,
                why=row.why if ", ".join(out) == row.out else "",
            )
        )
    return results


def explained(desk: Desk) -> list[Result]:
    """Run again with the one thing changed that the rows which are not met are blamed on."""
    said = {row.phase: row.said for row in (*BONNIE_ROWS, *TIOTEST_ROWS)}
    random = {
        phase: rates(desk, tool, "SSD", MEMORY, strict="on")[phase]
        for tool, phase in (("bonnie", "put_block"), ("bonnie", "rewrite"), ("tiotest", "write"))
    }
    less = [rates(desk, "tiotest", device, LESS) for device in DEVICES]
    reads, writes = [each["rread"] for each in less], less[0]["rwrite"]
    seeks = rates(desk, "bonnie", "disk", LESS)["seeks"]
    return [
        Result(
            article="the SSD, with data that does not compress",
            said="block write 258,506 and rewrite 124,805 KB/s, tiotest's write 251.4 MB/s",
            found=f"{random['put_block']:,.0f}, {random['rewrite']:,.0f} and "
            f"{random['write']:.1f} (strict): that drive gained nothing by zeros",
            met=all(_near(value, said[phase][1]) for phase, value in random.items()),
        ),
        Result(
            article=f"the disk, with {LESS} left for pages",
            said="489 seeks/s, random read 2.264 MB/s",
            found=f"{seeks:.0f}, {reads[0]:.2f}: one size of memory explains both",
            met=_near(seeks, said["seeks"][0]) and _near(reads[0], said["rread"][0]),
            rests="fit",
        ),
        Result(
            article=f"all three, with {LESS} left for pages",
            said=f"random read {_told(list(said['rread']), 1)} MB/s, the disk's write 4.7",
            found=f"{_told(reads, 1)}, {writes:.1f}",
            met=all(map(_near, reads, said["rread"])) and _near(writes, said["rwrite"][0]),
            rests="fit",
            why="of the disk's writes; not explained",
        ),
    ]


def server(desk: Desk) -> list[Result]:
    """Run Bonnie++ and tiotest on the three devices."""
    return [
        *table(desk, "bonnie", BONNIE_ROWS, "KB/s"),
        *table(desk, "tiotest", TIOTEST_ROWS, "MB/s"),
        *explained(desk),
    ]
