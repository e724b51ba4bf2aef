"""An XYChart as a Vega-Lite specification: series, rules and spans over one pair of axes."""

import json
import math
from collections.abc import Sequence
from typing import Final

from teijo.document.model import Axis, Rule, Series, Value, XYChart
from teijo.report.chart import palette, scale
from teijo.report.chart.theme import CHARACTER_WIDTH_PX, Canvas, Json, Specification, configuration
from teijo.report.language import Translator, translator
from teijo.report.numbers import heading_of, ink
from teijo.report.width import columns_of

DENSE_POINTS: Final = 60
"""A series with more points than this draws small ones."""
ZOOM_POINTS: Final = 30
HOVER_POINTS_MOST: Final = 600
"""So many points of a chart answer to pointing; of more, the highest and lowest of neighbours."""
RULE_LABEL_PITCH_PX: Final = 13
LINE_SIGN: Final = "M-1.6,0L1.6,0"
"""What the legend shows for a series without points."""
_RULE_DASHES: Final = {"solid": (1, 0), "dashed": (6, 4), "dotted": (1.5, 3)}


def specification(chart: XYChart, canvas: Canvas) -> Specification:
    """Return the drawing of a chart. What cannot be drawn (None, NaN, <= 0 on a log axis)
    breaks its line; the chart's table still tells it.
    """
    x, y = _x_encoding(chart, canvas), _y_encoding(chart)
    layers = [
        *_span_layers(chart, x, canvas),
        *_spread_layers(chart, x, y, canvas),
        *_series_layers(chart, x, y, canvas),
        *_rule_layers(chart, x, y, canvas),
    ]
    body: Json = {
        "width": "container" if canvas.interactive else canvas.width_px,
        "height": canvas.height_px,
        "config": configuration(canvas),
        "layer": layers,
    }
    if _hovers(chart, canvas):  # once for the lines and for what is pointed at
        body["data"] = {"values": _rows(chart, chart.series, inked=True)}
    return Specification(grammar="vega-lite", body=body)


def _x_encoding(chart: XYChart, canvas: Canvas) -> Json:
    axis = chart.x
    if axis.scale == "category":
        names = list(dict.fromkeys(str(x) for series in chart.series for x in series.x))
        steps: Json = {"type": "point", "padding": 0.5}
        if _has_bars(chart):
            steps = {"type": "band", "paddingInner": 0.4, "paddingOuter": 0.6}
        if _dodges(chart):
            steps = {"type": "band", "paddingInner": 0.4, "paddingOuter": 0.2}
        return {
            "field": "x",
            "type": "nominal",
            "scale": {"domain": names} | steps,
            "axis": {"title": heading_of(axis), "grid": False, "labelAngle": 0},
        }
    data = _drawn(axis, [x for series in chart.series for x in series.x])
    values = [*data]
    values += [end for span in chart.spans for end in _drawn(axis, (span.first, span.last))]
    values += [v for rule in chart.rules if rule.at == "x" for v in _drawn(axis, (rule.value,))]
    ticks: list[float] | None
    if axis.scale == "log":
        places = sorted(set(data))
        few = 0 < len(places) <= 12
        domain = [min(values) / 1.2, max(values) * 1.2] if few else scale.log_domain(values)
        ticks = places if few else scale.log_ticks(domain)
    else:
        whole = scale.whole_ticks(data)
        domain = _linear_x_domain(values, whole=bool(whole), from_zero=axis.from_zero)
        ticks = whole or scale.time_ticks(domain, axis.unit)
    if _zooms(chart, canvas):
        # Ticks that were chosen for all of it would be too few once somebody zooms in.
        ticks = None
    zero = {} if axis.scale == "log" else {"zero": False}
    shown = {"title": heading_of(axis), "grid": False, **scale.tick_labels(ticks, values, about=12)}
    if axis.scale == "log" and few:
        shown["format"] = "~f"  # the standard writes 1024 KiB without a comma
    return {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": axis.scale, "domain": domain, "nice": False} | zero,
        "axis": shown | {"labelOverlap": "greedy", "labelSeparation": 8},
    }


