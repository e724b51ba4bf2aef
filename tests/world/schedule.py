"""What happens in one world, all of it drawn from its seed before anything begins."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo.methods.registry import method_named
from tests.world.shapes import INNER, RATED, SETTINGS, SIMULATED, STREAMS, VERIFIED, Kind, Shape

Where = Literal["disk", "event", "drive", "before", "after"]
"""Moments are counted: calls to the results disk, events told, calls to the drive; or between."""

DISK: Final = {
    "EIO": 4, "ENOSPC": 4, "EINTR": 1, "ENOMEM": 1, "short write": 2, "lost fsync": 1,
    "torn write": 3, "kill": 5, "power cut": 8, "SIGINT": 2, "SIGINT twice": 3, "SIGTERM": 1,
    "SIGHUP": 1, "clock step": 1, "suspend": 1,
}  # fmt: skip
EVENT: Final = {
    "kill": 5, "power cut": 6, "SIGINT": 4, "SIGINT twice": 3, "SIGTERM": 2, "SIGHUP": 2,
    "clock step": 3, "suspend": 3,
}  # fmt: skip
DRIVE: Final = {
    "unplug": 3, "swap": 2, "other size": 2, "other sequence": 3, "smart warning": 2,
    "smart malformed": 2, "smart hanging": 2, "smart absurd": 2, "smart absent": 1,
    "sysfs hostile": 2, "sysfs gone": 2, "foreign i/o": 2, "suspend": 2, "SIGINT": 2, "kill": 2,
    "clock step": 1,
}  # fmt: skip
BEFORE: Final = {"swap": 3, "other size": 2, "unplug": 2, "sysfs hostile": 1}
AFTER: Final = {"power cut": 1}
OF_FILES: Final = {"file removed": 2, "file replaced": 2, "file cut": 2, "suspend": 2, "SIGINT": 2}
"""How often each fault is drawn, by where it strikes."""

LIVES_WITH_FAULTS: Final = 4
LIVES_MOST: Final = LIVES_WITH_FAULTS + 4
PTS: Final = frozenset(
    {
        "pts.iops",
        "pts.tp",
        "pts.lat",
        "pts.wsat",
        "pts.hir",
        "pts.xsr",
        "pts.cbw",
        "pts.dirth",
        "pts.all",
    }
)
SPARSE: Final = {"pts.cbw": 1, "pts.dirth": 1}
"""Methods that take long are drawn less often; the others have weight 3."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One disturbance: in which life, where, when (share of a whole run's count), which."""

    life: int
    where: Where
    share: float
    kind: str
    value: int = 0
    lasts: int = 1

    def __str__(self) -> str:
        text = f"life {self.life}: {self.kind}, {self.where} at {self.share:.4f}"
        return text + (f", value {self.value}" if self.value else "") + f", {self.lasts} ×"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One world: what runs, and what befalls it. `tick_ns` passes with each look at a clock."""

    seed: int
    shape: Shape
    faults: tuple[Fault, ...]
    tick_ns: int
    report: str
    progress: str

    def of(self, life: int, *where: Where) -> list[Fault]:
        """Return what befalls one life at these places."""
        return [one for one in self.faults if one.life == life and one.where in where]

    def __str__(self) -> str:
        shape = self.shape
        lines = [
            f"seed {self.seed}: {shape.method} {shape.spec} on {shape.kind} {shape.target}",
            f"  settings {dict(shape.settings)}, run seed {shape.run_seed}, "
            f"a look at the clock takes {self.tick_ns} ns",
        ]
        return "\n".join([*lines, *(f"  {fault}" for fault in self.faults)])


def draw(seed: int) -> Schedule:
    """Return the world of a seed."""
    dice = random.Random(seed)
    shape = _shape(dice)
    faults: list[Fault] = []
    for life in range(1, dice.randint(1, LIVES_WITH_FAULTS) + 1):
        for _ in range(dice.choice((0, 1, 1, 1, 2, 3))):
            faults.append(_fault(dice, shape, life))
    return Schedule(
        seed=seed,
        shape=shape,
        faults=tuple(faults),
        tick_ns=dice.choice((1, 1_000, 100_000, 20_000_000)),
        report=dice.choice(("none",) * 15 + ("text",)),
        progress=dice.choice(("plain", "ndjson")),
    )


def _shape(dice: random.Random) -> Shape:
    kind: Kind = dice.choice(("simulated", "simulated", "block", "block", "file"))
    methods = [name for name in SETTINGS if name != "configuration" or kind == "simulated"]
    method = dice.choices(methods, [SPARSE.get(name, 3) for name in methods])[0]
    settings = dict(SETTINGS[method])
    if method == "workload":
        settings = dict(dice.choice((settings, settings, VERIFIED, STREAMS, RATED)))
        if kind != "simulated" and "verify" in settings:
            del settings["verify"]
    if method in PTS:
        settings["amount"] = "none"
    if kind == "simulated":
        target = SIMULATED[0] if method == "configuration" else dice.choice(SIMULATED)
    else:
        target = dice.choice(INNER)
    if method == "configuration":
        target = settings["device"].replace("{chunk}", "16KiB")
    return Shape(
        method=method,
        spec=dice.choice(_specs(method)),
        settings=tuple(sorted(settings.items())),
        kind=kind,
        target=target,
        run_seed=dice.randint(1, 2),
    )


def _specs(method: str) -> tuple[str, ...]:
    """Return the versions to draw from; a whole campaign of 1.0-client asks for 16 GiB."""
    specs = method_named(method).specs or ("",)
    return tuple(spec for spec in specs if (method, spec) != ("pts.all", "1.0-client"))


def _fault(dice: random.Random, shape: Shape, life: int) -> Fault:
    places: dict[Where, int] = {"disk": 6, "event": 4, "after": 1}
    if shape.kind == "block":
        places |= {"drive": 6, "before": 2 if life > 1 else 0}
    if shape.kind == "file":
        places |= {"drive": 3}
    where: Where = dice.choices(list(places), list(places.values()))[0]
    kinds = {
        "disk": DISK, "event": EVENT, "before": BEFORE, "after": AFTER,
        "drive": DRIVE if shape.kind == "block" else OF_FILES,
    }[where]  # fmt: skip
    kind = dice.choices(list(kinds), list(kinds.values()))[0]
    return Fault(
        life=life,
        where=where,
        # The beginning and the end of a run are where most of its calls to the disk differ.
        share=dice.choice(
            (dice.random(), dice.random(), dice.random() ** 4, 1 - dice.random() ** 4)
        ),
        kind=kind,
        value=_value(dice, kind),
        lasts=dice.choice((1, 1, 2, 5, 1000)) if kind in LASTING else 1,
    )


LASTING: Final = frozenset({"EIO", "ENOSPC", "ENOMEM", "EINTR", "short write", "lost fsync"})


def _value(dice: random.Random, kind: str) -> int:
    match kind:
        case "clock step":
            return dice.choice((-1, 1)) * dice.choice((10**9, 3600 * 10**9, 86400 * 365 * 10**9))
        case "suspend":
            return dice.choice((10**8, 60 * 10**9, 3600 * 10**9 * 30))
        case "smart warning":
            return dice.choice((1, 2, 4, 8, 16))
        case "foreign i/o":
            return dice.choice((10**4, 10**6))
        case "SIGINT twice":
            return dice.choice((1, 2, 5, 20, 100, 400))
        case _:
            return 0


def tally(faults: Sequence[str]) -> dict[str, int]:
    """Return how often each kind was injected."""
    return {kind: faults.count(kind) for kind in sorted(set(faults))}
