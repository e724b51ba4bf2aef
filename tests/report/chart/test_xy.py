"""Charts are drawn whole and without a warning, whatever the document holds."""

import itertools
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teijo.document.model import Axis, Rule, Series, Span, Table, XYChart
from teijo.report.chart import palette
from teijo.report.chart.svg import svg
from teijo.report.chart.theme import Canvas, Json
from teijo.report.chart.xy import HOVER_POINTS_MOST, RULE_LABEL_PITCH_PX, specification
from tests.report.samples import iops_document, workload_document, wsat_document

PAPER = Canvas(inks=palette.PAPER, interactive=False)
SCREEN = Canvas(inks=palette.SCREEN, interactive=True)
NO_TABLE = Table(columns=(), rows=())
CHARTS = [
    block
    for document in (iops_document(14), wsat_document(1500), workload_document())
    for section in document.sections
    for block in section.blocks
    if isinstance(block, XYChart)
]


def chart(*series: Series, **named: object) -> XYChart:
    parts = {"title": "t", "x": Axis(name="x", from_zero=False), "y": Axis(name="y")}
    return XYChart(series=series, table=NO_TABLE, **(parts | named))  # type: ignore[arg-type]


def layers(drawn: XYChart, canvas: Canvas = PAPER) -> list[Json]:
    found: list[Json] = specification(drawn, canvas).body["layer"]
    return found


@pytest.mark.parametrize("drawn", CHARTS, ids=lambda drawn: drawn.title)
def test_a_chart_of_the_samples_is_drawn_without_a_warning(
    drawn: XYChart, capfd: pytest.CaptureFixture[str]
) -> None:
    text = svg(specification(drawn, PAPER))
    assert capfd.readouterr().err == ""
    for words in (drawn.x.name, *(rule.name for rule in drawn.rules)):
        assert words in text


def test_a_warning_of_vega_lite_would_be_seen(capfd: pytest.CaptureFixture[str]) -> None:
    wrong = specification(CHARTS[0], PAPER)
    wrong.body["layer"][-1]["encoding"]["x"]["scale"] |= {"type": "log", "zero": True}
    svg(wrong)
    assert "WARN" in capfd.readouterr().err


def test_a_line_follows_the_order_of_its_data() -> None:
    loop = Series(name="loop", x=(3, 1, 2), y=(1.0, 2.0, 3.0))
    line = layers(chart(loop))[0]
    assert [row["o"] for row in line["data"]["values"]] == [0, 1, 2]
    assert line["encoding"]["order"]["field"] == "o"
    path = re.search(r'aria-roledescription="line mark" d="M([0-9.]+),[^L]*L([0-9.]+),', svg(
        specification(chart(loop), PAPER)
    ))  # fmt: skip
    assert path is not None
    assert float(path[1]) > float(path[2])


def test_series_keep_their_order_and_differ_in_colour_and_shape() -> None:
    encoding = layers(CHARTS[0])[-1]["encoding"]
    assert encoding["color"]["scale"]["domain"][:2] == ["0.5 KiB", "4 KiB"]
    assert len(set(encoding["color"]["scale"]["range"])) == 8
    assert len(set(encoding["shape"]["scale"]["range"])) == 8


def test_lines_without_points_differ_in_their_dashes() -> None:
    lines = [Series(name=name, x=(1, 2), y=(1.0, 2.0), style="line") for name in "abc"]
    dashes = layers(chart(*lines))[0]["encoding"]["strokeDash"]["scale"]["range"]
    assert len(set(dashes)) == 3


def test_a_missing_value_breaks_its_line_and_a_zero_on_a_log_axis_too() -> None:
    gap = Series(name="gap", x=(1, 2, 3, 4, 5), y=(5.0, None, 0.0, float("nan"), 7.0))
    rows = layers(chart(gap, y=Axis(name="y", scale="log")))[0]["data"]["values"]
    assert [row["y"] for row in rows] == [5.0, None, None, None, 7.0]


