"""Titles, captions, headings, verdicts and sentences of every report begin with a capital
(docs/languages.md); names in a legend and words in a cell begin small.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from teijo.document.model import (
    Bars3D,
    Document,
    Facts,
    Headline,
    Note,
    Paragraph,
    Table,
    Verdict,
    XYChart,
)
from teijo.document.phrase import Phrase, Verbatim
from teijo.methods.workload.settings import WORDS
from tests.report.samples import header

STATISTICS = frozenset({"min", "mean", "max", "p"})
"""Short names of figures, which are written as in formulae; p50, p99.9 begin so too."""
RECORDED = ("Settings and environment", "Device and health", "Device parameters")
"""Sections of what a machine or a run file says of itself, key by key as it is stored."""


def begins_small(text: str) -> bool:
    """Return whether a text begins with a small letter, and not with a name or a symbol."""
    if isinstance(text, Verbatim) or not text[:1].islower():
        return False
    first = text.split()[0]
    quoted = isinstance(text, Phrase) and any(
        isinstance(value, Verbatim) and text.startswith(value) for value in text.values.values()
    )
    symbol = first in STATISTICS or not first.isascii() or (first[0] == "p" and first[1].isdigit())
    return not (quoted or symbol or first in WORDS)


def openings(document: Document) -> Iterator[tuple[str, str]]:
    """Yield each text that must begin with a capital, with what it is."""
    yield "title", document.header.title
    yield "subtitle", document.header.subtitle
    yield from (("box", name) for name, _ in document.header.top)
    for group in document.header.groups:
        yield "box", group.title
        yield from (("box", name) for name, _ in group.rows)
    for section in document.sections:
        yield "section", section.title
        for block in section.blocks:
            if not (isinstance(block, Facts) and section.title in RECORDED):
                yield from _of(block)


def _of(block: object) -> Iterator[tuple[str, str]]:
    match block:
        case Verdict() | Paragraph():
            yield "sentence", block.text
        case Note():
            yield from (("sentence", text) for text in (block.text, block.remedy))
        case Facts():
            yield "caption", block.caption
            yield from (("fact", name) for name, _ in block.rows)
        case Table():
            yield "caption", block.caption
            yield from (("heading", column.name) for column in block.columns)
        case XYChart():
            yield "plot", block.title
            yield "sentence", block.note
            yield from (("axis", axis.name) for axis in (block.x, block.y))
            yield from _of(block.table)
        case Bars3D():
            yield "plot", block.title
            yield from (("axis", axis.name) for axis in (block.rows, block.columns, block.z))
            yield from _of(block.table)
        case Headline():
            yield from _of(block.chart)
        case _:
            raise AssertionError(block)


def test_what_stands_over_a_part_of_a_report_begins_with_a_capital(
    canned_report: tuple[Document, frozenset[str]],
) -> None:
    report, data = canned_report
    small = {each for each in openings(report) if begins_small(each[1])}
    assert {each for each in small if each[1] not in data} == set()


@pytest.mark.parametrize("text", ["check minute, RND 4 KiB", "from", "no purge", "pages"])
def test_a_small_letter_is_seen(text: str) -> None:
    assert begins_small(text)
    shown = Document(name="run", header=replace(header(), subtitle=text), sections=())
    assert ("subtitle", text) in set(openings(shown))


@pytest.mark.parametrize(
    "text", ["Check minute", "p99.9", "mean", "µs", "randrw 50/50", "4 KiB", ""]
)
def test_a_capital_a_figure_a_symbol_and_a_word_of_fio_are_let_be(text: str) -> None:
    assert not begins_small(text)
