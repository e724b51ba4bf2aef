"""Pictures and tables of the effects: levels beside each other, shares of the variation."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from teijo.analysis import effects
from teijo.analysis.effects import Source, Variance
from teijo.analysis.judged import LIMIT, Judged, Pair
from teijo.analysis.quantities import IOPS, THROUGHPUT
from teijo.document.grid import Fields, listing
from teijo.document.model import Axis, Column, Rule, Section, Series, Style, Table, Value, XYChart
from teijo.document.phrase import say
from teijo.methods.studies.configuration.found import ConfigurationFound

LOG_FROM = 5.0
"""A picture whose largest value is so many times the smallest has a logarithmic axis."""
SERIES_MOST = 8
RATE = {"IOPS": IOPS, "MB/s": THROUGHPUT}
Drawn = tuple[str, str, float, float, float]
"""A line's name, the place on the axis, the value there, both ends of its interval."""


def interplay_chart(found: ConfigurationFound, judged: Judged) -> XYChart | None:
    """Return a workload's rates by the levels of its two weightiest factors, over all others."""
    if judged.variance is None:
        return None
    across, beside = _axes(judged.variance, judged.rates.values.shape[:-1])
    name, levels = found.names[across]
    title: str = judged.rates.name
    lines: list[tuple[str, dict[int, int]]] = [("Mean", {})]
    leading: Fields[Drawn] = ()
    if beside is not None:
        other, others = found.names[beside]
        title = say("{workload} by {first} and {second}", workload=title, first=name, second=other)
        lines = [(line, {beside: at}) for at, line in enumerate(others)]
        leading = ((other, "", None, lambda row: row[0]),)
    rows = [
        (line, level, *_mean(judged, {across: at} | fixed))
        for line, fixed in lines
        for at, level in enumerate(levels)
    ]
    unit = judged.rates.unit
    fields: Fields[Drawn] = (
        *leading,
        (name, "", None, lambda row: row[1]),
        ("Mean", unit, 1, lambda row: row[2]),
        ("Low", unit, 1, lambda row: row[3]),
        ("High", unit, 1, lambda row: row[4]),
    )
    return XYChart(
        title=title,
        x=Axis(name=name, scale="category"),
        y=RATE[unit].axis(log=_is_wide([row[2] for row in rows])),
        series=_lines(rows, "line and points"),
        table=listing(rows, fields, folded=True),
        note="Geometric means over the repeats and all other factors; the strokes are 95 % "
        "confidence intervals.",
    )


def _lines(rows: Sequence[Drawn], style: Style) -> tuple[Series, ...]:
    """Return a line for each name, in the order of the rows."""
    return tuple(
        Series(
            name=line,
            x=tuple(place for name, place, *_ in rows if name == line),
            y=tuple(value for name, _, value, *_ in rows if name == line),
            spread=tuple((low, high) for name, _, _, low, high in rows if name == line),
            style=style,
        )
        for line in dict.fromkeys(name for name, *_ in rows)
    )


def _is_wide(values: Sequence[float]) -> bool:
    return max(values) > LOG_FROM * min(values)


def _axes(variance: Variance, counts: Sequence[int]) -> tuple[int, int | None]:
    """Return the factor along the axis and the one whose levels are lines, None for none.

    They are the two with the largest shares; the one with more levels (`counts`) lies along the
    axis, for there is room, and of equal ones the one that the plan names first.
    """
    heavy = sorted(range(len(counts)), key=lambda factor: -variance.sources[factor].share)[:2]
    across, *rest = sorted(sorted(heavy), key=lambda factor: -counts[factor])
    return across, next((each for each in rest if counts[each] <= SERIES_MOST), None)


def _mean(judged: Judged, at: dict[int, int]) -> tuple[float, float, float]:
    """Return the geometric mean of the cells at these levels, and its interval."""
    # Of logarithms, as all that is judged: a difference is a ratio then.
    logs = np.log(judged.rates.values)
    weights = np.zeros(logs.shape[:-1])
    weights[tuple(at.get(axis, slice(None)) for axis in range(weights.ndim))] = 1.0
    mean = effects.contrast(logs, weights / weights.sum())
    return math.exp(mean.estimate), math.exp(mean.low), math.exp(mean.high)


