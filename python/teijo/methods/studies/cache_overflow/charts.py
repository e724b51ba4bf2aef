"""The pictures of the study: rate against time and volume, and what had been written by when."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from teijo import units
from teijo.analysis.change_point import Floats
from teijo.analysis.overflow import PhaseName
from teijo.analysis.written import Points
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.model import Column, Rule, Section, Span, XYChart
from teijo.document.phrase import say, sentences
from teijo.methods.studies.cache_overflow.bursts import Burst
from teijo.methods.studies.cache_overflow.found import OverflowFound, gigabytes
from teijo.methods.studies.cache_overflow.words import time_text

SPAN_NAMES: dict[PhaseName, str] = {"before": "cache takes it", "stall": "stall"}
RATE = Figure(name="Rate", unit="MB/s", digits=2)
AS_DRAWN = replace(RATE, name="Rate as drawn")
MEAN = replace(RATE, name="mean since the beginning")
WRITTEN = Figure(name="Written", unit="GB", digits=3)
TIME = Figure(name="Time", unit="s")


def rate_charts(bursts: Sequence[Burst]) -> list[XYChart]:
    """Return each burst's rate over time; the first is beside the answer."""
    if len(bursts) == 1:
        return [_rate_chart("Rate over time", bursts[0])]
    return [_rate_chart(say("Rate over time, {burst}", burst=_name(one)), one) for one in bursts]


def sections(found: OverflowFound) -> list[Section]:
    """Return the pictures of all bursts in order, without the first one's rate over time."""
    charts = (*rate_charts(found.bursts)[1:], _volume_chart(found), _written_chart(found))
    return [Section(title=chart.title, blocks=(chart,)) for chart in charts]


def _name(burst: Burst) -> str:
    if not burst.rest_s:
        return say("burst {number}", number=burst.number)
    rest = time_text(burst.rest_s)
    return say("burst {number}, after {rest}", number=burst.number, rest=rest)


def _rate_chart(title: str, burst: Burst) -> XYChart:
    points, cliff = burst.points, burst.overflow.cliff
    grid = Grid(
        rows=_edge(TIME, points.ends_s),
        columns=(
            Beside(column=WRITTEN.column(), values=_numbers(points.totals_gb)),
            Beside(column=RATE.column(), values=_numbers(points.rates_mb_s)),
            Line(figure=AS_DRAWN, name="rate", values=_numbers(points.drawn_mb_s), style="line"),
            Line(figure=MEAN, values=_numbers(points.means_mb_s), style="dashed"),
        ),
    )
    levels = () if cliff is None else (("λ", cliff.before), ("μ", cliff.after))
    rules = (Rule(name=n, value=at.value / units.MEGA, style="dotted") for n, at in levels)
    spans, note = _spans(burst), _note(points)
    table = grid.table(folded=True)
    return grid.chart(title, RATE, table=table, rules=rules, spans=spans, note=note)


def _spans(burst: Burst) -> tuple[Span, ...]:
    """Return a shaded stretch from the first to the last phase of a name."""
    spans: dict[str, Span] = {}
    for phase in burst.overflow.phases:
        name = SPAN_NAMES.get(phase.name)
        if name is not None:
            begun = spans.get(name, Span(name=name, first=phase.first_s, last=0.0))
            spans[name] = replace(begun, last=phase.end_s)
    return tuple(spans.values())


def _volume_chart(found: OverflowFound) -> XYChart:
    cliff, model = found.first.overflow.cliff, gigabytes(found.model_bytes(found.first))
    rules = [] if cliff is None else [Rule(name="V*", value=cliff.at_bytes / units.GIGA, at="x")]
    if model is not None:
        rules.append(Rule(name="V* of the model", value=model, at="x", style="dotted"))
    bursts = [(_name(each), each.points) for each in found.bursts]
    rates = _numbers(*(points.rates_mb_s for _, points in bursts))
    lines = [(name, points.totals_gb, points.drawn_mb_s) for name, points in bursts]
    beside = Beside(column=RATE.column(), values=rates)
    grid = _by_burst(WRITTEN, AS_DRAWN, lines, beside)
    title, note = "Rate against what had been written", _note(found.first.points)
    return grid.chart(title, RATE, table=grid.table(folded=True), rules=rules, note=note)


def _written_chart(found: OverflowFound) -> XYChart:
    """Return what had been written by when, and the fluid model's two lines beside the first."""
    lines = [(_name(each), each.points.ends_s, each.points.totals_gb) for each in found.bursts]
    model = _model_line(found)
    if model is not None:
        lines.append(("fluid model", *model))
    grid = _by_burst(TIME, WRITTEN, lines)
    chart = grid.chart("Written over time", WRITTEN, table=grid.table(folded=True))
    if model is None:
        return chart
    *own, last = chart.series
    series = (*own, replace(last, style="dashed"))
    note = (
        "The model has the stated size of the cache, and the measured rates."
        if found.settings.cache_bytes
        else "The model is drawn through the measured V*; with --set cache=SIZE it has its own."
    )
    return replace(chart, series=series, note=note)


def _by_burst(
    places: Figure, figure: Figure, lines: Sequence[tuple[str, Floats, Floats]], *beside: Beside
) -> Grid:
    """Return lines of a name, places and values, in the table one below the other."""
    names = tuple(name for name, values, _ in lines for _ in range(values.size))
    values = _numbers(*(each for *_, each in lines))
    return Grid(
        leading=(Beside(column=Column(name="Burst"), values=names),),
        rows=_edge(places, *(each for _, each, _ in lines)),
        columns=(*beside, Line(figure=figure, values=values, parts=names, style="line")),
    )


def _model_line(found: OverflowFound) -> tuple[Floats, Floats] | None:
    """Return the model's corner points (s, GB): at λ up to V*, then at μ."""
    overflow, end_s = found.first.overflow, float(found.first.points.ends_s[-1])
    cliff = overflow.cliff
    if cliff is None or overflow.main != 0:
        return None
    volume = found.model_bytes(found.first) or cliff.at_bytes
    corner_s = volume / cliff.before.value
    if corner_s >= end_s:
        return np.array([0.0, end_s]), np.array([0.0, end_s * cliff.before.value / units.GIGA])
    end_bytes = volume + (end_s - corner_s) * cliff.after.value
    return np.array([0.0, corner_s, end_s]), np.array([0.0, volume, end_bytes]) / units.GIGA


def _note(points: Points) -> str:
    parts = []
    if points.joined > 1:
        parts.append(say("Each point is the mean of {count} samples.", count=points.joined))
    if points.most_mb_s is not None:
        text = say(
            "What is faster than {most:,.0f} MB/s, as a source that catches up, is drawn as "
            "that; the table has it.",
            most=points.most_mb_s,
        )
        parts.append(text)
    return sentences(parts)


def _edge(figure: Figure, *places: Floats) -> Edge:
    return Edge(
        name=figure.name,
        unit=figure.unit,
        digits=figure.digits,
        places=_numbers(*places),
        from_zero=True,
    )


def _numbers(*values: Floats) -> tuple[float, ...]:
    """Return these values one after the other."""
    return tuple(np.concatenate(values).tolist())
