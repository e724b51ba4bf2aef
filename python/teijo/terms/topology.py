"""What drives of one host hang on: the parts of each one's way, and what several of them share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from teijo.outside.text import visible

PARTS_MOST: Final = 4096
"""Of one drive: a host of a thousand processors, and all that is between."""
_LONGEST: Final = 300

Text = Annotated[str, StringConstraints(max_length=_LONGEST), AfterValidator(visible)]
Kind = Literal[
    "disk",
    "array",
    "file system",
    "NVMe controller",
    "SCSI host",
    "SAS expander",
    "SATA port",
    "USB bus",
    "iSCSI session",
    "adapter",
    "PCIe bridge",
    "PCIe root",
    "NUMA node",
    "interrupts",
    "host",
]
"""What two drives may share, the nearest to them first."""
KINDS: Final[tuple[Kind, ...]] = (
    "disk", "array", "file system", "NVMe controller", "SCSI host", "SAS expander", "SATA port",
    "USB bus", "iSCSI session", "adapter", "PCIe bridge", "PCIe root", "NUMA node", "interrupts",
    "host",
)  # fmt: skip


class Part(BaseModel, frozen=True, extra="forbid"):
    """One thing on the way to a drive. `name` tells it from others of its kind on the host.

    `detail` says what it is. `link` is how fast its way towards the host runs now, and
    `usable` about what that carries, in bytes a second; None where it is not told.
    """

    kind: Kind
    name: Text
    detail: Text = ""
    link: Text = ""
    usable: Annotated[int, Field(ge=1, le=2**53)] | None = None


class Way(BaseModel, frozen=True, extra="forbid"):
    """What lies between a host and one drive. `unknown` are the kinds that nothing tells.

    A simulated drive has no way: it shares nothing with anybody.
    """

    parts: Annotated[tuple[Part, ...], Field(max_length=PARTS_MOST)] = ()
    unknown: Annotated[tuple[Kind, ...], Field(max_length=len(KINDS))] = ()


@dataclass(frozen=True, kw_only=True)
class Sharers:
    """Drives of one host, by name, and all the parts that these drives and no others share; of
    processors, those that serve the interrupts of several of them.
    """

    host: str
    drives: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def narrowest(self) -> Part | None:
        """The part whose link carries the least; None where no link is told."""
        bounds = [each for each in self.parts if each.usable is not None]
        return min(bounds, key=lambda each: each.usable or 0, default=None)


def groups_of(host: str, ways: Mapping[str, Way]) -> tuple[Sharers, ...]:
    """Return what the drives of a host share, the smallest groups first.

    What the same drives share is one group: by measuring them nobody could tell its parts apart.
    Processors make no group of their own, since the interrupts of many drives overlap in any way:
    each group has those that serve several of its drives.
    """
    parts: dict[tuple[Kind, str], Part] = {}
    drives: dict[tuple[Kind, str], list[str]] = {}
    for drive, way in ways.items():
        for part in way.parts:
            key = part.kind, part.name
            parts.setdefault(key, part)
            members = drives.setdefault(key, [])
            if drive not in members:
                members.append(drive)
    served = {key: set(members) for key, members in drives.items() if key[0] == "interrupts"}
    shared: dict[tuple[str, ...], list[Part]] = {}
    for key, members in drives.items():
        if len(members) > 1 and key not in served:
            shared.setdefault(tuple(members), []).append(parts[key])
    for names, found in shared.items():
        found += (parts[key] for key, own in served.items() if len(own & set(names)) > 1)
    order = list(ways)
    return tuple(
        Sharers(host=host, drives=names, parts=tuple(sorted(found, key=_place)))
        for names, found in sorted(
            shared.items(), key=lambda each: (len(each[0]), [order.index(one) for one in each[0]])
        )
    )


def unknown_of(ways: Mapping[str, Way]) -> dict[Kind, tuple[str, ...]]:
    """Return of each kind the drives of which nothing tells whether they share it."""
    found: dict[Kind, list[str]] = {}
    for drive, way in ways.items():
        for kind in way.unknown:
            found.setdefault(kind, []).append(drive)
    return {kind: tuple(found[kind]) for kind in KINDS if kind in found}


def _place(part: Part) -> int:
    return KINDS.index(part.kind)


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as "0-3,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
