"""Records of drives whose rounds scatter as a seed says, for comparisons without a device."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from teijo.compare.sides import Side
from teijo.methods.method import AnyMethod
from teijo.methods.registry import method_named
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record
from teijo.terms.step import Measure, Step
from tests.methods.canned import DRIVE, IDENTITY, Canned, play

SMALL: Mapping[str, Mapping[str, str]] = {
    "iops": {"mixes": "100/0,65/35,0/100", "block_sizes": "1024KiB,64KiB,4KiB"},
    "lat": {"mixes": "100/0,0/100", "block_sizes": "8KiB,4KiB", "histogram": "none"},
    "wsat": {"max_minutes": "40", "check_every": "none", "histogram": "none"},
    "xsr": {"first_minutes": "20", "random_minutes": "20", "last_minutes": "20"},
    "hir": {"round_minutes": "2", "bursts": "20", "baseline_minutes": "20", "idle": "5,50"},
    "dirth": {"threads": "4,1", "queue_depth": "4,1", "precondition_rounds": "5"},
}
"""Settings that make each test short."""


def scattering(
    seed: int, *, iops: float = 10_000, scatter: float = 0.01
) -> Callable[[Step], float]:
    """Return rates about `iops`, each step's drawn by itself; `scatter` is their deviation."""
    draw = np.random.default_rng(seed)

    def rate(step: Step) -> float:
        assert isinstance(step, Measure)
        return float(iops * (1 + scatter * draw.standard_normal()))

    return rate


def record(
    seed: int,
    *,
    test: str = "iops",
    iops: float = 10_000,
    scatter: float = 0.01,
    identity: Identity = IDENTITY,
    overrides: Mapping[str, str] | None = None,
    spec: str = "",
    geometry: Geometry = DRIVE,
) -> Record:
    """Return a whole run of a short test; runs of different seeds have different ids."""
    method: AnyMethod = method_named(test)
    played = play(
        method,
        Canned(scattering(seed, iops=iops, scatter=scatter)),
        spec=spec,
        overrides={**SMALL.get(test, {}), **(overrides or {})},
        identity=identity,
        geometry=geometry,
    )
    return replace(played.record, run=replace(played.record.run, id=f"{test}-{seed}"))


def side(name: str, *records: Record) -> Side:
    """Return a side of these runs."""
    return Side(name=name, records=records)


def drive(model: str = "Example Drive", serial: str = "S1", firmware: str = "F1") -> Identity:
    """Return who a drive is."""
    return replace(IDENTITY, model=model, serial=serial, firmware=firmware)
