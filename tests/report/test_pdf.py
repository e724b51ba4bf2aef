"""The PDF says what the HTML says, under the standard's header on every page."""

import io
import re
from dataclasses import replace

import pytest
from pypdf import PageObject, PdfReader

from teijo.document.model import (
    Column,
    Document,
    Facts,
    Headline,
    Note,
    Paragraph,
    Section,
    Table,
    Verdict,
    XYChart,
)
from teijo.report import pdf
from teijo.report.numbers import inked_rows
from teijo.report.tables import numbered_tables
from tests.report.samples import header, iops_document, workload_document, wsat_document

ODD = '#let x = $y$ *b* _i_ <label> & "q" \\n @ref `raw` // no [c]'

HEADER_WORDS = (
    "PTS IOPS", "SNIA SSS PTS", "PTS 2.0.2", "S3X9NX0H401842", "DUT preparation",
    "Test loop parameters", "Steady state", "YES",
)  # fmt: skip
A4_HEIGHT_PT = 841.89


def pages(document: Document) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(pdf.render(document))).pages]


@pytest.fixture(scope="module")
def iops_pages() -> list[str]:
    return pages(iops_document())


def page_numbers(texts: list[str]) -> list[tuple[int, int]]:
    """Return (n, m) of "Page n of m" as each page says it, in the order of the pages."""
    found = [re.findall(r"Page ([0-9]+) of ([0-9]+)", text) for text in texts]
    return [(int(n), int(m)) for ((n, m),) in found]


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_every_page_has_the_header_and_its_number_of_all(iops_pages: list[str]) -> None:
    assert len(iops_pages) == 9
    assert page_numbers(iops_pages) == [(number, 9) for number in range(1, 10)]
    for text in iops_pages:
        for words in HEADER_WORDS:
            assert words in text


def test_every_plot_has_a_page_of_its_own_and_what_is_only_read_shares_one(
    iops_pages: list[str],
) -> None:
    first, *plots, remarks, environment = iops_document().sections
    assert all(section.label for section in plots)
    assert not any(section.label for section in (first, remarks, environment))
    for section, text in zip((first, *plots, remarks), iops_pages, strict=True):
        assert section.title in one_line(text)
    assert environment.title in one_line(iops_pages[-1])


def test_every_number_of_every_table_is_on_paper(iops_pages: list[str]) -> None:
    words = set("\n".join(iops_pages).split())
    for numbered in numbered_tables(iops_document()).values():
        cells = {cell for row in inked_rows(numbered.table) for cell in row[1:]}
        assert {cell for cell in cells if cell not in words} == set(), numbered.title


def test_the_words_of_the_charts_can_be_searched(iops_pages: list[str]) -> None:
    assert "measurement window" in iops_pages[1]
    assert "110 %" in iops_pages[2]
    assert "R/W mix" in iops_pages[7]


def test_a_long_table_is_left_to_the_html_and_the_csv_and_paper_says_so() -> None:
    text = [one_line(page) for page in pages(wsat_document())]
    assert any("1,440 rows, in the HTML and the CSV." in page for page in text)
    assert all("SIMULATED DEVICE" in page for page in text)


def test_the_same_document_gives_the_same_bytes() -> None:
    once = pdf.render(iops_document())
    assert once == pdf.render(iops_document())
    told = PdfReader(io.BytesIO(once)).metadata
    assert told is not None
    assert told.creation_date is None


def test_odd_characters_stay_text() -> None:
    table = Table(columns=(Column(name=ODD),), rows=((ODD,),), caption=ODD)
    blocks = (Verdict(text=ODD, good=True), Facts(rows=((ODD, ODD),)),
              Note(kind=ODD, text=ODD, remedy=ODD), table)  # fmt: skip
    document = Document(
        name="odd", header=header(ODD, model=ODD, stamp=ODD),
        sections=(Section(title=ODD, label="Plot #1", blocks=blocks),),
    )  # fmt: skip
    squeezed = re.sub(r"[\s\u200b]", "", "".join(pages(document)))
    assert squeezed.count(re.sub(r"\s", "", ODD)) >= 8


def test_a_header_of_very_long_values_stays_under_a_quarter_of_the_page() -> None:
    long = header(model="M" * 90)
    wordy = "a value that goes on and on, " * 6
    groups = tuple(
        replace(group, rows=tuple((name, wordy) for name, _ in group.rows * 2))
        for group in long.groups
    )
    section = Section(title="Where the body starts", blocks=(Verdict(text="body", good=True),))
    document = Document(name="n", header=replace(long, groups=groups), sections=(section,))
    page = PdfReader(io.BytesIO(pdf.render(document))).pages[0]
    assert page_numbers([page.extract_text()]) == [(1, 1)]
    assert top_pt(page, "Where the body starts") > A4_HEIGHT_PT * 3 / 4
    assert top_pt(page, "Serial no") > top_pt(page, "Where the body starts")


