"""Charts of a run that goes on: specifications without data, which the page gives them."""

from typing import Final

from teijo.report.chart.palette import cycled
from teijo.report.chart.theme import Canvas, Json, Specification, configuration

POINTS: Final = "points"
LEVELS: Final = "levels"
HEAT: Final = "heat"
LIMITS: Final = "limits"
WINDOW: Final = "window"
"""The data sets that the page fills: rows of points, of percentiles of steps, of temperatures, of
the drive's own limits, and of the rounds of a window."""
_BAND: Final = (90, 110)
"""Percent of the average between which the standard's plot of a window has its two lines."""


def rate_chart(canvas: Canvas, *, title: str, time: str) -> Specification:
    """Return IOPS over time: fields start, end (s), iops, least and most of each point."""
    ink = canvas.inks.series[0]
    x: Json = {"field": "end", "type": "quantitative", "axis": _time_axis(time), "scale": _FULL}
    y: Json = {"type": "quantitative", "axis": {"title": title}, "scale": {"zero": True}}
    spread: Json = {
        "mark": {"type": "area", "color": ink, "opacity": 0.22, "interpolate": "linear"},
        "encoding": {"x": x, "y": y | {"field": "least"}, "y2": {"field": "most"}},
    }
    line: Json = {
        "mark": {"type": "line", "color": ink, "strokeWidth": 1.6},
        "encoding": {"x": x, "y": y | {"field": "iops"}},
    }
    return _specification(canvas, [spread, line])


def latency_chart(canvas: Canvas, *, title: str, time: str, mean: str, most: str) -> Specification:
    """Return latency over time: fields mean and top of each point, and levels of each step."""
    inks = canvas.inks.series
    x: Json = {"field": "end", "type": "quantitative", "axis": _time_axis(time), "scale": _FULL}
    y: Json = {
        "type": "quantitative",
        "axis": {"title": title, "format": "~g", "gridOpacity": _DECADES},
        "scale": {"type": "log"},
    }
    names = [mean, most, "p50", "p99", "p99.9"]
    colour: Json = {
        "type": "nominal",
        "scale": {"domain": names, "range": [cycled(inks, at) for at in range(len(names))]},
    }
    mark: Json = {"type": "line", "strokeWidth": 1.4}
    layers: list[Json] = [
        {
            "mark": mark | ({"strokeDash": [4, 2]} if field == "top" else {}),
            "transform": [{"filter": f"datum.{field} > 0"}],
            "encoding": {"x": x, "y": y | {"field": field}, "color": colour | {"datum": name}},
        }
        for field, name in (("mean", mean), ("top", most))
    ]
    steps: Json = {
        "data": {"name": LEVELS},
        "transform": [{"filter": "datum.value > 0"}],
        "mark": {"type": "rule", "strokeWidth": 2.5},
        "encoding": {
            "x": x | {"field": "start"},
            "x2": {"field": "end"},
            "y": y | {"field": "value"},
            "color": colour | {"field": "name"},
        },
    }
    return _specification(canvas, [*layers, steps])


def throughput_chart(canvas: Canvas, *, title: str, time: str) -> Specification:
    """Return MB/s over time: fields end (s) and mbs of each point."""
    x: Json = {"field": "end", "type": "quantitative", "axis": _time_axis(time), "scale": _FULL}
    y: Json = {"field": "mbs", "type": "quantitative", "axis": {"title": title}}
    mark: Json = {"type": "line", "color": canvas.inks.series[2], "strokeWidth": 1.6}
    return _specification(canvas, [{"mark": mark, "encoding": {"x": x, "y": y}}])


def heat_chart(canvas: Canvas, *, title: str, time: str) -> Specification:
    """Return a temperature over time: fields at (s) and celsius, which is null in a gap.

    The limits have the fields celsius and name.
    """
    inks = canvas.inks
    x: Json = {"field": "at", "type": "quantitative", "axis": _time_axis(time), "scale": _FULL}
    y: Json = {
        "field": "celsius",
        "type": "quantitative",
        "axis": {"title": title},
        "scale": {"zero": False},
    }
    line: Json = {
        "data": {"name": HEAT},
        "mark": {"type": "line", "color": inks.series[1], "strokeWidth": 1.6},
        "encoding": {"x": x, "y": y},
    }
    limit: Json = {
        "data": {"name": LIMITS},
        "mark": {"type": "rule", "color": inks.rule, "strokeDash": [6, 4]},
        "encoding": {"y": y},
    }
    text: Json = {"type": "text", "align": "left", "dx": 4, "dy": 8, "color": inks.quiet}
    name: Json = {
        "data": {"name": LIMITS},
        "mark": text,
        "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "name"}},
    }
    return _specification(canvas, [line, limit, name])


def window_chart(canvas: Canvas, *, title: str, rounds: str) -> Specification:
    """Return the rounds of a window, each variable in percent of its own average.

    Fields: round, share (of a measured value), line (of the least-squares line) and name. The
    lines at 90, 100 and 110 % are those of the standard's own plot.
    """
    inks = canvas.inks
    axis: Json = {"title": rounds, "grid": False, "tickMinStep": 1, "format": "d"}
    x: Json = {
        "field": "round",
        "type": "quantitative",
        "axis": axis,
        "scale": {"zero": False, "padding": 12, "nice": False},
    }
    y: Json = {
        "type": "quantitative",
        "axis": {"title": title},
        "scale": {"zero": False, "nice": True},
    }
    colour: Json = {
        "field": "name",
        "type": "nominal",
        "scale": {"range": [*inks.series]},
        "sort": None,
    }
    points: Json = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {"x": x, "y": y | {"field": "share"}, "color": colour},
    }
    line: Json = {
        "mark": {"type": "line", "strokeWidth": 1.4, "strokeDash": [6, 4]},
        "encoding": {"x": x, "y": y | {"field": "line"}, "color": colour},
    }
    rules: list[Json] = [
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": inks.rule, "strokeDash": dashes},
            "encoding": {"y": y | {"datum": at}},
        }
        for at, dashes in ((100, [1, 0]), *((at, [1.5, 3]) for at in _BAND))
    ]
    return _specification(canvas, [*rules, line, points], data=WINDOW)


_FULL: Final[Json] = {"nice": False, "zero": True}


_DECADES: Final[Json] = {
    "condition": {"test": "abs(log(datum.value) / LN10 % 1) < 1e-6", "value": 1},
    "value": 0,
}
"""A logarithmic axis has a line for each power of ten, and none between."""


def _time_axis(title: str) -> Json:
    return {"title": title, "grid": False, "labelOverlap": "greedy", "labelSeparation": 8}


def _specification(canvas: Canvas, layers: list[Json], *, data: str = POINTS) -> Specification:
    body: Json = {
        "width": "container" if canvas.interactive else canvas.width_px,
        "height": canvas.height_px,
        "config": configuration(canvas),
        "data": {"name": data},
        "layer": layers,
    }
    return Specification(grammar="vega-lite", body=body)
