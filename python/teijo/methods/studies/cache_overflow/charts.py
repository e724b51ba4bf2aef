"""The pictures of the study: rate against time and volume, and what had been written by when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from teijo import units
from teijo.analysis.change_point import Floats
from teijo.analysis.overflow import PhaseName
from teijo.analysis.written import Points, points_of
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """What is drawn of a burst under its name."""

    name: str
    burst: Burst
    points: Points


def drawn_of(found: OverflowFound) -> tuple[Drawn, ...]:
    """Return the bursts as they are drawn."""
    return tuple(
        Drawn(name=_name(burst), burst=burst, points=points_of(burst.series, burst.overflow))
        for burst in found.bursts
    )


def rate_charts(drawn: Sequence[Drawn]) -> list[XYChart]:
    """Return each burst's rate over time; the answer stands beside the first."""
    if len(drawn) == 1:
        return [_rate_chart("Rate over time", drawn[0])]
    return [_rate_chart(say("Rate over time, {burst}", burst=one.name), one) for one in drawn]


def sections(found: OverflowFound, drawn: Sequence[Drawn]) -> list[Section]:
    """Return the pictures of all bursts in order, without the first one's rate over time."""
    charts = (*rate_charts(drawn)[1:], _volume_chart(found, drawn), _written_chart(found, drawn))
    return [Section(title=chart.title, blocks=(chart,)) for chart in charts]


def _name(burst: Burst) -> str:
    if not burst.rest_s:
        return say("burst {number}", number=burst.number)
    rest = time_text(burst.rest_s)
    return say("burst {number}, after {rest}", number=burst.number, rest=rest)


def _rate_chart(title: str, drawn: Drawn) -> XYChart:
    points, cliff = drawn.points, drawn.burst.overflow.cliff
    drawn_rates, means = _numbers(points.drawn_mb_s), _numbers(points.means_mb_s)
    grid = Grid(
        rows=_edge(TIME, points.ends_s),
        columns=(
            _beside(WRITTEN, points.totals_gb),
            _beside(RATE, points.rates_mb_s),
            Line(figure=AS_DRAWN, name="rate", values=drawn_rates, style="line"),
            Line(figure=MEAN, values=means, style="dashed"),
        ),
    )
    levels = () if cliff is None else (("λ", cliff.before), ("μ", cliff.after))
    rules = (Rule(name=n, value=at.value / units.MEGA, style="dotted") for n, at in levels)
    spans, note = _spans(drawn.burst), _note(points)
    table = grid.table(folded=True)
    return grid.chart(title, RATE, table=table, rules=rules, spans=spans, note=note)


def _spans(burst: Burst) -> tuple[Span, ...]:
    """Return the first stretch of each phase that is shaded; what comes after is not."""
    found: dict[str, tuple[float, float]] = {}
    for phase in burst.overflow.phases:
        name = SPAN_NAMES.get(phase.name)
        if name is not None:
            first, _ = found.get(name, (phase.first_s, 0.0))
            found[name] = (first, phase.end_s)
    return tuple(Span(name=name, first=first, last=last) for name, (first, last) in found.items())


def _volume_chart(found: OverflowFound, drawn: Sequence[Drawn]) -> XYChart:
    cliff, model = found.first.overflow.cliff, gigabytes(found.model_bytes(found.first))
    rules = [] if cliff is None else [Rule(name="V*", value=cliff.at_bytes / units.GIGA, at="x")]
    if model is not None:
        rules.append(Rule(name="V* of the model", value=model, at="x", style="dotted"))
    names = _names((one.name, one.points.ends_s) for one in drawn)
    rates = np.concatenate([one.points.rates_mb_s for one in drawn])
    values = np.concatenate([one.points.drawn_mb_s for one in drawn])
    grid = Grid(
        leading=(Beside(column=Column(name="Burst"), values=names),),
        rows=_edge(WRITTEN, np.concatenate([one.points.totals_gb for one in drawn])),
        columns=(
            _beside(RATE, rates),
            Line(figure=AS_DRAWN, values=_numbers(values), parts=names, style="line"),
        ),
    )
    title, note = "Rate against what had been written", _note(drawn[0].points)
    return grid.chart(title, RATE, table=grid.table(folded=True), rules=rules, note=note)


def _written_chart(found: OverflowFound, drawn: Sequence[Drawn]) -> XYChart:
    """Return what had been written by when, and the fluid model's two lines beside the first."""
    lines = [(one.name, one.points.ends_s, one.points.totals_gb) for one in drawn]
    model = _model_line(found, float(drawn[0].points.ends_s[-1]))
    if model is not None:
        lines.append(("fluid model", *model))
    names = _names((name, ends) for name, ends, _ in lines)
    totals = np.concatenate([each for *_, each in lines])
    grid = Grid(
        leading=(Beside(column=Column(name="Burst"), values=names),),
        rows=_edge(TIME, np.concatenate([ends for _, ends, _ in lines])),
        columns=(Line(figure=WRITTEN, values=_numbers(totals), parts=names, style="line"),),
    )
    chart = grid.chart("Written over time", WRITTEN, table=grid.table(folded=True))
    if model is None:
        return chart
    *own, last = chart.series
    series = (*own, replace(last, style="dashed"))
    return replace(chart, series=series, note=_model_note(stated=bool(found.settings.cache_bytes)))


def _model_line(found: OverflowFound, end_s: float) -> tuple[Floats, Floats] | None:
    """Return the model's corner points (s, GB): at λ up to V*, then at μ."""
    overflow = found.first.overflow
    cliff = overflow.cliff
    if cliff is None or overflow.main != 0:
        return None
    volume = found.model_bytes(found.first) or cliff.at_bytes
    corner_s = volume / cliff.before.value
    if corner_s >= end_s:
        return np.array([0.0, end_s]), np.array([0.0, end_s * cliff.before.value / units.GIGA])
    end_bytes = volume + (end_s - corner_s) * cliff.after.value
    return np.array([0.0, corner_s, end_s]), np.array([0.0, volume, end_bytes]) / units.GIGA


def _model_note(*, stated: bool) -> str:
    if stated:
        return "The model has the stated size of the cache, and the measured rates."
    return "The model is drawn through the measured V*; with --set cache=SIZE it has its own."


def _note(points: Points) -> str:
    parts = []
    if points.joined > 1:
        parts.append(say("Each point is the mean of {count} samples.", count=points.joined))
    if points.most_mb_s is not None:
        parts.append(
            say(
                "What is faster than {most:,.0f} MB/s, as a source that catches up, is drawn as "
                "that; the table has it.",
                most=points.most_mb_s,
            )
        )
    return sentences(parts)


def _edge(figure: Figure, values: Floats) -> Edge:
    return Edge(
        name=figure.name,
        unit=figure.unit,
        digits=figure.digits,
        places=_numbers(values),
        from_zero=True,
    )


def _beside(figure: Figure, values: Floats) -> Beside:
    return Beside(column=figure.column(), values=_numbers(values))


def _names(lines: Iterable[tuple[str, Floats]]) -> tuple[str, ...]:
    """Return each line's name, once for each of its points."""
    return tuple(name for name, values in lines for _ in range(values.size))


def _numbers(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())
