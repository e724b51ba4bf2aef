"""A document as one HTML file: it works offline, and its charts answer to pointing.

Charts are Vega specifications drawn by the page itself (Vega is embedded once); colours are
CSS variables, so that one drawing serves light, dark and print.
"""

import base64
import json
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from teijo.document.model import (
    Bars3D,
    Block,
    Column,
    Document,
    Facts,
    Header,
    HeaderGroup,
    Headline,
    Note,
    Paragraph,
    Section,
    Table,
    Verdict,
    XYChart,
)
from teijo.document.phrase import say
from teijo.report.chart import bars3d, palette, svg, xy
from teijo.report.chart.theme import Canvas, Json, Specification
from teijo.report.csv import table_csv
from teijo.report.language import Language, Translator, translator
from teijo.report.numbers import NOT_AVAILABLE, inked_rows, numeric_columns
from teijo.report.shown import shown
from teijo.report.tables import NumberedTable, Places, numbered_tables

_ROOM: Final = Path(__file__).parent
_CANVAS: Final = Canvas(inks=palette.SCREEN, interactive=True, width_px=860, height_px=340)
HEADLINE_HEIGHT_PX: Final = 250
_WEIGHTS: Final = (("Regular", 400), ("SemiBold", 600))
_SCRIPT_WORDS: Final = {
    "undrawn": "This chart could not be drawn. Its numbers stand in the table below.",
    "copied": "Copied",
    "refused": "Not allowed here; use Download",
}
"""What the page's own script says, by the name it has there."""
HINT: Final = "Drag to move along the axis, Ctrl + wheel to zoom, double-click to see all."
NO_SCRIPT: Final = "The charts need JavaScript. Every number in them stands in a table."


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    """What a page is written with, and the charts and tables that its script will need.

    `tables` are as they are shown, `originals` as other programs read them, in English.
    """

    words: Translator
    canvas: Canvas
    tables: Places
    originals: Places
    charts: list[Json]
    files: dict[str, Json]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A report as the parts of a page, HTML each but for `language`, its ISO 639 code.

    `data` is JSON for the page's script: its charts, its tables as CSV, and the script's words.
    """

    language: str
    title: str
    bar: str
    skip: str
    contents_title: str
    contents: str
    header: str
    sections: str
    noscript: str
    data: str


def render(document: Document, language: Language = Language.ENGLISH) -> str:
    """Return the whole page in a language. The same document gives the same text."""
    return page(document, library=svg.javascript(), language=language)


def page(document: Document, *, library: str, language: Language = Language.ENGLISH) -> str:
    """Return the page with a given chart library (a script that sets `vegaEmbed`)."""
    return Template((_ROOM / "page.html").read_text("utf-8")).substitute(
        vars(parts(document, language)),
        fonts=_font_faces(),
        style=style(),
        library=library,
        script=script(),
    )


def parts(document: Document, language: Language = Language.ENGLISH) -> Parts:
    """Return the parts of the page, for a page that has its style and its scripts elsewhere."""
    words = translator(language)
    said = words.document(document)
    tables = numbered_tables(said)
    is_english = language is Language.ENGLISH
    sheet = _Sheet(
        words=words,
        canvas=replace(_CANVAS, language=language),
        tables=tables,
        # An English report is its own original, and is not made visible a second time.
        originals=tables if is_english else numbered_tables(shown(document)),
        charts=[],
        files={},
    )
    sections = _sections(said, sheet)
    texts = {name: words.text(text) for name, text in _SCRIPT_WORDS.items()}
    data = {"charts": sheet.charts, "tables": sheet.files, "words": texts}
    header = said.header
    return Parts(
        language=language.value,
        title=escape(f"{header.title} · {header.subtitle}" if header.subtitle else header.title),
        bar=_bar(said, _model_of(document.header)),
        skip=escape(words.text("Skip to the report")),
        contents_title=escape(words.text("Contents")),
        contents="\n".join(_contents_line(*place) for place in enumerate(said.sections)),
        header=_masthead(header),
        sections=sections,
        noscript=escape(words.text(NO_SCRIPT)),
        data=script_safe(json.dumps(data, ensure_ascii=False, separators=(",", ":"))),
    )


def script() -> str:
    """Return the page's own script, which draws the charts by the library before it."""
    return (_ROOM / "page.js").read_text("utf-8")


def style() -> str:
    """Return the style of the page but for its fonts."""
    return Template((_ROOM / "page.css").read_text("utf-8")).substitute(
        series_light=_series_variables(palette.SERIES),
        series_dark=_series_variables(palette.SERIES_ON_DARK),
    )


def _series_variables(colours: tuple[str, ...]) -> str:
    return "".join(f"  --series-{at}: {ink};" for at, ink in enumerate(colours, start=1))


def _font_faces() -> str:
    faces = []
    for name, weight in _WEIGHTS:
        font = base64.b64encode((svg.FONTS / "web" / f"Inter-{name}.woff2").read_bytes())
        faces.append(
            f"@font-face {{ font-family: Inter; font-weight: {weight}; "
            f"src: url(data:font/woff2;base64,{font.decode('ascii')}) format('woff2'); }}"
        )
    return "\n".join(faces)


