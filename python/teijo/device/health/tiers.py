"""A drive's health in three tiers, by what the question costs it: nothing, a rest, or the opening.

No tier can be handed on as another. What the run file keeps of a step is `recorded`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from teijo.terms.drive_warning import DriveWarning
from teijo.terms.result import Health


@dataclass(frozen=True)
class FreeCounters:
    """What costs a device nothing to read: the kernel's counters, all of a simulated device."""

    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AskedCounters:
    """What a drive says when it is asked (SMART). It rests meanwhile, for up to seconds, so that
    `runner/looks.py` decides when: at most once a minute.
    """

    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OpeningCondition:
    """What a drive says against itself when it is opened or inspected, and who was asked.

    `warnings` None means that nobody knows, never that there is none; `told_by` then says why.
    """

    warnings: tuple[DriveWarning, ...] | None
    told_by: str

    @property
    def text(self) -> str:
        """One line; `terms.drive_warning.told_in` reads the warnings out of it again."""
        if self.warnings is None:
            return f"unknown: {self.told_by}"
        names = ", ".join(self.warnings)
        return f"warns: {names} ({self.told_by})" if names else f"no warning ({self.told_by})"


def recorded(free: FreeCounters, asked: AskedCounters | None = None) -> Health:
    """Return the counters as a step's answer has them, all in one."""
    return {**free.counts, **(asked.counts if asked is not None else {})}