def _linear_x_domain(values: Sequence[float], *, whole: bool, from_zero: bool) -> list[float]:
    if not values:
        return [0, 1]
    low, high = min(values), max(values)
    if whole:
        return [0 if from_zero else low - 0.4, high + 0.4]
    low = min(low, 0.0) if from_zero else low
    return [low, high] if low < high else [low - 0.5, high + 0.5]


def _y_encoding(chart: XYChart) -> Json:
    axis = chart.y
    values = _drawn(axis, [y for series in chart.series for y in series.y])
    ends = [end for series in chart.series for both in series.spread for end in both or ()]
    values += _drawn(axis, ends)
    values += [v for rule in chart.rules if rule.at == "y" for v in _drawn(axis, (rule.value,))]
    shown: Json = {"title": heading_of(axis)}
    kind: Json = {"type": "linear", "nice": True, "zero": False}
    if axis.scale == "log":
        domain = scale.log_domain(values)
        kind = {"type": "log", "nice": False}
        shown |= scale.tick_labels(scale.log_ticks(domain), values, about=8)
    else:
        domain = scale.linear_domain(values, from_zero=axis.from_zero)
        shown |= scale.tick_labels(scale.count_ticks(values, domain, about=8), domain, about=8)
    return {
        "field": "y",
        "type": "quantitative",
        "scale": kind | {"domain": domain},
        "axis": shown,
    }


def _drawn(axis: Axis, values: Sequence[Value]) -> list[float]:
    return scale.finite(values, positive=axis.scale == "log")


def _hovers(chart: XYChart, canvas: Canvas) -> bool:
    """Return whether pointing tells the values of points; bars have theirs above them."""
    return canvas.interactive and not _has_bars(chart)


def _neighbours(chart: XYChart) -> int:
    """Return how many neighbours of one series there are to each that answers to pointing."""
    return math.ceil(sum(len(series.x) for series in chart.series) / HOVER_POINTS_MOST)


def _pointed_at(ys: Sequence[float | None], neighbours: int) -> set[int]:
    """Return the places of those that answer: two of twice so many neighbours, both extremes."""
    if neighbours <= 1:
        return set(range(len(ys)))
    found = set[int]()
    for first in range(0, len(ys), 2 * neighbours):
        group = range(first, min(first + 2 * neighbours, len(ys)))
        drawn = [(y, at) for at in group if (y := ys[at]) is not None]
        if drawn:
            found |= {min(drawn)[1], max(drawn)[1]}
    return found


def _own_data(chart: XYChart, some: Sequence[Series], *, is_shared: bool) -> Json:
    """Return the data of a layer; none where it draws all that the whole chart has."""
    if is_shared and len(some) == len(chart.series):
        return {}
    return {"data": {"values": _rows(chart, some)}}


def _zooms(chart: XYChart, canvas: Canvas) -> bool:
    longest = max((len(series.x) for series in chart.series), default=0)
    return canvas.interactive and chart.x.scale != "category" and longest > ZOOM_POINTS


def _series_layers(chart: XYChart, x: Json, y: Json, canvas: Canvas) -> list[Json]:
    names = [series.name for series in chart.series]
    encoding: Json = {"x": x, "y": y, "color": _colours(names, chart, canvas)}
    if _has_bars(chart):
        return _bar_layers(chart, encoding | _side(chart), canvas)
    if _dodges(chart):
        encoding |= _side(chart)
    lines = [series for series in chart.series if series.style != "points"]
    dotted = [series for series in chart.series if _is_dotted(series)]
    hovers = _hovers(chart, canvas)
    layers: list[Json] = []
    if lines:
        # Without an order Vega-Lite joins points by their x, not one after the other.
        order = {"field": "o", "type": "quantitative"}
        dash = _dashes(chart, canvas)
        layers.append(
            {
                **_own_data(chart, lines, is_shared=hovers),
                "mark": {"type": "line", "strokeWidth": 1.8, "clip": True, "strokeJoin": "round"},
                "encoding": encoding | {"order": order} | ({"strokeDash": dash} if dash else {}),
            }
        )
    layers += [
        {
            **_own_data(chart, several, is_shared=hovers),
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": size},
            "encoding": encoding | {"shape": _shapes(names, chart, canvas)},
        }
        for size, several in _by_size(dotted)
    ]
    if layers and canvas.interactive:
        if _zooms(chart, canvas):
            layers[0]["params"] = [ZOOM]
        if hovers:
            layers.append(_hover_layer(chart, encoding, translator(canvas.language)))
    return layers


