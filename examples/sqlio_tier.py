"""The SQLIO matrix of an article on storage tiers: an array of 36 disks, an NVMe drive and the tier
of both, four block sizes in order and at random, read and written; on 256 GB, and the tier on 8 TB.

The article states no threads and no depth: here 8 and 8. What is read is written first (strict):
chunks of a tier that were never written are nowhere, and answered at once.
"""

from typing import Protocol

from teijo import api

Row = tuple[str, str, str, bool]
"""An article, what it said, what was found, and whether that is within it."""
SCALE = 960
"""The 300 TB of the disks, small enough for seconds; sets shrink with them."""
CASES = {"HDD": "raid50-36", "NVMe": "nvme-2tb", "tier": "windows-tier"}
SETS = {"256GB": "256MiB", "8TB": "8GiB"}
BLOCKS = ("4KiB", "64KiB", "256KiB", "1MiB")
PATTERNS = {
    "sequential read": ("read", "sequential"),
    "random read": ("read", "random"),
    "sequential write": ("write", "sequential"),
    "random write": ("write", "random"),
}


class Desk(Protocol):
    """Where runs and reports go."""

    def run(self, name: str, method: str, target: str, **settings: str) -> api.Run:
        """Return a run, measured unless it is there already, and write its report."""
        ...


def rate_of(run: api.Run) -> float:
    """Return the MB/s of a run's only point."""
    rate = run.findings.cells[0].throughput_mb_s
    assert rate is not None, "it was measured"
    return rate


def matrix(desk: Desk) -> dict[tuple[str, str, str, str], float]:
    """Return MB/s by (case, set, pattern, block): 64 cells, each a run on a device made anew."""
    found = {}
    for case, target in CASES.items():
        for size, length in SETS.items():
            if size == "8TB" and case != "tier":
                continue
            for pattern, (kind, factor) in PATTERNS.items():
                for block in BLOCKS:
                    run = desk.run(
                        f"sqlio-{case}-{size}-{pattern.replace(' ', '-')}-{block}",
                        "classic.sqlio", f"{target}?scale={SCALE}",
                        kind=kind, factor=factor, block=block, depth="8",
                        pools=f"8@0+{length}", seconds="300ms", strict="on",
                    )  # fmt: skip
                    found[case, size, pattern, block] = rate_of(run)
    return found


def tier_matrix(desk: Desk) -> list[Row]:
    """Measure the 64 cells and hold them against what the article says in words."""
    rates = matrix(desk)
    article = "SQLIO on disks, NVMe and their tier, 64 cells"

    def ratios(
        one: str, other: str, blocks: tuple[str, ...], patterns: tuple[str, ...]
    ) -> list[float]:
        return [
            rates[one, "256GB", pattern, block] / rates[other, "256GB", pattern, block]
            for pattern in patterns
            for block in blocks
        ]

    patterns_all = tuple(PATTERNS)
    as_nvme = ratios("tier", "NVMe", BLOCKS, patterns_all)
    small = ratios("NVMe", "HDD", ("4KiB",), ("random read", "random write"))
    large = ratios("HDD", "NVMe", ("1MiB",), ("sequential read",))
    spilt = [
        rates["tier", "256GB", pattern, "4KiB"] / rates["tier", "8TB", pattern, "4KiB"]
        for pattern in ("random read", "random write")
    ]
    return [
        (article, "256 GB on the tier as on NVMe alone", f"{_span(as_nvme)} ×, 16 cells",
         min(as_nvme) > 0.9 and max(as_nvme) < 1.1),
        (article, "small random blocks: NVMe wins", f"{_span(small, 0)} × the disks (4 KiB)",
         min(small) > 1),
        (article, "large blocks in order: the disks win", f"{_span(large)} × NVMe (1 MiB reads)",
         min(large) > 1),
        (article, "8 TB: random 4 KiB falls greatly", f"1/{_span(spilt, 0)} of 256 GB",
         max(spilt) > 10),
    ]  # fmt: skip


def _span(values: list[float], digits: int = 2) -> str:
    told = [f"{value:,.{digits}f}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(told))
