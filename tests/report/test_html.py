"""The HTML is one file that asks nobody for anything and holds every word and number."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from teijo.document.model import (
    Bars3D,
    Column,
    Document,
    Facts,
    Note,
    Section,
    Table,
    Verdict,
    XYChart,
)
from teijo.report import html
from teijo.report.chart import svg
from teijo.report.numbers import inked_rows
from teijo.report.tables import numbered_tables
from tests.report.samples import header, iops_document, workload_document, wsat_document

LIBRARY = "/* the chart library */"
ODD = "#$*_<>&\"' </script><!-- \\u2028 {{x}} $title ${y}"


def page(document: Document) -> str:
    return html.page(document, library=LIBRARY)


class Reader(HTMLParser):
    """What a reader sees, what the page would fetch, and whether its elements nest."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.identifiers: list[str] = []
        self.open: list[str] = []
        self.data = ""
        self.feed(text)
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.links += [named[key] or "" for key in ("src", "href") if key in named]
        if named.get("id"):
            self.identifiers.append(named["id"] or "")
        if tag not in self.VOID:
            self.open.append("data" if named.get("id") == "teijo-data" else tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() in (tag, "data"), f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "data":
            self.data += data
        elif not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


@pytest.mark.parametrize("document", [iops_document(), wsat_document(), workload_document()],
                         ids=lambda document: document.name)  # fmt: skip
def test_every_section_and_every_cell_of_every_table_is_on_the_page(document: Document) -> None:
    reader = Reader(page(document))
    for section in document.sections:
        assert section.title in reader.words
    seen = set(reader.words)
    for numbered in numbered_tables(document).values():
        missing = {cell for row in inked_rows(numbered.table) for cell in row} - seen
        assert missing == set(), numbered.title
    assert "nan" not in reader.text.lower().split()


def test_the_page_asks_nobody_for_anything() -> None:
    text = page(iops_document())
    assert re.findall(r"https?://", text) == []
    assert all(link.startswith("#") for link in Reader(text).links)
    assert "default-src 'none'" in text


def test_the_chart_library_names_only_namespaces_and_its_own_schema() -> None:
    named = set(re.findall(r"https?://[a-z0-9./-]*", svg.javascript()))
    namespaces = {name for name in named if name.startswith("http://www.w3.org/")}
    assert all("vega" in name for name in named - namespaces)


def test_the_chart_library_is_the_one_that_draws_the_pdf() -> None:
    """Made anew: write svg.bundled() to python/teijo/report/vega/vega-embed.js."""
    assert svg.javascript() == svg.bundled()


def test_odd_characters_stay_text_and_end_no_element() -> None:
    odd = Table(columns=(Column(name=ODD, unit=ODD),), rows=((ODD,),), caption=ODD)
    blocks = (Verdict(text=ODD, good=None), Facts(rows=((ODD, ODD),), caption=ODD),
              Note(kind=ODD, text=ODD, remedy=ODD, step=1), odd)  # fmt: skip
    document = Document(
        name="odd", header=header(ODD, model=ODD, stamp=ODD),
        sections=(Section(title=ODD, label=ODD, blocks=blocks),),
    )  # fmt: skip
    reader = Reader(page(document))
    assert reader.words.count(ODD) >= 14
    data = json.loads(reader.data)
    assert ODD.replace('"', '""') in data["tables"]["1"]["csv"]


def test_every_chart_has_its_place_its_drawing_and_its_table_behind_a_fold() -> None:
    document = iops_document()
    text = page(document)
    reader = Reader(text)
    drawn = json.loads(reader.data)["charts"]
    charts = [b for s in document.sections for b in s.blocks if isinstance(b, XYChart | Bars3D)]
    assert len(drawn) == len(charts) == text.count("<figure>") == text.count("<details>")
    assert all(chart["id"] in reader.identifiers for chart in drawn)
    assert len(set(reader.identifiers)) == len(reader.identifiers)


def test_screen_charts_are_painted_with_the_pages_own_colours() -> None:
    drawn = json.loads(Reader(page(iops_document())).data)["charts"]
    assert "var(--series-1)" in json.dumps(drawn)
    for colour in ("--series-8", "--ink", "--quiet", "--grid", "--axis", "--rule", "--steady"):
        assert f"{colour}:" in page(iops_document())


@pytest.mark.parametrize("document", [
    Document(name="empty", header=replace(header(), top=(), groups=(), subtitle=""), sections=()),
    Document(name="bare", header=header(), sections=(Section(title="Nothing", blocks=()),)),
    Document(name="rowless", header=header(), sections=(
        Section(title="No rows", blocks=(Table(columns=(Column(name="a"),), rows=()),)),)),
])  # fmt: skip
def test_a_document_with_empty_parts_is_still_a_page(document: Document) -> None:
    assert "PTS IOPS" in Reader(page(document)).words


def test_the_same_document_gives_the_same_page() -> None:
    assert page(iops_document()) == page(iops_document())


def test_twenty_five_rounds_of_eight_series_stand_in_the_table() -> None:
    document = iops_document(25)
    chart = document.sections[1].blocks[0]
    assert isinstance(chart, XYChart)
    assert len(chart.table.rows) == 25
    assert "Numbers, 25 rows" in Reader(page(document)).text


def test_no_printer_brings_vega_or_typst_in_before_it_prints() -> None:
    room = Path(html.__file__).parent
    for path in room.rglob("*.py"):
        tops = [line for line in path.read_text("utf-8").splitlines() if line[:1] not in " \t"]
        heavy = [
            line for line in tops if re.match(r"(import|from) (vl_convert|typst|altair)", line)
        ]
        assert heavy == [], path.name


def test_the_sections_of_each_test_stand_behind_that_tests_own_header() -> None:
    document = workload_document()
    own = replace(document.header, title="Another test – Report Page")
    theirs = Section(title="Its page", blocks=(), header=own)
    last = Section(title="Last page", blocks=())
    text = page(replace(document, sections=(document.sections[0], theirs, last)))
    places = [
        text.index(mark)
        for mark in ('id="part-1"', f"<h2>{own.title}</h2>", 'id="part-2"', 'id="part-3"')
    ]
    assert places == sorted(places)
    assert text.count("<h1>") == 1