def top_pt(page: PageObject, words: str) -> float:
    """Return how high over the foot of the page a text stands."""
    found: list[float] = []

    def note(text: str, cm: list[float], tm: list[float], *_rest: object) -> None:
        if words in text:
            found.append(tm[4] * cm[1] + tm[5] * cm[3] + cm[5])

    page.extract_text(visitor_text=note)
    return found[0]


@pytest.mark.parametrize("document", [
    Document(name="empty", header=replace(header(), top=(), groups=(), subtitle=""), sections=()),
    Document(name="bare", header=header(), sections=(Section(title="Nothing", blocks=()),)),
    Document(name="rowless", header=header(), sections=(
        Section(title="No rows", blocks=(Table(columns=(Column(name="a"),), rows=()),)),)),
])  # fmt: skip
def test_a_document_with_empty_parts_is_still_printed(document: Document) -> None:
    assert page_numbers(pages(document)) == [(1, 1)]


def test_a_missing_value_is_printed_as_such() -> None:
    text = "\n".join(pages(workload_document()))
    assert "n/a" in text.split()
    assert "nan" not in text.lower().split()


def test_twenty_five_rounds_of_eight_series_fit_the_appendix() -> None:
    text = pages(iops_document(25))
    assert len(text) == 10
    assert "IOPS at R/W 0/100 by round" in text[-1]


def test_a_wide_table_is_set_in_type_that_fits_the_page() -> None:
    columns = tuple(Column(name=f"p99.{n}", unit="ms", digits=4) for n in range(15))
    table = Table(columns=columns, rows=(tuple(100.0 + n for n in range(15)),))
    section = Section(title="Wide", blocks=(table,))
    document = Document(name="wide", header=header(), sections=(section,))
    text = pages(document)[0]
    assert [f"{100 + n}.0000" for n in range(15)] == re.findall(r"\b1[01][0-9]\.0000\b", text)


def test_a_table_of_sentences_wraps_before_its_type_shrinks() -> None:
    sentence = "what the record shows of a requirement, in so many words that no line holds it"
    table = Table(
        columns=(Column(name="Requirement"), Column(name="Evidence"), Column(name="Asked")),
        rows=(("Purge", sentence, sentence), ("Seeds", "337 seeds", sentence)),
    )
    narrow = replace(table, columns=table.columns[:1], rows=(("Purge",), ("Seeds",)))
    wide, fitting = (pdf._table(each, size=8.0) for each in (table, narrow))
    assert wide["size"] == pdf.TIGHT_PT
    assert wide["shares"][0] == 0 < wide["shares"][1] < wide["shares"][2]
    assert (fitting["size"], fitting["shares"]) == (8.0, [0.0])
    section = Section(title="Conformance", blocks=(table,))
    (page,) = pages(Document(name="run", header=header(), sections=(section,)))
    assert one_line(page).count(sentence) == 3


def test_the_pages_of_each_test_have_that_tests_own_header() -> None:
    document = workload_document()
    own = replace(document.header, title="Another test – Report Page")
    blocks = (Verdict(text="its answer", good=True),)
    theirs = Section(title="Its page", blocks=blocks, header=own)
    last = Section(title="Last page", blocks=blocks)
    printed = pages(replace(document, sections=(document.sections[0], theirs, last)))
    titled = [own.title in text for text in printed]
    assert titled == ["Its page" in text for text in printed]
    assert titled.count(True) == 1
    assert document.header.title in printed[-1]
    assert page_numbers(printed) == [(n, len(printed)) for n in range(1, len(printed) + 1)]


def test_a_report_of_many_cells_is_not_tagged_and_a_short_one_is() -> None:
    column = (Column(name="n", digits=0),) * 4
    table = Table(columns=column, rows=((1, 2, 3, 4),) * 400, folded=True)
    for count, tagged in ((1, True), (4, False)):
        assert (count * 400 * 4 <= pdf.TAGGED_CELLS) == tagged
        section = Section(title="t", blocks=(table,) * count)
        document = replace(workload_document(), sections=(section,))
        catalog = PdfReader(io.BytesIO(pdf.render(document))).trailer["/Root"]
        assert ("/StructTreeRoot" in catalog) == tagged


@pytest.mark.parametrize("lines", [10, 16, 20])
def test_the_chart_of_the_first_page_yields_to_the_last_lines_of_its_section(lines: int) -> None:
    chart = next(b for s in iops_document().sections for b in s.blocks if isinstance(b, XYChart))
    facts = Facts(rows=tuple((f"figure {number}", str(number)) for number in range(lines)))
    text = tuple(Paragraph(text="A sentence that fills a line of the page. " * 5) for _ in "1234")
    blocks = (Verdict(text="YES", good=True), Headline(chart=chart), facts, *text)
    first = Section(title="Summary", blocks=blocks)
    printed = pages(Document(name="run", header=header(), sections=(first,)))
    assert "fills a line" in printed[0]
    assert len(printed) == 1