def _spread_layers(chart: XYChart, x: Json, y: Json, canvas: Canvas) -> list[Json]:
    """Return the interval of each value as a stroke through it, in its series' colour."""
    rows = [
        {"s": series.name, "x": str(at) if chart.x.scale == "category" else at, "y": ends[0],
         "y2": ends[1]}
        for series in chart.series
        for at, ends in zip(series.x, series.spread, strict=False)
        if ends is not None and len(_drawn(chart.y, ends)) == 2
    ]  # fmt: skip
    if not rows:
        return []
    names = [series.name for series in chart.series]
    mark = {"type": "rule", "strokeWidth": 5, "opacity": 0.35, "clip": True, "strokeCap": "round"}
    encoding = {"x": x, "y": y, "y2": {"field": "y2"}, "color": _colours(names, chart, canvas)}
    encoding |= _side(chart) if _dodges(chart) else {}
    return [{"data": {"values": rows}, "mark": mark, "encoding": encoding}]


def _dodges(chart: XYChart) -> bool:
    """Return whether points stand beside each other over a category, for their intervals."""
    categories = chart.x.scale == "category" and len(chart.series) > 1
    return categories and all(each.style == "points" and each.spread for each in chart.series)


def _side(chart: XYChart) -> Json:
    """Return the place of each series beside the others over one category."""
    names = [series.name for series in chart.series]
    kind = {"domain": names, "paddingInner": 0.15}
    return {"xOffset": {"field": "s", "type": "nominal", "scale": kind}}


def _has_bars(chart: XYChart) -> bool:
    return any(series.style == "bars" for series in chart.series)


def _bar_layers(chart: XYChart, encoding: Json, canvas: Canvas) -> list[Json]:
    """Return bars side by side over each category, each with its value above it."""
    rows = [row | {"t": ink(row["y"])} for row in _rows(chart, chart.series)]
    data = {"values": [row for row in rows if row["y"] is not None]}
    mark = {"type": "bar", "width": {"band": 1}, "clip": True}
    word = {"type": "text", "dy": -7, "color": canvas.inks.quiet}
    shown = {name: encoding[name] for name in ("x", "y", "xOffset")} | {"text": {"field": "t"}}
    return [
        {"data": data, "mark": mark, "encoding": encoding},
        {"data": data, "mark": word, "encoding": shown},
    ]


def _is_dotted(series: Series) -> bool:
    """Return whether a series shows its points; a line of a single value can only do so."""
    if series.style == "bars":
        return False
    return "points" in series.style or len(scale.finite(series.y)) == 1


def _rows(chart: XYChart, some: Sequence[Series], *, inked: bool = False) -> list[Json]:
    """Return a row a point; where they are `inked`, those that answer to pointing have texts."""
    log_x, log_y = chart.x.scale == "log", chart.y.scale == "log"
    neighbours = _neighbours(chart)
    rows = []
    for series in some:
        own: list[Json] = []
        for order, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            if chart.x.scale != "category" and not scale.can_be_drawn(x, positive=log_x):
                continue
            drawn = scale.can_be_drawn(y, positive=log_y)
            place = str(x) if chart.x.scale == "category" else x
            own.append({"s": series.name, "o": order, "x": place, "y": y if drawn else None})
        if inked:
            for at in _pointed_at([row["y"] for row in own], neighbours):
                row = own[at]
                row |= {"t": ink(series.y[row["o"]]), "u": ink(row["x"])}
        rows += own
    return rows


