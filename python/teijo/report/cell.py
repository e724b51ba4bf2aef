"""A document in a notebook's cell: the verdict, the plot that leads to it, and the first table.

It is light and needs no script: the whole report, which has them, is a file of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Final

from teijo.document.model import Bars3D, Document, Headline, Table, Verdict, XYChart
from teijo.report.chart import bars3d, palette, svg, xy
from teijo.report.chart.theme import Canvas
from teijo.report.language import Language, translator
from teijo.report.numbers import inked_rows, numeric_columns

PLOT_BYTES_MOST: Final = 200_000
"""A plot of more is left to the report: notebooks are kept and sent with all their cells."""
ROWS_MOST: Final = 20
_CANVAS: Final = Canvas(inks=palette.PAPER, interactive=False, width_px=660, height_px=210)
_TONES: Final = {
    True: "border-color: #17734f; background: #e6f3ec; color: #17734f",
    False: "border-color: #a3341a; background: #fbebe6; color: #a3341a",
    None: "border-color: #a3aab6; background: #eef1f6",
}
_CELL: Final = "padding: .15rem .6rem; text-align: {align}; border-bottom: 1px solid #dfe2e8"


def render(document: Document, language: Language = Language.ENGLISH) -> str:
    """Return the cell: HTML without a script, at most 300 kB whatever the document."""
    said = translator(language).document(document)
    parts = [
        f'<div style="font-weight: 600; font-size: 1.1em">{escape(said.header.title)}</div>',
        f'<div style="opacity: .75">{escape(_about(document, said))}</div>',
    ]
    if said.header.stamp:
        parts.append(
            f'<div style="color: #a3341a; font-weight: 600">{escape(said.header.stamp)}</div>'
        )
    parts += _parts(said, language)
    inner = "\n".join(parts)
    return (
        '<div style="background: #ffffff; color: #1d2129; padding: .6rem; max-width: 760px; '
        f'font-family: Inter, system-ui, sans-serif">{inner}</div>'
    )


def _about(document: Document, said: Document) -> str:
    """Return the device's model and the top of the report."""
    rows = [row for group in document.header.groups for row in group.rows]
    model = next((value for name, value in rows if name == "Model"), "")
    pairs = zip(document.header.top, said.header.top, strict=True)
    top = [value for (_, plain), (_, value) in pairs if plain not in (model, "not known")]
    return " · ".join(part for part in (said.header.subtitle, model, *top) if part)[:300]


def _parts(said: Document, language: Language) -> Iterator[str]:
    """Yield the first section's verdicts, the first plot of all, and that section's table."""
    first = said.sections[0].blocks if said.sections else ()
    for block in first:
        if isinstance(block, Verdict):
            yield (
                '<p style="margin: .5rem 0; padding: .4rem .7rem; font-weight: 600; '
                f'border-left: 4px solid; {_TONES[block.good]}">{escape(block.text[:1000])}</p>'
            )
    charts = (
        block.chart if isinstance(block, Headline) else block
        for section in said.sections
        for block in section.blocks
        if isinstance(block, Headline | XYChart | Bars3D)
    )
    if (chart := next(charts, None)) is not None:
        yield _plot(chart, language)
    tables = (block for block in first if isinstance(block, Table) and not block.folded)
    if (table := next(tables, None)) is not None:
        yield _table(table)


def _plot(chart: XYChart | Bars3D, language: Language) -> str:
    canvas = replace(_CANVAS, language=language)
    match chart:
        case XYChart():
            drawn = svg.svg(xy.specification(chart, canvas))
        case Bars3D():
            drawn = svg.svg(bars3d.specification(chart, canvas))
    if len(drawn.encode()) > PLOT_BYTES_MOST:
        return ""
    return f'<div style="font-weight: 600">{escape(chart.title)}</div>{drawn}'


def _table(table: Table) -> str:
    numeric = numeric_columns(table)
    kept = replace(table, rows=table.rows[:ROWS_MOST], marked=())
    styles = [_CELL.format(align="right" if number else "left") for number in numeric]
    head = "".join(
        f'<th style="{style}">{escape(column.name[:80])} {escape(column.unit[:40])}</th>'
        for style, column in zip(styles, table.columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{escape(text[:200])}</td>'
            for style, text in zip(styles, row, strict=True)
        )
        + "</tr>"
        for row in inked_rows(kept)
    )
    return (
        '<div style="overflow-x: auto"><table style="border-collapse: collapse">'
        f"<tr>{head}</tr>{body}</table></div>"
    )
