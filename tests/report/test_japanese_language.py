"""A Japanese report as it is printed: on paper, on the screen, in the terminal."""

import io
import json
import re

import pytest
from pypdf import PdfReader

from teijo.document.model import Document
from teijo.report import csv, html, pdf, text
from teijo.report.chart import svg
from teijo.report.language import CATALOGUES, Language, translated
from teijo.report.tables import numbered_tables
from teijo.report.width import columns_of, longest_piece, padded, wrapped
from tests.report.glyphs import letters_of
from tests.report.samples import iops_document, workload_document, wsat_document

JA = Language.JAPANESE
DOCUMENTS = [iops_document(), wsat_document(), workload_document()]


@pytest.mark.parametrize("weight", ["Regular", "Bold"])
def test_the_font_has_every_letter_of_the_catalogue(weight: str) -> None:
    letters = letters_of(svg.FONTS / f"NotoSansCJKjp-{weight}.otf")
    latin = letters_of(svg.FONTS / "Inter-Regular.otf")
    used = {ord(letter) for letter in (CATALOGUES / "ja.toml").read_text("utf-8")} - {0x0A}
    assert {chr(code) for code in used - letters - latin} == set()
    assert "鬱" not in {chr(code) for code in letters}, "level 2 is not in it: the reader can tell"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_the_words_on_paper_can_be_searched_and_stand_in_our_fonts(document: Document) -> None:
    reader = PdfReader(io.BytesIO(pdf.render(document, JA)))
    words = re.sub(r"\s", "", "".join(page.extract_text() for page in reader.pages))
    said = translated(document, JA)
    for section in said.sections:
        assert re.sub(r"\s", "", section.title) in words
    assert f"1/{len(reader.pages)}ページ" in words
    fonts = {
        str(font.get_object()["/BaseFont"]).partition("+")[2]  # type: ignore[index]
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()
    }
    assert {name.partition("-")[0] for name in fonts} == {"Inter", "NotoSansCJKjp"}


def test_the_words_of_a_chart_are_translated_on_paper() -> None:
    page = PdfReader(io.BytesIO(pdf.render(iops_document(), JA))).pages[1]
    words = page.extract_text()
    assert "測定ウィンドウ" in words
    assert "ラウンド" in words


def test_the_page_says_its_language_and_its_own_words_are_in_it() -> None:
    page = html.page(iops_document(), library="", language=JA)
    assert '<html lang="ja">' in page
    for word in ("目次", "CSV をコピー", "CSV を保存", "コピーしました", "本文へ"):
        assert word in page
    for word in ("Contents", "Copy CSV", "Copied", "Skip to", "Numbers"):
        assert word not in page


def test_tables_are_handed_out_in_english_under_their_english_names() -> None:
    document = wsat_document(60)
    page = html.page(document, library="", language=JA)
    data = json.loads(re.findall(r'id="teijo-data">(.*?)</script>', page)[0])
    handed = {file["name"]: file["csv"] for file in data["tables"].values()}
    assert handed == csv.render(document)
    assert len(numbered_tables(document)) == len(handed)


@pytest.mark.parametrize("document", [iops_document(), workload_document()])
def test_a_text_report_is_aligned_in_columns_of_the_terminal(document: Document) -> None:
    lines = text.render(document, language=JA).splitlines()
    ruled = [place for place, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line)]
    assert ruled
    for place in ruled:
        head, rule, row = lines[place - 1 : place + 2]
        assert columns_of(head) <= columns_of(rule)
        assert columns_of(row) <= columns_of(rule)


def test_a_wide_letter_takes_two_columns() -> None:
    assert columns_of("IOPS 表") == 7
    assert padded("表", 4) == "表  "
    assert padded("表", 4, right=True) == "  表"
    assert longest_piece("Block size") == 5
    assert longest_piece("ブロックサイズ") == 8


def test_lines_are_broken_between_wide_letters_and_never_before_a_full_stop() -> None:
    assert list(wrapped("測定を終了しました。", 8)) == ["測定を終", "了しまし", "た。"]
    assert list(wrapped("一二三四。五", 8)) == ["一二三四。", "五"]
    assert list(wrapped("two words here", 9, indent="  ")) == ["  two", "  words", "  here"]
