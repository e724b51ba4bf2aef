"""What the comparison shows: every figure of one side by that of the first, with an interval and a
verdict that holds when all figures of the test are judged together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from teijo.analysis.difference import (
    CONFIDENCE,
    Difference,
    Level,
    difference_between,
    judged_together,
    level_of,
)
from teijo.analysis.quantities import IOPS, LATENCY_MAX, Quantity
from teijo.analysis.repeats import TOLERANCE, Needed, level_of_run, levels_beside, runs_needed
from teijo.compare.sides import Match
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim

ALL_CELLS = "all cells together"
_LEAST_CELLS = 2
_PRINTED_SHARE = 5e-5
"""What rounds to 0.00 % is no difference, however little both sides scatter."""
PLANNED_RATIO = 1.05
"""Of several runs a side the report says how many would show a difference of this size."""
_OVERALL_SHARES = 2
"""All cells together have half of the 5 %, the other half is the figures'."""


class Verdict(StrEnum):
    """What is shown of the second side. Less time is faster, more I/O or data is too."""

    FASTER = "faster"
    SLOWER = "slower"
    NOT_SHOWN = "no difference shown"
    NOT_DECIDABLE = "not decidable from one run each"


SHOWN = (Verdict.FASTER, Verdict.SLOWER)


class Reason(StrEnum):
    """Why one run each does not decide."""

    CLOSE = "they are closer than one run each can tell"
    WINDOWS = "the windows differ in kind"
    NOT_STEADY = "no window of either side is steady"
    LOADS = "the runs chose operating points of different load"
    MAXIMUM = "single I/Os decide a maximum"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One figure of two sides. `first` and `second` are the values that are printed and compared.

    `difference` is of the second by the first, None where one has too few batches or measured
    nothing; `together` is its p-value among all of the pairing. `needed` is there for one run a
    side whose rounds alone would differ: the runs that would show it; `bar` is what keeps one run
    each from deciding whatever the distance. `planned` is there for several runs a side: the runs
    that would show 5 %, by how these scatter.
    """

    place: str
    figure: Figure
    first: float
    second: float
    difference: Difference | None
    together: float | None = None
    needed: Needed | None = None
    bar: Reason | None = None
    planned: Needed | None = None

    @property
    def verdict(self) -> Verdict | None:
        """What is shown, None without an interval."""
        if self.difference is None:
            return None
        if self._differs and self.bar is None:
            more = self.difference.ratio > 1
            return Verdict.FASTER if more is self.figure.more_is_faster else Verdict.SLOWER
        return Verdict.NOT_SHOWN if self.needed is None else Verdict.NOT_DECIDABLE

    @property
    def why(self) -> Reason | None:
        """Why one run each does not decide, None where it does or nothing differs."""
        return (self.bar or Reason.CLOSE) if self.verdict is Verdict.NOT_DECIDABLE else None

    @property
    def distance(self) -> float:
        """How far apart the two are, either way: 1 where they are equal."""
        assert self.difference is not None, "asked of what has a verdict"
        return max(self.difference.ratio, 1 / self.difference.ratio)

    @property
    def percents(self) -> tuple[float | None, float | None, float | None]:
        """How far the second is above the first, and the ends of the interval, in percent."""
        found = self.difference
        if found is None:
            return None, None, None
        return (found.ratio - 1) * 100, (found.low - 1) * 100, (found.high - 1) * 100

    @property
    def _differs(self) -> bool:
        if self.together is None:
            return self.difference is not None and self.difference.shown
        return self.together < 1 - CONFIDENCE


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
    def names(self) -> dict[str, str]:
        """The two sides, as sentences have them."""
        return {"second": Verbatim(self.second), "first": Verbatim(self.first)}

    @property
    def judged(self) -> int:
        """How many figures have a verdict."""
        return sum(row.verdict is not None for row in self.rows)

    @property
    def differing(self) -> int:
        """How many figures are faster or slower."""
        return sum(row.verdict in SHOWN for row in self.rows)

    def count(self, verdict: Verdict) -> int:
        """Return how many figures have a verdict."""
        return sum(row.verdict is verdict for row in self.rows)


def quantities_by_side(match: Match) -> dict[str, tuple[Quantity, ...]]:
    """Return each side's quantities of a test; runs of one side become its batches."""
    by_side = {
        side: [entry.part.found.quantities for entry in match.of(side)] for side in match.sides
    }
    return {side: runs[0] if len(runs) == 1 else repeated(runs) for side, runs in by_side.items()}


