"""Pictures and tables of the effects: levels beside each other, shares of the variation."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from teijo.analysis import effects
from teijo.analysis.effects import Variance
from teijo.analysis.judged import LIMIT, Judged, Pair
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing
from teijo.document.model import Axis, Column, Rule, Section, Series, Table, Value, XYChart
from teijo.document.phrase import Verbatim, say
from teijo.methods.studies.configuration.found import ConfigurationFound
from teijo.methods.studies.configuration.settings import ConfigurationSettings

LOG_FROM = 5.0
"""A picture whose largest value is so many times the smallest has a logarithmic axis."""
SERIES_MOST = 8
RATE = {"IOPS": Figure(name="IOPS"), "MB/s": Figure(name="Throughput", unit="MB/s")}


def interplay_chart(settings: ConfigurationSettings, found: Judged) -> XYChart | None:
    """Return a workload's rates by the levels of its two weightiest factors, over all others."""
    if found.variance is None:
        return None
    across, beside = _axes(settings, found)
    name, levels = _words(settings, across)
    other, others = ("", ("Mean",)) if beside is None else _words(settings, beside)
    means = [
        _mean(found, {across: at} if beside is None else {across: at, beside: line})
        for line in range(len(others))
        for at in range(len(levels))
    ]
    parts = tuple(each for each in others for _ in levels)
    unit, values = found.rates.unit, tuple(mean for mean, _, _ in means)
    grid = Grid(
        leading=() if beside is None else (Beside(column=Column(name=other), values=parts),),
        rows=Edge(name=name, places=levels * len(others), scale="category", from_zero=True),
        columns=(
            Line(
                figure=Figure(name="Mean", unit=unit),
                values=values,
                parts=parts,
                spread=tuple((low, high) for _, low, high in means),
            ),
            *(
                Beside(
                    column=Column(name=end, unit=unit, digits=1),
                    values=tuple(each[place] for each in means),
                )
                for place, end in ((1, "Low"), (2, "High"))
            ),
        ),
    )
    title: str = Verbatim(found.rates.name)
    if beside is not None:
        title = say("{workload} by {first} and {second}", workload=title, first=name, second=other)
    return grid.chart(
        title,
        RATE[unit],
        log=_is_wide(values),
        table=grid.table(folded=True),
        note="Geometric means over the repeats and all other factors; the strokes are 95 % "
        "confidence intervals.",
    )


def _words(settings: ConfigurationSettings, factor: int) -> tuple[str, tuple[str, ...]]:
    """Return the names of a factor and of its levels."""
    name, levels = settings.factors[factor]
    return Verbatim(name), tuple(Verbatim(level) for level, _ in levels)


def _is_wide(values: Sequence[float]) -> bool:
    return max(values) > LOG_FROM * min(values)


def _axes(settings: ConfigurationSettings, found: Judged) -> tuple[int, int | None]:
    """Return the factor along the axis and the one whose levels are lines, None for none.

    They are the two with the largest shares; the one with more levels lies along the axis, for
    there is room, and of equal ones the one that the plan names first.
    """
    factors = range(len(settings.factors))
    sources = [found.source(factor) for factor in factors]
    shares = [0.0 if source is None else source.share for source in sources]
    heavy = sorted(factors, key=lambda factor: -shares[factor])
    if len(heavy) < 2:
        return heavy[0], None
    both = sorted(sorted(heavy[:2]), key=lambda factor: -len(settings.factors[factor][1]))
    few = len(settings.factors[both[1]][1]) <= SERIES_MOST
    return both[0], both[1] if few else None


def _mean(found: Judged, at: dict[int, int]) -> tuple[float, float, float]:
    """Return the geometric mean of the cells at these levels, and its interval."""
    logs = np.log(found.rates.values)
    weights = np.zeros(logs.shape[:-1])
    weights[tuple(at.get(axis, slice(None)) for axis in range(weights.ndim))] = 1.0
    mean = effects.contrast(logs, weights / weights.sum())
    return math.exp(mean.estimate), math.exp(mean.low), math.exp(mean.high)


def ratio_chart(
    settings: ConfigurationSettings, factor: int, found: Sequence[Judged]
) -> XYChart | None:
    """Return what every level of a factor is by its first one, for each workload."""
    name, (base, *levels) = _words(settings, factor)
    rows = [(each, pair) for each in found for pair in each.pairs if pair.factor == factor]
    if not rows or len(levels) >= SERIES_MOST:
        return None
    series = []
    for place, level in enumerate(levels, 1):
        own = [(each, pair) for each, pair in rows if (pair.first, pair.second) == (0, place)]
        series.append(
            Series(
                name=level,
                x=tuple(Verbatim(each.rates.name) for each, _ in own),
                y=tuple(pair.ratio for _, pair in own),
                style="points",
                spread=tuple((pair.low, pair.high) for _, pair in own),
            )
        )
    ratios = [pair.ratio for _, pair in rows if not pair.first]
    return XYChart(
        title=say("{factor}: each level by {base}", factor=name, base=base),
        x=Axis(name="Workload", scale="category"),
        y=Axis(
            name="Ratio", scale="log" if _is_wide([*ratios, 1.0]) else "linear", from_zero=False
        ),
        series=tuple(series),
        table=_pairs_table(name, (base, *levels), rows),
        rules=(Rule(name=base, value=1.0),),
        note="1 is as fast as the first level. The strokes are 95 % confidence intervals, over "
        "all other factors.",
    )