def _legend(names: Sequence[str], chart: XYChart, canvas: Canvas) -> Json | None:
    if len(names) < 2 and not chart.rules:
        return None
    widest_px = max((columns_of(name) for name in names), default=0) * CHARACTER_WIDTH_PX + 30
    lines = math.ceil(len(names) * widest_px / canvas.width_px)
    marks = len(chart.spans) + len([rule for rule in chart.rules if rule.at == "x"])
    shown = {
        "columns": max(1, math.ceil(len(names) / max(1, lines))),
        "offset": 8 + RULE_LABEL_PITCH_PX * marks,
    }
    if any(series.spread for series in chart.series):
        shown["symbolOpacity"] = 1
    dotted = any(_is_dotted(series) for series in chart.series)
    if _has_bars(chart):
        return shown | {"symbolType": "square"}
    return shown if dotted else shown | {"symbolType": LINE_SIGN}


def _colours(names: Sequence[str], chart: XYChart, canvas: Canvas) -> Json:
    inks = [palette.cycled(canvas.inks.series, place) for place in range(len(names))]
    return _by_series(names, inks) | {"legend": _legend(names, chart, canvas)}


def _shapes(names: Sequence[str], chart: XYChart, canvas: Canvas) -> Json:
    shapes = [
        palette.cycled(palette.SHAPES, place) if _is_dotted(series) else LINE_SIGN
        for place, series in enumerate(chart.series)
    ]
    return _by_series(names, shapes) | {"legend": _legend(names, chart, canvas)}


def _dashes(chart: XYChart, canvas: Canvas) -> Json | None:
    """Return the dash of each series: plain lines differ by it, lines with points need none."""
    plain = 0
    dashes: list[tuple[int, ...]] = []
    for series in chart.series:
        match series.style:
            case "dashed":
                dashes.append(palette.DASHED)
            case "line":
                dashes.append(palette.cycled(palette.DASHES, plain))
                plain += 1
            case "points" | "line and points" | "bars":
                dashes.append(palette.DASHES[0])
    if all(dash == palette.DASHES[0] for dash in dashes):
        return None
    names = [series.name for series in chart.series]
    return _by_series(names, dashes) | {"legend": _legend(names, chart, canvas)}


def _by_series(names: Sequence[str], signs: Sequence[object]) -> Json:
    return {
        "field": "s",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(names), "range": list(signs)},
    }


def _by_size(dotted: Sequence[Series]) -> list[tuple[int, list[Series]]]:
    """Return series by the size of their points, small ones first: few stay visible on many."""
    dense = [series for series in dotted if len(series.x) > DENSE_POINTS]
    few = [series for series in dotted if len(series.x) <= DENSE_POINTS]
    return [(size, several) for size, several in ((9, dense), (56, few)) if several]


ZOOM: Final[Json] = {
    "name": "zoom",
    "select": {
        "type": "interval",
        "encodings": ["x"],
        "zoom": "wheel![event.ctrlKey || event.metaKey]",
    },
    "bind": "scales",
}


def _hover_layer(chart: XYChart, encoding: Json, words: Translator) -> Json:
    # Pointing finds the nearest point through a cell around it, whose datum is that point's mark.
    names = (("s", words.text("Series")), ("u", heading_of(chart.x)), ("t", heading_of(chart.y)))
    shown = ", ".join(f"{_key(name)}: (datum.datum || datum).{key}" for key, name in names)
    mark = {"type": "point", "filled": True, "size": 90, "clip": True}
    mark |= {"tooltip": {"expr": f"{{{shown}}}"}}
    near = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
    some = {"transform": [{"filter": "datum.u"}]} if _neighbours(chart) > 1 else {}
    return some | {
        "params": [{"name": "near", "select": near}],
        "mark": mark,
        "encoding": encoding
        | {
            # To Vega-Lite nothing selected is everything, where `empty` does not say otherwise.
            "opacity": {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0},
        },
    }


