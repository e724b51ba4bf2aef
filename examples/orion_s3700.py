"""Six ORION runs on an S3700: allocation unit by size of a small I/O, with what an article found.

The article formatted the drive with each allocation unit, made 16 files of 10 GiB (160 of 200 GB)
and ran ORION twice, 20 % writes, N = 2, two minutes a point. A drive sees no allocation unit, so
here a run is its size of a small I/O; the two runs of 8 KiB differ in their seed alone, and show
what is noise. The files are 80 % of the drive, written once first.
"""

from collections.abc import Sequence

from desk import Desk, Held, Result, near, span

from teijo import api, units
from teijo.methods.classic.orion.points import Loads

ARTICLE = "ORION on an S3700"
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
POINT_S = 120
"""How long a point took in the article."""


def runs_of(desk: Desk, target: str = "s3700", **settings: str) -> list[api.Run]:
    """Return the six runs, in their order."""
    runs = []
    for number, size in enumerate(RUNS, start=1):
        own = f"{target}{'&' if '?' in target else '?'}seed={number}"
        words = {**ORION, "size_small": size, **settings}
        runs.append(desk.run(f"s3700-orion-{number}", "classic.orion", own, **words))
    return runs


def iops(run: api.Run) -> dict[int, float]:
    """Return the IOPS of small I/Os alone by how many are outstanding, 1 to 10."""
    return {
        int(labels["small"]): cell.iops or 0.0
        for cell in run.findings.cells
        for labels in (dict(cell.labels),)
        if labels["i/o"] == "small" and labels["large"] == "0"
    }


def large_mb_s(run: api.Run) -> dict[int, float]:
    """Return the MB/s of large I/Os alone by how many are outstanding, 1 to 4."""
    return {
        int(labels["large"]): cell.throughput_mb_s or 0.0
        for cell in run.findings.cells
        for labels in (dict(cell.labels),)
        if labels["i/o"] == "large" and labels["small"] == "0"
    }


def ratios(one: api.Run, other: api.Run, loads: Sequence[int] = LOADS) -> tuple[float, ...]:
    """Return the IOPS of one run by those of another, load by load."""
    mine, its = iops(one), iops(other)
    return tuple(mine[load] / its[load] for load in loads)


def small_sizes(article: str, by_4kib: Sequence[Sequence[float]]) -> list[Result]:
    """Hold the IOPS of 1 and of 2 KiB by those of 4 KiB, at 1 to 10 outstanding, to the article."""

    def at(loads: range) -> tuple[float, ...]:
        return tuple(ratios[load - 1] for ratios in by_4kib for load in loads)

    said = "of 1 and 2 KiB 1.06 to 1.14 times those of 4 KiB"
    return [
        Result(
            article=article,
            said=said,
            found="{} at 1 to 4 outstanding",
            held=(Held(values=at(range(1, 5)), least=1.06, most=1.14),),
            rests="fit",
        ),
        Result(
            article=article,
            said=f"{said}, up to 9 outstanding",
            found="{} at 5 to 9",
            held=(Held(values=at(range(5, 10)), least=1.06, most=1.14),),
            why="the simulated drive merges small writes one after another, which holds it up the "
            "more the more there are; the article's curves are pictures",
        ),
        Result(
            article=article,
            said="fewer than of 4 KiB at 10 outstanding",
            found="{}",
            held=(Held(values=at(range(10, 11)), below=1, digits=3),),
            rests="fit",
        ),
    ]


def six_runs(desk: Desk, target: str = "s3700", **settings: str) -> list[Result]:
    """Return what the article said beside what was found."""
    runs = runs_of(desk, target, **settings)
    one, two, four, eight, again, _ = runs
    dry = desk.run(
        "s3700-orion-unwritten", "classic.orion", target,
        **{**ORION, "size_small": "1KiB", **settings, "prepare": "no"},
    )  # fmt: skip
    return [
        Result(
            article=ARTICLE,
            said="IOPS of 4 KiB 1.38 to 1.81 times those of 8 KiB",
            found="{}",
            held=(Held(values=ratios(four, eight), least=1.38, most=1.81),),
            rests="fit",
        ),
        *small_sizes(ARTICLE, (ratios(one, four), ratios(two, four))),
        *_whole(runs),
        Result(
            article=ARTICLE,
            said="(two runs of one small size)",
            found=f"{max(abs(each - 1) for each in ratios(again, eight)) * 100:.1f} % apart at "
            "most",
            why="a control: what two runs differ by that differ in their seed alone",
        ),
        Result(
            article=ARTICLE,
            said="(its files were never written before)",
            found=f"1 KiB {span(ratios(dry, one))} × of written ones",
            why="the article did not write them; what that hid of its numbers it cannot tell",
        ),
    ]


def _whole(runs: Sequence[api.Run]) -> list[Result]:
    """Hold what the six runs have in common: large I/Os, minutes and volumes."""
    by_load = zip(*(large_mb_s(run).values() for run in runs), strict=True)
    spread = max(max(each) - min(each) for each in by_load)
    minutes = Loads(run="advanced", disks=2).estimate_ns(POINT_S * units.NS_PER_S) / 60e9
    rates = [cell.throughput_mb_s or 0.0 for run in runs for cell in run.findings.cells]
    moved = sum(rates) * POINT_S / 1e3 / len(runs)
    return [
        Result(
            article=ARTICLE,
            said="large I/O: at most 30.7 MB/s between the six",
            found="{} MB/s: the size of small I/Os leaves no trace, and the host's noise is not "
            "simulated",
            held=(Held(values=(spread,), most=30.7, digits=1),),
        ),
        Result(
            article=ARTICLE,
            said="each run about 32 minutes",
            found="{} by ORION's own estimate",
            held=(near(minutes, 32, 1, digits=0),),
            rests="arithmetic",
        ),
        Result(
            article=ARTICLE,
            said="80.1 % of all bytes read",
            found="{} %, where 20 % writes are asked for",
            held=(near(_read_percent(runs), 80.1, 1, digits=1),),
            rests="setting",
        ),
        Result(
            article=ARTICLE,
            said="about 312 GB a run",
            found="{} GB at two minutes a point, the mean of the six",
            held=(near(moved, 312, 25, digits=0),),
        ),
    ]


def _read_percent(runs: Sequence[api.Run]) -> float:
    moved = {"read": 0, "write": 0}
    for run in runs:
        for _, answer in run.record.measured():
            for part in answer.results:
                moved[part.operation] += part.moved_bytes
    return moved["read"] * 100 / sum(moved.values())
