"""Pictures and tables of the effects: levels beside each other, shares of the variation."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from teijo.analysis import effects
from teijo.document.model import Axis, Column, Rule, Section, Series, Table, Value, XYChart
from teijo.document.phrase import Verbatim, say
from teijo.methods.studies.configuration.judged import LIMIT, Judged
from teijo.methods.studies.configuration.settings import ConfigurationSettings

LOG_FROM = 5.0
"""A picture whose largest value is so many times the smallest has a logarithmic axis."""
SERIES_MOST = 8


def interplay_chart(settings: ConfigurationSettings, found: Judged) -> XYChart | None:
    """Return a workload's rates by the levels of its two weightiest factors, over all others."""
    if found.variance is None:
        return None
    across, beside = _axes(settings, found)
    name, levels = settings.factors[across]
    others = [("", None)] if beside is None else [
        (level, place) for place, (level, _) in enumerate(settings.factors[beside][1])
    ]  # fmt: skip
    series, rows, values = [], [], []
    for level, place in others:
        means = [_mean(found, {across: at} | ({} if beside is None else {beside: place}))
                 for at in range(len(levels))]  # fmt: skip
        series.append(
            Series(
                name=Verbatim(level) if level else "Mean",
                x=tuple(Verbatim(each) for each, _ in levels),
                y=tuple(mean for mean, _, _ in means),
                spread=tuple((low, high) for _, low, high in means),
            )
        )
        for (each, _), mean in zip(levels, means, strict=True):
            rows.append((*((Verbatim(level),) if level else ()), Verbatim(each), *mean))
        values += [mean for mean, _, _ in means]
    unit = found.rates.unit
    title: str = Verbatim(found.rates.stream.name)
    if beside is not None:
        title = say(
            "{workload} by {first} and {second}",
            workload=title,
            first=Verbatim(name),
            second=Verbatim(settings.factors[beside][0]),
        )
    table = Table(
        columns=(
            *(() if beside is None else (Column(name=Verbatim(settings.factors[beside][0])),)),
            Column(name=Verbatim(name)),
            Column(name="Mean", unit=unit, digits=1),
            Column(name="Low", unit=unit, digits=1),
            Column(name="High", unit=unit, digits=1),
        ),
        rows=tuple(rows),
        folded=True,
    )
    return XYChart(
        title=title,
        x=Axis(name=Verbatim(name), scale="category"),
        y=_rate_axis(unit, values),
        series=tuple(series),
        table=table,
        note="Geometric means over the repeats and all other factors; the strokes are 95 % "
        "confidence intervals.",
    )


def _rate_axis(unit: str, values: Sequence[float]) -> Axis:
    wide = max(values) > LOG_FROM * min(values)
    scale: Literal["log", "linear"] = "log" if wide else "linear"
    if unit == "IOPS":
        return Axis(name="IOPS", scale=scale)
    return Axis(name="Throughput", unit=unit, scale=scale)


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


def _mean(found: Judged, at: dict[int, Any]) -> tuple[float, float, float]:
    """Return the geometric mean of the cells at these levels, and its interval."""
    logs = np.log(found.rates.values)
    weights = np.zeros(logs.shape[:-1])
    place = tuple(at.get(axis, slice(None)) for axis in range(weights.ndim))
    weights[place] = 1.0
    mean = effects.contrast(logs, weights / weights.sum())
    return math.exp(mean.estimate), math.exp(mean.low), math.exp(mean.high)


def ratio_chart(
    settings: ConfigurationSettings, factor: int, found: Sequence[Judged]
) -> XYChart | None:
    """Return what every level of a factor is by its first one, for each workload."""
    name, levels = settings.factors[factor]
    told = [each for each in found if each.pairs]
    if not told or len(levels) > SERIES_MOST:
        return None
    base = levels[0][0]
    series, values = [], []
    for place, (level, _) in enumerate(levels[1:], 1):
        pairs = [
            next(
                pair
                for pair in each.pairs
                if (pair.factor, pair.first, pair.second) == (factor, 0, place)
            )
            for each in told
        ]
        values += [pair.ratio for pair in pairs]
        series.append(
            Series(
                name=Verbatim(level),
                x=tuple(Verbatim(each.rates.stream.name) for each in told),
                y=tuple(pair.ratio for pair in pairs),
                style="points",
                spread=tuple((pair.low, pair.high) for pair in pairs),
            )
        )
    wide = max([*values, 1.0]) > LOG_FROM * min([*values, 1.0])
    return XYChart(
        title=say("{factor}: each level by {base}", factor=Verbatim(name), base=Verbatim(base)),
        x=Axis(name="Workload", scale="category"),
        y=Axis(name="Ratio", scale="log" if wide else "linear", from_zero=False),
        series=tuple(series),
        table=_pairs_table(settings, factor, told),
        rules=(Rule(name=Verbatim(base), value=1.0),),
        note="1 is as fast as the first level. The strokes are 95 % confidence intervals, over "
        "all other factors.",
    )


