"""How often `teijo compare` errs, test by test: ten equal runs on a simulated drive, 45 pairs of
them, as they are and with 5 % planted. Resumable: what has run is kept. Takes an hour.

    python benchmarks/error_rates.py run       # the runs: minutes of two seconds, seeds 1 to 10
    python benchmarks/error_rates.py judge     # error_rates.json in the folder, and the table

In parts: `--tests HIR,DIRTH --seeds 1,2`; `judge` takes the tests whose ten runs are there.
"""

import argparse
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from teijo import api
from teijo.analysis.quantities import Quantity
from teijo.compare.judged import SHOWN, Judged, Pairing, Verdict, pairing_of, repeated
from teijo.methods.parts import parts_of
from teijo.methods.pts.hir.found import HirFound

TARGET = "sim:mlc-a"
SEEDS = range(1, 11)
PAIRS = 45
RUNS_A_SIDE = (1, 2, 5)
PLANTED = 1.05
SCATTER_SHARE = 0.02
DEMAND = {
    "threads": "32,4,1", "queue_depth": "32,4,1", "precondition_minutes": "10",
    "point_prewrite_minutes": "20",
}  # fmt: skip
"""A smaller sweep, and less before it; rounds, window and operating points are the standard's."""
TESTS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "IOPS": ("pts.iops", "2.0.2-enterprise", {}),
    "TP": ("pts.tp", "1.1-enterprise", {}),
    "LAT": ("pts.lat", "1.1-enterprise", {}),
    "WSAT": ("pts.wsat", "2.0.2-enterprise", {}),
    "HIR": ("pts.hir", "2.0.2-enterprise", {"bursts": "100", "idle": "5,15,50"}),
    "XSR": (
        "pts.xsr",
        "2.0.2-enterprise",
        {"first_minutes": "160", "random_minutes": "120", "last_minutes": "160"},
    ),
    "DIRTH": ("pts.dirth", "2.0.2-enterprise", DEMAND),
    "CBW": ("pts.cbw", "2.0.2-enterprise", DEMAND),
    "workload": ("workload", "", {"rw": "randwrite", "qd": "32", "seconds": "60"}),
}
Run = tuple[Quantity, ...]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What the pairs of a test showed. `covered` of the intervals of all `figures` held the truth;
    `found` of the pairs showed the planted difference in any figure.
    """

    test: str
    runs_a_side: int
    scatter_share: float
    pairs: int
    false_pairs: int
    open_pairs: int
    figures: int
    covered: int
    found: int
    more_median: float | None


def path_of(folder: Path, test: str, seed: int) -> Path:
    """Return where a run's sealed file is."""
    return folder / f"{test.lower()}-same-{seed}.teijo"