def bars(*heights: float | None) -> XYChart:
    places = tuple(f"{size} KiB" for size in range(len(heights)))
    return chart(
        Series(name="0/100", x=places, y=heights, style="bars"),
        Series(name="100/0", x=places, y=tuple(2 * (h or 0) for h in heights), style="bars"),
        x=Axis(name="Block size", scale="category"),
        y=Axis(name="Throughput", unit="MB/s"),
    )


def test_bars_stand_side_by_side_from_zero_each_with_its_value(
    capfd: pytest.CaptureFixture[str],
) -> None:
    drawn = bars(144.5, 1570.0)
    standing, words = layers(drawn)
    assert standing["mark"]["type"] == "bar"
    assert standing["encoding"]["xOffset"]["field"] == "s"
    assert standing["encoding"]["y"]["scale"]["domain"][0] == 0
    assert [row["t"] for row in words["data"]["values"]] == ["144.5", "1,570", "289.0", "3,140"]
    text = svg(specification(drawn, PAPER))
    assert capfd.readouterr().err == ""
    assert ">1,570<" in text


def test_bars_stand_over_categories_only_and_not_among_lines() -> None:
    with pytest.raises(AssertionError, match="bars by category"):
        chart(Series(name="a", x=(1,), y=(1.0,), style="bars"))
    category = Axis(name="x", scale="category")
    bar = Series(name="a", x=("a",), y=(1.0,), style="bars")
    with pytest.raises(AssertionError, match="bars by category"):
        chart(bar, Series(name="b", x=("a",), y=(1.0,)), x=category)


