"""What the articles found that Teijo learned from, found again on simulated devices.

Run by `make examples`. Each result is measured by a method or study of the program, its report is
written, and a table says what the article said, what was found and what that is held to; and why,
where that is known to be something else, or where there is nothing to hold it to. The exit status
is 1 where one was not met and nothing says why.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import crystaldiskmark_cells
import orion_s3700
import published_drives
import server_bench
import server_files
import sqlio_arrays
from desk import CARD, Article, Desk, Held, Result, near, scalars_of, table

QUARTER = 25
"""How near the sequential rates of the three devices have to come, in percent."""
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
    # At full size, whose minutes are minutes: its cache holds a third of a second.
    "hdd-7200?nominal_capacity=16GiB": (102, 142),
    "intel-330": (259, 301),
    CARD: (578, 825),
}


def block_sizes(desk: Desk) -> list[Result]:
    """Look for the S3700's page in its IOPS by block size, and its reverse at 10 outstanding."""
    run = desk.run("s3700-block-size", "block-size", "s3700", **ORION)
    iops = {
        (labels["block size"], int(labels["outstanding"])): cell.iops
        for cell in run.findings.cells
        for labels in (dict(cell.labels),)
    }

    def ratios(small: str, large: str) -> tuple[float, ...]:
        return tuple(iops[small, load] / iops[large, load] for load in LOADS)

    article = "block sizes on an S3700"
    return [
        Result(
            article=article,
            said="IOPS of 4 KiB 1.38 to 1.81 times those of 8 KiB",
            found="{}",
            held=(Held(values=ratios("4 KiB", "8 KiB"), least=1.38, most=1.81),),
            rests="fit",
        ),
        *orion_s3700.small_sizes(article, (ratios("1 KiB", "4 KiB"), ratios("2 KiB", "4 KiB"))),
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
    return [
        Result(
            article="disk, SSD and ioDrive",
            said=f"{' / '.join(map(str, said))} MB/s {word} in sequence",
            found="{} / {} / {}",
            held=tuple(
                near(rate, told, QUARTER, 0) for rate, told in zip(rates, said, strict=True)
            ),
            rests="fit",
        )
        for word, rates, said in zip(("written", "read"), found.values(), published, strict=True)
    ]


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
            found="{} MB/s",
            held=(Held(values=(alone,), above=5_000, digits=0),),
            rests="fit",
        ),
        Result(
            article=article,
            said="the tier below it",
            found=f"{large:,.0f} MB/s, {{}} × the disks",
            held=(Held(values=(large / alone,), below=1),),
            rests="fit",
        ),
        Result(
            article=article,
            said="256 GB on the tier as on NVMe alone",
            found=f"{fits:,.0f} and {nvme:,.0f} MB/s of 4 KiB at random, {{}} ×",
            held=(Held(values=(fits / nvme,), least=0.95, most=1.05),),
            rests="fit",
        ),
        Result(
            article=article,
            said="8 TB: small random blocks collapse",
            found=f"{spills:,.0f} MB/s, 1/{{}} of those of 256 GB",
            held=(Held(values=(fits / spills,), above=10, digits=0),),
            rests="fit",
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
            found="{} GB",
            held=(near(volume, 30, 5, 1),),
            rests="fit",
        ),
        Result(
            article=article,
            said="to about 10 MB/s",
            found="{} MB/s",
            held=(near(after, 10, 20, 1),),
            rests="fit",
        ),
        Result(
            article=article,
            said="which is below the array without it",
            found=f"the array {array:.1f} MB/s: {{}} ×",
            held=(Held(values=(after / array,), below=1),),
            rests="fit",
        ),
    ]


