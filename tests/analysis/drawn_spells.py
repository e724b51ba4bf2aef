"""Measurements of drives that were read together, drawn from a seed: what is shared is planted."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from teijo.fleet.bottleneck import tasks_of
from teijo.terms.bottleneck import Driven, LoadName, Measured, Seen, Spell
from teijo.terms.topology import Part, Way

IN_USE = "/dev/sda is in use (Device or resource busy), and reads would disturb what uses it"
Noise = Callable[[np.random.Generator, int], np.ndarray]
"""Draws so many relative errors of spells, in their order, of standard deviation 1."""
Loss = Mapping[tuple[str, ...], float]
"""By what share each drive of a group loses together, by the drives of the group."""


def blank(groups: Sequence[Sequence[str]], *, rounds: int = 6, seed: int = 1, usable: int = 0,
          left_out: Sequence[str] = ()) -> Measured:  # fmt: skip
    """Return a measurement of drives in these groups before its first spell."""
    names = sorted({name for group in groups for name in group})
    ways = {
        name: Way(
            parts=tuple(
                Part(kind="PCIe bridge", name=f"0000:0{at}:00.0", link="8.0 GT/s x8" * bool(usable),
                     usable=usable or None)
                for at, group in enumerate(groups)
                if name in group
            )
        )
        for name in names
    }  # fmt: skip
    seen = {
        name: Seen(way=ways[name], why_not=IN_USE if name in left_out else "") for name in names
    }
    return Measured(fleet="lab", seed=seed, seconds=2.0, rounds=rounds,
                    began_at="2026-11-29T12:00:00+00:00", hosts={"here": seen})  # fmt: skip


def measured(
    groups: Sequence[Sequence[str]],
    loss: Loss,
    *,
    scatter: float = 0.0,
    noise: Noise | None = None,
    rounds: int = 6,
    seed: int = 1,
    usable: int = 0,
    limited: frozenset[int] = frozenset(),
    busy: float | None = None,
) -> Measured:
    """Return a whole measurement: 10,000 IOPS alone, less by the planted loss together.

    `limited` are the sizes of the sets of drives in whose spells the host was the limit.
    """
    empty = blank(groups, rounds=rounds, seed=seed, usable=usable)
    tasks = [*tasks_of(empty.groups, rounds, seed)]
    rng = np.random.default_rng((20_261_129, seed))
    drives = [*empty.hosts["here"]]
    drawn = {name: (noise or _normal)(rng, len(tasks)) for name in drives}
    spells = []
    for at, task in enumerate(tasks):
        lost = loss.get(task.drives, 0.0)
        rates = [
            10_000 * (1 - lost) * float(np.exp(scatter * drawn[one][at])) for one in task.drives
        ]
        spells.append(
            Spell(
                host="here", load=task.load, round=task.round, drives=task.drives, busy=busy,
                driven=tuple(
                    Driven(iops=one, limited=len(task.drives) in limited) for one in rates
                ),
            )
        )  # fmt: skip
    return empty.model_copy(update={"spells": tuple(spells)})


def replaced(found: Measured, load: LoadName, drive: str, driven: Driven) -> Measured:
    """Return a measurement in which a drive gave something else in all its spells of a load."""
    spells = tuple(
        each.model_copy(
            update={
                "driven": tuple(
                    driven if name == drive else one
                    for name, one in zip(each.drives, each.driven, strict=True)
                )
            }
        )
        if each.load == load
        else each
        for each in found.spells
    )
    return found.model_copy(update={"spells": spells})


def _normal(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.standard_normal(count)


def heavy(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw Student's t of 3 degrees of freedom."""
    return rng.standard_t(3, count) / np.sqrt(3)


def skewed(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw spells that now and then are much slower: an exponential tail."""
    return 1 - rng.exponential(size=count)


def drifting(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw neighbours that are alike: half of each error is that of the spell before."""
    steps = rng.standard_normal(count) * np.sqrt(0.75)
    values = np.empty(count)
    last = rng.standard_normal()
    for at, step in enumerate(steps):
        last = values[at] = 0.5 * last + step
    return values


NOISES: Mapping[str, Noise] = {
    "normal": _normal, "heavy tails": heavy, "skewed": skewed, "neighbours alike": drifting,
}  # fmt: skip
