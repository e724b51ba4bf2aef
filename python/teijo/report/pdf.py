"""A document as PDF: the standard's header on every page, the same content as the HTML.

Typst sets it from `template.typ`; the words reach it as JSON, so that no text is ever markup.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from teijo.document import model
from teijo.document.phrase import say
from teijo.report.chart import bars3d, palette, svg, xy
from teijo.report.chart.theme import Canvas
from teijo.report.language import Language, Translator, translator
from teijo.report.numbers import NOT_AVAILABLE, inked_rows, numeric_columns
from teijo.report.tables import NumberedTable, numbered_tables
from teijo.report.width import columns_of, longest_piece

ROOMY_ROWS: Final = 12
ROWS_LIMIT: Final = 400
"""A longer table is for programs: paper says where it is, the HTML and the CSV have every row."""
INLINE_ROWS_LIMIT: Final = 20
"""A chart's table this short is put under its chart, a longer one in the appendix."""
STRIP_ROWS: Final = 52
"""Rows of a strip of a long and narrow table: as many as stand on a page of the appendix."""
TAGGED_CELLS: Final = 4000
"""Up to so many cells a PDF is tagged for screen readers; beyond, tags would be ten times the
rest of the file, and the HTML has the same tables.
"""
PAGE_WIDTH_PT: Final = 515.0
ADVANCE_EM: Final = 0.6
"""Mean advance of a character of a table, a little on the safe side."""
TIGHT_PT: Final = 7.5
SMALLEST_PT: Final = 4.5
PROSE_COLUMNS: Final = 40
"""A column of longer words than this wraps where its table is too wide, before type shrinks."""
PROSE_LEAST: Final = 18
"""So many columns of type at least are left to each column that wraps."""
GROUP_CHARACTERS: Final = 31
"""About as many characters of header type as stand in the width of a group."""
TEMPLATE: Final = Path(__file__).with_name("template.typ")
FONT_FAMILIES: Final = ("Inter", "Noto Sans CJK JP", "DejaVu Sans Mono")
_LONG_WORD: Final = re.compile(r"\S{22,}")
_ALONE: Final = Canvas(inks=palette.PAPER, interactive=False, width_px=660, height_px=390)
_AMONG_OTHERS: Final = Canvas(inks=palette.PAPER, interactive=False, width_px=660, height_px=145)
"""A section of several charts draws them lower and its tables smaller: they share its page."""
_HEADLINE: Final = Canvas(inks=palette.PAPER, interactive=False, width_px=660, height_px=210)

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Appendix:
    """Tables that stand at the end, and the words that all of the report is said in."""

    words: Translator
    parts: list[Json]


def render(document: model.Document, language: Language = Language.ENGLISH) -> bytes:
    """Return the PDF in a language. The same document gives the same bytes."""
    import typst

    with tempfile.TemporaryDirectory(prefix="teijo-pdf-") as folder:
        root = Path(folder)
        # Typst reads nothing outside its root: the template is copied beside its data.
        (root / "main.typ").write_text(TEMPLATE.read_text("utf-8"), "utf-8")
        data = _data(document, translator(language))
        (root / "data.json").write_text(json.dumps(data), "utf-8")
        compiler = typst.Compiler(
            str(root / "main.typ"),
            root=str(root),
            font_paths=[str(svg.FONTS)],
            # With fonts of the host the same document would give other bytes on each host.
            ignore_system_fonts=True,
        )
        printed = compiler.compile(format="pdf", pdf_tags=data["tagged"])
    assert isinstance(printed, bytes), "one PDF, in memory"
    return printed


def _cells(document: model.Document) -> int:
    tables = (numbered.table for numbered in numbered_tables(document).values())
    kept = (table for table in tables if len(table.rows) <= ROWS_LIMIT)
    return sum(len(table.rows) * len(table.columns) for table in kept)