def repeated(several: Sequence[Sequence[Quantity]]) -> tuple[Quantity, ...]:
    """Return the quantities of runs that repeat each other: each run's value is a batch then.

    What one of them has not measured is left out.
    """
    by_run = [{(each.place, each.figure): each for each in run} for run in several]
    found = []
    for key, first in by_run[0].items():
        same = [run[key] for run in by_run if key in run]
        if len(same) < len(by_run):
            continue
        values = tuple(each.value for each in same)
        found.append(
            replace(
                first,
                value=math.fsum(values) / len(values),
                batches=values,
                batch_samples=1,
                resolution=max(each.resolution for each in same),
                runs=len(same),
                own_error=math.fsum(_own_error(each) for each in same) / len(same),
                load="",
            )
        )
    return tuple(found)


def _own_error(run: Quantity) -> float:
    level = level_of(run.batches)
    return 0.0 if level is None else level.squared_error


def pairings_of(match: Match) -> tuple[Pairing, ...]:
    """Return every other side of a test against its first."""
    found = quantities_by_side(match)
    first, *others = match.sides
    return tuple(pairing_of(first, other, found[first], found[other]) for other in others)


def pairing_of(
    first: str, second: str, before: Sequence[Quantity], after: Sequence[Quantity]
) -> Pairing:
    """Return what the figures of two sides show; what one of them has not is left out."""
    by_key = {(each.place, each.figure): each for each in after}
    pairs = [
        (one, by_key[one.place, one.figure]) for one in before if (one.place, one.figure) in by_key
    ]
    rows = [_judged(*pair, figures=len(pairs)) for pair in pairs]
    overall = _overall(pairs)
    whole = None if overall is None or overall.difference is None else overall.difference.p_value
    known = [row.difference.p_value for row in rows if row.difference is not None]
    shares, whole = judged_together(known, whole)
    together = iter(shares)
    return Pairing(
        first=first,
        second=second,
        rows=tuple(
            row if row.difference is None else replace(row, together=next(together)) for row in rows
        ),
        overall=None if overall is None else replace(overall, together=whole),
    )


def _judged(one: Quantity, other: Quantity, *, figures: int) -> Judged:
    """Return one figure of both sides; `figures` is among how many it is judged."""
    found = Judged(
        place=one.place, figure=one.figure, first=one.value, second=other.value, difference=None
    )
    first, second = _levels(one, other)
    if first is None or second is None:
        return found
    resolution = max(one.resolution, other.resolution, _PRINTED_SHARE)
    # Runs that repeat each other show how runs differ: no tolerance for that on top.
    if max(one.runs, other.runs) > 1:
        return replace(
            found,
            difference=difference_between(first, second, resolution=resolution),
            planned=_planned(one, other, figures) if min(one.runs, other.runs) > 1 else None,
        )
    alone = difference_between(*_rounds_alone(one, other), resolution=resolution)
    difference = difference_between(first, second, resolution=resolution, tolerance=TOLERANCE)
    ratio = difference.ratio
    return replace(
        found,
        difference=difference,
        needed=runs_needed(ratio=ratio, first=first, second=second, figures=figures)
        if alone.shown
        else None,
        bar=_bar(one, other),
    )


