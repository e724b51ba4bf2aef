"""How often `teijo compare` is wrong: simulated runs that differ in their seeds alone, against
each other, and against runs on a drive that was made slower. Prints the shares; takes minutes.
"""

import argparse
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from teijo import api

SLOWED = ("program_us", "read_us", "read_command_us", "rmw_us", "erase_us")
HASTENED = ("bus_mb_per_second",)
FACTOR = 1.05


def slower(run: api.Run) -> str:
    """Return the parameters of a run's simulated drive with all its times raised by 5 %."""
    facts = {name: text.split()[0] for name, text in run.record.identity.facts.items()}
    times = [f"{name}={float(facts[name]) * FACTOR:g}" for name in SLOWED]
    return "&".join([*times, *(f"{name}={float(facts[name]) / FACTOR:g}" for name in HASTENED)])


def runs_on(target: str, seeds: Sequence[int], folder: Path) -> list[api.Run]:
    """Return runs of PTS IOPS, one for each seed of drive and run."""
    found = []
    for seed in seeds:
        path = folder / f"{target.rpartition(':')[2][:12]}-{seed}-{len(target)}"
        sign = "&" if "?" in target else "?"
        found.append(api.run("pts.iops", f"{target}{sign}seed={seed}", output=path, seed=seed))
    return found


def shares(pairs: Sequence[tuple[api.Run, api.Run]]) -> str:
    """Return how many cells of these pairs differ, in percent, and how many pairs as a whole."""
    faster = slower = judged = left = whole = 0
    for first, second in pairs:
        comparison = api.compare({"first": [first], "second": [second]})
        (pairing,) = comparison.tests[0].pairings
        told = [row.verdict for row in pairing.rows]
        faster += told.count("faster")
        slower += told.count("slower")
        judged += pairing.judged
        left += sum(row.verdict_together in ("faster", "slower") for row in pairing.rows)
        whole += pairing.overall is not None and pairing.overall.verdict != "no difference shown"
    return (
        f"{len(pairs)} pairs, {judged} cells: {100 * faster / judged:.1f} % faster, "
        f"{100 * slower / judged:.1f} % slower; judged together {100 * left / judged:.2f} %; "
        f"all cells together differ in {whole}"
    )


def main() -> None:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=20)
    options.add_argument("--target", default="sim:mlc-a")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        same = runs_on(asked.target, range(101, 101 + 2 * asked.pairs), folder)
        slow = runs_on(
            f"{asked.target}?{slower(same[0])}", range(201, 201 + asked.pairs // 2), folder
        )
        print("A/A, pair by pair: ", shares(list(zip(same[::2], same[1::2], strict=True))))
        print("A/A, each with all:", shares(list(itertools.combinations(same, 2))))
        print("5 % slower:        ", shares(list(zip(same, slow, strict=False))))


if __name__ == "__main__":
    main()
