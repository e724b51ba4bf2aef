"""Whether a run meets its limits: met, not met, or not to be known, and why.

A figure whose interval reaches over the limit decides nothing, and neither does a run that is not
steady where its standard asks for it, or one that did not end.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from teijo.analysis.mean import mean_of
from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT
from teijo.compare.limit import Judged, Limit, in_unit, limits_from, parse_limit, spelt, words_of
from teijo.document.phrase import Verbatim, listed, say
from teijo.errors import PlanError
from teijo.methods.pages import ms
from teijo.methods.parts import Part, parts_of
from teijo.terms.finding import Cell
from teijo.terms.record import Record

LONGEST: Final = "maximum latency"
"""The longest I/O of all, as the findings have it; a comparison has the mean over the rounds."""
_NAMED_MOST: Final = 8
_ONLY_MEASURED: Final = ("sectors", "response", "backlog", "burst", "step", "group")
"""First words of figures that a run may find and a rehearsal on paper does not."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """One figure that a run has: `low` and `high` bound it at 95 %, None where nothing does."""

    part: str
    name: str
    place: str = ""
    words: frozenset[str] = frozenset()
    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    steady: bool = True

    @property
    def shown(self) -> str:
        """The figure as a limit names it."""
        return f"{self.name}[{self.place}]" if self.place else self.name


def judged(record: Record, texts: Sequence[str]) -> tuple[Judged, ...]:
    """Return what becomes of each limit in a run.

    Raises:
        PlanError: a text is no limit.
    """
    if not texts:
        return ()
    known = known_in(record)
    return tuple(_judged(parse_limit(text), record, known) for text in texts)


def check_named(record: Record, texts: Iterable[str]) -> None:
    """Make sure that limits name figures which a rehearsal of the run has, in units they have.

    Raises:
        PlanError: one does not; the nearest name is in the message.
    """
    known = known_in(record)
    for text in limits_from(texts):
        limit = parse_limit(text)
        found = _found(limit, known)
        if isinstance(found, str):
            if limit.figure.split(" ")[0] in _ONLY_MEASURED:
                continue
            raise PlanError(f"--limit {limit.text!r}: {found}", remedy=_remedy(limit, known))
        if in_unit(limit, found.unit) is None:
            raise PlanError(
                f"--limit {limit.text!r}: {_unit_why(found.unit)}",
                remedy="Write the limit in a unit of the figure, or without one.",
            )


def known_in(record: Record) -> tuple[Known, ...]:
    """Return every figure of a run that a limit can name."""
    return known_of(parts_of(record))


def known_of(several: Sequence[Part]) -> tuple[Known, ...]:
    """Return every figure of the tests of a run that a limit can name."""
    return tuple(
        each
        for part in several
        for each in _known_of(part, spelt(part.name) if len(several) > 1 else "")
    )


def _known_of(part: Part, name: str) -> list[Known]:
    steady = part.findings.converged is not False
    found: list[Known] = []
    for one in part.found.quantities:
        mean = mean_of(one.batches, resolution=one.resolution)
        half = None if mean is None else mean.half_width
        found.append(
            Known(
                part=name,
                name=spelt(one.figure.name),
                place=one.place,
                words=words_of(one.place),
                value=one.value,
                unit=one.figure.unit,
                low=None if half is None else one.value - half,
                high=None if half is None else one.value + half,
                steady=steady and one.steady is not False,
            )
        )
    for cell in part.findings.cells:
        for each in _of_cell(cell, name, steady=steady):
            named = [one for one in found if one.name == each.name]
            # The only cell of a run needs no place, and takes the words of both its names.
            alone = len(part.findings.cells) == len(named) == 1
            same = next((one for one in named if alone or _is_same(one, each, cell)), None)
            if same is None:
                found.append(each)
            else:
                found[found.index(same)] = replace(same, words=same.words | each.words)
    names = {one.name for one in found}
    found += [
        Known(
            part=name,
            name=spelt(scalar.name),
            value=scalar.value,
            unit=scalar.unit,
            steady=steady,
        )
        for scalar in part.findings.scalars
        if spelt(scalar.name) not in names
    ]
    return found


def _on_axis(axis: str, text: str) -> str:
    """Return a place with the name of its axis, in one word: "queuedepth=4"."""
    return f"{axis}={text}".lower().replace(" ", "")


def _of_cell(cell: Cell, part: str, *, steady: bool) -> list[Known]:
    # A bare number may be one of two axes, so it is shown with the name of its own.
    shown = " ".join(_on_axis(*each) if each[1].isdecimal() else each[1] for each in cell.labels)
    words = words_of(" ".join(text for _, text in cell.labels))
    axes = frozenset(_on_axis(*each) for each in cell.labels)
    return [
        Known(
            part=part,
            name=spelt(name),
            place=shown,
            words=words | axes,
            value=value,
            unit=unit,
            steady=steady,
        )
        for name, unit, value in (
            (IOPS.name, IOPS.unit, cell.iops),
            (THROUGHPUT.name, THROUGHPUT.unit, cell.throughput_mb_s),
            (LATENCY.name, LATENCY.unit, ms(cell.latency_ns_mean)),
            (LONGEST, LATENCY.unit, ms(cell.latency_ns_max)),
        )
    ]


def _is_same(one: Known, each: Known, cell: Cell) -> bool:
    """Return whether a figure of a cell has an interval already, under a name of its own."""
    if one.value is None or each.value is None:
        return False
    # A mean of ms beside one of ns: the same, but for rounding.
    return math.isclose(one.value, each.value, rel_tol=1e-9) and all(
        words_of(text) <= one.words or _on_axis(axis, text) in one.words
        for axis, text in cell.labels
    )


def _judged(limit: Limit, record: Record, known: Sequence[Known]) -> Judged:
    found = _found(limit, known)
    if isinstance(found, str):
        return Judged(text=limit.text, verdict="not known", why=found)
    bound = in_unit(limit, found.unit)
    told = Judged(
        text=limit.text,
        verdict="not known",
        value=found.value,
        low=found.low,
        high=found.high,
        unit=found.unit,
    )
    if bound is None:
        return replace(told, why=_unit_why(found.unit))
    if found.value is None or not math.isfinite(found.value):
        return replace(told, why="the run has no value for it")
    if not record.run.is_whole:
        return replace(told, why=say("the run is {ending}", ending=record.run.ending))
    if not found.steady:
        return replace(told, why="steady state was not reached")
    return _held(told, limit, bound)


def _held(told: Judged, limit: Limit, bound: float) -> Judged:
    """Hold a figure's whole interval against the bound: what is not on one side is not known."""
    assert told.value is not None, "it was asked before"
    low = told.value if told.low is None else told.low
    high = told.value if told.high is None else told.high
    match limit.sign:
        case ">=":
            met, missed = low >= bound, high < bound
        case ">":
            met, missed = low > bound, high <= bound
        case "<=":
            met, missed = high <= bound, low > bound
        case "<":
            met, missed = high < bound, low >= bound
    if met or missed:
        return replace(told, verdict="met" if met else "not met")
    return replace(told, why="its interval reaches over the limit; more passes or rounds may tell")