def measure(folder: Path, tests: Sequence[str], seeds: Sequence[int]) -> None:
    """Make the runs that are not there yet; what an earlier try left unfinished is begun anew."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(itertools.product(seeds, tests))
    missing = [each for each in asked if not path_of(folder, each[1], each[0]).exists()]
    spent: dict[str, list[float]] = {}
    for number, (seed, test) in enumerate(missing):
        path = path_of(folder, test, seed)
        began = time.monotonic()
        for left in folder.glob(f"{path.name}.*"):
            left.unlink()
        method, spec, settings = TESTS[test]
        target = f"{TARGET}?seed={seed}"
        api.run(
            method, target, output=path.with_suffix(""), spec=spec, settings=settings, seed=seed
        )
        spent.setdefault(test, []).append(time.monotonic() - began)
        done = len(asked) - len(missing) + number + 1
        left_s = left_of([each for _, each in missing[number + 1 :]], spent)
        print(f"{done} of {len(asked)}  {path.name}  about {left_s / 60:.0f} min left", flush=True)


def left_of(tests: Sequence[str], spent: Mapping[str, Sequence[float]]) -> float:
    """Return the seconds that runs will take: as those of the same test did, else of them all."""
    every = [each for several in spent.values() for each in several]
    return sum(
        sum(several) / len(several) for several in (spent.get(test, every) for test in tests)
    )


def likely(count: int, tries: int) -> tuple[float, float]:
    """Return the shares that a count does not speak against at 95 % (Clopper and Pearson 1934)."""

    def at_most(most: int, share: float) -> float:
        return sum(
            math.comb(tries, each) * share**each * (1 - share) ** (tries - each)
            for each in range(most + 1)
        )

    def where(holds: Callable[[float], bool]) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    low = where(lambda share: 1 - at_most(count - 1, share) < 0.025) if count else 0.0
    high = where(lambda share: at_most(count, share) > 0.025) if count < tries else 1.0
    return low, high


def count_text(count: int, tries: int) -> str:
    """Return a count with the shares that it does not speak against, in percent."""
    low, high = likely(count, tries)
    return f"{count} of {tries} ({100 * low:.1f}–{100 * high:.1f} %)"


def runs_of(folder: Path, test: str) -> list[Run]:
    """Return the figures of a test's runs."""
    found = []
    for seed in SEEDS:
        if (path := path_of(folder, test, seed)).exists():
            (part,) = parts_of(api.open(path).record)
            found.append(part.found.quantities)
    return found


def sides_of(runs: Sequence[Run], count: int) -> list[tuple[list[Run], list[Run]]]:
    """Return 45 pairs of sides of so many runs, none on both."""
    if count == 1:
        return [([one], [other]) for one, other in itertools.combinations(runs, 2)][:PAIRS]
    draw = random.Random(count)
    found: dict[frozenset[tuple[int, ...]], tuple[list[Run], list[Run]]] = {}
    while len(found) < PAIRS:
        places = draw.sample(range(len(runs)), 2 * count)
        sides = (places[:count], places[count:])
        key = frozenset(tuple(sorted(side)) for side in sides)
        first, second = ([runs[place] for place in side] for side in sides)
        found.setdefault(key, (first, second))
    return list(found.values())


def times(run: Run, factor: float) -> Run:
    """Return a run whose every time is so much longer.

    It is what a drive shows whose every time is longer, measured over minutes as much longer: the
    simulation is in virtual time. Such drives (workload, TP, LAT) have shown just this.
    """

    def slowed(one: Quantity) -> Quantity:
        by = 1 / factor if one.figure.more_is_faster else factor
        return replace(one, value=one.value * by, batches=tuple(each * by for each in one.batches))

    return tuple(map(slowed, run))


def paired(first: Sequence[Run], second: Sequence[Run]) -> Pairing:
    """Return the comparison of two sides."""
    sides = [side[0] if len(side) == 1 else repeated(side) for side in (first, second)]
    return pairing_of("first", "second", sides[0], sides[1])


def all_of(pairing: Pairing) -> list[Judged]:
    """Return every figure with an interval, all cells together too."""
    rows = [*pairing.rows, *([] if pairing.overall is None else [pairing.overall])]
    return [row for row in rows if row.difference is not None]


def is_covered(row: Judged) -> bool:
    """Return whether the interval holds the planted difference."""
    assert row.difference is not None
    truth = 1 / PLANTED if row.figure.more_is_faster else PLANTED
    return row.difference.low <= truth <= row.difference.high


