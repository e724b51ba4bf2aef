"""Charts of a run that goes on: specifications without data, which the page gives them."""

from typing import Final

from teijo.report.chart.palette import cycled
from teijo.report.chart.theme import Canvas, Json, Specification, configuration

POINTS: Final = "points"
LEVELS: Final = "levels"
"""The data sets that the page fills: rows of points, and of percentiles of steps."""


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


_FULL: Final[Json] = {"nice": False, "zero": True}


_DECADES: Final[Json] = {
    "condition": {"test": "abs(log(datum.value) / LN10 % 1) < 1e-6", "value": 1},
    "value": 0,
}
"""A logarithmic axis has a line for each power of ten, and none between."""


def _time_axis(title: str) -> Json:
    return {"title": title, "grid": False, "labelOverlap": "greedy", "labelSeparation": 8}


def _specification(canvas: Canvas, layers: list[Json]) -> Specification:
    body: Json = {
        "width": "container" if canvas.interactive else canvas.width_px,
        "height": canvas.height_px,
        "config": configuration(canvas),
        "data": {"name": POINTS},
        "layer": layers,
    }
    return Specification(grammar="vega-lite", body=body)
