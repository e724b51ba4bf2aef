"""All personas by name; one is loaded when it is asked for."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, cast

from teijo.errors import UsageError
from teijo.outside.names import unknown
from teijo.personas.persona import Persona


@dataclass(frozen=True, kw_only=True)
class PersonaCard:
    """What a persona is called, what it does in a line, and the class in its module."""

    names: tuple[str, ...]
    summary: str
    place: str


CARDS: Final[tuple[PersonaCard, ...]] = (
    PersonaCard(
        names=("orion",),
        summary="Oracle ORION: -run, -testname and a .lun file",
        place="orion.persona:OrionPersona",
    ),
    PersonaCard(
        names=("crystaldiskmark",),
        summary="CrystalDiskMark 3, 5 and 8: what its window offers, its window and its text",
        place="crystaldiskmark.persona:CrystalDiskMarkPersona",
    ),
    PersonaCard(
        names=("crystaldiskinfo",),
        summary="CrystalDiskInfo: the text of what is known of drives",
        place="crystaldiskinfo.persona:CrystalDiskInfoPersona",
    ),
    PersonaCard(
        names=("sqlio",),
        summary="SQLIO v1.5, parameter files included",
        place="sqlio.persona:SqlioPersona",
    ),
    PersonaCard(
        names=("diskspd",),
        summary="DiskSpd 2.2, text and XML",
        place="diskspd.persona:DiskspdPersona",
    ),
    PersonaCard(
        names=("bonnie++",),
        summary="Bonnie++ 1.03e, 1.97 and 2.00a: a large file and many small ones in a directory",
        place="bonnie.persona:BonniePersona",
    ),
    PersonaCard(
        names=("tiotest",),
        summary="tiotest 0.4.2, 0.3.3 and 0.3.1: threads with a file each in a directory",
        place="tiotest.persona:TiotestPersona",
    ),
    PersonaCard(
        names=("tiobench", "tiobench.pl"),
        summary="tiobench.pl: tiotest over sizes, blocks and numbers of threads",
        place="tiobench.persona:TiobenchPersona",
    ),
    PersonaCard(
        names=(
            "run-all-tests",
            "test-alter-table",
            "test-ATIS",
            "test-big-tables",
            "test-connect",
            "test-create",
            "test-insert",
            "test-select",
            "test-wisconsin",
        ),
        summary="sql-bench 2.15: all of its tests, or each by itself",
        place="sqlbench.persona:SqlBenchPersona",
    ),
)
"""One line a persona, in the order of the documentation."""


def persona_named(name: str) -> Persona:
    """Return the persona of a tool's name, as it is typed: "bonnie++", "test-create".

    Raises:
        teijo.errors.PlanError: there is none of this name.
    """
    for card in CARDS:
        if name in card.names:
            return loaded(card)
    raise unknown("tool", name, [each for card in CARDS for each in card.names])


@cache
def loaded(card: PersonaCard) -> Persona:
    """Return the persona of a card."""
    module, _, name = card.place.partition(":")
    return cast("Persona", getattr(import_module(f"teijo.personas.{module}"), name)())


def check_like(name: str, persona: Persona, like: str) -> None:
    """Make sure that a persona can act as a version; an empty one is its usual.

    Raises:
        UsageError: it cannot.
    """
    if like and like not in persona.likes:
        versions = ", ".join(persona.likes) or "none"
        raise UsageError(
            f"{name} cannot act like version {like!r}",
            remedy=f"It acts like: {versions}." if persona.likes else "Leave --like out.",
        )
