"""What the articles found that Teijo learned from, found again on simulated devices.

Run by `make examples`. Each result is measured by a method or study of the program, its report is
written, and a table says what the article said beside what was found, and why where that is known
to be something else. The exit status is 1 where one was not met and nothing says why.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import crystaldiskmark_cells
import orion_s3700
import server_bench
import server_files
import sqlio_arrays
from desk import Article, Desk, Result

from teijo import api

QUARTER = 0.25
"""How near the sequential rates of the three devices have to come."""
LOADS = range(1, 11)
ORION = {
    "sizes": "1KiB,2KiB,4KiB,8KiB",
    "loads": ",".join(map(str, LOADS)),
    "active_range": "80",
    "random_fill": "1",
    "repeats": "3",
    "probe": "off",
}
"""ORION's small I/Os as the article has them: 80 % reads at random over four fifths of the drive,
which is written before.
"""
COPY = {"rate": "110MB/s", "bs": "128KiB"}
"""A copy over a network of 1 Gb/s."""
SMALL = "scale=960"
"""The 300 TB of the 36 disks, small enough to be filled in seconds."""
RAM_CACHE = "cache(raid5-4x2tb)?size=26GB&drain_mb_per_second=52"
SERVER = {
    # device: MB/s of sequential writes and reads, as Bonnie++ told them
    "hdd-7200?capacity=16GiB": (102, 142),
    "intel-330": (259, 301),
    "iodrive": (578, 825),
}


def scalars_of(run: api.Run) -> dict[str, float]:
    """Return the run's figures by name, those that it has."""
    return {each.name: each.value for each in run.findings.scalars if each.value is not None}


def between(least: float, values: Iterable[float], most: float) -> bool:
    """Return whether all values are within bounds."""
    return all(least <= value <= most for value in values)


def span(values: Iterable[float], digits: int = 2) -> str:
    """Return the least and the most of some values: "1.47 to 1.64"."""
    sorted_values = sorted(values)
    told = [f"{value:.{digits}f}" for value in (sorted_values[0], sorted_values[-1])]
    return " to ".join(dict.fromkeys(told))


def block_sizes(desk: Desk) -> list[Result]:
    """Look for the S3700's page in its IOPS by block size, and its reverse at 10 outstanding."""
    run = desk.run("s3700-block-size", "block-size", "s3700", **ORION)
    iops = {
        (labels["block size"], int(labels["outstanding"])): cell.iops
        for cell in run.findings.cells
        for labels in (dict(cell.labels),)
    }

    def ratios(small: str, large: str, loads: Iterable[int]) -> list[float]:
        return [iops[small, load] / iops[large, load] for load in loads]

    halves = ratios("4 KiB", "8 KiB", LOADS)
    low = [*ratios("1 KiB", "4 KiB", range(1, 6)), *ratios("2 KiB", "4 KiB", range(1, 6))]
    ten = [*ratios("1 KiB", "4 KiB", (10,)), *ratios("2 KiB", "4 KiB", (10,))]
    article = "block sizes on an S3700"
    return [
        Result(
            article=article,
            said="IOPS of 4 KiB 1.38 to 1.81 times those of 8 KiB",
            found=span(halves),
            met=between(1.38, halves, 1.81),
            rests="fit",
        ),
        Result(
            article=article,
            said="of 1 and 2 KiB 1.06 to 1.14 times those of 4 KiB",
            found=f"{span(low)} (1 to 5 outstanding)",
            met=between(1.06, low, 1.14),
            rests="fit",
        ),
        Result(
            article=article,
            said="fewer than of 4 KiB at 10 outstanding",
            found=span(ten),
            met=max(ten) < 1,
            rests="fit",
        ),
    ]


def three_devices(desk: Desk) -> list[Result]:
    """Read and write a disk, a client drive and a card in sequence, one I/O in flight."""
    found: dict[str, list[float]] = {"0/100": [], "100/0": []}
    load = {"block_sizes": "128KiB", "threads": "1", "queue_depth": "1", "active_range": "10"}
    for target in SERVER:
        run = desk.run(f"{target.partition('?')[0]}-sequential", "pts.tp", target, **load)
        for cell in run.findings.cells:
            found[dict(cell.labels)["r/w mix"]].append(cell.throughput_mb_s)
    published = zip(*SERVER.values(), strict=True)
    results = []
    for (mix, rates), said in zip(found.items(), published, strict=True):
        word = "written" if mix == "0/100" else "read"
        near = all(abs(rate / told - 1) <= QUARTER for rate, told in zip(rates, said, strict=True))
        results.append(
            Result(
                article="disk, SSD and ioDrive",
                said=f"{' < '.join(map(str, said))} MB/s {word} in sequence (25 %)",
                found=" < ".join(f"{rate:.0f}" for rate in rates),
                met=near and sorted(rates) == rates,
                rests="fit",
            )
        )
    return results