def _key(name: str) -> str:
    """Return what a value is called where it is pointed at, as a key of a Vega expression.

    Vega's tooltip makes an image of what is called "image"; a blank keeps an axis from that.
    """
    return json.dumps(f"{name} " if name in ("image", "title") else name)


def _span_layers(chart: XYChart, x: Json, canvas: Canvas) -> list[Json]:
    layers: list[Json] = []
    for place, span in enumerate(chart.spans):
        data = {"values": [{"x": span.first, "x2": span.last, "name": span.name}]}
        layers.append(
            {
                "data": data,
                "mark": {"type": "rect", "color": canvas.inks.span, "opacity": 0.13, "clip": True},
                "encoding": {"x": x, "x2": {"field": "x2"}},
            }
        )
        layers.append(
            {
                "data": data,
                "mark": _label(canvas, dx=0, dy=-_lift_px(place)),
                "encoding": _above(x),
            }
        )
    return layers


def _lift_px(row: int) -> int:
    """Return how far over the plot a label is: each in its own row, none on another."""
    return 8 + RULE_LABEL_PITCH_PX * row


def _above(x: Json) -> Json:
    """Return the place over the plot of a label at an x, hidden where x is zoomed away."""
    visible = {"test": "inrange(datum.x, domain('x'))", "value": 1}
    return {
        "x": x,
        "y": {"value": 0},
        "text": {"field": "name"},
        "opacity": {"condition": visible, "value": 0},
    }


def _rule_layers(chart: XYChart, x: Json, y: Json, canvas: Canvas) -> list[Json]:
    across = [rule for rule in chart.rules if rule.at == "y" and _drawn(chart.y, (rule.value,))]
    up = [rule for rule in chart.rules if rule.at == "x" and _drawn(chart.x, (rule.value,))]
    layers: list[Json] = []
    nudges_px = _nudges_px([rule.value for rule in across], y["scale"], canvas.height_px)
    for rule, nudge_px in zip(across, nudges_px, strict=True):
        data = {"values": [{"y": rule.value, "name": rule.name}]}
        layers.append({"data": data, "mark": _stroke(rule, canvas), "encoding": {"y": y}})
        layers.append(
            {
                "data": data,
                "mark": _label(canvas, dx=6, dy=nudge_px),
                "encoding": {"x": {"value": "width"}, "y": y, "text": {"field": "name"}},
            }
        )
    for place, rule in enumerate(up):
        data = {"values": [{"x": rule.value, "name": rule.name}]}
        layers.append({"data": data, "mark": _stroke(rule, canvas), "encoding": {"x": x}})
        layers.append(
            {
                "data": data,
                "mark": _label(canvas, dx=-2, dy=-_lift_px(len(chart.spans) + place)),
                "encoding": _above(x),
            }
        )
    return layers


def _stroke(rule: Rule, canvas: Canvas) -> Json:
    return {
        "type": "rule",
        "color": canvas.inks.rule,
        "strokeWidth": 1.2,
        "strokeDash": list(_RULE_DASHES[rule.style]),
        "clip": True,
    }


def _label(canvas: Canvas, *, dx: int, dy: float) -> Json:
    return {
        "type": "text",
        "align": "left",
        "baseline": "middle",
        "dx": dx,
        "dy": dy,
        "clip": False,
        "color": canvas.inks.quiet,
    }


def _nudges_px(values: Sequence[float], kind: Json, height_px: int) -> list[float]:
    """Return how far down each label moves so that none lies on another."""
    low, high = (math.log10(end) if kind["type"] == "log" else end for end in kind["domain"])
    shares = [math.log10(value) if kind["type"] == "log" else value for value in values]
    wanted = [(high - share) / (high - low) * height_px for share in shares]
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = dict.fromkeys(order, 0.0)
    free_px = -math.inf
    for place in order:
        placed[place] = max(wanted[place], free_px)
        free_px = placed[place] + RULE_LABEL_PITCH_PX
    return [round(placed[place] - wanted[place], 1) for place in range(len(wanted))]
