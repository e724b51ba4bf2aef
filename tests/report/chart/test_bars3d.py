"""Bars stand where their values say, nearer ones before farther ones."""

import re
from dataclasses import replace

import pytest

from teijo.document.model import Axis, Bars3D
from teijo.report.chart import palette
from teijo.report.chart.bars3d import HEIGHT_PX, specification
from teijo.report.chart.svg import svg
from teijo.report.chart.theme import Canvas, Json
from tests.report.samples import MATRIX, MIXES, SIZES, bars

PAPER = Canvas(inks=palette.PAPER, interactive=False)
SCREEN = Canvas(inks=palette.SCREEN, interactive=True)


def values(drawn: Bars3D, name: str, canvas: Canvas = SCREEN) -> list[Json]:
    body = specification(drawn, canvas).body
    found: list[Json] = next(data["values"] for data in body["data"] if data["name"] == name)
    return found


def corners(face: Json) -> list[tuple[float, float]]:
    pairs = re.findall(r"(-?[0-9.]+),(-?[0-9.]+)", face["path"])
    return [(float(x), float(y)) for x, y in pairs]


def fronts(drawn: Bars3D) -> list[Json]:
    return values(drawn, "faces")[2::3]


def test_every_bar_has_three_faces_and_tells_its_value() -> None:
    faces = values(bars(), "faces")
    assert len(faces) == 3 * 8 * 7
    assert faces[0]["tip"] == {"Block size (KiB)": "0.5", "R/W mix": "100/0", "IOPS": "29,860"}


def test_bars_are_painted_back_to_front_and_left_to_right() -> None:
    told = [(face["tip"]["R/W mix"], face["tip"]["Block size (KiB)"]) for face in fronts(bars())]
    assert told == [(mix, size) for mix in reversed(MIXES) for size in SIZES]


def test_a_bar_is_as_high_as_its_share_of_the_axis() -> None:
    for face in fronts(bars()):
        row, column = SIZES.index(face["tip"]["Block size (KiB)"]), MIXES.index(
            face["tip"]["R/W mix"]
        )  # fmt: skip
        (_, top), _, (_, floor), _ = corners(face)
        assert floor - top == pytest.approx(MATRIX[row][column] / 30000 * HEIGHT_PX, abs=0.02)


def test_on_a_log_axis_a_decade_is_a_decade() -> None:
    level = replace(
        bars(), z=Axis(name="IOPS", scale="log"), row_places=("a", "b", "c"),
        column_places=("x",), values=((10.0,), (100.0,), (1000.0,)),
    )  # fmt: skip
    heights = [corners(face)[2][1] - corners(face)[0][1] for face in fronts(level)]
    assert heights == pytest.approx([0, HEIGHT_PX / 2, HEIGHT_PX], abs=0.02)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_value_has_no_bar(missing: float | None) -> None:
    gap = replace(bars(), values=((missing, *MATRIX[0][1:]), *MATRIX[1:]))
    assert len(values(gap, "faces")) == 3 * (8 * 7 - 1)


def test_the_drawing_names_every_place_of_both_axes() -> None:
    text = svg(specification(bars(), PAPER))
    for words in (*SIZES, *MIXES, "Block size (KiB)", "R/W mix", "IOPS", "30,000"):
        assert f">{words}<" in text


@pytest.mark.parametrize("matrix", [(), ((),), ((None,),), ((0.0,),)])
def test_an_empty_matrix_is_still_drawn(matrix: tuple[tuple[float | None, ...], ...]) -> None:
    little = replace(
        bars(), values=matrix, row_places=("a",) * len(matrix),
        column_places=("x",) * (len(matrix[0]) if matrix else 0),
    )  # fmt: skip
    assert svg(specification(little, PAPER)).startswith("<svg")
