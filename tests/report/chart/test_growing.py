"""Charts that a page fills: drawn from rows as it gives them, and empty where it gives none."""

import pytest

from teijo.report.chart import growing, palette, svg
from teijo.report.chart.theme import Canvas, Json, Specification

CANVAS = Canvas(inks=palette.PAPER, interactive=False)
RATE = growing.rate_chart(CANVAS, title="IOPS", time="Time (s)")
LATENCY = growing.latency_chart(
    CANVAS, title="Latency (ms)", time="Time (s)", mean="mean", most="max"
)
POINTS = [
    {"end": 1.0, "iops": 100, "least": 50, "most": 200, "mean": 0.5, "top": 3.0},
    {"end": 2.0, "iops": 400, "least": 300, "most": 500, "mean": None, "top": None},
    {"end": 3.0, "iops": 200, "least": 200, "most": 200, "mean": 0.7, "top": 9.0},
]
LEVELS = [{"start": 0.0, "end": 3.0, "value": 0.6, "name": "p50"}]


def drawn(chart: Specification, points: list[Json], levels: list[Json]) -> str:
    data = {growing.POINTS: points, growing.LEVELS: levels}
    return svg.svg(Specification(grammar=chart.grammar, body=chart.body | {"datasets": data}))


@pytest.mark.parametrize("chart", [RATE, LATENCY], ids=["rate", "latency"])
def test_it_is_drawn_from_the_rows_of_the_page(chart: Specification) -> None:
    text, empty = drawn(chart, POINTS, LEVELS), drawn(chart, [], [])
    assert text.count("<path") > empty.count("<path")
    assert "Time (s)" in text
    assert "NaN" not in text


def test_its_axis_reaches_the_fastest_interval_and_not_only_the_line() -> None:
    line = [point | {"least": point["iops"], "most": point["iops"]} for point in POINTS]
    assert ">500<" in drawn(RATE, POINTS, [])
    assert ">500<" not in drawn(RATE, line, [])


def test_every_percentile_of_a_step_has_a_name_and_a_colour() -> None:
    text = drawn(LATENCY, POINTS, LEVELS)
    for name in ("mean", "max", "p50", "p99", "p99.9"):
        assert f">{name}<" in text
