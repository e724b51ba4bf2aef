"""How often `teijo fleet report` names a slow drive, and how often a good one: fleets of simulated
drives, each judged as it is and with one drive replaced by one that is slower. Resumable: what was
measured is kept, and can be judged by another rule. Some ten minutes for 100 fleets of 40 drives.

    python benchmarks/fleet_outliers.py                   # 100 fleets of 40, one about 5 % slower
    python benchmarks/fleet_outliers.py --spread 0        # drives that differ by their seeds alone
    python benchmarks/fleet_outliers.py --first 100       # another 100

A slow drive takes --slow percent longer for all it does. A write that waits for cleaning loses more
than that, so 4.6 % longer is 5 % slower, all figures together; what it was is printed.

Every drive has a seed and times of its own: they differ from drive to drive by --spread percent
(one standard deviation), as drives of one model do.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import expm1, log
from pathlib import Path
from typing import Any

import numpy as np

from teijo import api
from teijo.analysis.difference import f_share
from teijo.compare.fleet.chosen import chosen_from
from teijo.compare.fleet.drive import Drive, drive_of
from teijo.compare.fleet.findings import Fleet, Judging

SETTINGS: Mapping[str, str] = {
    "minute": "100ms",
    "mixes": "100/0,0/100",
    "block_sizes": "4KiB,64KiB",
    "rounds": "8",
    "precondition_times": "2",
}
TIMES_US: Mapping[str, float] = {
    "program_us": 1150, "read_us": 50, "read_command_us": 19, "write_command_us": 2, "ack_us": 10,
    "turnaround_us": 500, "rmw_us": 890, "read_wait_us": 2500,
}  # fmt: skip
"""The times of the simulated drive mlc-a: a slower drive takes longer for all of them."""
RATES: Mapping[str, float] = {"link_mb_per_second": 550, "bus_mb_per_second": 282}
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One fleet. `alike` are the drives that were named among good ones alone, `in_level` whether
    one of them was in all figures together; `others` the good ones that were named beside the slow
    one, `found` whether that was named; `loss_percent` is how much slower it is than the drive in
    its place, `scatter_percent` how the good ones scatter, all figures together.
    """

    fleet: int
    alike: int
    in_level: bool
    others: int
    found: bool
    loss_percent: float
    scatter_percent: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One fleet as it was measured: the good drives, and the same with a slow one in the place of
    the first, which is row `slow`.
    """

    fleet: int
    alike: Judging
    beside: Judging
    slow: int
    loss_percent: float

    def as_json(self) -> str:
        """Return it as a line."""
        told: dict[str, Any] = {
            "fleet": self.fleet, "slow": self.slow, "loss_percent": self.loss_percent
        }  # fmt: skip
        for name, one in (("alike", self.alike), ("beside", self.beside)):
            told[name] = {**vars(one), "values": one.values.tolist()}
        return json.dumps(told)

    @classmethod
    def from_json(cls, line: str) -> "Measured":
        """Return what a line says."""
        told = json.loads(line)
        for name in ("alike", "beside"):
            told[name] = Judging(**{**told[name], "values": np.array(told[name]["values"])})
        return cls(**told)

    @property
    def judged(self) -> Judged:
        """What the rule says of it."""
        alike, beside = self.alike.outliers, self.beside.outliers
        named = {each.drive for each in beside.found}
        return Judged(
            fleet=self.fleet,
            alike=len({each.drive for each in alike.found}),
            in_level=any(each.column is None for each in alike.found),
            others=len(named - {self.slow}),
            found=self.slow in named,
            loss_percent=self.loss_percent,
            scatter_percent=0.0 if alike.level is None else 100 * alike.level.scale,
        )


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many of all, with an interval at 95 % (Clopper and Pearson)."""

    count: int
    of: int

    @property
    def percents(self) -> tuple[float, float, float]:
        """The share and both ends of its interval, in percent."""
        low, high = (100 * end for end in interval(self.count, self.of))
        return 100 * self.count / self.of, low, high

    def __str__(self) -> str:
        """Return it in words."""
        share, low, high = self.percents
        return f"{self.count} of {self.of} ({share:.1f} %, {low:.1f} to {high:.1f} %)"


def interval(count: int, of: int) -> tuple[float, float]:
    """Return both ends of the 95 % interval of a share, by the F distribution."""

    def end(some: int, share: float) -> float:
        # P(at least `some` of `of`) at a share p, as the tail of an F distribution.
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            ratio = (of - some + 1) * middle / (some * (1 - middle)) if middle < 1 else float("inf")
            tail = 1 - f_share(ratio, 2 * some, 2 * (of - some + 1))
            low, high = (middle, high) if tail < share else (low, middle)
        return low

    alone = (1 - CONFIDENCE) / 2
    return (
        0.0 if count == 0 else end(count, alone),
        1.0 if count == of else end(count + 1, 1 - alone),
    )


