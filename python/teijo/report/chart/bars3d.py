"""A Bars3D as a Vega specification: oblique bars, the standard's picture of a matrix.

Rows run along the front, columns into the depth. Faces are painted back to front and left to
right, top and side before front, which is the correct occlusion for this projection.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from teijo.document.model import Bars3D
from teijo.report.chart import palette, scale
from teijo.report.chart.theme import (
    CHARACTER_WIDTH_PX,
    FONT_SIZE_PX,
    FONTS,
    Canvas,
    Json,
    Specification,
    configuration,
)
from teijo.report.numbers import heading_of, ink
from teijo.report.width import columns_of
from teijo.units import MEGA

HEIGHT_PX: Final = 235.0
FRONT_PX: Final = 430.0
DEPTH_PX: Final = (190.0, 118.0)
"""How far the floor reaches to the right and up."""
BAR_SHARE: Final = 0.66
"""Share of its cell that a bar fills, in width and in depth."""

Point = tuple[float, float]


@dataclass(frozen=True)
class _Stage:
    """The projection: cells of the floor and heights to px, y downwards, front left at 0, 0."""

    rows: int
    columns: int
    low: float
    high: float
    log: bool

    def at(self, row: float, column: float, value: float) -> Point:
        """Return where a value is drawn at a (fractional) cell."""
        share = column / max(1, self.columns)
        return (
            round(row / max(1, self.rows) * FRONT_PX + share * DEPTH_PX[0], 2),
            round(-share * DEPTH_PX[1] - self.height(value), 2),
        )

    def height(self, value: float) -> float:
        """Return a value's height in px; what lies under the floor has none."""
        if self.log:
            value = max(value, self.low)
            share = math.log10(value / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return max(0.0, share) * HEIGHT_PX


def specification(chart: Bars3D, canvas: Canvas) -> Specification:
    """Return the drawing. A missing value has no bar and its table says n/a."""
    stage = _stage(chart)
    top = -DEPTH_PX[1] - HEIGHT_PX
    body: Json = {
        "width": FRONT_PX + DEPTH_PX[0],
        "height": HEIGHT_PX + DEPTH_PX[1],
        "padding": 4,
        "autosize": "pad",
        "config": configuration(canvas),
        "data": [
            {"name": "lines", "values": list(_lines(stage, _ticks(stage)))},
            {"name": "faces", "values": list(_faces(chart, stage))},
            {"name": "texts", "values": list(_texts(chart, stage))},
        ],
        "marks": [
            {
                "type": "group",
                "encode": {"enter": {"y": {"value": -top}}},
                "marks": [_line_mark(canvas), _face_mark(canvas), _text_mark(canvas)],
            }
        ],
    }
    return Specification(grammar="vega", body=body)


def _stage(chart: Bars3D) -> _Stage:
    log = chart.z.scale == "log"
    values = scale.finite((value for row in chart.values for value in row), positive=log)
    low, high = scale.log_domain(values) if log else (0.0, _nice_top(max(values, default=1.0)))
    return _Stage(len(chart.row_places), len(chart.column_places), low, high, log)


def _nice_top(highest: float) -> float:
    if highest <= 0:
        return 1.0
    step = _nice_step(highest)
    # A rounding error must not put a step above a highest value that is on one.
    return math.ceil(highest / step - 1e-9) * step


def _nice_step(highest: float) -> float:
    rough = highest / 7
    decade = 10.0 ** math.floor(math.log10(rough))
    return next(step * decade for step in (1, 2, 2.5, 5, 10) if step * decade >= rough * 0.999)


def _ticks(stage: _Stage) -> list[float]:
    if stage.log:
        return scale.log_ticks([stage.low, stage.high])
    step = _nice_step(stage.high)
    return [place * step for place in range(round(stage.high / step) + 1)]


def _lines(stage: _Stage, ticks: list[float]) -> Iterator[Json]:
    """Yield the floor's grid and the levels on the left and the back wall."""
    floor, rows, columns = stage.low, stage.rows, stage.columns
    for row in range(rows + 1):
        yield _line(stage.at(row, 0, floor), stage.at(row, columns, floor))
    for column in range(columns + 1):
        yield _line(stage.at(0, column, floor), stage.at(rows, column, floor))
    for tick in ticks:
        back = stage.at(0, columns, tick)
        yield _line(stage.at(0, 0, tick), back)
        yield _line(back, stage.at(rows, columns, tick))
    for row, column in ((0, 0), (0, columns), (rows, columns)):
        yield _line(stage.at(row, column, floor), stage.at(row, column, stage.high), edge=True)
    yield _line(stage.at(0, 0, floor), stage.at(rows, 0, floor), edge=True)
    yield _line(stage.at(rows, 0, floor), stage.at(rows, columns, floor), edge=True)


def _line(first: Point, last: Point, *, edge: bool = False) -> Json:
    return {"x": first[0], "y": first[1], "x2": last[0], "y2": last[1], "edge": edge}


def _faces(chart: Bars3D, stage: _Stage) -> Iterator[Json]:
    colours = palette.ramp(stage.columns)
    for column in reversed(range(stage.columns)):
        for row in range(stage.rows):
            value = chart.values[row][column]
            if not scale.finite((value,), positive=stage.log):
                continue
            assert value is not None
            tip = {
                heading_of(chart.rows): chart.row_places[row],
                heading_of(chart.columns): chart.column_places[column],
                heading_of(chart.z): ink(value),
            }
            yield from _bar(stage, row, column, value, colours[column], tip)


def _bar(
    stage: _Stage, row: int, column: int, value: float, colour: str, tip: Json
) -> Iterator[Json]:
    gap = (1 - BAR_SHARE) / 2
    left, right, near, far = row + gap, row + 1 - gap, column + gap, column + 1 - gap
    floor = stage.low
    top = [
        stage.at(left, near, value), stage.at(right, near, value),
        stage.at(right, far, value), stage.at(left, far, value),
    ]  # fmt: skip
    side = [top[1], top[2], stage.at(right, far, floor), stage.at(right, near, floor)]
    front = [top[0], top[1], stage.at(right, near, floor), stage.at(left, near, floor)]
    shades = ((top, palette.lighter(colour, 0.32)), (side, palette.darker(colour, 0.24)),
              (front, colour))  # fmt: skip
    for corners, shade in shades:
        path = "M" + "L".join(f"{x:g},{y:g}" for x, y in corners) + "Z"
        yield {"path": path, "fill": shade, "edge": palette.darker(colour, 0.4), "tip": tip}


def _texts(chart: Bars3D, stage: _Stage) -> Iterator[Json]:
    yield from _height_texts(chart, stage)
    yield from _row_texts(chart, stage)
    yield from _column_texts(chart, stage)


def _height_texts(chart: Bars3D, stage: _Stage) -> Iterator[Json]:
    widest = 0
    for tick in _ticks(stage):
        text = f"{tick:,.6g}" if tick < MEGA else f"{tick:,.0f}"
        widest = max(widest, len(text))
        yield _text((-8, stage.at(0, 0, tick)[1]), text, align="right")
    title_x = -8 - widest * CHARACTER_WIDTH_PX - 16
    yield _text((title_x, -HEIGHT_PX / 2), heading_of(chart.z), angle=-90, title=True)


def _row_texts(chart: Bars3D, stage: _Stage) -> Iterator[Json]:
    widest = max((columns_of(place) for place in chart.row_places), default=0) * CHARACTER_WIDTH_PX
    slanted = widest > FRONT_PX / max(1, stage.rows) - 4
    for row, place in enumerate(chart.row_places):
        x = stage.at(row + 0.5, 0, stage.low)[0]
        if slanted:
            yield _text((x + 4, 12), place, align="right", angle=-35)
        else:
            yield _text((x, 13), place)
    drop = 34 + (widest * 0.6 if slanted else 0)
    yield _text((FRONT_PX / 2, drop), heading_of(chart.rows), title=True)


def _column_texts(chart: Bars3D, stage: _Stage) -> Iterator[Json]:
    widest = (
        max((columns_of(place) for place in chart.column_places), default=0) * CHARACTER_WIDTH_PX
    )
    for column, place in enumerate(chart.column_places):
        x, y = stage.at(stage.rows, column + 0.5, stage.low)
        yield _text((x + 9, y + 2), place, align="left")
    x, y = stage.at(stage.rows, stage.columns / 2, stage.low)
    angle = -math.degrees(math.atan2(DEPTH_PX[1], DEPTH_PX[0]))
    yield _text((x + widest + 24, y + 12), heading_of(chart.columns), angle=angle, title=True)


def _text(
    at: Point, text: str, *, align: str = "center", angle: float = 0, title: bool = False
) -> Json:
    return {
        "x": at[0], "y": at[1], "text": text, "align": align, "angle": angle, "title": title,
    }  # fmt: skip


def _line_mark(canvas: Canvas) -> Json:
    edge = {"test": "datum.edge", "value": canvas.inks.axis}
    return {
        "type": "rule",
        "from": {"data": "lines"},
        "encode": {
            "enter": {
                **{side: {"field": side} for side in ("x", "y", "x2", "y2")},
                "stroke": [edge, {"value": canvas.inks.grid}],
                "strokeWidth": {"value": 1},
            }
        },
    }


def _face_mark(canvas: Canvas) -> Json:
    enter: Json = {
        "path": {"field": "path"},
        "fill": {"field": "fill"},
        "stroke": {"field": "edge"},
        "strokeWidth": {"value": 0.4},
        "strokeJoin": {"value": "round"},
    }
    if canvas.interactive:
        enter["tooltip"] = {"field": "tip"}
    return {
        "type": "path",
        "from": {"data": "faces"},
        "encode": {
            "enter": enter,
            "update": {"strokeWidth": {"value": 0.4}},
            "hover": {"strokeWidth": {"value": 1.4}},
        },
    }


def _text_mark(canvas: Canvas) -> Json:
    inks = canvas.inks
    return {
        "type": "text",
        "from": {"data": "texts"},
        "encode": {
            "enter": {
                **{name: {"field": name} for name in ("x", "y", "text", "align", "angle")},
                "baseline": {"value": "middle"},
                "font": {"value": FONTS[canvas.language]},
                "fontSize": {"value": FONT_SIZE_PX},
                "fontWeight": [{"test": "datum.title", "value": 600}, {"value": 400}],
                "fill": [{"test": "datum.title", "value": inks.text}, {"value": inks.quiet}],
            }
        },
    }
