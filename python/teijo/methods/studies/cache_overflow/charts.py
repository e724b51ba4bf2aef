"""The pictures of the study: rate against time and volume, and what had been written by when."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teijo import units
from teijo.analysis.change_point import Floats
from teijo.analysis.overflow import PhaseName
from teijo.document.model import Axis, Column, Rule, Section, Series, Span, Table, Value, XYChart
from teijo.document.phrase import say, sentences
from teijo.methods.studies.cache_overflow.bursts import Burst, model_bytes
from teijo.methods.studies.cache_overflow.settings import OverflowSettings
from teijo.methods.studies.cache_overflow.words import time_text
from teijo.terms.geometry import Geometry

POINTS_MOST = 1440
POINTS_LEAST = 60
BLOCKS_A_POINT = 16
"""A point of fewer I/Os goes up and down with each of them."""
DRAWN_MOST = 2.0
"""What is faster than so many times the rate before the overflow is drawn as that."""
SPAN_NAMES: dict[PhaseName, str] = {"before": "cache takes it", "stall": "stall"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """A series thinned out for a drawing: at the end of each point, s, GB, MB/s, and the mean.

    `drawn_mb_s` are the rates, those above `most_mb_s` cut off there; None where none is.
    """

    ends_s: Floats
    totals_gb: Floats
    rates_mb_s: Floats
    means_mb_s: Floats
    drawn_mb_s: Floats
    most_mb_s: float | None
    joined: int


def hero(geometry: Geometry, bursts: Sequence[Burst]) -> XYChart:
    """Return the picture that the answer stands beside: the first burst's rate over time."""
    return _rate_chart(_rate_title(geometry, bursts, bursts[0]), bursts[0], _points(bursts[0]))


def sections(
    settings: OverflowSettings, geometry: Geometry, bursts: Sequence[Burst]
) -> list[Section]:
    """Return the pictures of all bursts in order, without the first one's rate over time."""
    found: list[Section] = []
    for burst in bursts[1:]:
        title = _rate_title(geometry, bursts, burst)
        found.append(Section(title=title, blocks=(_rate_chart(title, burst, _points(burst)),)))
    thinned = [(_burst_name(geometry, burst), burst, _points(burst)) for burst in bursts]
    title = "Rate against what had been written"
    found.append(Section(title=title, blocks=(_volume_chart(title, settings, thinned),)))
    title = "Written over time"
    found.append(Section(title=title, blocks=(_written_chart(title, settings, thinned),)))
    return found


def _rate_title(geometry: Geometry, bursts: Sequence[Burst], burst: Burst) -> str:
    if len(bursts) == 1:
        return "Rate over time"
    return say("Rate over time, {burst}", burst=_burst_name(geometry, burst))


def _burst_name(geometry: Geometry, burst: Burst) -> str:
    if not burst.rest_ns:
        return say("burst {number}", number=burst.number)
    rest = time_text(burst.rest_ns * geometry.scale / units.NS_PER_S)
    return say("burst {number}, after {rest}", number=burst.number, rest=rest)


def _points(burst: Burst) -> Points:
    """Return the series in at most 1440 points, each the mean of as many samples."""
    series, cliff = burst.series, burst.overflow.cliff
    joined = _joined(burst)
    firsts = np.arange(0, series.lengths_s.size, joined)
    lengths = np.add.reduceat(series.lengths_s, firsts)
    written = np.add.reduceat(series.written_bytes, firsts)
    ends, totals = np.cumsum(lengths), np.cumsum(written)
    rates = written / lengths / 1e6
    most = np.inf if cliff is None else DRAWN_MOST * cliff.before.value / 1e6
    return Points(
        ends_s=ends,
        totals_gb=totals / 1e9,
        rates_mb_s=rates,
        means_mb_s=totals / ends / 1e6,
        drawn_mb_s=np.minimum(rates, most),
        most_mb_s=float(most) if bool(rates.max() > most) else None,
        joined=joined,
    )


