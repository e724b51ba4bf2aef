"""One article's SQLIO on three arrays: disks, an NVMe drive, and tiers of both; 64 cells.

The article does not say threads, depth, buffering or seconds; here they are one thread with 64
outstanding in sequence, 8 × 8 at random, -BN, and a second of virtual time. `articles.py` writes
the reports and the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from desk import Desk, Held, Result

ARTICLE = "SQLIO on disks, NVMe and tiers"
SCALE = 96
"""300 TB small enough to be filled in a second: all sizes are divided by it. At ten times this the
file is so short that a sequence begins anew twenty times a second, and the seeks back are seen."""
CASES: Mapping[str, str] = {
    "disks": f"raid50-36?scale={SCALE}",
    "nvme": f"nvme-2tb?scale={SCALE}",
    "tier": f"windows-tier?scale={SCALE}",
}
BLOCKS = ("4KiB", "64KiB", "256KiB", "1MiB")
PATTERNS = ("read random", "read sequential", "write random", "write sequential")
SMALL_SET, LARGE_SET = 256 * 10**9, 8 * 10**12
_ORDER = {"random": ("8", "8"), "sequential": ("1", "64")}
"""Threads and the depth of each: 64 outstanding either way."""


@dataclass(frozen=True)
class Place:
    """A cell of the matrix: the array, the pattern, the block size, and how large the file is."""

    case: str
    pattern: str
    block: str
    size_bytes: int = SMALL_SET


def places() -> tuple[Place, ...]:
    """Return the 64 cells: 48 in 256 GB, and 16 of the tiers in 8 TB."""
    small = [
        Place(case, pattern, block) for case in CASES for pattern in PATTERNS for block in BLOCKS
    ]
    large = [Place("tier", pattern, block, LARGE_SET) for pattern in PATTERNS for block in BLOCKS]
    return (*small, *large)


def measure(desk: Desk, place: Place) -> float:
    """Return a cell's MBs/sec as SQLIO prints it, from a run of its own on a fresh array."""
    kind, order = place.pattern.split()
    threads, depth = _ORDER[order]
    size = place.size_bytes // SCALE // 2**20
    whole = "8TB" if place.size_bytes == LARGE_SET else "256GB"
    run = desk.run(
        f"sqlio-{place.case}-{whole}-{kind}-{order}-{place.block}",
        "classic.sqlio",
        CASES[place.case],
        kind=kind,
        factor=order,
        block=place.block,
        depth=depth,
        pools=f"{threads}@0+{size}MiB",
        prepare="random",
        seconds="1s",
    )
    found = {each.name: each.value for each in run.findings.scalars}
    return found["MBs/sec"] or 0.0


def matrix(desk: Desk) -> dict[Place, float]:
    """Return MBs/sec of every cell."""
    return {place: measure(desk, place) for place in places()}


def arrays(desk: Desk) -> list[Result]:
    """Hold the matrix to what the article says.

    The rates of the disks and of the array are fits, and the preset of the tiers was held to what
    the article says of them. What follows at each block and order is a prediction.
    """
    return verdicts(matrix(desk))


def verdicts(rates: Mapping[Place, float]) -> list[Result]:
    """Hold MiB/s of the cells to what the article says."""

    def at(case: str, pattern: str, block: str, size: int = SMALL_SET) -> float:
        return rates[Place(case, pattern, block, size)]

    large, nvme, tier = (at(case, "read sequential", "1MiB") * 2**20 / 1e6 for case in CASES)
    alike = tuple(
        at("tier", pattern, block) / at("nvme", pattern, block)
        for pattern in PATTERNS
        for block in BLOCKS
    )
    spilled = at("tier", "read random", "4KiB", LARGE_SET)
    falls = at("tier", "read random", "4KiB") / spilled
    by_disks = spilled / at("disks", "read random", "4KiB")
    return [
        Result(
            article=ARTICLE,
            said="disks above 5 GB/s at large blocks in sequence",
            found="{} MB/s (1 MiB reads)",
            held=(Held(values=(large,), above=5_000, digits=0),),
            rests="fit",
        ),
        Result(
            article=ARTICLE,
            said="and above NVMe and tiers",
            found=f"{nvme:,.0f} and {tier:,.0f} MB/s; the disks {{}} × as much",
            held=(Held(values=(large / nvme, large / tier), above=1),),
            rests="fit",
        ),
        *_small(rates),
        Result(
            article=ARTICLE,
            said="256 GB on tiers as on NVMe alone",
            found="{} × in 16 cells",
            held=(Held(values=alike, least=0.9, most=1.1),),
            rests="fit",
        ),
        Result(
            article=ARTICLE,
            said="8 TB on tiers: small random reads fall greatly",
            found="1/{} of those in 256 GB",
            held=(Held(values=(falls,), above=5, digits=0),),
            rests="fit",
        ),
        Result(
            article=ARTICLE,
            said="(a quarter of 8 TB is on NVMe: at most a third above the disks)",
            found="{} times the disks",
            held=(Held(values=(by_disks,), most=1.34),),
        ),
    ]


def _small(rates: Mapping[Place, float]) -> list[Result]:
    """Hold random blocks of 4 KiB on NVMe and tiers against those on the disks."""
    results = []
    for kind in ("read", "write"):
        small = [rates[Place(case, f"{kind} random", "4KiB")] for case in CASES]
        told = " / ".join(f"{rate:,.0f}" for rate in small)
        results.append(
            Result(
                article=ARTICLE,
                said=f"small random blocks: NVMe and tiers far above the disks ({kind}s)",
                found=f"{told} MiB/s, {{}} × the disks",
                held=(
                    Held(values=tuple(rate / small[0] for rate in small[1:]), above=3, digits=0),
                ),
            )
        )
    return results
