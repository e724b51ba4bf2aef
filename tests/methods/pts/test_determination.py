"""The determination of numbers from anywhere, against the whitepaper's worked example."""

import pytest

from teijo.document.model import Table, Verdict
from teijo.methods.pts.determination import determination_document, determination_of

FIGURE_9 = (1706.071556, 1614.799196)
"""The least-squares line at rounds 14 and 18 (whitepaper figure 9)."""


def test_the_worked_example_of_figure_nine_has_its_slope_excursion() -> None:
    first, last = FIGURE_9
    line = [first + (last - first) * step / 4 for step in range(5)]
    (state,) = determination_of({"RND 4 KiB": line}, "IOPS")
    window = state.windows[0]
    assert window.average == pytest.approx(1660.435376, abs=1e-6)
    assert window.slope == pytest.approx(-22.81809, abs=1e-6)
    assert window.slope_excursion / window.average * 100 == pytest.approx(5.497, abs=5e-4)
    assert window.steady


def test_a_document_has_a_row_for_each_window_with_what_failed() -> None:
    states = determination_of({"x": [1, 1, 1, 1, 1.3, 1, 1, 1, 1, 1]}, "ms")
    document = determination_document(states)
    blocks = document.sections[0].blocks
    (verdict,) = [block for block in blocks if isinstance(block, Verdict)]
    (table,) = [block for block in blocks if isinstance(block, Table)]
    assert verdict.good
    assert [row[0] for row in table.rows] == ["1–5", "2–6", "3–7", "4–8", "5–9", "6–10"]
    beside, middle = "no: range, slope", "no: range"
    expected = [beside, beside, middle, beside, beside, "yes"]
    assert [row[-1] for row in table.rows] == expected


def test_values_of_zero_are_never_steady() -> None:
    document = determination_document(determination_of({"x": [0.0] * 5}, "IOPS"))
    verdict, _, table = document.sections[0].blocks
    assert isinstance(verdict, Verdict)
    assert isinstance(table, Table)
    assert verdict.good is False
    assert table.rows[0][-1] == "no: nothing was measured"
