"""Six ORION runs on an S3700: allocation unit by size of a small I/O, with what an article found.

The article formatted the drive with each allocation unit, made 16 files of 10 GiB (160 of 200 GB)
and ran ORION twice, 20 % writes, N = 2, two minutes a point. A drive sees no allocation unit, so
here a run is its size of a small I/O; the two runs of 8 KiB differ in their seed alone, and show
what is noise. The files are 80 % of the drive, written once first.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from teijo import units
from teijo.methods.classic.orion.found import OrionFound
from teijo.methods.classic.orion.points import Loads

RUNS = ("1KiB", "2KiB", "4KiB", "8KiB", "8KiB", "16KiB")
"""The small size of runs 1 to 6; the allocation units were 1, 2, 4, 4, 8 and 16 KiB."""
ORION = {
    "run": "advanced",
    "num_disks": "2",
    "write": "20",
    "duration": "4s",  # two minutes at the scale of the simulated drive
    "active_range": "80",
    "prepare": "yes",
}
LOADS = range(1, 11)


class Runs(Protocol):
    """Where runs are made: `run` measures, writes a report, and returns what was recorded."""

    def run(self, name: str, method: str, target: str, **settings: str) -> Any:
        """Return a run, measured unless its file is there already."""
        ...


def found_of(desk: Runs, target: str = "s3700", **settings: str) -> list[OrionFound]:
    """Return what the six runs found, in their order."""
    found = []
    for number, size in enumerate(RUNS, start=1):
        own = f"{target}{'&' if '?' in target else '?'}seed={number}"
        words = {**ORION, "size_small": size, **settings}
        found.append(desk.run(f"s3700-orion-{number}", "classic.orion", own, **words).found)
    return found


def iops(found: OrionFound) -> list[float]:
    """Return the IOPS of small I/Os alone, at 1 to 10 outstanding."""
    return [side.iops[0] for point, side in found.small.items() if not point.large]


def ratios(one: OrionFound, other: OrionFound) -> list[float]:
    """Return the IOPS of one run by those of another, load by load."""
    return [mine / its for mine, its in zip(iops(one), iops(other), strict=True)]


def span(values: Sequence[float], digits: int = 2) -> str:
    """Return the least and the most of some values."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def six_runs(desk: Runs, target: str = "s3700", **settings: str) -> list[tuple[str, str, bool]]:
    """Return (what the article said, what was found, whether that is within it) of each result."""
    runs = found_of(desk, target, **settings)
    one, two, four, eight, again, _ = runs
    halves = ratios(four, eight)
    low = [*ratios(one, four)[:4], *ratios(two, four)[:4]]
    ten = [ratios(one, four)[-1], ratios(two, four)[-1]]
    large = [
        [run.large[point].mbps[0] * units.MIB / units.MEGA for run in runs] for point in one.large
    ]
    spread = max(max(each) - min(each) for each in large)
    noise = max(abs(each - 1) for each in ratios(again, eight)) * 100
    reads, moved = _volumes(runs)
    minutes = Loads(run="advanced", disks=2).estimate_ns(120 * units.NS_PER_S) / 60e9
    dry = desk.run(
        "s3700-orion-unwritten", "classic.orion", target,
        **{**ORION, "size_small": "1KiB", **settings, "prepare": "no"},
    ).found  # fmt: skip
    return [
        ("IOPS of 4 KiB 1.38 to 1.81 times those of 8 KiB", span(halves),
         1.38 <= min(halves) <= max(halves) <= 1.81),
        ("of 1 and 2 KiB 1.06 to 1.14 times those of 4 KiB",
         f"{span(low)} (1 to 4 outstanding)", 1.06 <= min(low) <= max(low) <= 1.14),
        ("fewer than of 4 KiB at 10 outstanding", span(ten), max(ten) < 1),
        ("large I/O: at most 30.7 MB/s between the six", f"{spread:.1f} MB/s", spread <= 30.7),
        ("each run about 32 minutes", f"{minutes:.0f} by ORION's own estimate", minutes == 32),
        ("80.1 % of all bytes read", f"{reads:.1f} % of {moved:.0f} GB a run at full size",
         79 <= reads <= 81),
        ("(two runs of one small size: noise)", f"{noise:.1f} % apart at most", noise < 10),
        ("(its files were never written before)",
         f"1 KiB {span(ratios(dry, one))} × of written ones", True),
    ]  # fmt: skip


def _volumes(runs: Sequence[OrionFound]) -> tuple[float, float]:
    """Return the percent of bytes read, and the GB that a run of the six moves at full size."""
    parts = [
        (part, run.record.geometry.scale)
        for run in runs
        for answers in run.passes.values()
        for answer in answers
        for part in answer.results
    ]
    moved = sum(part.moved_bytes for part, _ in parts)
    reads = sum(part.moved_bytes for part, _ in parts if part.operation == "read")
    full = sum(part.moved_bytes * scale for part, scale in parts) / len(runs) / units.GIGA
    return reads * 100 / moved, full
