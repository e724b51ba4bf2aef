"""What a drive said of itself at one moment of a run: a row of the time series of its health."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 2**63 - 1
"""What a counter may be: more is no count of a drive, and fits in no column."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One answer of a drive to the question for its own counters, asked while a run went on.

    `step` is the number of the step that was under way, or that was to begin next. `at_ns` is when
    the drive was asked, on the run's clock, and `cost_ns` how long it took to answer. `counters`
    are named as in a step's health; what the drive does not tell is absent, never zero. `error`
    says why the drive could not be read; it has no counters then, and nobody knows how it was.
    """

    step: int
    at_ns: int
    cost_ns: int
    counters: Mapping[str, int] = field(default_factory=dict)
    error: str = ""

    @property
    def ended_ns(self) -> int:
        """When the answer was there, on the run's clock."""
        return self.at_ns + self.cost_ns
