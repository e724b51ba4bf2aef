"""The points of ORION's load matrix: which there are, in which order, and how long they take.

A point keeps so many small and so many large I/Os outstanding. All loads grow with the number of
disks, N: how many disks there are is said, and selects none.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Run = Literal["simple", "normal", "advanced", "oltp", "dss"]
Matrix = Literal["basic", "detailed", "point", "col", "row", "max"]

SMALL_BY_DISK: Final = 5
LARGE_BY_DISK: Final = 2
OLTP_STEPS: Final = 20
DSS_STEPS: Final = 15
_DEEP_SMALL: Final = (8, 16, 32)
_DEEP_LARGE: Final = (4, 8)
"""Loads a disk beyond the original's, where its loads end far below what a drive can queue."""


@dataclass(frozen=True, order=True, kw_only=True)
class Point:
    """So many small I/Os and so many large ones (or large streams), all of them outstanding."""

    small: int
    large: int

    @property
    def name(self) -> str:
        """The name of the cell, in the original's words: "Small=5 Large=0"."""
        return f"Small={self.small} Large={self.large}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The place on each axis."""
        return (("small", str(self.small)), ("large", str(self.large)))


@dataclass(frozen=True, kw_only=True)
class Loads:
    """What decides the points. `small` and `large` are lists in place of the original's loads."""

    run: Run = "simple"
    matrix: Matrix = "basic"
    disks: int = 1
    num_small: int | None = None
    num_large: int | None = None
    small: tuple[int, ...] = ()
    large: tuple[int, ...] = ()
    deeper: bool = False

    @property
    def shape(self) -> Matrix:
        """The matrix that a run level is."""
        presets: dict[Run, Matrix] = {
            "simple": "basic", "normal": "detailed", "oltp": "row", "dss": "col"
        }  # fmt: skip
        return presets.get(self.run, self.matrix)

    @property
    def fixed_large(self) -> int:
        """The load of large I/Os that a row has."""
        return 0 if self.run == "oltp" else self.num_large or 0

    @property
    def fixed_small(self) -> int:
        """The load of small I/Os that a column has."""
        return 0 if self.run == "dss" else self.num_small or 0

    @property
    def small_levels(self) -> tuple[int, ...]:
        """The loads of small I/Os above zero that a row has."""
        if self.run == "oltp":
            usual = _stepped(self.disks, OLTP_STEPS)
        elif self.shape == "max":
            usual = tuple(range(1, self.fixed_small + 1))
        else:
            usual = tuple(range(1, SMALL_BY_DISK * self.disks + 1))
        return self.small or usual

    @property
    def large_levels(self) -> tuple[int, ...]:
        """The loads of large I/Os above zero that a column has."""
        if self.run == "dss":
            usual = _stepped(self.disks, DSS_STEPS)
        elif self.shape == "max":
            usual = tuple(range(1, self.fixed_large + 1))
        else:
            usual = tuple(range(1, LARGE_BY_DISK * self.disks + 1))
        return self.large or usual

    @property
    def shown_small(self) -> tuple[int, ...]:
        """The loads of small I/Os that the original's summary names: of `basic` only 0."""
        if self.shape == "basic":
            return (0,)
        return tuple(sorted({point.small for point in points_of(self)}))

    @property
    def shown_large(self) -> tuple[int, ...]:
        """The loads of large I/Os that the original's summary names."""
        if self.shape == "basic":
            return (0, *self.large_levels)
        return tuple(sorted({point.large for point in points_of(self)}))

    @property
    def total(self) -> int:
        """The original's "Total Data Points": one more than are measured, for (0,0) is counted."""
        return len(points_of(self)) + 1

    def estimate_ns(self, duration_ns: int) -> int:
        """Return how long the original says that it will take: one point more than its total."""
        return (self.total + 1) * duration_ns


def _stepped(disks: int, steps: int) -> tuple[int, ...]:
    """Return 1 to N, then multiples of N."""
    return tuple(sorted({*range(1, disks + 1), *(disks * step for step in range(1, steps + 1))}))


def points_of(loads: Loads) -> tuple[Point, ...]:
    """Return the points in the original's order: by small load, and by large load within one.

    So the column of large I/Os alone comes before the row of small ones. (0,0) is never measured.
    """
    small, large = loads.small_levels, loads.large_levels
    places: set[tuple[int, int]]
    match loads.shape:
        case "basic":
            places = {(0, each) for each in large} | {(each, 0) for each in small}
        case "detailed" | "max":
            places = {(one, other) for one in (0, *small) for other in (0, *large)}
        case "row":
            places = {(each, loads.fixed_large) for each in (0, *small)}
        case "col":
            places = {(loads.fixed_small, each) for each in (0, *large)}
        case "point":
            places = {(loads.fixed_small, loads.fixed_large)}
    if loads.deeper:
        places |= _deeper(loads, small, large)
    return tuple(Point(small=one, large=other) for one, other in sorted(places - {(0, 0)}))


def _deeper(loads: Loads, small: Sequence[int], large: Sequence[int]) -> set[tuple[int, int]]:
    """Return points beyond the ends of the lines, where the load was not given by hand."""
    rows = {
        (loads.disks * each, loads.fixed_large if loads.shape == "row" else 0)
        for each in _DEEP_SMALL
        if loads.shape in ("basic", "detailed", "row") and loads.disks * each > max(small)
    }
    columns = {
        (loads.fixed_small if loads.shape == "col" else 0, loads.disks * each)
        for each in _DEEP_LARGE
        if loads.shape in ("basic", "detailed", "col") and loads.disks * each > max(large)
    }
    return rows | columns


def in_random_order(points: Sequence[Point], shuffle: int, number: int) -> tuple[Point, ...]:
    """Return the points of a pass in an order drawn from a seed and the number of the pass."""

    def lot(point: Point) -> bytes:
        text = f"{shuffle}/{number}/{point.small}/{point.large}"
        return hashlib.sha256(text.encode()).digest()

    return tuple(sorted(points, key=lot))
