"""Drives of a host read alone and together, spell by spell: what was measured, as it is kept."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from teijo.terms.topology import Sharers, Text, Way, groups_of
from teijo.terms.workload import Access, Stream
from teijo.units import KIB, MEGA, TERA

SCHEMA: Final = "teijo.bottleneck/1"
FILE: Final = "bottleneck.json"
"""Its name in the folder of a fleet."""
FILE_BYTES_MOST: Final = 64 << 20
ROUNDS_LEAST: Final = 4
ROUNDS_MOST: Final = 1000
_DRIVES_MOST: Final = 10_000
_SPELLS_MOST: Final = MEGA
_SECONDS_MOST: Final = 3600

LoadName = Literal["sequential", "random"]
LOADS: Final[tuple[LoadName, ...]] = ("sequential", "random")
QUEUE_DEPTH: Final = 32
BLOCK_BYTES: Final[Mapping[LoadName, int]] = {"sequential": 128 * KIB, "random": 4 * KIB}
Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
Rate = Annotated[float, Field(ge=0, lt=TERA, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def stream_of(load: LoadName) -> Stream:
    """Return what a load asks of each drive: reads alone."""
    access = Access.SEQUENTIAL if load == "sequential" else Access.RANDOM
    return Stream(
        read_percent=100,
        block_size_bytes=BLOCK_BYTES[load],
        access=access,
        queue_depth=QUEUE_DEPTH,
    )


class Driven(BaseModel, frozen=True, extra="forbid"):
    """One drive in one spell: I/Os a second, and what stood against them.

    `limited`: the threads that made its I/O had no more to give, or waited for a processor.
    `error` says why there is no rate.
    """

    iops: Rate = 0.0
    limited: bool = False
    error: Text = ""


class SpellResult(BaseModel, frozen=True, extra="forbid"):
    """What a host tells of a spell: each drive in order, and how busy its processors were."""

    driven: Annotated[tuple[Driven, ...], Field(max_length=_DRIVES_MOST)]
    busy: Share | None = None


class Spell(BaseModel, frozen=True, extra="forbid"):
    """One spell: drives of a host that were read at the same time."""

    host: Name
    load: LoadName
    round: Annotated[int, Field(ge=1, le=ROUNDS_MOST)]
    drives: Annotated[tuple[Name, ...], Field(min_length=1, max_length=_DRIVES_MOST)]
    driven: Annotated[tuple[Driven, ...], Field(max_length=_DRIVES_MOST)]
    busy: Share | None = None


class Seen(BaseModel, frozen=True, extra="forbid"):
    """What a host tells of one drive before it is read. `unwritten` is the share of it that
    nothing was ever written to, None where nobody knows.
    """

    way: Way
    unwritten: Share | None = None
    why_not: Text = ""


class Measured(BaseModel, frozen=True, extra="forbid"):
    """A whole measurement: the drives of each host by name, and the spells in their order."""

    version: Literal["teijo.bottleneck/1"] = SCHEMA
    fleet: Name
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    seconds: Annotated[float, Field(gt=0, le=_SECONDS_MOST)]
    rounds: Annotated[int, Field(ge=1, le=ROUNDS_MOST)]
    began_at: Name
    hosts: Annotated[Mapping[Name, Mapping[Name, Seen]], Field(max_length=_DRIVES_MOST)]
    spells: Annotated[tuple[Spell, ...], Field(max_length=_SPELLS_MOST)] = ()

    @property
    def groups(self) -> tuple[Sharers, ...]:
        """What drives share, host by host, of those that could be read."""
        return tuple(
            group
            for host, drives in self.hosts.items()
            for group in groups_of(
                host, {name: each.way for name, each in drives.items() if not each.why_not}
            )
        )


def measured_to_json(measured: Measured) -> dict[str, Any]:
    """Return a measurement as it is kept."""
    return measured.model_dump(mode="json", exclude_defaults=True) | {"version": SCHEMA}


def measured_from(text: str) -> Measured | None:
    """Return the measurement that a text is, None of any other text.

    Spells of drives that it does not know, or with other rates than drives, make it none.
    """
    try:
        found = Measured.model_validate_json(text)
    except (ValidationError, RecursionError):
        return None
    for spell in found.spells:
        known = found.hosts.get(spell.host, {})
        if len(spell.driven) != len(spell.drives) or not known.keys() >= set(spell.drives):
            return None
    return found