def script_safe(text: str) -> str:
    """Return JSON that cannot end the script element around it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _bar(document: Document, model: str) -> str:
    header = document.header
    verdict = next(
        (b for section in document.sections for b in section.blocks if isinstance(b, Verdict)),
        None,
    )
    end = _stamp(header)
    if verdict is not None:
        end += f'<span class="pill {_tone(verdict)}">{escape(verdict.text)}</span>'
    return (
        f'<span class="bar-title">{escape(header.title)}</span>'
        f'<span class="bar-quiet">{escape(_joined(model, header.subtitle))}</span>'
        f'<span class="bar-end">{end}</span>'
    )


def _model_of(header: Header) -> str:
    return next((value for name, value in header.top if "model" in name.lower()), "")


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _stamp(header: Header) -> str:
    return f'<span class="stamp">{escape(header.stamp)}</span>' if header.stamp else ""


def _contents_line(place: int, section: Section) -> str:
    return f'<li><a href="#part-{place + 1}">{escape(section.title)}</a></li>'


def _masthead(header: Header, *, level: int = 1) -> str:
    """Return a header; one of level 2 comes before the sections of one test among several."""
    issuer = _joined(header.organisation, header.revision)
    parts = [
        f'<p class="issuer">{escape(issuer)}</p>' if issuer else "",
        f"<h{level}>{escape(header.title)}</h{level}>",
        f'<p class="subtitle">{escape(header.subtitle)}</p>' if header.subtitle else "",
        _stamp(header),
        f'<div class="top">{_pairs(header.top)}</div>' if header.top else "",
    ]
    if header.groups:
        groups = "".join(_group(group) for group in header.groups)
        parts.append(f'<div class="groups">{groups}</div>')
    kind = "masthead" if level == 1 else "masthead chapter"
    return f'<header class="{kind}">{"".join(parts)}</header>'


def _pairs(rows: tuple[tuple[str, str], ...]) -> str:
    return "".join(
        f"<dl><dt>{escape(name)}</dt><dd>{escape(value)}</dd></dl>" for name, value in rows
    )


def _group(group: HeaderGroup) -> str:
    return (
        f'<div class="group tone-{group.tone}"><h2>{escape(group.title)}</h2>'
        f"<dl>{_definitions(group.rows)}</dl></div>"
    )


def _definitions(rows: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)


def _sections(document: Document, sheet: _Sheet) -> str:
    parts = []
    above = document.header
    for place, section in enumerate(document.sections):
        header = section.header or document.header
        if header != above:
            parts.append(_masthead(header, level=2))
            above = header
        label = f'<span class="label">{escape(section.label)}</span>' if section.label else ""
        blocks = "\n".join(
            _block(block, section, sheet.tables.get((place, at)), sheet)
            for at, block in enumerate(section.blocks)
        )
        parts.append(
            f'<section class="part" id="part-{place + 1}"><h2><span>{escape(section.title)}'
            f"</span>{label}</h2>\n{blocks}\n</section>"
        )
    return "\n".join(parts)


def _block(block: Block, section: Section, numbered: NumberedTable | None, sheet: _Sheet) -> str:
    match block:
        case Table():
            assert numbered is not None
            return _table_block(numbered, sheet)
        case XYChart():
            assert numbered is not None
            drawing = xy.specification(block, sheet.canvas)
            return _figure(section, drawing, block.note, numbered, sheet)
        case Bars3D():
            assert numbered is not None
            drawing = bars3d.specification(block, sheet.canvas)
            return _figure(section, drawing, "", numbered, sheet)
        case Headline():
            return _headline(block.chart, sheet)
        case Facts():
            caption = f'<p class="caption">{escape(block.caption)}</p>' if block.caption else ""
            return f'<div class="facts">{caption}<dl>{_definitions(block.rows)}</dl></div>'
        case Paragraph():
            return f'<p class="text">{escape(block.text)}</p>'
        case Verdict():
            return f'<p class="verdict {_tone(block)}">{escape(block.text)}</p>'
        case Note():
            return _note(block, sheet.words)


def _tone(verdict: Verdict) -> str:
    return {True: "good", False: "bad", None: "neutral"}[verdict.good]


def _note(note: Note, words: Translator) -> str:
    step = words.text(say("step {step}", step=note.step)) if note.step is not None else ""
    step = f' <span class="step">{escape(step)}</span>' if step else ""
    remedy = f'<p class="remedy">{escape(note.remedy)}</p>' if note.remedy else ""
    return (
        f'<div class="note"><p class="kind">{escape(note.kind)}{step}</p>'
        f"<p>{escape(note.text)}</p>{remedy}</div>"
    )


def _figure(
    section: Section,
    drawing: Specification,
    note: str,
    numbered: NumberedTable,
    sheet: _Sheet,
) -> str:
    title = numbered.title
    caption = f"<figcaption>{escape(title)}</figcaption>" if title != section.title else ""
    file_name = _original(numbered, sheet).file_name.removesuffix(".csv")
    name, place = _place(title, drawing, sheet, file_name=file_name)
    zooms = any(xy.ZOOM in layer.get("params", ()) for layer in drawing.body.get("layer", ()))
    hint = f'<p class="hint">{escape(sheet.words.text(HINT))}</p>' if zooms else ""
    said = f'<p class="chart-note">{escape(note)}</p>' if note else ""
    return (
        f"<figure>{caption}{place}"
        f"{hint}{said}{_pictures(name, sheet)}{_fold(numbered, sheet)}</figure>"
    )


def _headline(chart: XYChart, sheet: _Sheet) -> str:
    drawing = xy.specification(chart, replace(sheet.canvas, height_px=HEADLINE_HEIGHT_PX))
    _, place = _place(chart.title, drawing, sheet, file_name="headline")
    return f"<figure><figcaption>{escape(chart.title)}</figcaption>{place}</figure>"


def _place(title: str, drawing: Specification, sheet: _Sheet, *, file_name: str) -> tuple[str, str]:
    """Keep a drawing for the page's script; return its name and the element it is drawn in."""
    name = f"chart-{len(sheet.charts) + 1}"
    kept = {"id": name, "name": file_name, "grammar": drawing.grammar, "body": drawing.body}
    sheet.charts.append(kept)
    kind = " still" if drawing.grammar == "vega" else ""
    label = sheet.words.text(say("{title}; the table below has its numbers", title=title))
    return name, (
        f'<div class="wide"><div class="chart{kind}" id="{name}" role="img" '
        f'aria-label="{escape(label)}"></div></div>'
    )