def _pairs_table(name: str, levels: Sequence[str], rows: Sequence[tuple[Judged, Pair]]) -> Table:
    fields: Fields[tuple[Judged, Pair]] = (
        ("Workload", "", None, lambda row: Verbatim(row[0].rates.name)),
        (name, "", None, lambda row: levels[row[1].second]),
        ("By", "", None, lambda row: levels[row[1].first]),
        ("Ratio", "", 3, lambda row: row[1].ratio),
        ("Low", "", 3, lambda row: row[1].low),
        ("High", "", 3, lambda row: row[1].high),
        ("p", "", 4, lambda row: row[1].p_value),
        ("Verdict", "", None, lambda row: "differ" if row[1].shown else "not told apart"),
    )
    marked = ((place, 3) for place, (_, pair) in enumerate(rows) if pair.shown)
    return listing(rows, fields, folded=True, marked=marked)


def shares_table(settings: ConfigurationSettings, found: Sequence[Judged]) -> Table | None:
    """Return whose the variation is, a row a workload; what is more than chance is marked."""
    rows = [(each, each.variance) for each in found if each.variance is not None]
    if not rows:
        return None
    count = len(settings.factors)

    def alone(factor: int) -> Callable[[tuple[Judged, Variance]], Value]:
        return lambda row: row[1].sources[factor].share * 100

    def together(row: tuple[Judged, Variance]) -> Value:
        higher = () if row[1].higher is None else (row[1].higher,)
        return math.fsum(source.share for source in (*row[1].sources[count:], *higher)) * 100

    fields: list[tuple[str, str, int | None, Callable[[tuple[Judged, Variance]], Value]]] = [
        ("Workload", "", None, lambda row: Verbatim(row[0].rates.name)),
        *((_words(settings, at)[0], "%", 1, alone(at)) for at in range(count)),
        *([("Together", "%", 1, together)] if count > 1 else []),
        ("Scatter", "%", 1, lambda row: row[1].residual_share * 100),
        ("Scatter of one visit", "%", 2, lambda row: _typical_percent(row[1])),
    ]
    marked = (
        (place, 1 + at)
        for place, (_, variance) in enumerate(rows)
        for at, source in enumerate(variance.sources[:count])
        if source.p_value < LIMIT
    )
    return listing(rows, fields, caption="Whose the variation is", marked=marked)


def _typical_percent(found: Variance) -> float:
    """Return by how much a visit is usually off its configuration's mean, in percent."""
    return math.expm1(math.sqrt(found.residual_squares / found.residual_freedom)) * 100


def variance_table(settings: ConfigurationSettings, found: Sequence[Judged]) -> Table:
    """Return the analysis of variance of every workload, with every operand."""
    columns = (
        Column(name="Workload"),
        Column(name="Source"),
        Column(name="Sum of squares", digits=6),
        Column(name="Degrees of freedom", digits=0),
        Column(name="Share", unit="%", digits=2),
        Column(name="F", digits=2),
        Column(name="p", digits=5),
    )
    rows = tuple(
        (Verbatim(each.rates.name), *row)
        for each in found
        if each.variance is not None
        for row in _variance_rows(settings, each.variance)
    )
    caption = "Analysis of variance of the logarithms"
    return Table(columns=columns, rows=rows, caption=caption, folded=True)


def _variance_rows(settings: ConfigurationSettings, held: Variance) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    for one in (*held.sources, *(() if held.higher is None else (held.higher,))):
        name = Verbatim(" × ".join(settings.factors[factor][0] for factor in one.factors))
        named = "three and more factors together" if len(one.factors) > 2 else name
        rows.append((named, one.squares, one.freedom, one.share * 100, one.f, one.p_value))
    scatter = (held.residual_squares, held.residual_freedom, held.residual_share * 100)
    return [
        *rows,
        ("blocks", held.block_squares, held.block_freedom, None, None, None),
        ("scatter", *scatter, None, None),
    ]


def effect_sections(found: ConfigurationFound, hero: XYChart | None) -> list[Section]:
    """Return a page for each factor, and one of the pictures of all workloads but the first."""
    settings, sections = found.settings, []
    for factor, (name, _) in enumerate(settings.factors):
        chart = ratio_chart(settings, factor, found.judged)
        if chart is not None:
            title = say("What {factor} does", factor=Verbatim(name))
            sections.append(Section(title=title, blocks=(chart,)))
    charts = [interplay_chart(settings, each) for each in found.judged]
    rest = tuple(each for each in charts if each is not None and each != hero)
    if rest:
        sections.append(Section(title="Every workload", blocks=rest))
    return sections