def tiers(desk: Desk) -> list[Result]:
    """Read small and large sets on one NVMe drive before 36 disks, and on each alone."""
    array = desk.run(
        "raid50-36-large-reads", "workload", "raid50-36",
        rw="read", bs="1MiB", threads="8", qd="8", seconds="2s",
    )  # fmt: skip
    run = desk.run(
        "windows-tier", "tier", f"windows-tier?{SMALL}",
        fast=f"nvme-2tb?{SMALL}", slow=f"raid50-36?{SMALL}",
        sets="256GB,8TB", patterns="randread,read", block_sizes="4KiB,1MiB",
        queue_depth="16", slice="300ms", refine="0", fill="1",
    )  # fmt: skip
    rates = {
        tuple(place for _, place in cell.labels): cell.throughput_mb_s
        for cell in run.findings.cells
    }
    alone = array.findings.cells[0].throughput_mb_s
    fits = rates["tier", "randread", "4 KiB", "256GB"]
    nvme = rates["fast", "randread", "4 KiB", "256GB"]
    spills = rates["tier", "randread", "4 KiB", "8TB"]
    large = rates["tier", "read", "1024 KiB", "256GB"]
    article = "36 disks behind an NVMe tier"
    return [
        Result(
            article=article,
            said="RAID 50 of 36 disks above 5 GB/s at 1 MiB",
            found=f"{alone:,.0f} MB/s",
            met=alone > 5_000,
            rests="fit",
        ),
        Result(
            article=article,
            said="the tier below it",
            found=f"{large:,.0f} MB/s",
            met=large < alone,
        ),
        Result(
            article=article,
            said="256 GB on the tier as on NVMe alone",
            found=f"{fits:,.0f} and {nvme:,.0f} MB/s of 4 KiB at random",
            met=between(0.95, (fits / nvme,), 1.05),
        ),
        Result(
            article=article,
            said="8 TB: small random blocks collapse",
            found=f"{spills:,.0f} MB/s, 1/{fits / spills:.0f}",
            met=fits / spills > 10,
        ),
    ]


def ssd_cache(desk: Desk) -> list[Result]:
    """Copy onto a RAID 5 with an SSD as its cache, beyond what may be dirty on it."""
    run = desk.run("isrt-maximised-copy", "cache-overflow", "isrt-maximised", volume="60GB", **COPY)
    alone = desk.run("raid5-copy", "cache-overflow", "raid5-4x2tb", volume="10GB", **COPY)
    found, array = scalars_of(run), scalars_of(alone)["burst 1: rate over all"]
    volume = found.get("burst 1: written until the overflow (V*)", 0.0)
    after = found.get("burst 1: rate after", 0.0)
    article = "RAID 5 with an SSD cache, maximised"
    return [
        Result(
            article=article,
            said="a copy falls off after 30 GB",
            found=f"{volume:.1f} GB",
            met=between(28.5, (volume,), 31.5),
            rests="fit",
        ),
        Result(
            article=article,
            said="to about 10 MB/s, below the array without it",
            found=f"{after:.1f} MB/s, the array {array:.1f}",
            met=between(8, (after,), 12) and after < array,
            rests="fit",
        ),
    ]


def write_back(desk: Desk) -> list[Result]:
    """Copy onto a RAID 5 with a cache in RAM, beyond what that holds."""
    run = desk.run("raid5-write-back-copy", "cache-overflow", RAM_CACHE, volume="120GB", **COPY)
    found = scalars_of(run)
    volume = found.get("burst 1: written until the overflow (V*)", 0.0)
    after = found.get("burst 1: rate after", 0.0)
    stalls = found["burst 1: stalls"]
    article = "RAID 5 with a write-back cache"
    return [
        Result(
            article=article,
            said="a copy stalls near 50 GB",
            found=f"{volume:.1f} GB, {stalls:.0f} stalls",
            met=between(45, (volume,), 55) and stalls > 0,
            rests="fit",
        ),
        Result(
            article=article,
            said="and goes on at 50 MB/s and more",
            found=f"{after:.1f} MB/s",
            met=between(48, (after,), 60),
            rests="fit",
        ),
    ]


def raid5_matrix(desk: Desk) -> list[Result]:
    """Compare the chunks of a RAID 5 and the modes of the cache before it, by CDM's workloads."""
    plan = Path(__file__).with_name("raid5.toml").read_text("utf-8")
    run = desk.run("raid5-chunk-cache", "configuration", "raid5-4x2tb", plan=plan)
    found = scalars_of(run)
    chunk = found["seq-read: chunk 128KiB by 16KiB"]
    through = [value for name, value in found.items() if name.endswith("cache wt by off")]
    back = [found[f"{each}: cache wb by off"] for each in ("4k-write", "4k-q32-write")]
    article = "chunk and cache of a RAID 5"
    return [
        Result(
            article=article,
            said="a larger chunk is better",
            found=f"128 KiB is {chunk:.2f} × 16 KiB (1 MiB reads)",
            met=chunk > 1.2,
        ),
        Result(
            article=article,
            said="off and write-through do not differ",
            found=f"{span(through)} over 8 workloads",
            met=between(0.95, through, 1.05),
        ),
        Result(
            article=article,
            said="write-back is far better at small writes",
            found=f"{span(back, 0)} × off",
            met=min(back) > 100,
        ),
    ]


