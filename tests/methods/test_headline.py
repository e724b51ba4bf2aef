"""The first page of a report shows the plot that leads to its verdict."""

from dataclasses import replace

import pytest

from teijo.document.model import Bars3D, Headline, Paragraph, Section, Verdict, XYChart
from teijo.methods.method import Method
from teijo.methods.pages import with_headline
from teijo.methods.registry import METHODS
from tests.methods.canned import Canned, play
from tests.report.samples import iops_document

TESTS = [method for method in METHODS if method.id.startswith("pts.") and method.id != "pts.all"]
CHART = next(b for s in iops_document().sections for b in s.blocks if isinstance(b, XYChart))
ANSWER, WORDS = Verdict(text="YES", good=True), Paragraph(text="so")


@pytest.mark.parametrize("method", TESTS, ids=lambda method: str(method.id))
def test_page_one_of_each_test_has_its_plot_right_behind_the_verdict(method: Method) -> None:
    record = play(method, Canned(rate=lambda step: 5_000.0), spec=method.specs[-1]).record
    first, *others = method.document(record, method.findings(record)).sections
    kinds = [type(block) for block in first.blocks]
    charts = [at for at, kind in enumerate(kinds) if kind in (Headline, XYChart, Bars3D)]
    assert charts, kinds
    if (shown := first.blocks[charts[0]]) and isinstance(shown, Headline):
        assert kinds[charts[0] - 1] is Verdict
        assert any(shown.chart in section.blocks for section in others), "repeated, not moved"


def test_a_first_page_with_a_chart_or_without_a_verdict_or_plots_stays_as_it_is() -> None:
    later = Section(title="Plot", blocks=(CHART,))
    own = Section(title="Summary", blocks=(ANSWER, CHART))
    silent = Section(title="Summary", blocks=(WORDS,))
    plain = Section(title="Summary", blocks=(ANSWER, WORDS))
    assert with_headline((own, later)) == (own, later)
    assert with_headline((silent, later)) == (silent, later)
    assert with_headline((plain, silent)) == (plain, silent)
    shown = replace(plain, blocks=(ANSWER, Headline(chart=CHART), WORDS))
    assert with_headline((plain, later)) == (shown, later)