def _planned(one: Quantity, other: Quantity, figures: int) -> Needed:
    """Return the runs a side that would show 5 %, each run scattering as these do."""
    first, second = level_of(one.batches), level_of(other.batches)
    assert first is not None, "it has several runs"
    assert second is not None, "it has several runs"
    one_run, other_run = (
        # Of one run: a level has the error of the mean of all of them.
        replace(each, squared_error=max(each.squared_error * side.runs, side.own_error))
        for each, side in ((first, one), (second, other))
    )
    return runs_needed(ratio=PLANNED_RATIO, first=one_run, second=other_run, figures=figures)


def _levels(one: Quantity, other: Quantity) -> tuple[Level | None, Level | None]:
    """Return what is known of both sides: by how their runs scatter where one of them has some."""
    if min(one.value, other.value) <= 0:
        return None, None
    levels: tuple[Level | None, Level | None]
    if one.runs > 1 and other.runs > 1:
        levels = level_of(one.batches), level_of(other.batches)
    elif one.runs > 1:
        levels = levels_beside(other.batches, one.batches) or (None, None)
        levels = levels[1], levels[0]
    elif other.runs > 1:
        levels = levels_beside(one.batches, other.batches) or (None, None)
    else:
        levels = (
            level_of_run(one.batches, one.batch_samples),
            level_of_run(other.batches, other.batch_samples),
        )
    return _printed(levels[0], one), _printed(levels[1], other)


def _rounds_alone(one: Quantity, other: Quantity) -> tuple[Level, Level]:
    """Return both levels as if rounds did not resemble each other: what would look different."""
    first, second = _printed(level_of(one.batches), one), _printed(level_of(other.batches), other)
    assert first is not None, "a level that is known with likeness is known without"
    assert second is not None, "a level that is known with likeness is known without"
    return first, second


def _printed(level: Level | None, quantity: Quantity) -> Level | None:
    """Return the level at the printed value: a step's last second is in its value, in no batch.

    Two runs may be alike by chance, but are not known better than their rounds let expect.
    """
    if level is None:
        return None
    floor = quantity.own_error / quantity.runs
    return replace(level, mean=quantity.value, squared_error=max(level.squared_error, floor))


def _bar(one: Quantity, other: Quantity) -> Reason | None:
    """Return what keeps one run each from deciding, however far apart they are."""
    if one.figure is LATENCY_MAX:
        return Reason.MAXIMUM
    if one.steady is not other.steady or len(one.batches) != len(other.batches):
        return Reason.WINDOWS
    if one.load != other.load:
        return Reason.LOADS
    return Reason.NOT_STEADY if one.steady is False else None


def _overall(pairs: Sequence[tuple[Quantity, Quantity]]) -> Judged | None:
    """Return the geometric means over the cells of the test's first figure, round by round.

    All cells of one round go into one batch, so what they have in common is in its scatter.
    """
    cells = [pair for pair in pairs if pair[0].by_round]
    figure = cells[0][0].figure if cells else IOPS
    cells = [pair for pair in cells if pair[0].figure is figure and _all_positive(pair)]
    if len(cells) < _LEAST_CELLS:
        return None
    first, second = map(_all_cells, zip(*cells, strict=True))
    return _judged(first, second, figures=_OVERALL_SHARES)


def _all_cells(cells: Sequence[Quantity]) -> Quantity:
    """Return the cells of one side as one; of a test under way the last may have fewer rounds."""
    return replace(
        cells[0],
        place=ALL_CELLS,
        value=_geometric([each.value for each in cells]),
        batches=tuple(map(_geometric, zip(*(each.batches for each in cells), strict=False))),
        resolution=math.fsum(each.resolution for each in cells) / len(cells),
        # The variance of a mean of logarithms, the cells taken as independent.
        own_error=math.fsum(each.own_error for each in cells) / len(cells) ** 2,
    )


def _all_positive(pair: tuple[Quantity, Quantity]) -> bool:
    return all(min(each.batches, default=0) > 0 for each in pair)


def _geometric(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))