def _data(document: model.Document, words: Translator) -> Json:
    said = words.document(document)
    tables = numbered_tables(said)
    appendix = _Appendix(words=words, parts=[])
    chapters: list[Json] = []
    for place, section in enumerate(said.sections):
        blocks = [
            part
            for at, block in enumerate(section.blocks)
            for part in _parts(block, section, tables.get((place, at)), appendix)
        ]
        if blocks and all(part["kind_of"] == "pointer" and not part["alone"] for part in blocks):
            continue  # it is all in the appendix
        head = _head(section.header or said.header, full=not section.appendix)
        if not chapters or chapters[-1]["head"] != head:
            chapters.append({"head": head, "sections": []})
        chapter = {"title": section.title, "label": section.label, "blocks": blocks}
        chapters[-1]["sections"].append(chapter)
    return {
        "title": said.header.title,
        "chapters": chapters or [{"head": _head(said.header), "sections": []}],
        "appendix": [{k: v for k, v in part.items() if k != "table"} for part in appendix.parts],
        "appendix-title": words.text("Appendix: tables"),
        # Typst alone knows the numbers: a character that no text has marks their places.
        "page": words.text(say("Page {page} of {pages}", page="\0", pages="\0")).split("\0"),
        "language": words.language.value,
        "fonts": FONT_FAMILIES,
        "missing": NOT_AVAILABLE,
        "name": document.name,
        "maker": "Teijo",
        "tagged": _cells(document) <= TAGGED_CELLS,
    }


def _head(header: model.Header, *, full: bool = True) -> Json:
    """Return the top of every page of a chapter: the sections under one header.

    The pages behind the last test (settings, device, every step) repeat its title and stamp.
    """
    return {
        "heading": header.title,
        "subtitle": header.subtitle,
        "issuer": " · ".join(part for part in (header.organisation, header.revision) if part),
        "stamp": header.stamp,
        "top": _breakable_pairs(header.top) if full else [],
        "groups": [
            {
                "title": group.title,
                "tone": group.tone,
                "rows": _breakable_pairs(group.rows),
                "share": _label_share(group.rows),
            }
            for group in (header.groups if full else ())
        ],
    }


def _parts(
    block: model.Block, section: model.Section, numbered: NumberedTable | None, appendix: _Appendix
) -> Iterator[Json]:
    said = appendix.words.text
    match block:
        case model.Table():
            assert numbered is not None
            yield _table_or_pointer(numbered, appendix, size=7.0 if _is_crowded(section) else 9.0)
        case model.XYChart():
            assert numbered is not None
            drawn = svg.svg(xy.specification(block, _canvas(section, appendix.words)))
            yield _chart(section, block.title, drawn, note=block.note)
            yield _table_or_pointer(numbered, appendix)
        case model.Bars3D():
            assert numbered is not None
            drawn = svg.svg(bars3d.specification(block, _canvas(section, appendix.words)))
            yield _chart(section, block.title, drawn, note="")
            yield _table_or_pointer(numbered, appendix)
        case model.Headline():
            canvas = replace(_HEADLINE, language=appendix.words.language)
            drawn = svg.svg(xy.specification(block.chart, canvas))
            yield _chart(section, block.chart.title, drawn, note="") | {"yields": True}
        case model.Facts():
            yield {
                "kind_of": "facts",
                "caption": block.caption,
                "rows": _breakable_pairs(block.rows),
            }
        case model.Paragraph():
            yield {"kind_of": "text", "text": block.text}
        case model.Verdict():
            tone = {True: "good", False: "bad", None: "neutral"}[block.good]
            yield {"kind_of": "verdict", "text": block.text, "tone": tone}
        case model.Note():
            yield {
                "kind_of": "note",
                "kind": block.kind,
                "text": block.text,
                "remedy": block.remedy,
                "step": "" if block.step is None else said(say("step {step}", step=block.step)),
            }


