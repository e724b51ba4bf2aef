"""Colours can be told from the paper and, with their second sign, from each other."""

import itertools

import pytest

from teijo.report.chart import palette


def luminance(colour: str) -> float:
    """WCAG 2.2 relative luminance."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("colours", "paper"), [(palette.SERIES, "#ffffff"), (palette.SERIES_ON_DARK, "#15181d")]
)
def test_every_series_has_three_to_one_against_its_paper(
    colours: tuple[str, ...], paper: str
) -> None:
    assert {ink: contrast(ink, paper) for ink in colours if contrast(ink, paper) < 3} == {}


def test_quiet_text_has_four_and_a_half_to_one() -> None:
    assert contrast(palette.PAPER.quiet, "#ffffff") >= 4.5


def test_eight_series_have_eight_colours_shapes_and_dashes() -> None:
    for signs in (palette.SERIES, palette.SERIES_ON_DARK, palette.SHAPES, palette.DASHES):
        assert len(set(signs)) == 8


def test_a_ramp_begins_and_ends_at_its_ends() -> None:
    assert palette.ramp(7) == list(palette.RAMP)
    assert palette.ramp(1) == [palette.RAMP[0]]
    assert len(set(palette.ramp(12))) == 12


def test_light_and_dark_faces_differ_from_the_colour_of_the_front() -> None:
    for colour in palette.RAMP:
        faces = (palette.darker(colour, 0.24), colour, palette.lighter(colour, 0.32))
        assert all(luminance(a) < luminance(b) for a, b in itertools.pairwise(faces))