def write_saturation(desk: Desk) -> list[Result]:
    """Write at random to an enterprise drive until it is saturated."""
    run = desk.run("slc-a-wsat", "pts.wsat", "slc-a", capacity_times="6")
    found = scalars_of(run)
    fresh = found["fresh out of the box (FOB), mean of the plateau"]
    level = found["level at the end, mean of the last fifth"]
    article = "write saturation of an SLC drive"
    return [
        Result(
            article=article,
            said="56,000 IOPS fresh",
            found=f"{fresh:,.0f}",
            met=between(0.98 * 56_000, (fresh,), 1.02 * 56_000),
            rests="fit",
        ),
        Result(
            article=article,
            said="about 19,000 in steady state",
            found=f"{level:,.0f}",
            met=between(0.95 * 19_000, (level,), 1.05 * 19_000),
            rests="fit",
        ),
    ]


def orion_runs(desk: Desk) -> list[Result]:
    """Run ORION six times on the S3700; block sizes are what the drive was calibrated to."""
    return [
        Result(
            article="ORION on an S3700",
            said=said,
            found=found,
            met=met,
            rests="fit" if " 4 KiB" in said else "prediction",
        )
        for said, found, met in orion_s3700.six_runs(desk)
    ]


def crystaldiskmark_states(desk: Desk) -> list[Result]:
    """Run CrystalDiskMark on the S3700 in four states."""
    return _results_of(crystaldiskmark_cells.four_states(desk))


def crystaldiskmark_matrix(desk: Desk) -> list[Result]:
    """Run CrystalDiskMark on the 28 cells of a RAID 5."""
    return _results_of(crystaldiskmark_cells.array_matrix(desk))


def sqlio(desk: Desk) -> list[Result]:
    """Run SQLIO on the 64 cells of the storage tiers."""
    return sqlio_arrays.arrays(desk)


def server_create(desk: Desk) -> list[Result]:
    """Make and drop tables where flushes are honoured and where they are not."""
    return server_files.create(desk)


def server(desk: Desk) -> list[Result]:
    """Run Bonnie++ and tiotest on a disk, a client drive and a card."""
    return server_bench.server(desk)


def _results_of(rows: Iterable[tuple[str, str, str, bool]]) -> list[Result]:
    return [
        Result(article=article, said=said, found=found, met=met)
        for article, said, found, met in rows
    ]


ARTICLES: dict[str, Article] = {
    "orion": orion_runs,
    "crystaldiskmark": crystaldiskmark_states,
    "crystaldiskmark-raid5": crystaldiskmark_matrix,
    "sqlio": sqlio,
    "create": server_create,
    "server": server,
    "s3700": block_sizes,
    "devices": three_devices,
    "tier": tiers,
    "ssd-cache": ssd_cache,
    "write-back": write_back,
    "raid5": raid5_matrix,
    "wsat": write_saturation,
}


def table(results: list[Result]) -> str:
    """Return the results in columns."""
    head = ("article", "said", "Teijo's simulated device", "rests on", "within")
    rows = [
        (
            each.article,
            each.said,
            each.found,
            each.rests,
            "yes" if each.met else f"no: {each.why}" if each.why else "NO",
        )
        for each in results
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, tuple("-" * width for width in widths), *rows)
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure, write the reports, print the table; 1 where a result was not met."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path, help="where run files and reports go")
    options.add_argument(
        "--only", default=",".join(ARTICLES), help=f"which: {', '.join(ARTICLES)} [all]"
    )
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    chosen = [ARTICLES[name] for name in given.only.split(",")]
    with ProcessPoolExecutor(min(len(chosen), os.cpu_count() or 1)) as crew:
        found = list(crew.map(_results, chosen, [given.folder] * len(chosen)))
    results = [result for several in found for result in several]
    print(table(results))
    print(f"done after {time.monotonic() - began:.0f} s", file=sys.stderr)
    return status_of(results)


def status_of(results: list[Result]) -> int:
    """Return the exit status: 0 where everything was met, or is known why not."""
    return 0 if results and all(result.met or result.why for result in results) else 1


def _results(article: Article, folder: Path) -> list[Result]:
    return article(Desk(folder=folder))


if __name__ == "__main__":
    sys.exit(main())
