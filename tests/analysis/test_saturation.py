"""The saturation curve: plateau, level, and when it has settled, on curves of known shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.saturation import Sample, saturation_of


def curve(iops: list[float]) -> list[Sample]:
    written, samples = 0, []
    for value in iops:
        written += round(value * 60) * 4096
        samples.append(Sample(iops=value, written_bytes=written))
    return samples


SLC = [56_000.0] * 40 + [56_000.0 - 1_000 * step for step in range(1, 37)] + [19_000.0] * 124
"""Whitepaper, figure 10: a plateau of 56,000 IOPS, a fall, a level of 19,000."""


def test_the_curve_of_figure_10_has_its_plateau_and_level():
    found = saturation_of(curve(SLC))
    assert found is not None
    # 90 % of 56,000 is 50,400: five minutes of the fall are still above it.
    assert found.plateau_samples == 45
    assert found.plateau_iops == pytest.approx(
        (40 * 56_000 + sum(range(51_000, 56_000, 1000))) / 45
    )
    assert found.peak_iops == 56_000
    assert found.level_iops == 19_000


def test_it_has_settled_when_the_smoothed_curve_comes_to_stay():
    found = saturation_of(curve(SLC))
    assert found is not None
    smooth = [sum(SLC[place : place + 5]) / 5 for place in range(len(SLC) - 4)]
    first = next(
        place
        for place in range(len(smooth))
        if all(abs(value - 19_000) <= 1_900 for value in smooth[place:])
    )
    assert found.settled_samples == first
    assert found.settled_bytes == curve(SLC)[first - 1].written_bytes


def test_a_drive_that_never_falls_settled_at_once():
    found = saturation_of(curve([20_000.0] * 50))
    assert found is not None
    assert found.plateau_samples == 50
    assert (found.settled_samples, found.settled_bytes) == (0, 0)


def test_a_drive_still_falling_has_not_settled():
    found = saturation_of(curve([50_000.0 * 0.97**minute for minute in range(100)]))
    assert found is not None
    assert found.settled_samples is None
    assert found.settled_bytes is None


def test_a_few_minutes_have_no_level():
    found = saturation_of(curve([100.0] * 9))
    assert found is not None
    assert found.level_iops is None
    assert saturation_of([]) is None


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=60))
def test_the_plateau_is_a_leading_run_that_the_next_minute_breaks(iops):
    found = saturation_of(curve(iops))
    assert found is not None
    count = found.plateau_samples
    assert 1 <= count <= len(iops)
    assert all(value >= 0.9 * max(iops[: place + 1]) for place, value in enumerate(iops[:count]))
    if count < len(iops):
        assert iops[count] < 0.9 * max(iops[: count + 1])