def rate_of(test: str, runs: Sequence[Run], count: int, scatter_share: float) -> Rate:
    """Return how often the pairs of sides of so many runs are wrong, and what is found."""
    draw = random.Random(7)
    sides = [
        (
            [times(run, 1 + draw.gauss(0, scatter_share)) for run in first],
            [times(run, 1 + draw.gauss(0, scatter_share)) for run in second],
        )
        for first, second in sides_of(runs, count)
    ]
    equal = [paired(first, second) for first, second in sides]
    slowed = [paired(first, [times(run, PLANTED) for run in second]) for first, second in sides]
    planted = [row for pairing in slowed for row in all_of(pairing)]
    # The largest count of a pair is what its report asks for.
    more = sorted(
        max((row.needed.more or 100 for row in all_of(pairing) if row.needed), default=0)
        for pairing in slowed
    )
    return Rate(
        test=test,
        runs_a_side=count,
        scatter_share=scatter_share,
        pairs=len(sides),
        false_pairs=sum(any(row.verdict in SHOWN for row in all_of(each)) for each in equal),
        open_pairs=sum(
            any(row.verdict is Verdict.NOT_DECIDABLE for row in all_of(each)) for each in equal
        ),
        figures=len(planted),
        covered=sum(map(is_covered, planted)),
        found=sum(any(row.verdict in SHOWN for row in all_of(each)) for each in slowed),
        more_median=more[len(more) // 2] if count == 1 else None,
    )


def gain_coverage(folder: Path) -> tuple[int, int]:
    """Return how many of HIR's gains have the mean of all runs' gains in their interval."""
    gains: dict[int, list[tuple[float, float, float]]] = {}
    for seed in SEEDS:
        if not (path := path_of(folder, "HIR", seed)).exists():
            continue
        (part,) = parts_of(api.open(path).record)
        assert isinstance(part.found, HirFound)
        for wait in part.found.waits:
            if (gain := wait.gain) is not None and gain.low is not None and gain.high is not None:
                gains.setdefault(wait.idle_s, []).append((gain.share, gain.low, gain.high))
    covered = count = 0
    for several in gains.values():
        truth = sum(share for share, _, _ in several) / len(several)
        covered += sum(low <= truth <= high for _, low, high in several)
        count += len(several)
    return covered, count


def table_of(rates: Sequence[Rate]) -> str:
    """Return the table of the docs."""
    lines = [
        "| Test | Figures | Runs a side | Pairs with any false difference | with 2 % between runs |"
        " Planted 5 % covered | with 2 % between runs | Planted 5 % found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    plain = [rate for rate in rates if not rate.scatter_share]
    for one in plain:
        other = next(
            rate
            for rate in rates
            if rate.scatter_share and (rate.test, rate.runs_a_side) == (one.test, one.runs_a_side)
        )
        lines.append(
            f"| {one.test} | {one.figures // one.pairs} | {one.runs_a_side} "
            f"| {count_text(one.false_pairs, one.pairs)} "
            f"| {count_text(other.false_pairs, other.pairs)} "
            f"| {100 * one.covered / one.figures:.1f} % of {one.figures:,} "
            f"| {100 * other.covered / other.figures:.1f} % "
            f"| {count_text(one.found, one.pairs)} |"
        )
    return "\n".join(lines)


def judge(folder: Path, tests: Sequence[str]) -> None:
    """Write the rates as JSON and print the table."""
    rates = []
    for test in tests:
        runs = runs_of(folder, test)
        for count, share in itertools.product(RUNS_A_SIDE, (0.0, SCATTER_SHARE)):
            if len(runs) >= len(SEEDS):
                rates.append(rate_of(test, runs, count, share))
    covered, count = gain_coverage(folder)
    told = {
        "target": TARGET,
        "rates": [asdict(rate) for rate in rates],
        "hir_gains": {"intervals": count, "covered": covered},
    }
    (folder / "error_rates.json").write_text(json.dumps(told, indent=1) + "\n")
    print(table_of(rates))
    print(f"HIR's gain: {covered} of {count} intervals hold the mean of all runs")


def main() -> None:
    """Run or judge."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("act", choices=["run", "judge"])
    options.add_argument("--folder", type=Path, default=Path("target/error_rates"))
    options.add_argument("--tests", default=",".join(TESTS))
    options.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    asked = options.parse_args()
    tests = asked.tests.split(",")
    if asked.act == "run":
        measure(asked.folder, tests, [int(seed) for seed in asked.seeds.split(",")])
    else:
        judge(asked.folder, tests)


if __name__ == "__main__":
    main()