def _pictures(chart: str, sheet: _Sheet) -> str:
    """Return the buttons that save a plot; the page's own script draws it, without a network."""
    buttons = "".join(
        f'<button type="button" data-chart="{chart}" data-act="{act}">'
        f"{escape(sheet.words.text(name))}</button>"
        for act, name in (("svg", "Save as SVG"), ("png", "Save as PNG"))
    )
    return f'<div class="tools pictures">{buttons}</div>'


def _original(numbered: NumberedTable, sheet: _Sheet) -> NumberedTable:
    return next(each for each in sheet.originals.values() if each.number == numbered.number)


def _table_block(numbered: NumberedTable, sheet: _Sheet) -> str:
    if numbered.table.folded:
        return f'<div class="table-block">{_fold(numbered, sheet, named=True)}</div>'
    caption = f'<p class="caption">{escape(numbered.table.caption)}</p>'
    return (
        f'<div class="table-block"><div class="table-head">{caption}{_tools(numbered, sheet)}</div>'
        f"{_table(numbered)}</div>"
    )


def _fold(numbered: NumberedTable, sheet: _Sheet, *, named: bool = False) -> str:
    count = len(numbered.table.rows)
    name = numbered.title if named else "Numbers"
    rows = say("1 row") if count == 1 else say("{count:,} rows", count=count)
    summary = sheet.words.text(say("{name}, {rows}", name=name, rows=rows))
    return (
        f"<details><summary>{escape(summary)}</summary>{_tools(numbered, sheet)}"
        f"{_table(numbered)}</details>"
    )


def _tools(numbered: NumberedTable, sheet: _Sheet) -> str:
    key = str(numbered.number)
    original = _original(numbered, sheet)
    sheet.files[key] = {"name": original.file_name, "csv": table_csv(original.table)}
    acts = (("copy", "Copy CSV"), ("download", "Download CSV"))
    buttons = "".join(
        f'<button type="button" data-table="{key}" data-act="{act}">'
        f"{escape(sheet.words.text(name))}</button>"
        for act, name in acts
    )
    return f'<div class="tools">{buttons}</div>'


def _table(numbered: NumberedTable) -> str:
    table = numbered.table
    numeric = numeric_columns(table)
    marked = set(table.marked)
    head = "".join(_head_cell(*cell) for cell in zip(table.columns, numeric, strict=True))
    plain = [_cell_class(number, False, "") for number in numeric]
    body = []
    for at, row in enumerate(inked_rows(table)):
        cells = "".join(
            f"<td{_cell_class(numeric[column], (at, column) in marked, text)}>{escape(text)}</td>"
            if (at, column) in marked or text == NOT_AVAILABLE
            else f"<td{plain[column]}>{escape(text)}</td>"
            for column, text in enumerate(row)
        )
        body.append(f"<tr>{cells}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(numbered.title)}">'
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>\n{chr(10).join(body)}\n</tbody></table></div>"
    )


def _head_cell(column: Column, number: bool) -> str:
    unit = f'<span class="unit">{escape(column.unit)}</span>' if column.unit else ""
    return f'<th scope="col"{_cell_class(number, False, "")}>{escape(column.name)}{unit}</th>'


def _cell_class(number: bool, marked: bool, text: str) -> str:
    signs = (("number", number), ("marked", marked), ("missing", text == NOT_AVAILABLE))
    names = [name for name, holds in signs if holds]
    return f' class="{" ".join(names)}"' if names else ""