def ratio_chart(found: ConfigurationFound, factor: int) -> XYChart | None:
    """Return what every level of a factor is by its first one, for each workload."""
    name, levels = found.names[factor]
    rows = [
        (each.rates.name, pair)
        for each in found.judged
        for pair in each.pairs
        if pair.factor == factor
    ]
    if not rows or len(levels) > SERIES_MOST:
        return None
    drawn = [
        (levels[pair.second], workload, pair.ratio, pair.low, pair.high)
        for workload, pair in rows
        if not pair.first
    ]
    is_wide = _is_wide([1.0, *(ratio for _, _, ratio, *_ in drawn)])
    fields: Fields[tuple[str, Pair]] = (
        ("Workload", "", None, lambda row: row[0]),
        (name, "", None, lambda row: levels[row[1].second]),
        ("By", "", None, lambda row: levels[row[1].first]),
        ("Ratio", "", 3, lambda row: row[1].ratio),
        ("Low", "", 3, lambda row: row[1].low),
        ("High", "", 3, lambda row: row[1].high),
        ("p", "", 4, lambda row: row[1].p_value),
        ("Verdict", "", None, lambda row: "differ" if row[1].shown else "not told apart"),
    )
    marked = ((place, 3) for place, (_, pair) in enumerate(rows) if pair.shown)
    return XYChart(
        title=say("{factor}: each level by {base}", factor=name, base=levels[0]),
        x=Axis(name="Workload", scale="category"),
        y=Axis(name="Ratio", scale="log" if is_wide else "linear", from_zero=False),
        series=_lines(drawn, "points"),
        table=listing(rows, fields, folded=True, marked=marked),
        rules=(Rule(name=levels[0], value=1.0),),
        note="1 is as fast as the first level. The strokes are 95 % confidence intervals, over "
        "all other factors.",
    )


def shares_table(found: ConfigurationFound) -> Table | None:
    """Return whose the variation is, a row a workload; what is more than chance is marked."""
    rows = _variances(found)
    if not rows:
        return None
    count = len(found.names)

    def share(first: int, last: int | None) -> Callable[[tuple[str, Variance]], Value]:
        return lambda row: math.fsum(one.share for one in _sources(row[1])[first:last]) * 100

    fields: Fields[tuple[str, Variance]] = (
        ("Workload", "", None, lambda row: row[0]),
        *((name, "%", 1, share(at, at + 1)) for at, (name, _) in enumerate(found.names)),
        *([("Together", "%", 1, share(count, None))] if count > 1 else []),
        ("Scatter", "%", 1, lambda row: row[1].residual_share * 100),
        ("Scatter of one visit", "%", 2, lambda row: _typical_percent(row[1])),
    )
    marked = (
        (place, 1 + at)
        for place, (_, variance) in enumerate(rows)
        for at, source in enumerate(variance.sources[:count])
        if source.p_value < LIMIT
    )
    return listing(rows, fields, caption="Whose the variation is", marked=marked)


def _variances(found: ConfigurationFound) -> list[tuple[str, Variance]]:
    """Return the analysis of variance of each workload that has one, with its name."""
    return [(each.rates.name, each.variance) for each in found.judged if each.variance is not None]


def _sources(variance: Variance) -> tuple[Source, ...]:
    """Return the factors, their pairs, and what three and more of them do together."""
    return (*variance.sources, *(() if variance.higher is None else (variance.higher,)))


def _typical_percent(variance: Variance) -> float:
    """Return by how much a visit is usually off its configuration's mean, in percent."""
    return math.expm1(math.sqrt(variance.residual_squares / variance.residual_freedom)) * 100


def variance_table(found: ConfigurationFound) -> Table:
    """Return the analysis of variance of every workload, with every operand."""
    rows: list[tuple[Value, ...]] = []
    for workload, held in _variances(found):
        for one in _sources(held):
            many = len(one.factors) > 2
            name = "three and more factors together" if many else found.together(one.factors)
            test = (one.f, one.p_value)
            rows.append((workload, name, one.squares, one.freedom, one.share * 100, *test))
        rest = (held.residual_squares, held.residual_freedom, held.residual_share * 100)
        rows += [
            (workload, "blocks", held.block_squares, held.block_freedom, None, None, None),
            (workload, "scatter", *rest, None, None),
        ]
    columns = (
        Column(name="Workload"),
        Column(name="Source"),
        Column(name="Sum of squares", digits=6),
        Column(name="Degrees of freedom", digits=0),
        Column(name="Share", unit="%", digits=2),
        Column(name="F", digits=2),
        Column(name="p", digits=5),
    )
    caption = "Analysis of variance of the logarithms"
    return Table(columns=columns, rows=tuple(rows), caption=caption, folded=True)


def effect_sections(found: ConfigurationFound, hero: XYChart | None) -> list[Section]:
    """Return a page for each factor, and one of the pictures of all workloads but the first."""
    sections = [
        Section(title=say("What {factor} does", factor=name), blocks=(chart,))
        for factor, (name, _) in enumerate(found.names)
        if (chart := ratio_chart(found, factor)) is not None
    ]
    charts = [interplay_chart(found, each) for each in found.judged]
    rest = tuple(each for each in charts if each is not None and each != hero)
    return [*sections, *([Section(title="Every workload", blocks=rest)] if rest else [])]
