"""A document in a notebook's cell is light, needs no script, and shows what was found."""

from dataclasses import replace

import pytest

from teijo.document.model import Column, Document, Headline, Section, Table, Verdict, XYChart
from teijo.report import cell
from teijo.report.language import Language
from tests.report.samples import header, iops_document, workload_document, wsat_document

BYTES_MOST = 300_000
ODD = '<b>"&\u2028'


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("document", [iops_document(), wsat_document(), workload_document()],
                         ids=lambda document: document.name)  # fmt: skip
def test_a_cell_has_verdict_plot_and_table_and_is_light(
    document: Document, language: Language
) -> None:
    shown = cell.render(document, language)
    assert len(shown.encode()) < BYTES_MOST
    assert "<script" not in shown
    assert "http://" not in shown.replace("http://www.w3.org/", "")
    assert shown.count("<svg") == 1
    blocks = document.sections[0].blocks
    assert shown.count("<table") == any(isinstance(block, Table) for block in blocks)
    if language is Language.ENGLISH:
        assert all(block.text in shown for block in blocks if isinstance(block, Verdict))


def test_a_cell_stays_light_whatever_the_document_and_ends_no_element() -> None:
    long = "<script>" * 1_000
    columns = tuple(Column(name=f"{long}{place}", unit=long) for place in range(14))
    table = Table(columns=columns, rows=((long,) * 14,) * 300)
    document = Document(
        name="odd",
        header=header(ODD, model=long),
        sections=(Section(title="x", blocks=(Verdict(text=long, good=None), table)),),
    )
    shown = cell.render(document)
    assert "<script" not in shown
    assert len(shown.encode()) < BYTES_MOST


def test_a_plot_of_too_many_points_is_left_to_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell, "PLOT_BYTES_MOST", 100)
    assert "<svg" not in cell.render(iops_document())


def test_the_headline_comes_before_other_charts() -> None:
    document = iops_document()
    chart = next(b for s in document.sections for b in s.blocks if isinstance(b, XYChart))
    renamed = Headline(chart=replace(chart, title="The plot on page one"))
    first = replace(document.sections[0], blocks=(*document.sections[0].blocks, renamed))
    shown = cell.render(replace(document, sections=(first, *document.sections[1:])))
    assert "The plot on page one" in shown
    assert shown.count("<svg") == 1
