"""What the comparison shows: every figure of one side by that of the first, with an interval, a
verdict, and what holds of it when all figures of the test are judged together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from teijo.analysis.difference import CONFIDENCE, Difference, difference_of, holm
from teijo.compare.figures import IOPS, Figure, Quantity, quantities_of, repeated
from teijo.compare.sides import Match

ALL_CELLS = "all cells together"
_LEAST_CELLS = 2


class Verdict(StrEnum):
    """What an interval says of the second side. Less time is faster, more I/O or data is too."""

    FASTER = "faster"
    SLOWER = "slower"
    NOT_SHOWN = "no difference shown"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One figure of two sides. `first` and `second` are the values their reports say.

    `difference` is of the second by the first, None where one has too few batches or measured
    nothing; `together` is its p-value among all of the pairing (Holm).
    """

    place: str
    figure: Figure
    first: float
    second: float
    difference: Difference | None
    together: float | None = None

    @property
    def verdict(self) -> Verdict | None:
        """What the 95 % interval shows, None without one."""
        if self.difference is None:
            return None
        if not self.difference.shown:
            return Verdict.NOT_SHOWN
        more = self.difference.ratio > 1
        return Verdict.FASTER if more is self.figure.more_is_faster else Verdict.SLOWER

    @property
    def verdict_together(self) -> Verdict | None:
        """What is left of it when all figures of the pairing are judged together."""
        if self.together is not None and self.together >= 1 - CONFIDENCE:
            return Verdict.NOT_SHOWN
        return self.verdict


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """One side against the first, in one test. `overall` is the geometric mean of all cells
    that are measured in rounds, of one figure; None where there are not two.
    """

    first: str
    second: str
    rows: tuple[Judged, ...]
    overall: Judged | None

    @property
    def judged(self) -> int:
        """How many figures have a verdict."""
        return sum(row.verdict is not None for row in self.rows)

    @property
    def by_chance(self) -> float:
        """How many of them would differ by chance, were there no difference at all."""
        return self.judged * (1 - CONFIDENCE)

    def count(self, verdict: Verdict, *, together: bool = False) -> int:
        """Return how many figures have a verdict, each by itself or all judged together."""
        told = [row.verdict_together if together else row.verdict for row in self.rows]
        return sum(each is verdict for each in told)


def quantities_by_side(match: Match) -> dict[str, tuple[Quantity, ...]]:
    """Return each side's quantities of a test; runs of one side become its batches."""
    found = {}
    for side in match.sides:
        several = [quantities_of(entry.part) for entry in match.of(side)]
        found[side] = several[0] if len(several) == 1 else repeated(several)
    return found


def pairings_of(match: Match) -> tuple[Pairing, ...]:
    """Return every other side of a test against its first."""
    found = quantities_by_side(match)
    first, *others = match.sides
    return tuple(_pairing(first, other, found[first], found[other]) for other in others)


def _pairing(
    first: str, second: str, before: Sequence[Quantity], after: Sequence[Quantity]
) -> Pairing:
    by_key = {(each.place, each.figure): each for each in after}
    pairs = [
        (one, by_key[one.place, one.figure]) for one in before if (one.place, one.figure) in by_key
    ]
    rows = [_judged(*pair) for pair in pairs]
    known = [row.difference.p_value for row in rows if row.difference is not None]
    together = iter(holm(known))
    return Pairing(
        first=first,
        second=second,
        rows=tuple(
            row
            if row.difference is None
            else Judged(
                place=row.place,
                figure=row.figure,
                first=row.first,
                second=row.second,
                difference=row.difference,
                together=next(together),
            )
            for row in rows
        ),
        overall=_overall(pairs),
    )


def _judged(one: Quantity, other: Quantity) -> Judged:
    return Judged(
        place=one.place,
        figure=one.figure,
        first=one.value,
        second=other.value,
        difference=difference_of(
            one.batches, other.batches, resolution=max(one.resolution, other.resolution)
        ),
    )


def _overall(pairs: Sequence[tuple[Quantity, Quantity]]) -> Judged | None:
    """Return the geometric means over the cells of the test's first figure, round by round.

    All cells of one round go into one batch, so what they have in common is in its scatter.
    """
    cells = [pair for pair in pairs if pair[0].by_round]
    figure = cells[0][0].figure if cells else IOPS
    cells = [pair for pair in cells if pair[0].figure is figure and _all_positive(pair)]
    if len(cells) < _LEAST_CELLS:
        return None
    return _judged(*(_all_cells(figure, side) for side in zip(*cells, strict=True)))


def _all_cells(figure: Figure, cells: Sequence[Quantity]) -> Quantity:
    """Return the cells of one side as one; of a test under way the last may have fewer rounds."""
    return Quantity(
        place=ALL_CELLS,
        figure=figure,
        value=_geometric([each.value for each in cells]),
        batches=tuple(map(_geometric, zip(*(each.batches for each in cells), strict=False))),
        resolution=math.fsum(each.resolution for each in cells) / len(cells),
    )


def _all_positive(pair: tuple[Quantity, Quantity]) -> bool:
    return all(min(each.batches, default=0) > 0 for each in pair)


def _geometric(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))
