"""Outliers: error rates counted in fleets drawn here, against a simulation of its own, and known
answers of the scale; the median and the tail against the standard library.
"""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teijo.analysis.outliers import (
    LEAST_DRIVES,
    LONG_TAILED,
    Outliers,
    _tail,
    centre_and_scale,
    null_of,
    outliers_of,
)

Floats = np.ndarray


def judged(values: Floats, floor: float = 0.0) -> Outliers:
    figures = values.shape[1]
    return outliers_of(
        values, floors=[floor] * figures, in_level=[True] * figures, tested=[True] * figures
    )


def scale_by_hand(values: list[float]) -> tuple[float, float]:
    """Return centre and scale from their definition, value by value."""
    median = statistics.median(values)
    mad = statistics.median(abs(value - median) for value in values)
    nearest = sorted(abs(value - median) for value in values)[math.ceil(0.75 * len(values)) - 1]
    cut = max(3 * 1.482602218505602 * mad, nearest)
    kept = [value for value in values if abs(value - median) <= cut]
    return statistics.fmean(kept), statistics.stdev(kept)


def fleets(seed: int, drives: int, count: int, planted: float = 0.0) -> Floats:
    values = np.random.default_rng(seed).standard_normal((drives, count))
    values[0] -= planted
    return values


def found_by_limit(values: Floats, tests: int) -> Floats:
    """Return (drives, fleets): who lies beyond the limit of so many tests at 5 %."""
    centres, scales = centre_and_scale(values)
    limit = null_of(values.shape[0]).limit(0.05 / tests)
    return np.abs(values - centres) / scales > limit


@given(st.lists(st.integers(-50, 50), min_size=6, max_size=30, unique=True))
def test_the_scale_is_that_of_the_values_near_the_median(values: list[int]) -> None:
    centres, scales = centre_and_scale(np.array(values, np.float64)[:, None])
    expected = scale_by_hand([float(each) for each in values])
    assert (float(centres[0]), float(scales[0])) == pytest.approx(expected)


def test_a_far_value_moves_neither_centre_nor_scale() -> None:
    near = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    one, other = (centre_and_scale(np.array([*near, far])[:, None]) for far in (1e3, 1e9))
    assert one == other
    assert float(one[0][0]) == 4.0


def test_a_missing_value_is_none() -> None:
    whole = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.6])
    holed = np.append(whole, [np.nan, np.nan])
    for one, other in zip(
        centre_and_scale(holed[:, None]), centre_and_scale(whole[:, None]), strict=True
    ):
        assert float(one[0]) == pytest.approx(float(other[0]), rel=1e-12)


@pytest.mark.parametrize("drives", [6, 8, 12, 20, 40, 100])
def test_drives_alike_are_named_as_often_as_is_said(drives: int) -> None:
    count = 20_000 if drives <= 40 else 8_000
    named = found_by_limit(fleets(7, drives, count), drives)
    rate = float(named.any(axis=0).mean())
    # Five standard errors of the count; the bound over drives may make it smaller.
    assert rate < 0.05 + 5 * math.sqrt(0.05 * 0.95 / count)
    assert rate > 0.025


@pytest.mark.parametrize("drives", [8, 40, 200])
@pytest.mark.parametrize("shape", ["normal", "long", "skewed"])
def test_of_single_figures_long_and_skewed_tails_name_no_more(shape: str, drives: int) -> None:
    figures, count = 10, 12_000 // drives
    rng = np.random.default_rng((15, drives))
    size = (drives, count * figures)
    values = {
        "normal": rng.standard_normal,
        "long": lambda size: rng.standard_t(LONG_TAILED, size),
        "skewed": lambda size: -rng.standard_gamma(15, size),
    }[shape](size)
    centres, scales = centre_and_scale(values)
    limit = null_of(drives, LONG_TAILED).limit(0.05 / (drives * figures))
    named = (np.abs(values - centres) / scales > limit).reshape(drives, figures, count)
    rate = float(named.any(axis=(0, 1)).mean())
    assert rate < 0.05 + 5 * math.sqrt(0.05 * 0.95 / count)
    if shape == "long":
        assert rate > 0.02


@pytest.mark.parametrize(
    ("t", "degrees", "share"),
    [(2.602, 15, 0.01), (4.073, 15, 0.0005), (-2.602, 15, 0.99), (3.169, 10, 0.005)],
)
def test_the_tail_of_student_s_t_is_that_of_the_tables(
    t: float, degrees: int, share: float
) -> None:
    deviation = math.sqrt(degrees / (degrees - 2))
    assert float(_tail(np.array(t / deviation), degrees)) == pytest.approx(share, rel=3e-3)


