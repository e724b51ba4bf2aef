"""Drives of a fleet read alone and together, host by host, in rounds drawn from a seed.

Nothing is written to a drive, nothing is made, and no run is begun: what came of it is one file in
the fleet's folder, if there is one.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, Final

from pydantic import TypeAdapter

from teijo import creating
from teijo.errors import HostError, Interrupted, TeijoError
from teijo.fleet.hosts import Host, HostLost
from teijo.fleet.order import Order
from teijo.terms.bottleneck import (
    FILE,
    LOADS,
    LoadName,
    Measured,
    Seen,
    Spell,
    SpellResult,
    measured_to_json,
)
from teijo.terms.seed import derive
from teijo.terms.topology import Sharers
from teijo.units import NS_PER_S

_SEEN: Final = TypeAdapter(tuple[Seen, ...])
_ANSWER: Final = TypeAdapter(SpellResult)

Told = Callable[[int, int, str, tuple[str, ...]], None]
"""Called before each spell: how many are done, how many there are, the host, the drives."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One spell to come."""

    host: str
    load: LoadName
    round: int
    drives: tuple[str, ...]


def seen_on(
    hosts: Mapping[str, Host], orders: Sequence[Order], *, tries: bool
) -> dict[str, dict[str, Seen]]:
    """Return what each host tells of its drives; if it `tries` them, also which cannot be read.

    Raises:
        HostError: a host does not answer, or answers what is none.
    """
    found: dict[str, dict[str, Seen]] = {}
    for name, host in hosts.items():
        own = [order for order in orders if order.host == name]
        answer = _asked(host, "ways", [order.target for order in own], tries)
        try:
            seen = _SEEN.validate_python(answer)
            found[name] = {order.name: each for order, each in zip(own, seen, strict=True)}
        except ValueError as error:  # a ValidationError is one
            raise _no_answer(name) from error
    return found


def measure(
    fleet: str,
    hosts: Mapping[str, Host],
    orders: Sequence[Order],
    *,
    seed: int,
    stop: Event,
    rounds: int,
    seconds: float,
    told: Told | None = None,
) -> Measured:
    """Read the drives that share anything, alone and together, and return what was measured.

    Raises:
        HostError: a host does not answer. Interrupted: it was stopped; nothing is kept.
    """
    blank = Measured(
        fleet=fleet,
        seed=seed,
        seconds=seconds,
        rounds=rounds,
        began_at=datetime.now(UTC).isoformat(timespec="seconds"),
        hosts=seen_on(hosts, orders, tries=True),
    )
    targets = {(order.host, order.name): order.target for order in orders}
    tasks = [*tasks_of(blank.groups, rounds, seed)]
    spells = []
    for done, task in enumerate(tasks):
        if stop.is_set():
            raise Interrupted(
                "The drives were not read to the end.", remedy="Begin it anew; nothing is kept."
            )
        if told is not None:
            told(done, len(tasks), task.host, task.drives)
        asked = ([targets[task.host, each] for each in task.drives], task.load,
                 round(seconds * NS_PER_S), derive(seed, done))  # fmt: skip
        try:
            answer = _ANSWER.validate_python(_asked(hosts[task.host], "read_together", *asked))
            if len(answer.driven) != len(task.drives):
                raise ValueError(task.drives)
        except ValueError as error:
            raise _no_answer(task.host) from error
        spells.append(
            Spell(
                host=task.host, load=task.load, round=task.round, drives=task.drives,
                driven=answer.driven, busy=answer.busy,
            )
        )  # fmt: skip
    return blank.model_copy(update={"spells": tuple(spells)})


def tasks_of(groups: Sequence[Sharers], rounds: int, seed: int) -> Iterator[Task]:
    """Yield the spells in their order, host after host.

    A round has every kind of spell twice at each load: in an order that is drawn, and then in the
    reverse of it. So what drifts evenly over a round is on both sides of each comparison alike.
    """
    drawn = random.Random(derive(seed, "order"))
    for host in dict.fromkeys(group.host for group in groups):
        own = [group for group in groups if group.host == host]
        units = [*units_of(own)]
        for number in range(1, rounds + 1):
            loads = list(LOADS)
            drawn.shuffle(loads)
            for load in loads:
                order = drawn.sample(units, len(units))
                for drives in (*order, *reversed(order)):
                    yield Task(host=host, load=load, round=number, drives=drives)


def units_of(groups: Sequence[Sharers]) -> Iterator[tuple[str, ...]]:
    """Yield the drives of each kind of spell: each alone, and all of each group."""
    yield from dict.fromkeys((drive,) for group in groups for drive in group.drives)
    yield from (group.drives for group in groups)


def keep(measured: Measured, folder: Path) -> Path:
    """Keep a measurement in the folder of its fleet, in the place of an earlier one.

    Raises:
        HostError: it cannot be written.
    """
    path = folder / FILE
    text = json.dumps(measured_to_json(measured), indent=1, ensure_ascii=False)
    try:
        creating.replace_atomically(path, text.encode())
    except OSError as error:
        raise HostError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="See to the folder of the fleet.",
        ) from error
    return path


def _asked(host: Host, what: str, *given: Any) -> Any:
    try:
        return host.ask(what, *given)
    except HostLost as error:
        raise HostError(
            f"{host.name} does not answer: {error}", remedy="See to that host, and begin anew."
        ) from error


def _no_answer(name: str) -> TeijoError:
    return HostError(
        f"{name} answers what is no measurement of its drives.",
        remedy="Install one Teijo on all hosts, and here.",
    )