@pytest.mark.parametrize(
    "drawn",
    [
        chart(),
        bars(),
        bars(None, 3.0),
        chart(Series(name="none", x=(), y=())),
        chart(Series(name="nothing", x=(1, 2), y=(None, None))),
        chart(Series(name="one", x=(1,), y=(0.0,))),
        chart(Series(name="log", x=(0.5,), y=(3.0,)), x=Axis(name="x", scale="log")),
        chart(Series(name='"<&>\\ #$*_', x=("a", "b"), y=(1.0, 2.0)),
              x=Axis(name="x", scale="category")),
        chart(
            *(Series(name=f"s{n}", x=tuple(range(25)), y=(1.0 * n + 1,) * 25) for n in range(12))
        ),
        chart(Series(name="m" * 120, x=(1, 2), y=(1.0, 2.0)),
              rules=(Rule(name="r" * 60, value=1.5), Rule(name="up", value=1.5, at="x")),
              spans=(Span(name="window", first=1, last=2),)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("canvas", [PAPER, SCREEN], ids=["paper", "screen"])
def test_a_chart_with_little_or_odd_data_is_still_drawn(
    drawn: XYChart, canvas: Canvas, capfd: pytest.CaptureFixture[str]
) -> None:
    fixed = specification(drawn, canvas)
    fixed.body["width"] = 600
    assert svg(fixed).startswith("<svg")
    assert capfd.readouterr().err == ""


def test_the_window_and_the_rules_lie_inside_the_domain() -> None:
    base = Series(name="s", x=(1, 2, 3), y=(10.0, 11.0, 12.0))
    drawn = chart(
        base, rules=(Rule(name="110 %", value=40.0),), spans=(Span(name="w", first=0.5, last=6.0),)
    )
    rect, rule = layers(drawn)[0], layers(drawn)[-2]
    assert rect["encoding"]["x"]["scale"]["domain"][1] >= 6.0
    assert rule["encoding"]["y"]["scale"]["domain"][1] >= 40.0


def test_no_label_over_a_plot_stands_on_another() -> None:
    drawn = chart(
        Series(name="rate", x=(1, 2, 3), y=(10.0, 11.0, 12.0)),
        rules=(Rule(name="settled", value=1.1, at="x"), Rule(name="end", value=1.2, at="x")),
        spans=(
            Span(name="cache takes it", first=1, last=1.5),
            Span(name="stall", first=1.5, last=2),
        ),
    )
    above = [
        -each["mark"]["dy"]
        for each in layers(drawn)
        if each["mark"]["type"] == "text" and each["encoding"]["y"] == {"value": 0}
    ]
    assert len(above) == 4
    assert all(b - a >= RULE_LABEL_PITCH_PX for a, b in itertools.pairwise(sorted(above)))
    legend = next(
        each["encoding"]["color"]["legend"] for each in layers(drawn) if "color" in each["encoding"]
    )
    assert legend["offset"] >= max(above)


def test_labels_of_near_rules_do_not_lie_on_each_other() -> None:
    levels = (100.0, 100.1, 100.2)
    base = Series(name="s", x=(1, 2), y=(0.0, 200.0))
    drawn = chart(base, rules=tuple(Rule(name=f"{v}", value=v) for v in levels))
    texts = [layer["mark"] for layer in layers(drawn) if layer["mark"]["type"] == "text"]
    down = [text["dy"] for text in reversed(texts)]
    assert all(b - a >= RULE_LABEL_PITCH_PX * 0.9 for a, b in itertools.pairwise(down))


def test_only_a_long_chart_on_a_screen_zooms() -> None:
    short, long = CHARTS[0], CHARTS[5]
    assert len(long.series[0].x) == 1500
    assert "zoom" in str(layers(long, SCREEN))
    assert "zoom" not in str(layers(long, PAPER))
    assert "zoom" not in str(layers(short, SCREEN))


def test_a_page_holds_the_points_of_a_chart_once_for_its_lines_and_for_pointing() -> None:
    gap = Series(name="gap", x=(1, 2, 3), y=(1.0, None, 3000.0))
    body = specification(chart(gap), SCREEN).body
    assert [(row["y"], row["t"]) for row in body["data"]["values"]] == [
        (1.0, "1.000"), (None, "n/a"), (3000.0, "3,000"),
    ]  # fmt: skip
    assert not any("data" in layer for layer in body["layer"])
    assert "data" not in specification(chart(gap), PAPER).body


def test_the_unit_stands_in_the_axis_title() -> None:
    drawn = replace(CHARTS[0], x=Axis(name="Block size", unit="KiB"))
    assert "Block size (KiB)" in svg(specification(drawn, PAPER))


def test_a_line_of_one_value_is_drawn_as_a_point() -> None:
    alone = Series(name="alone", x=(1, 2, 3), y=(None, 5.0, None), style="line")
    assert [layer["mark"]["type"] for layer in layers(chart(alone))] == ["line", "point"]
    pair = Series(name="pair", x=(1, 2), y=(5.0, 6.0), style="line")
    assert [layer["mark"]["type"] for layer in layers(chart(pair))] == ["line"]


@pytest.mark.parametrize("rounds", [5, 16, 25])
def test_every_round_has_its_number_on_the_axis(rounds: int) -> None:
    series = Series(name="s", x=tuple(range(1, rounds + 1)), y=(1.0,) * rounds)
    text = svg(specification(chart(series), PAPER))
    axis = text[text.index('role-axis-label"') :].split("</g>")[0]
    assert re.findall(r">([0-9]+)</text>", axis) == [str(n) for n in range(1, rounds + 1)]


def labels_of(drawn: XYChart) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]+)</text>", svg(specification(drawn, PAPER))))


def test_what_is_counted_has_whole_numbers_on_its_axis_and_what_is_measured_more() -> None:
    x = (10, 20, 30)
    counted = labels_of(chart(Series(name="", x=x, y=(0, 1, 1))))
    assert counted == {"x", "10", "20", "30", "y", "0", "1"}
    assert {"0.2", "1"} <= labels_of(chart(Series(name="", x=x, y=(0, 0.3, 1))))
    assert {"0", "500", "1,000"} <= labels_of(chart(Series(name="", x=x, y=(0, 3, 1000))))


def spread(name: str, style: str) -> Series:
    return Series(
        name=name,
        x=("a", "b", "c"),
        y=(1.0, 2.0, None),
        spread=((0.5, 1.5), (1.0, 9.0), None),
        style=style,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("canvas", [PAPER, SCREEN])
@pytest.mark.parametrize("style", ["points", "line and points"])
def test_an_interval_is_a_stroke_through_its_value_and_within_the_axis(
    canvas: Canvas, style: str, capfd: pytest.CaptureFixture[str]
) -> None:
    drawn = chart(spread("one", style), spread("two", style), x=Axis(name="x", scale="category"))
    strokes, *_ = layers(drawn, canvas)
    assert [(row["s"], row["x"], row["y"], row["y2"]) for row in strokes["data"]["values"]] == [
        (name, *each) for name in ("one", "two") for each in (("a", 0.5, 1.5), ("b", 1.0, 9.0))
    ]
    assert strokes["encoding"]["y"]["scale"]["domain"][1] >= 9
    svg(specification(drawn, canvas))
    assert capfd.readouterr().err == ""


def test_points_with_intervals_stand_beside_each_other_and_lines_do_not() -> None:
    def offsets(style: str) -> list[bool]:
        drawn = chart(
            spread("one", style), spread("two", style), x=Axis(name="x", scale="category")
        )
        return ["xOffset" in layer["encoding"] for layer in layers(drawn)]

    assert offsets("points") == [True, True]
    assert not any(offsets("line and points"))


def test_no_axis_makes_an_image_of_what_is_pointed_at() -> None:
    # Vega's tooltip puts the value under the key "image" into an <img>, quotes and all.
    for name in ("image", "title"):
        series = Series(name="s", x=('x" onerror="alert(1)',), y=(1.0,), style="points")
        drawn = chart(series, x=Axis(name=name, scale="category"))
        said = str(layers(drawn, SCREEN))
        assert f'"{name} ": (datum' in said
        assert f'"{name}": (datum' not in said


@given(
    st.lists(st.integers(1, 6000), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1, exclude_max=True),
)
@settings(max_examples=20)
def test_a_spike_answers_to_pointing_among_however_many_points(
    lengths: list[int], seed: int, share: float
) -> None:
    draw = random.Random(seed)
    values = [[draw.random() for _ in range(length)] for length in lengths]
    spike = int(share * lengths[0])
    values[0][spike] = 9.0
    drawn = chart(*(
        Series(name=str(at), x=tuple(range(len(ys))), y=tuple(ys), style="line")
        for at, ys in enumerate(values)
    ))  # fmt: skip
    body = specification(drawn, SCREEN).body
    answering = [row for row in body["data"]["values"] if "u" in row]
    assert [row["x"] for row in answering if row["y"] == 9.0] == [spike]
    assert {row["s"] for row in answering} == {str(at) for at in range(len(lengths))}
    hover = body["layer"][-1]
    if sum(lengths) <= HOVER_POINTS_MOST:
        assert len(answering) == sum(lengths)
        assert "transform" not in hover
    else:
        assert len(answering) <= HOVER_POINTS_MOST + 2 * len(lengths)
        assert hover["transform"] == [{"filter": "datum.u"}]


def test_a_few_points_stay_large_over_very_many_small_ones() -> None:
    many = Series(name="many", x=tuple(range(900)), y=(1.0,) * 900, style="points")
    few = Series(name="few", x=(3,), y=(2.0,), style="points")
    for drawn in (chart(many, few), chart(few, many)):
        sizes = [layer["mark"]["size"] for layer in layers(drawn)]
        assert sizes == sorted(sizes)
        assert len(sizes) == 2
        names = [{row["s"] for row in layer["data"]["values"]} for layer in layers(drawn)]
        assert names == [{"many"}, {"few"}]
        assert svg(specification(drawn, PAPER))
    assert len(layers(chart(few))) == len(layers(chart(many))) == 1