def _breakable_pairs(rows: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    return [(_breakable(name), _breakable(value)) for name, value in rows]


def _breakable(text: str) -> str:
    """Return a text whose very long words (serials, paths) may break between lines."""
    return _LONG_WORD.sub(lambda word: "\u200b".join(word[0]), text)


def _canvas(section: model.Section, words: Translator) -> Canvas:
    return replace(_AMONG_OTHERS if _is_crowded(section) else _ALONE, language=words.language)


def _is_crowded(section: model.Section) -> bool:
    """Return whether a section has several charts, which then share its page."""
    return sum(isinstance(block, model.XYChart | model.Bars3D) for block in section.blocks) > 1


def _chart(section: model.Section, title: str, drawn: str, *, note: str) -> Json:
    caption = title if title != section.title else ""
    return {
        "kind_of": "chart",
        "title": title,
        "caption": caption,
        "svg": drawn,
        "note": note,
        "yields": False,
    }


def _table_or_pointer(numbered: NumberedTable, appendix: _Appendix, *, size: float = 9.0) -> Json:
    """Return the table itself, or a line that says where in the appendix it is.

    Charts that share one table share its place in the appendix.
    """
    table, words, parts = numbered.table, appendix.words, appendix.parts
    if len(table.rows) > ROWS_LIMIT:
        name, count = table.caption or numbered.title, len(table.rows)
        elsewhere = say("{name}: {count:,} rows, in the HTML and the CSV.", name=name, count=count)
        return {"kind_of": "pointer", "text": words.text(elsewhere), "alone": True}
    if numbered.of_chart and len(table.rows) <= INLINE_ROWS_LIMIT:
        return _table(table, size=8.0 if len(table.rows) <= ROOMY_ROWS else 7.0)
    if not (numbered.of_chart or table.folded):
        return _table(table, size=size)
    place = next((at for at, part in enumerate(parts) if part["table"] == table), None)
    if place is None:
        place = len(parts)
        name = table.caption or numbered.title
        title = words.text(say("Table A.{number}: {name}", number=place + 1, name=name))
        base = {"table": table, "title": title}
        parts.append(_strips(_table(table, size=6.5), _abreast(table)) | base)
    if numbered.of_chart:
        pointer = say("Numbers: table A.{number} in the appendix.", number=place + 1)
    else:
        name = table.caption or numbered.title
        pointer = say("{name}: table A.{number} in the appendix.", name=name, number=place + 1)
    return {"kind_of": "pointer", "text": words.text(pointer), "alone": False}


def _abreast(table: model.Table) -> int:
    """Return how many columns of the page a long and narrow table runs in."""
    if len(table.rows) < 20:
        return 1
    # The template's gutter between two strips: 7 mm.
    gutter_pt = 20
    widths_pt = _widths_pt(_widths(table, inked_rows(table)), 6.5)
    return max(1, min(4, int(PAGE_WIDTH_PT / (sum(widths_pt) + gutter_pt))))


def _strips(part: Json, abreast: int) -> Json:
    """Return a table cut into strips that stand abreast, sheet by sheet of the appendix.

    A table in one strip stays whole; typst breaks it between pages.
    """
    rows, marked = part.pop("rows"), part.pop("marked")
    sheets: list[list[Json]] = []
    first = 0
    while first < len(rows) or not sheets:
        left = len(rows) - first
        tall = left if abreast == 1 else min(STRIP_ROWS, -(-left // abreast))
        ends = [min(len(rows), first + tall * (strip + 1)) for strip in range(abreast)]
        starts = [first, *ends[:-1]]
        sheets.append(
            [
                {
                    "rows": rows[start:end],
                    "marked": [(row - start, at) for row, at in marked if start <= row < end],
                }
                for start, end in zip(starts, ends, strict=True)
                if start < end or first == len(rows)
            ]
        )
        first = ends[-1]
        if not rows:
            break
    return part | {"sheets": sheets, "abreast": abreast}


def _label_share(rows: tuple[tuple[str, str], ...]) -> float:
    """Return the share of a group's width that its names get, so that few of them wrap."""
    longest = max((columns_of(name) for name, _ in rows), default=0)
    return round(min(0.5, max(0.25, longest / GROUP_CHARACTERS)), 2)


def _widths(table: model.Table, rows: list[list[str]]) -> list[int]:
    """Return how wide each column of a table must be, in columns of type."""
    return [
        max(
            longest_piece(column.name),
            columns_of(column.unit),
            *(columns_of(row[place]) for row in rows),
        )
        for place, column in enumerate(table.columns)
    ]


def _widths_pt(widths: list[int], size_pt: float) -> list[float]:
    """Return about how wide each column of a table is in a size of type."""
    # The template's inset on both sides: 2 mm, and 1.4 mm where it is tight.
    inset_pt = 11.4 if size_pt >= TIGHT_PT else 8.0
    return [columns * ADVANCE_EM * size_pt + inset_pt for columns in widths]


def _prose_shares(
    rows: list[list[str]], widths: list[int], numeric: tuple[bool, ...], size_pt: float
) -> list[float]:
    """Return for each column its part of the width that is left, 0 for as wide as its words.

    Only columns of sentences have one, by their mean length, and only where the table would be
    wider than the page.
    """
    shares = [0.0] * len(widths)
    if sum(_widths_pt(widths, size_pt)) <= PAGE_WIDTH_PT:
        return shares
    for place in range(len(shares)):
        lengths = [columns_of(row[place]) for row in rows]
        if not numeric[place] and max(lengths, default=0) > PROSE_COLUMNS:
            shares[place] = sum(lengths) / len(lengths)
    return shares


def _prose_pt(table: model.Table, widths: list[int], shares: list[float], size_pt: float) -> float:
    """Return the largest tight type in which columns of sentences keep room for some words.

    Beside them the other columns stand as wide as their names are, unbroken.
    """
    size_pt = min(size_pt, TIGHT_PT)
    while size_pt > SMALLEST_PT:
        others_pt = sum(
            max(width, (columns_of(column.name) + 1) * ADVANCE_EM * size_pt)
            for width, column, share in zip(
                _widths_pt(widths, size_pt), table.columns, shares, strict=True
            )
            if not share
        )
        left_pt = PAGE_WIDTH_PT - others_pt
        if left_pt >= sum(share > 0 for share in shares) * PROSE_LEAST * ADVANCE_EM * size_pt:
            break
        size_pt -= 0.5
    return size_pt


def _fitting_pt(widths: list[int], size_pt: float) -> float:
    """Return the largest type up to a size in which a table is no wider than the page."""
    while size_pt > SMALLEST_PT and sum(_widths_pt(widths, size_pt)) > PAGE_WIDTH_PT:
        size_pt -= 0.5
    return size_pt


def _table(table: model.Table, *, size: float) -> Json:
    numeric, rows = numeric_columns(table), inked_rows(table)
    widths = _widths(table, rows)
    shares = _prose_shares(rows, widths, numeric, size)
    size = _prose_pt(table, widths, shares, size) if any(shares) else _fitting_pt(widths, size)
    return {
        "kind_of": "table",
        "caption": table.caption,
        "columns": [(column.name, column.unit) for column in table.columns],
        "numeric": numeric,
        "full": _is_matrix(widths, numeric, size),
        "shares": shares,
        "rows": [[_breakable(text) for text in row] for row in rows],
        "marked": list(table.marked),
        "size": size,
    }


def _is_matrix(widths: list[int], numeric: tuple[bool, ...], size_pt: float) -> bool:
    """Return whether a table's numbers look best in columns of one width over the page."""
    first_pt, *others_pt = _widths_pt(widths, size_pt) or [0.0]
    fits = first_pt + max(others_pt, default=0.0) * len(others_pt) <= PAGE_WIDTH_PT
    return fits and len(others_pt) >= 4 and all(numeric[1:])
