"""The report's colours, in hex for paper and as CSS variables for the screen.

Series colours come from Okabe and Ito's set, darkened until each has 3 : 1 against white; a
second sign (shape or dash) always tells series apart too. No chart grammar lives here.
"""

from dataclasses import dataclass
from typing import Final, TypeVar

_T = TypeVar("_T")

SERIES: Final = (
    "#0b6bab", "#cf5608", "#008a66", "#b0508f", "#9a7200", "#3b8fc4", "#6b2a50", "#5d6570",
)  # fmt: skip
SERIES_ON_DARK: Final = (
    "#5aa9e6", "#f0894a", "#3fc39b", "#e08fc3", "#dcb044", "#8fd0f5", "#cf86ae", "#aab2bd",
)  # fmt: skip
SHAPES: Final = (
    "circle", "square", "triangle-up", "diamond", "cross",
    "triangle-down", "triangle-right", "triangle-left",
)  # fmt: skip
DASHES: Final = (
    (1, 0), (7, 3), (2, 2), (8, 3, 2, 3), (11, 4), (4, 2, 1, 2), (1, 3), (12, 3, 3, 3),
)  # fmt: skip
DASHED: Final = (5, 3)
RAMP: Final = ("#33507f", "#2f7391", "#3d9486", "#77ad74", "#b9bd68", "#dfae63", "#d98a5c")
"""Ordered places of a category axis, front to back; dark to light, then warm."""


@dataclass(frozen=True, kw_only=True)
class Inks:
    """The colours one medium draws with; `series` has as many as `SERIES`."""

    text: str
    quiet: str
    grid: str
    axis: str
    rule: str
    span: str
    series: tuple[str, ...]


PAPER: Final = Inks(
    text="#1d2129", quiet="#565d69", grid="#e6e8ec", axis="#9aa1ad", rule="#3b4250",
    span="#8a74b8", series=SERIES,
)  # fmt: skip
SCREEN: Final = Inks(
    text="var(--ink)", quiet="var(--quiet)", grid="var(--grid)", axis="var(--axis)",
    rule="var(--rule)", span="var(--steady)",
    series=tuple(f"var(--series-{place})" for place in range(1, len(SERIES) + 1)),
)  # fmt: skip


def cycled(values: tuple[_T, ...], place: int) -> _T:
    """Return the value of a place, starting over after the last."""
    return values[place % len(values)]


def ramp(count: int) -> list[str]:
    """Return `count` colours spread evenly over `RAMP`."""
    last = len(RAMP) - 1
    spread = [place * last / max(1, count - 1) for place in range(count)]
    return [_mixed(RAMP[int(at)], RAMP[min(last, int(at) + 1)], at % 1) for at in spread]


def lighter(colour: str, share: float) -> str:
    """Return a colour moved towards white by `share` (0 to 1)."""
    return _mixed(colour, "#ffffff", share)


def darker(colour: str, share: float) -> str:
    """Return a colour moved towards black by `share` (0 to 1)."""
    return _mixed(colour, "#000000", share)


def _mixed(first: str, second: str, share: float) -> str:
    channels = [
        round(int(first[at : at + 2], 16) * (1 - share) + int(second[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in channels)
