"""How often the report of a fleet names a drive of fleets whose drives are all alike, in drawn
numbers: thousands of fleets for each shape of scatter; and how often it names a drive that is off.

    python -m benchmarks.outlier_rates                    # 4,000 fleets of 40 drives a shape
    python -m benchmarks.outlier_rates --drives 12 --fleets 20000

What is judged are logarithms, as the report has them. A drive's figures have a part in common (its
speed) and one of their own each, both of one shape; the drive that is off is slower in all figures
by --off standard deviations of all figures together. Shapes are named by what draws them.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.fleet_outliers import Rate
from teijo.analysis.outliers import outliers_of

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
COMMON, OWN = 0.8, 0.6
"""The standard deviations of the two parts."""
SEED = 20_261_130


def _gamma(rng: np.random.Generator, size: tuple[int, int], shape: float, sign: int) -> Floats:
    return sign * (rng.standard_gamma(shape, size) - shape) / np.sqrt(shape)


def _mixed(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return values of which every tenth scatters three times as much."""
    wide = rng.random(size) < 0.1
    return rng.standard_normal(size) * np.where(wide, 3.0, 1.0)


SHAPES: Mapping[str, Draw] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.uniform(-1.732, 1.732, size),
    "logistic": lambda rng, size: rng.logistic(0.0, 0.5513, size),
    "Student's t, 10 degrees": lambda rng, size: rng.standard_t(10, size) / 1.118,
    "Student's t, 5 degrees": lambda rng, size: rng.standard_t(5, size) / 1.291,
    "Student's t, 3 degrees": lambda rng, size: rng.standard_t(3, size) / 1.732,
    "gamma 30, slow tail (skew -0.37)": partial(_gamma, shape=30.0, sign=-1),
    "gamma 10, slow tail (skew -0.63)": partial(_gamma, shape=10.0, sign=-1),
    "gamma 4, slow tail (skew -1)": partial(_gamma, shape=4.0, sign=-1),
    "gamma 10, fast tail (skew 0.63)": partial(_gamma, shape=10.0, sign=1),
    "a tenth with threefold scatter": _mixed,
}


@dataclass(frozen=True)
class Drawn:
    """What became of some fleets of one shape."""

    fleets: int
    named: int
    in_level: int
    in_figure: int
    found: int


def drawn(shape: str, seed: int, fleets: int, drives: int, figures: int, off: float) -> Drawn:
    """Return what the rule says of fleets of one shape."""
    rng = np.random.default_rng((SEED, seed))
    draw = SHAPES[shape]
    told = {"floors": [0.0] * figures, "in_level": [True] * figures, "tested": [True] * figures}
    named = in_level = in_figure = found = 0
    for _ in range(fleets):
        values = COMMON * draw(rng, (drives, 1)) + OWN * draw(rng, (drives, figures))
        alike = outliers_of(values, **told).found
        named += bool(alike)
        in_level += any(each.column is None for each in alike)
        in_figure += any(each.column is not None for each in alike)
        values[0] -= off * np.hypot(COMMON, OWN / np.sqrt(figures))
        found += any(each.drive == 0 for each in outliers_of(values, **told).found)
    return Drawn(fleets, named, in_level, in_figure, found)


def main() -> None:
    """Count, and print a line for each shape."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--fleets", type=int, default=4000)
    parser.add_argument("--drives", type=int, default=40)
    parser.add_argument("--figures", type=int, default=12)
    parser.add_argument("--off", type=float, default=5.0)
    parser.add_argument("--shape", choices=SHAPES, action="append")
    given = parser.parse_args()
    workers = os.cpu_count() or 1
    share = -(-given.fleets // workers)
    with ProcessPoolExecutor(workers) as pool:
        for shape in given.shape or SHAPES:
            parts = [
                pool.submit(drawn, shape, seed, share, given.drives, given.figures, given.off)
                for seed in range(workers)
            ]
            done = [part.result() for part in parts]
            of = sum(each.fleets for each in done)
            named, level, figure, found = (
                Rate(count=sum(getattr(each, name) for each in done), of=of)
                for name in ("named", "in_level", "in_figure", "found")
            )
            print(f"{shape}: a good drive named in {named}", flush=True)
            print(f"  all figures together {level}; single figures {figure}", flush=True)
            print(f"  one off by {given.off:g} standard deviations named in {found}", flush=True)


if __name__ == "__main__":
    main()
