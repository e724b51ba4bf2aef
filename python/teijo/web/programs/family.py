"""What is told of one thing that is measured, before it is written in one of two formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from teijo.analysis.exponential import Exponential

Kind = Literal["gauge", "counter", "info", "histogram"]
SUFFIX: Final[Mapping[Kind, str]] = {
    "gauge": "",
    "counter": "_total",
    "info": "_info",
    "histogram": "",
}
"""What the name of a number has behind the name of its family."""
LE_POWERS: Final = range(-20, 6)
"""The powers of 2 s that a classic histogram counts up to: from 1 µs to 32 s."""


@dataclass(frozen=True)
class Sample:
    """A number, or the latencies of a histogram, and what it is of."""

    labels: Mapping[str, str]
    value: float | Exponential


@dataclass(frozen=True, kw_only=True)
class Family:
    """All samples of one name. `unit` is the end of the name where that is a unit, or nothing."""

    name: str
    kind: Kind
    meaning: str
    samples: tuple[Sample, ...]
    unit: str = ""


def classic(latencies: Exponential) -> list[tuple[float, int]]:
    """Return (le in s, how many I/Os took at most that) of a classic histogram, without +Inf."""
    counts = latencies.up_to(LE_POWERS)
    return [(2.0**power, count) for power, count in zip(LE_POWERS, counts, strict=True)]