@pytest.mark.parametrize("drives", [8, 20, 40, 200])
def test_a_drive_off_by_the_least_difference_is_found_in_95_of_100_fleets(drives: int) -> None:
    null = null_of(drives)
    least = null.least(null.limit(0.05 / drives))
    count = 10_000 if drives <= 40 else 4_000
    found = found_by_limit(fleets(8, drives, count, planted=least), drives)[0]
    assert float(found.mean()) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("bad", [1, 2, 5, 10])
def test_outliers_hide_neither_each_other_nor_name_a_good_drive(bad: int) -> None:
    values = fleets(9, 40, 4_000)
    values[:bad] -= 9.0
    named = found_by_limit(values, 40)
    assert float(named[:bad].mean()) > 0.95
    assert float(named[bad:].any(axis=0).mean()) < 0.05


def test_the_share_beyond_a_score_is_a_share() -> None:
    null = null_of(40)
    scores = np.linspace(0, 500, 4_000)
    shares = null.share(scores)
    assert shares[0] == pytest.approx(1.0, abs=0.02)
    assert np.all(np.diff(shares) <= 0)
    assert np.all(shares > 0)
    assert null.share(-scores).tolist() == shares.tolist()
    for share in (0.2, 1e-3, 1e-6):
        assert float(null.share(np.array(null.limit(share)))) == pytest.approx(share, rel=0.02)


def test_of_very_many_drives_the_share_is_the_normal_tail() -> None:
    null = null_of(3_000)
    for score in (2.0, 3.0, 4.0):
        normal = math.erfc(score * null.typical / math.sqrt(2))
        assert float(null.share(np.array(score))) == pytest.approx(normal, rel=0.1)


def test_one_slow_drive_is_named_in_all_figures_together() -> None:
    rng = np.random.default_rng(10)
    values = 8.0 + 0.02 * rng.standard_normal((40, 30))
    values[17] += math.log(0.95)
    found = judged(values)
    first = found.found[0]
    assert (first.drive, first.column) == (17, None)
    assert first.deviation == pytest.approx(math.log(0.95), abs=0.02)
    assert first.together < 1e-6
    assert {each.drive for each in found.found} == {17}


def test_a_drive_that_is_slow_in_one_figure_is_named_there() -> None:
    rng = np.random.default_rng(11)
    values = rng.normal(0.0, 0.01, (40, 30))
    values[3, 12] -= 0.2
    named = {(each.drive, each.column) for each in judged(values).found}
    assert (3, 12) in named
    assert all(drive == 3 for drive, _ in named)


def test_a_fleet_of_correlated_figures_is_named_in_at_most_5_of_100() -> None:
    rng = np.random.default_rng(12)
    named = 0
    fleets_looked_at = 400
    for _ in range(fleets_looked_at):
        common = rng.normal(0.0, 0.01, (20, 1))
        values = common + rng.normal(0.0, 0.004, (20, 12))
        named += bool(judged(values).found)
    assert named <= 0.05 * fleets_looked_at + 5 * math.sqrt(0.05 * 0.95 * fleets_looked_at)


def test_levels_have_half_of_the_5_percent() -> None:
    count = 4_000
    values = fleets(14, 40, count)
    named = sum(
        bool(outliers_of(values[:, [at]], floors=[0.0], in_level=[True], tested=[False]).found)
        for at in range(count)
    )
    error = math.sqrt(0.025 * 0.975 * count)
    assert 0.018 * count < named < 0.025 * count + 4 * error


def test_fewer_drives_than_show_a_scatter_are_not_judged() -> None:
    found = judged(np.zeros((LEAST_DRIVES - 1, 3)))
    assert found.level is None
    assert found.columns == (None, None, None)
    assert not found.found
    assert len(found.levels) == LEAST_DRIVES - 1


def test_a_figure_that_too_few_drives_have_is_not_judged_and_not_in_the_level() -> None:
    rng = np.random.default_rng(13)
    values = rng.normal(0.0, 0.01, (12, 2))
    values[5:, 1] = np.nan
    found = judged(values)
    assert found.columns[1] is None
    assert found.columns[0] is not None
    assert found.judged == 1
    medians = np.median(values[:, 0])
    assert found.levels == pytest.approx((values[:, 0] - medians).tolist())


def test_values_that_are_equal_but_for_their_resolution_name_nobody() -> None:
    values = np.full((40, 1), 5.0)
    values[4] += 1e-4
    assert not judged(values, floor=1e-4).found
    values[4] += 0.01
    assert {each.drive for each in judged(values, floor=1e-4).found} == {4}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(6, 15), st.floats(0.1, 10.0), st.floats(-5, 5))
def test_neither_unit_nor_order_decides(seed: int, drives: int, unit: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.0, 0.01, (drives, 4))
    values[0] -= 0.3
    order = rng.permutation(drives)
    one = judged(values)
    other = judged(values[order] * unit + shift)
    named = {(each.drive, each.column, round(each.score, 6)) for each in one.found}
    again = {(int(order[each.drive]), each.column, round(each.score, 6)) for each in other.found}
    assert named == again
