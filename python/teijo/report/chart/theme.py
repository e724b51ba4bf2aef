"""The look of every chart: one Vega configuration per medium, in its inks and our font."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from teijo.report.chart.palette import Inks
from teijo.report.language import Language

FONTS: Final = {
    Language.ENGLISH: "Inter",
    Language.JAPANESE: "Inter, Hiragino Sans, Yu Gothic UI, Noto Sans CJK JP",
}
"""Fonts by language, the first that has a letter draws it; on paper that is one of our own."""
FONT_SIZE_PX: Final = 11
CHARACTER_WIDTH_PX: Final = 6.1
"""Mean advance of Inter at `FONT_SIZE_PX`, for what must be placed before it is drawn."""

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A chart in one of Vega's two grammars, as JSON-ready values without a `$schema`."""

    grammar: Literal["vega", "vega-lite"]
    body: Json


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """What a chart is drawn on. Width and height in px of the plot, without its margins.

    On an interactive canvas the width follows the page, and pointing tells the values.
    """

    inks: Inks
    interactive: bool
    width_px: int = 660
    height_px: int = 320
    language: Language = Language.ENGLISH


def configuration(canvas: Canvas) -> Json:
    """Return the Vega(-Lite) configuration: quiet axes, a light grid, the legend on top."""
    inks, font = canvas.inks, FONTS[canvas.language]
    return {
        "background": None,
        "font": font,
        "view": {"stroke": None},
        "axis": {
            "domainColor": inks.axis,
            "gridColor": inks.grid,
            "labelColor": inks.quiet,
            "labelFont": font,
            "labelFontSize": FONT_SIZE_PX,
            "labelPadding": 6,
            "tickColor": inks.axis,
            "tickSize": 4,
            "titleColor": inks.text,
            "titleFont": font,
            "titleFontSize": FONT_SIZE_PX + 0.5,
            "titleFontWeight": 600,
            "titlePadding": 10,
        },
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            "labelColor": inks.text,
            "labelFont": font,
            "labelFontSize": FONT_SIZE_PX,
            "labelLimit": 320,
            "orient": "top",
            "offset": 10,
            "rowPadding": 4,
            "columnPadding": 16,
            "symbolSize": 62,
            "symbolStrokeWidth": 2,
            "title": None,
        },
        "text": {"font": font, "fontSize": FONT_SIZE_PX},
    }