def _found(limit: Limit, known: Sequence[Known]) -> Known | str:
    """Return the one figure that a limit names, or why there is none or more than one."""
    parts = {each.part for each in known}
    figure, part = limit.figure, limit.part
    if part and part not in parts:
        figure, part = f"{part}/{figure}", ""  # a name may hold a stroke: "failed I/Os"
    named = [each for each in known if each.name == figure and part in ("", each.part)]
    if not named:
        names = sorted({each.name for each in known})
        near = get_close_matches(figure, names, n=1, cutoff=0.5)
        wanted = Verbatim(figure)
        if near:
            near_by = Verbatim(near[0])
            return say(
                "there is no figure {name!r}; did you mean {near!r}?", name=wanted, near=near_by
            )
        return say("there is no figure {name!r}", name=wanted)
    fitting = [each for each in named if limit.places <= each.words]
    exact = [each for each in fitting if each.words == limit.places]
    several = exact or fitting
    if len(several) == 1:
        return several[0]
    if not several:
        shown = [Verbatim(each.place) for each in named[:_NAMED_MOST]]
        return say("{name} has no such place; it has {places}", name=figure, places=listed(shown))
    shown = [Verbatim(_whole(each)) for each in several[:_NAMED_MOST]]
    return say("it names {count} figures: {places}", count=len(several), places=listed(shown))


def _whole(known: Known) -> str:
    return f"{known.part}/{known.shown}" if known.part else known.shown


def _unit_why(unit: str) -> str:
    if not unit:
        return "this figure has no unit"
    return say("this figure is in {unit}, and the limit is not", unit=unit)


def _remedy(limit: Limit, known: Sequence[Known]) -> str:
    same = [_whole(each) for each in known if each.name == limit.figure]
    names = same or sorted({each.name for each in known if "±" not in each.name})
    more = f" and {len(names) - 40} more" if len(names) > 40 else ""
    return f"The figures are {', '.join(names[:40])}{more}."
