"""The response-time histogram's page: its levels, what stands behind them, and its two plots."""

import numpy as np
import pytest

from teijo.document.model import Paragraph, Section, Table, XYChart
from teijo.methods.pts.histogram_pages import five_nines_ms, histogram_section, levels_table
from teijo.terms.histogram import EMPTY, Histogram
from tests.methods.documents import plotted_numbers, table_numbers


def latencies(counts_by_us: dict[int, int]) -> Histogram:
    """Return I/Os that each took a whole number of µs below 2,048 ns, or one alone above."""
    values = np.array([each * 1_000 for each in counts_by_us])
    counts = np.array(list(counts_by_us.values()))
    return Histogram((values, counts), int((values * counts).sum()), values.min(), values.max())


TAIL = latencies({1: 1_000_000 - 1_111, 2: 1_000, 10: 100, 100: 10, 1_000: 1})
"""A million I/Os, of which 0.1111 % are slower, ten times slower for each tenth of them."""


def page(latency: Histogram) -> Section:
    return histogram_section("Max IOPS histogram", "RND 8 KiB 65/35", latency, label="Plot 1")


def charts(latency: Histogram) -> list[XYChart]:
    return [block for block in page(latency).blocks if isinstance(block, XYChart)]


def test_the_levels_are_the_order_statistics_with_mean_and_maximum_around_them():
    rows = {row[0]: row[1:] for row in levels_table("x", TAIL).rows}
    assert list(rows) == [
        "mean (ART)", "50 %", "90 %", "95 %", "99 %", "99.9 %", "99.99 %", "99.999 % (5 9s)",
        "maximum (MRT)",
    ]  # fmt: skip
    assert rows["mean (ART)"][0] == pytest.approx((998_889 + 2_000 + 1_000 * 3) / 1e9)
    assert rows["50 %"] == (pytest.approx(0.001, rel=1e-3), 500_000)
    # The 1,000th slowest I/O of a million is the fastest beyond 99.9 %: this one is before it.
    assert rows["99.9 %"] == (pytest.approx(0.002, rel=1e-3), 1_000)
    assert rows["99.99 %"] == (pytest.approx(0.01, rel=1e-3), 100)
    assert rows["99.999 % (5 9s)"] == (pytest.approx(0.1, rel=1e-3), 10)
    assert rows["maximum (MRT)"] == (1.0, 0)


def test_five_nines_of_too_few_ios_are_not_resolved_and_that_is_said():
    few = latencies({1: 99_998, 500: 1})
    assert five_nines_ms(few) is None
    rows = {row[0]: row[1:] for row in levels_table("x", few).rows}
    assert rows["99.999 % (5 9s)"] == (None, None)
    assert rows["99.99 %"][0] == pytest.approx(0.001, rel=1e-3)
    (words,) = [block.text for block in page(few).blocks if isinstance(block, Paragraph)]
    assert words.startswith("Only 99,999 I/Os")
    assert "is not resolved" in words
    assert not [rule for chart in charts(few) for rule in chart.rules if "5 9s" in rule.name]


def test_a_hundred_thousand_ios_resolve_five_nines():
    enough = latencies({1: 99_999, 500: 1})
    assert five_nines_ms(enough) == pytest.approx(0.001, rel=1e-3)
    (words,) = [block.text for block in page(enough).blocks if isinstance(block, Paragraph)]
    assert words == "100,000 I/Os stand behind these levels, 1 of them beyond 99.999 %."


def test_the_histogram_counts_every_io_and_names_art_five_nines_and_mrt():
    counts, _ = charts(TAIL)
    assert sum(y for y in counts.series[0].y if y is not None) == TAIL.count
    assert counts.x.scale == counts.y.scale == "log"
    assert [rule.name for rule in counts.rules] == ["ART", "5 9s", "MRT"]
    assert all(rule.at == "x" for rule in counts.rules)


def test_the_confidence_levels_fall_to_the_share_of_the_slowest_io():
    _, levels = charts(TAIL)
    x, y = levels.series[0].x, levels.series[0].y
    assert (x[-1], y[-1]) == (1.0, pytest.approx(100 / TAIL.count))
    assert {rule.name: rule.value for rule in levels.rules} == pytest.approx(
        {"99 %": 1, "99.9 %": 0.1, "99.99 %": 0.01, "99.999 % (5 9s)": 0.001}
    )


def test_every_plotted_number_stands_in_a_table():
    for chart in charts(TAIL):
        assert isinstance(chart.table, Table)
        assert plotted_numbers(chart) <= table_numbers(chart.table), chart.title


def test_without_an_io_the_page_says_so():
    section = page(EMPTY)
    assert section.blocks == (Paragraph(text="No I/O was measured for it yet."),)
    assert (section.title, section.label) == ("Max IOPS histogram", "Plot 1")