def write_back(desk: Desk) -> list[Result]:
    """Copy onto a RAID 5 with a cache in RAM, beyond what that holds."""
    run = desk.run("raid5-write-back-copy", "cache-overflow", RAM_CACHE, volume="120GB", **COPY)
    found = scalars_of(run)
    volume = found.get("burst 1: written until the overflow (V*)", 0.0)
    after = found.get("burst 1: rate after", 0.0)
    article = "RAID 5 with a write-back cache"
    return [
        Result(
            article=article,
            said="a copy stalls near 50 GB",
            found="{} GB, {} stalls",
            held=(
                near(volume, 50, 10, 1),
                Held(values=(found["burst 1: stalls"],), least=1, digits=0),
            ),
            rests="fit",
        ),
        Result(
            article=article,
            said="and goes on at 50 MB/s and more",
            found="{} MB/s",
            held=(Held(values=(after,), least=50, most=60, digits=1),),
            rests="fit",
        ),
    ]


def raid5_matrix(desk: Desk) -> list[Result]:
    """Compare the chunks of a RAID 5 and the modes of the cache before it, by CDM's workloads; and
    the chunks by large reads at random, of which a larger chunk needs fewer disks.
    """
    plan = Path(__file__).with_name("raid5.toml").read_text("utf-8")
    run = desk.run("raid5-chunk-cache", "configuration", "raid5-4x2tb", plan=plan)
    found = scalars_of(run)
    at_random = {
        chunk: desk.run(
            f"raid5-random-{chunk}", "workload", f"raid5-4x2tb?chunk={chunk}",
            rw="randread", bs="512KiB", qd="8", seconds="20s",
        ).findings.cells[0].throughput_mb_s
        for chunk in ("16KiB", "128KiB")
    }  # fmt: skip
    chunks = tuple(value for name, value in found.items() if name.endswith("128KiB by 16KiB"))
    through = tuple(value for name, value in found.items() if name.endswith("cache wt by off"))
    back = tuple(found[f"{each}: cache wb by off"] for each in ("4k-write", "4k-q32-write"))
    article = "chunk and cache of a RAID 5"
    return [
        Result(
            article=article,
            said="a larger chunk is better",
            found="128 KiB is {} × 16 KiB over 8 workloads of CrystalDiskMark",
            held=(Held(values=chunks, above=1),),
            why="an I/O of 4 KiB is on one disk whatever the chunk; "
            + crystaldiskmark_cells.IN_ORDER,
        ),
        Result(
            article=article,
            said="a larger chunk is better, read at random",
            found="128 KiB is {} × 16 KiB (512 KiB, 8 in flight)",
            held=(Held(values=(at_random["128KiB"] / at_random["16KiB"],), above=1),),
        ),
        Result(
            article=article,
            said="off and write-through do not differ",
            found="{} × over 8 workloads",
            held=(Held(values=through, least=0.95, most=1.05),),
            rests="fit",
        ),
        Result(
            article=article,
            said="write-back is far better at small writes",
            found="{} × off",
            held=(Held(values=back, above=100, digits=0),),
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
            found="{}",
            held=(near(fresh, 56_000, 2, 0),),
            rests="fit",
        ),
        Result(
            article=article,
            said="about 19,000 in steady state",
            found="{}",
            held=(near(level, 19_000, 5, 0),),
            rests="fit",
        ),
    ]


ARTICLES: dict[str, Article] = {
    "orion": orion_s3700.six_runs,
    "crystaldiskmark": crystaldiskmark_cells.four_states,
    "crystaldiskmark-raid5": crystaldiskmark_cells.array_matrix,
    "sqlio": sqlio_arrays.arrays,
    "create": server_files.create,
    "server": server_bench.server,
    "s3700": block_sizes,
    "devices": three_devices,
    "tier": tiers,
    "ssd-cache": ssd_cache,
    "write-back": write_back,
    "raid5": raid5_matrix,
    "wsat": write_saturation,
    "published": published_drives.published,
}


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
    return 0 if results and not any(result.failed for result in results) else 1


def _results(article: Article, folder: Path) -> list[Result]:
    return article(Desk(folder=folder))


if __name__ == "__main__":
    sys.exit(main())
