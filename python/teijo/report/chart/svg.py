"""Charts as static SVG with selectable text, by vl-convert; no browser, no network."""

from functools import cache
from pathlib import Path
from typing import Final

from teijo.report.chart.theme import Specification

FONTS: Final = Path(__file__).parent.parent / "fonts"
"""Fonts for charts and pages: dropping a file in here makes it known to both printers."""
_BUNDLE: Final = Path(__file__).parent.parent / "vega" / "vega-embed.js"
VEGA_LITE_VERSION: Final = "6.4"
_HAND_OUT: Final = "window.vegaEmbed = vegaEmbed;"


def svg(specification: Specification) -> str:
    """Return the drawing. Its texts stay texts, in our fonts."""
    import vl_convert

    _register_fonts()
    match specification.grammar:
        case "vega-lite":
            drawn = vl_convert.vegalite_to_svg(
                specification.body, vl_version=VEGA_LITE_VERSION, show_warnings=True
            )
        case "vega":
            drawn = vl_convert.vega_to_svg(specification.body)
    return str(drawn)


@cache
def javascript() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script (0.9 MB) that sets `vegaEmbed`."""
    return _BUNDLE.read_text("utf-8")


def bundled() -> str:
    """Return that script as vl-convert makes it, which takes as long as a report does."""
    import vl_convert

    return str(vl_convert.javascript_bundle(_HAND_OUT, vl_version=VEGA_LITE_VERSION))


@cache
def _register_fonts() -> None:
    import vl_convert

    vl_convert.register_font_directory(str(FONTS))
