"""A document as plain text for a terminal: verdicts, short tables, remarks. No charts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from teijo.document import model
from teijo.document.phrase import say
from teijo.report.language import Language, Translator, translator
from teijo.report.numbers import heading_of, inked_rows, numeric_columns
from teijo.report.tables import thinned
from teijo.report.width import columns_of, padded, wrapped

ROWS_LIMIT: Final = 40
"""A longer table is thinned here; the other printers have all of it."""
_VERDICT_SIGNS: Final = {True: "+", False: "!", None: "="}


def render(
    document: model.Document, *, width: int = 100, language: Language = Language.ENGLISH
) -> str:
    """Return the report in lines of at most `width` columns; only a wide table goes over."""
    words = translator(language)
    said = words.document(document)
    above = said.header
    lines = list(_header(above))
    for section in said.sections:
        body = [line for block in section.blocks for line in _block(block, section, width, words)]
        if not body:
            continue
        header = section.header or said.header
        if header != above:
            lines += ["", "=" * width, *_header(header)]
            above = header
        lines += ["", *_title(section), *body]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def first_section(
    document: model.Document, *, width: int, language: Language = Language.ENGLISH
) -> str:
    """Return the first section of a report, as `render` has it."""
    words = translator(language)
    said = words.document(replace(document, sections=document.sections[:1])).sections[0]
    lines = [line for block in said.blocks for line in _block(block, said, width, words)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _header(header: model.Header) -> Iterator[str]:
    title = ", ".join(part for part in (header.title, header.subtitle) if part)
    issuer = ", ".join(part for part in (header.organisation, header.revision) if part)
    yield f"{title} ({issuer})" if issuer else title
    if header.stamp:
        yield f"*** {header.stamp} ***"
    yield ""
    yield from _pairs(header.top)
    for group in header.groups:
        yield f"{group.title}:"
        yield from (f"  {line}" for line in _pairs(group.rows))


def _title(section: model.Section) -> list[str]:
    return [section.title, "-" * columns_of(section.title)]


def _block(
    block: model.Block, section: model.Section, width: int, words: Translator
) -> Iterator[str]:
    match block:
        case model.Verdict():
            yield f"[{_VERDICT_SIGNS[block.good]}] {block.text}"
        case model.Paragraph():
            yield from wrapped(block.text, width)
        case model.Facts():
            yield from _captioned(block.caption, section, list(_pairs(block.rows)))
        case model.Table():
            if not block.folded:
                yield from _captioned(block.caption, section, _table(block, words))
        case model.Note():
            step = "" if block.step is None else words.text(say(" (step {step})", step=block.step))
            yield f"* {block.kind}{step}"
            for part in (block.text, block.remedy):
                yield from wrapped(part, width, indent="    ")
        case model.XYChart() | model.Bars3D() | model.Headline():
            yield from ()


def _captioned(caption: str, section: model.Section, lines: list[str]) -> list[str]:
    above = [f"{caption}:"] if caption and caption != section.title else []
    return ["", *above, *lines] if above else lines


def _pairs(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    widest = max((columns_of(name) for name, _ in rows), default=0)
    yield from (f"{padded(name, widest)}  {value}" for name, value in rows)


def _table(table: model.Table, words: Translator) -> list[str]:
    kept = thinned(len(table.rows), ROWS_LIMIT)
    rows = inked_rows(table)
    cells = [[heading_of(column) for column in table.columns], *(rows[row] for row in kept)]
    widths = [max(columns_of(row[place]) for row in cells) for place in range(len(table.columns))]
    numeric = numeric_columns(table)
    lines = [
        "  ".join(
            padded(text, width, right=number)
            for text, width, number in zip(row, widths, numeric, strict=True)
        )
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    if len(kept) < len(rows):
        kept_of = say("({kept:,} of {rows:,} rows)", kept=len(kept), rows=len(rows))
        lines.append(words.text(kept_of))
    return lines