def target_of(seed: int, speed: float) -> str:
    """Return a small simulated drive that is so many times as fast as mlc-a."""
    parts = [f"{name}={value / speed:.5f}" for name, value in TIMES_US.items()]
    parts += [f"{name}={value * speed:.5f}" for name, value in RATES.items()]
    return f"sim:mlc-a?capacity=256MiB&dies=4&seed={seed}&{'&'.join(parts)}"


def measured(seed: int, speed: float, name: str) -> Drive:
    """Return a drive as its run shows it; the run file is kept no longer than that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.teijo"
        group = {"fleet": "drawn", "drive": name}
        run = api.run(
            "iops", target_of(seed, speed), output=path, settings=SETTINGS, seed=seed, group=group
        )
        return drive_of(run.record, name)


def fleet_of(fleet: int, drives: int, *, spread: float, slow: float) -> Measured:
    """Measure one fleet; `spread` and `slow` are in percent."""
    rng = np.random.default_rng((20_261_129, fleet))
    speeds = np.exp(spread / 100 * rng.standard_normal(drives))
    first = fleet * (drives + 1) + 1
    good = [measured(first + at, float(speed), f"d{at:02}") for at, speed in enumerate(speeds)]
    speed = float(speeds[0]) / (1 + slow / 100)
    planted = measured(first + drives, speed, "slow")
    beside = of([planted, *good[1:]])
    return Measured(
        fleet=fleet,
        alike=of(good).judging,
        beside=beside.judging,
        slow=[each.name for each in beside.drives].index("slow"),
        loss_percent=loss(good[0], planted),
    )


def loss(before: Drive, after: Drive) -> float:
    """Return by how much a drive is slower than another, all figures together, in percent."""
    ratios = [log(value.value / before.values[key].value) for key, value in after.values.items()]
    return -100 * expm1(sum(ratios) / len(ratios))


def of(drives: Sequence[Drive]) -> Fleet:
    """Return what these drives show together: each is another one, whatever its serial number."""
    apart = [replace(each, serial="", run_id=str(at)) for at, each in enumerate(drives)]
    return Fleet(chosen=chosen_from(apart, allowed=["model"]))


def summary(found: Sequence[Judged], slow: float) -> str:
    """Return both rates in words."""
    count = len(found)
    scatters = sorted(each.scatter_percent for each in found)
    losses = sorted(each.loss_percent for each in found)
    named = Rate(count=sum(each.found for each in found), of=count)
    alone = Rate(count=sum(each.alike > 0 for each in found), of=count)
    level = Rate(count=sum(each.in_level for each in found), of=count)
    beside = Rate(count=sum(each.others > 0 for each in found), of=count)
    return "\n".join(
        (
            f"a drive that takes {slow:g} % longer is named: {named}",
            f"it is slower by {_range(losses)}",
            f"fleets of good drives of which one is named: {alone}",
            f"  in all figures together: {level}",
            f"fleets in which a good drive is named beside the slow one: {beside}",
            f"good drives scatter by {_range(scatters)}",
        )
    )


def _range(ordered: Sequence[float]) -> str:
    median = ordered[len(ordered) // 2]
    return f"{median:.2f} % (median of {ordered[0]:.2f} to {ordered[-1]:.2f} %)"


def main() -> None:
    """Measure the fleets that are not yet, and print the rates of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, default=Path("target/fleet_outliers"))
    parser.add_argument("--fleets", type=int, default=100)
    parser.add_argument("--drives", type=int, default=40)
    parser.add_argument("--spread", type=float, default=0.8, metavar="PERCENT")
    parser.add_argument("--slow", type=float, default=4.6, metavar="PERCENT")
    parser.add_argument("--first", type=int, default=0, metavar="FLEET", help="where to begin")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / f"{given.drives}-drives-{given.spread:g}-{given.slow:g}.measured"
    lines = path.read_text().splitlines() if path.exists() else []
    found = {each.fleet: each for each in map(Measured.from_json, lines)}
    wanted = range(given.first, given.first + given.fleets)
    for fleet in wanted:
        if fleet not in found:
            found[fleet] = fleet_of(fleet, given.drives, spread=given.spread, slow=given.slow)
            with path.open("a") as file:
                file.write(found[fleet].as_json() + "\n")
    print(summary([found[fleet].judged for fleet in wanted], given.slow))


if __name__ == "__main__":
    main()
