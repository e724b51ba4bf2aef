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
    {"end": 1.0, "mbs": 1.5, "iops": 100, "least": 50, "most": 200, "mean": 0.5, "top": 3.0},
    {"end": 2.0, "mbs": 6.5, "iops": 400, "least": 300, "most": 500, "mean": None, "top": None},
    {"end": 3.0, "mbs": 3.5, "iops": 200, "least": 200, "most": 200, "mean": 0.7, "top": 9.0},
]
LEVELS = [{"start": 0.0, "end": 3.0, "value": 0.6, "name": "p50"}]


MORE = {
    growing.HEAT: [{"at": 0, "celsius": 30}, {"at": 5, "celsius": None}, {"at": 9, "celsius": 44}],
    growing.LIMITS: [{"celsius": 70, "name": "warns: 70"}],
    growing.WINDOW: [
        {"round": at, "share": share, "line": line, "name": "RND 4 KiB"}
        for at, share, line in ((1, 93.0, 94.0), (2, 104.0, 100.0), (3, 103.0, 106.0))
    ],
}


def drawn(chart: Specification, points: list[Json], levels: list[Json]) -> str:
    more = MORE if points else {name: list[Json]() for name in MORE}
    data = {growing.POINTS: points, growing.LEVELS: levels, **more}
    return svg.svg(Specification(grammar=chart.grammar, body=chart.body | {"datasets": data}))


THROUGHPUT = growing.throughput_chart(CANVAS, title="MB/s", time="Time (s)")
HEAT = growing.heat_chart(CANVAS, title="Temperature", time="Time (s)")
WINDOW = growing.window_chart(CANVAS, title="%", rounds="Round")


@pytest.mark.parametrize(
    "chart", [RATE, THROUGHPUT, LATENCY, HEAT], ids=["rate", "throughput", "latency", "heat"]
)
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


def test_a_temperature_is_drawn_beside_the_limits_of_the_drive() -> None:
    text = drawn(HEAT, POINTS, [])
    assert ">70<" in text
    assert ">warns: 70<" in text


def test_a_window_has_its_rounds_and_the_two_lines_beside_its_average() -> None:
    text, empty = drawn(WINDOW, POINTS, []), drawn(WINDOW, [], [])
    for words in (">1<", ">2<", ">3<", ">RND 4 KiB<", ">90<", ">110<"):
        assert words in text, words
    assert text.count("<path") > empty.count("<path")