def _joined(burst: Burst) -> int:
    """Return how many samples make a point: few points, and enough I/Os in each to be smooth."""
    series, cliff = burst.series, burst.overflow.cliff
    samples = series.lengths_s.size
    least = -(-samples // POINTS_MOST)
    slowest = burst.overflow.rate if cliff is None else cliff.after
    blocks = slowest.value * float(np.median(series.lengths_s)) / series.block_bytes
    smooth = math.ceil(BLOCKS_A_POINT / blocks) if blocks else 1
    return max(1, least, min(smooth, samples // POINTS_LEAST))


def _rate_chart(title: str, burst: Burst, points: Points) -> XYChart:
    return XYChart(
        title=title,
        x=Axis(name="Time", unit="s"),
        y=Axis(name="Rate", unit="MB/s"),
        series=(
            Series(name="rate", x=_told(points.ends_s), y=_told(points.drawn_mb_s), style="line"),
            Series(
                name="mean since the beginning",
                x=_told(points.ends_s),
                y=_told(points.means_mb_s),
                style="dashed",
            ),
        ),
        table=Table(
            columns=(
                Column(name="Time", unit="s", digits=1),
                Column(name="Written", unit="GB", digits=3),
                Column(name="Rate", unit="MB/s", digits=2),
                Column(name="Rate as drawn", unit="MB/s", digits=2),
                Column(name="Mean since the beginning", unit="MB/s", digits=2),
            ),
            rows=_rows(
                points.ends_s,
                points.totals_gb,
                points.rates_mb_s,
                points.drawn_mb_s,
                points.means_mb_s,
            ),
            folded=True,
        ),
        rules=_levels(burst),
        spans=_spans(burst),
        note=_note(points),
    )


def _levels(burst: Burst) -> tuple[Rule, ...]:
    cliff = burst.overflow.cliff
    if cliff is None:
        return ()
    return (
        Rule(name="λ", value=cliff.before.value / 1e6, style="dotted"),
        Rule(name="μ", value=cliff.after.value / 1e6, style="dotted"),
    )


def _spans(burst: Burst) -> tuple[Span, ...]:
    """Return the first stretch of each phase that is shaded; what comes after is not."""
    found: dict[str, tuple[float, float]] = {}
    for phase in burst.overflow.phases:
        name = SPAN_NAMES.get(phase.name)
        if name is not None:
            first, _ = found.get(name, (phase.first_s, 0.0))
            found[name] = (first, phase.end_s)
    return tuple(Span(name=name, first=first, last=last) for name, (first, last) in found.items())


def _volume_chart(
    title: str, settings: OverflowSettings, thinned: Sequence[tuple[str, Burst, Points]]
) -> XYChart:
    rules = []
    for _, burst, _ in thinned[:1]:
        cliff, model = burst.overflow.cliff, model_bytes(settings, burst)
        if cliff is not None:
            rules.append(Rule(name="V*", value=cliff.at_bytes / 1e9, at="x"))
        if model is not None:
            rules.append(Rule(name="V* of the model", value=model / 1e9, at="x", style="dotted"))
    return XYChart(
        title=title,
        x=Axis(name="Written", unit="GB"),
        y=Axis(name="Rate", unit="MB/s"),
        series=tuple(
            Series(name=name, x=_told(points.totals_gb), y=_told(points.drawn_mb_s), style="line")
            for name, _, points in thinned
        ),
        table=Table(
            columns=(
                Column(name="Burst"),
                Column(name="Written", unit="GB", digits=3),
                Column(name="Rate", unit="MB/s", digits=2),
                Column(name="Rate as drawn", unit="MB/s", digits=2),
            ),
            rows=tuple(
                (name, *row)
                for name, _, points in thinned
                for row in _rows(points.totals_gb, points.rates_mb_s, points.drawn_mb_s)
            ),
            folded=True,
        ),
        rules=tuple(rules),
        note=_note(thinned[0][2]),
    )


def _written_chart(
    title: str, settings: OverflowSettings, thinned: Sequence[tuple[str, Burst, Points]]
) -> XYChart:
    """Return what had been written by when, and the fluid model's two lines beside the first."""
    lines = [(name, points.ends_s, points.totals_gb) for name, _, points in thinned]
    _, first, points = thinned[0]
    model = _model_line(settings, first, float(points.ends_s[-1]))
    series = [
        Series(name=name, x=_told(ends), y=_told(totals), style="line")
        for name, ends, totals in lines
    ]
    if model is not None:
        lines.append(("fluid model", *model))
        series.append(
            Series(name="fluid model", x=_told(model[0]), y=_told(model[1]), style="dashed")
        )
    return XYChart(
        title=title,
        x=Axis(name="Time", unit="s"),
        y=Axis(name="Written", unit="GB"),
        series=tuple(series),
        table=Table(
            columns=(
                Column(name="Burst"),
                Column(name="Time", unit="s", digits=1),
                Column(name="Written", unit="GB", digits=3),
            ),
            rows=tuple((name, *row) for name, *columns in lines for row in _rows(*columns)),
            folded=True,
        ),
        note=_model_note(settings, model is not None),
    )


def _model_line(
    settings: OverflowSettings, burst: Burst, end_s: float
) -> tuple[Floats, Floats] | None:
    """Return the model's corner points (s, GB): at λ up to V*, then at μ."""
    cliff = burst.overflow.cliff
    if cliff is None or burst.overflow.main != 0:
        return None
    volume = model_bytes(settings, burst) or cliff.at_bytes
    corner_s = volume / cliff.before.value
    if corner_s >= end_s:
        return np.array([0.0, end_s]), np.array([0.0, end_s * cliff.before.value / 1e9])
    end_bytes = volume + (end_s - corner_s) * cliff.after.value
    return np.array([0.0, corner_s, end_s]), np.array([0.0, volume / 1e9, end_bytes / 1e9])


def _model_note(settings: OverflowSettings, drawn: bool) -> str:
    if not drawn:
        return ""
    if settings.cache_bytes is None:
        return "The model is drawn through the measured V*; with --set cache=SIZE it has its own."
    return "The model has the stated size of the cache, and the measured rates."


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


def _rows(*columns: Floats) -> tuple[tuple[Value, ...], ...]:
    return tuple(zip(*(column.tolist() for column in columns), strict=True))


def _told(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())
