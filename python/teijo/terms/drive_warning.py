"""What a drive says against itself: the closed list of warnings, and which of them refuse a run.

The list is NVMe's (base specification, SMART log page 02h, critical warning). A failed overall
assessment of ATA or SCSI is *reliability-degraded*; docs/safety.md says the same in prose.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from teijo.errors import UsageError

COUNTER: Final = "critical_warning"
"""The counter that carries the bits, whatever the drive; a member's is `…_member_N`."""
_NAME: Final = re.compile(rf"{COUNTER}(?:_member_(\d+))?")


class DriveWarning(StrEnum):
    """A warning by the name that is typed after --accept-warning; in the order of its bit."""

    SPARE_LOW = "spare-low"
    TEMPERATURE = "temperature"
    RELIABILITY_DEGRADED = "reliability-degraded"
    READ_ONLY = "read-only"
    BACKUP_FAILED = "backup-failed"
    PERSISTENT_MEMORY = "persistent-memory"
    UNNAMED = "unnamed"

    @property
    def bit(self) -> int:
        """The value of its bit: 1, 2, 4 and so on."""
        return 1 << list(DriveWarning).index(self)


MEANINGS: Final[dict[DriveWarning, str]] = {
    DriveWarning.SPARE_LOW: "its spare blocks are below its own threshold",
    DriveWarning.TEMPERATURE: "its temperature is out of its own limits",
    DriveWarning.RELIABILITY_DEGRADED: "it calls itself unreliable or failing",
    DriveWarning.READ_ONLY: "it takes no writes any more",
    DriveWarning.BACKUP_FAILED: "its cache is not safe from a power cut any more",
    DriveWarning.PERSISTENT_MEMORY: "its persistent memory is read-only or unreliable",
    DriveWarning.UNNAMED: "it gives a warning that no standard names yet",
}

REFUSING: Final = frozenset({DriveWarning.RELIABILITY_DEGRADED, DriveWarning.READ_ONLY})
"""A run does not begin on a drive that says one of these, unless it is accepted by name."""


def named_in_bits(bits: int) -> tuple[DriveWarning, ...]:
    """Return the warnings of the bits that are set; those beyond the list are *unnamed*."""
    listed = [one for one in DriveWarning if one is not DriveWarning.UNNAMED]
    found = [one for one in listed if bits & one.bit]
    beyond = bits >> len(listed)
    return (*found, DriveWarning.UNNAMED) if beyond else tuple(found)


def shown_in(health: Mapping[str, int]) -> frozenset[tuple[str, DriveWarning]]:
    """Return the warnings in a device's counters, each with the member that gives it.

    The member is "" of a single device, else its number.
    """
    return frozenset(
        (found[1] or "", warning)
        for name, bits in health.items()
        if (found := _NAME.fullmatch(name))
        for warning in named_in_bits(bits)
    )


def told_in(text: str) -> frozenset[DriveWarning]:
    """Return the warnings whose names stand in a line, as the fact *health* has them."""
    words = set(re.findall(r"[a-z-]+", text))
    return frozenset(one for one in DriveWarning if one.value in words)


def accepted(texts: Iterable[str]) -> frozenset[DriveWarning]:
    """Return the warnings named in texts like "read-only" or "read-only,temperature".

    Raises:
        teijo.errors.UsageError: a name is not in the list.
    """
    names = [part.strip().lower() for text in texts for part in text.split(",")]
    known = {one.value: one for one in DriveWarning}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(
                # Cut and quoted: it may be a megabyte long, or drive a terminal.
                f"{name[:80]!r} is no warning of a drive{meant}",
                remedy=f"The warnings are {', '.join(known)}.",
            )
    return frozenset(known[name] for name in names)