def _pairs_table(settings: ConfigurationSettings, factor: int, found: Sequence[Judged]) -> Table:
    name, levels = settings.factors[factor]
    rows: list[tuple[Value, ...]] = []
    marked = []
    for each in found:
        for pair in each.pairs:
            if pair.factor != factor:
                continue
            if pair.shown:
                marked.append((len(rows), 3))
            rows.append(
                (
                    Verbatim(each.rates.stream.name),
                    Verbatim(levels[pair.second][0]),
                    Verbatim(levels[pair.first][0]),
                    pair.ratio,
                    pair.low,
                    pair.high,
                    pair.p_value,
                    "differ" if pair.shown else "not told apart",
                )
            )
    return Table(
        columns=(
            Column(name="Workload"),
            Column(name=Verbatim(name)),
            Column(name="By"),
            Column(name="Ratio", digits=3),
            Column(name="Low", digits=3),
            Column(name="High", digits=3),
            Column(name="p", digits=4),
            Column(name="Verdict"),
        ),
        rows=tuple(rows),
        marked=tuple(marked),
        folded=True,
    )


def shares_table(settings: ConfigurationSettings, found: Sequence[Judged]) -> Table | None:
    """Return whose the variation is, a row a workload; what is more than chance is marked."""
    told = [each for each in found if each.variance is not None]
    if not told:
        return None
    factors = range(len(settings.factors))
    several = len(settings.factors) > 1
    rows: list[tuple[Value, ...]] = []
    marked = []
    for each in told:
        assert each.variance is not None
        own = each.variance.sources[: len(settings.factors)]
        together = [*each.variance.sources[len(settings.factors) :]]
        together += [] if each.variance.higher is None else [each.variance.higher]
        shared = (math.fsum(source.share for source in together) * 100,) if several else ()
        marked += [
            (len(rows), 1 + place) for place, source in enumerate(own) if source.p_value < LIMIT
        ]
        rows.append(
            (
                Verbatim(each.rates.stream.name),
                *(source.share * 100 for source in own),
                *shared,
                each.variance.residual_share * 100,
                _typical_percent(each),
            )
        )
    return Table(
        columns=(
            Column(name="Workload"),
            *(
                Column(name=Verbatim(settings.factors[factor][0]), unit="%", digits=1)
                for factor in factors
            ),
            *((Column(name="Together", unit="%", digits=1),) if several else ()),
            Column(name="Scatter", unit="%", digits=1),
            Column(name="Scatter of one visit", unit="%", digits=2),
        ),
        rows=tuple(rows),
        caption="Whose the variation is",
        marked=tuple(marked),
    )


def _typical_percent(found: Judged) -> float:
    """Return by how much a visit is usually off its configuration's mean, in percent."""
    assert found.variance is not None
    each = found.variance.residual_squares / found.variance.residual_freedom
    return math.expm1(math.sqrt(each)) * 100


def variance_table(settings: ConfigurationSettings, found: Sequence[Judged]) -> Table:
    """Return the analysis of variance of every workload, with every operand."""
    rows: list[tuple[Value, ...]] = []
    for each in found:
        if each.variance is None:
            continue
        workload, held = Verbatim(each.rates.stream.name), each.variance
        for source in (*held.sources, *(() if held.higher is None else (held.higher,))):
            names = " × ".join(settings.factors[factor][0] for factor in source.factors)
            more = len(source.factors) > 2
            rows.append(
                (
                    workload,
                    "three and more factors together" if more else Verbatim(names),
                    source.squares,
                    source.freedom,
                    source.share * 100,
                    source.f,
                    source.p_value,
                )
            )
        rows.append((workload, "blocks", held.block_squares, held.block_freedom, *(None,) * 3))
        share = held.residual_share * 100
        rows.append(
            (workload, "scatter", held.residual_squares, held.residual_freedom, share, None, None)
        )
    return Table(
        columns=(
            Column(name="Workload"),
            Column(name="Source"),
            Column(name="Sum of squares", digits=6),
            Column(name="Degrees of freedom", digits=0),
            Column(name="Share", unit="%", digits=2),
            Column(name="F", digits=2),
            Column(name="p", digits=5),
        ),
        rows=tuple(rows),
        caption="Analysis of variance of the logarithms",
        folded=True,
    )


def effect_sections(
    settings: ConfigurationSettings, found: Sequence[Judged], hero: XYChart | None
) -> list[Section]:
    """Return a page for each factor, and one of the pictures of all workloads but the first."""
    sections = []
    for factor, (name, _) in enumerate(settings.factors):
        chart = ratio_chart(settings, factor, found)
        if chart is not None:
            title = say("What {factor} does", factor=Verbatim(name))
            sections.append(Section(title=title, blocks=(chart,)))
    charts = [interplay_chart(settings, each) for each in found]
    rest = tuple(each for each in charts if each is not None and each != hero)
    if rest:
        sections.append(Section(title="Every workload", blocks=rest))
    return sections
