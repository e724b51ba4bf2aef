"""Change points: exact against all segmentations tried one by one, and quiet on plain noise."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teijo.analysis.change_point import (
    change_points,
    noise_of,
    penalty_of,
    segments_of,
)


def noise(seed: int, count: int, sigma: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, sigma, count)


def price(values: Sequence[float], changes: Sequence[int], penalty: float) -> float:
    """Return the price of a segmentation from its definition, one sample after the other."""
    edges = (0, *changes, len(values))
    total = penalty * len(changes)
    for first, end in itertools.pairwise(edges):
        mean = math.fsum(values[first:end]) / (end - first)
        total += math.fsum((value - mean) ** 2 for value in values[first:end])
    return total


def best_of_all(values: Sequence[float], penalty: float, least: int) -> tuple[int, ...]:
    """Return the cheapest of every segmentation there is."""
    count = len(values)
    candidates = (
        changes
        for many in range(count // least)
        for changes in itertools.combinations(range(least, count - least + 1), many)
        if all(b - a >= least for a, b in itertools.pairwise((0, *changes, count)))
    )
    return min(candidates, key=lambda changes: price(values, changes, penalty))


@pytest.mark.parametrize("least", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_the_segmentation_is_the_cheapest_of_all(seed: int, least: int) -> None:
    values = noise(seed, 13) + np.repeat(noise(seed + 1000, 4, 3.0), (4, 3, 3, 3))
    for penalty in (0.3, 2.0, 8.0):
        found = change_points(values, penalty=penalty, least_samples=least)
        assert found == best_of_all(list(values), penalty, least)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=11),
    st.floats(0.1, 1e4),
    st.integers(1, 3),
)
@settings(max_examples=150, deadline=None)
def test_no_segmentation_is_cheaper(values: list[float], penalty: float, least: int) -> None:
    found = change_points(values, penalty=penalty, least_samples=least)
    if len(values) >= 2 * least:
        cheapest = price(values, best_of_all(values, penalty, least), penalty)
        assert price(values, found, penalty) == pytest.approx(cheapest, rel=1e-9, abs=1e-6)
    else:
        assert found == ()


def test_a_cliff_is_found_to_the_sample() -> None:
    values = np.concatenate((np.full(270, 110.0), np.full(120, 10.0))) + noise(1, 390, 2.0)
    assert change_points(values, penalty=penalty_of(values)) == (270,)
    before, after = segments_of(values, (270,))
    assert (before.first, before.end, after.first, after.end) == (0, 270, 270, 390)
    assert before.mean == pytest.approx(110, abs=0.5)
    assert after.mean == pytest.approx(10, abs=0.5)


def test_a_stall_between_two_levels_has_both_its_ends() -> None:
    values = np.repeat((500.0, 0.0, 60.0), (80, 9, 200)) + noise(2, 289, 4.0)
    assert change_points(values, penalty=penalty_of(values)) == (80, 89)


def test_levels_far_from_zero_are_told_apart() -> None:
    values = 1e9 + np.repeat((0.0, 1.0), 50) + noise(3, 100, 0.1)
    assert change_points(values, penalty=penalty_of(values)) == (50,)


def test_segments_are_never_shorter_than_asked() -> None:
    values = np.repeat((0.0, 9.0, 0.0), (20, 2, 20))
    for least in (1, 2, 3, 5):
        edges = (0, *change_points(values, penalty=1.0, least_samples=least), 42)
        assert all(end - first >= least for first, end in itertools.pairwise(edges))


@pytest.mark.parametrize("count", [60, 300, 1200])
def test_plain_noise_has_a_change_in_at_most_one_of_fifty_series(count: int) -> None:
    series = 100 if count < 1000 else 50
    false = 0
    for seed in range(series):
        values = noise(seed, count, 3.0)
        false += bool(change_points(values, penalty=penalty_of(values)))
    assert false <= series / 50


def test_noise_that_lasts_for_some_samples_is_seldom_taken_for_changes() -> None:
    false = 0
    for seed in range(60):
        white = noise(seed, 600)
        values = np.convolve(white, np.ones(4) / 4, mode="same")
        false += len(change_points(values, penalty=penalty_of(values)))
    assert false <= 3


@pytest.mark.parametrize("sigma", [0.1, 5.0])
def test_the_noise_is_that_about_the_levels_and_not_that_of_the_levels(sigma: float) -> None:
    values = np.repeat((100.0, 900.0, 20.0), (300, 200, 500)) + noise(4, 1000, sigma)
    assert noise_of(values) == pytest.approx(sigma, rel=0.25)


def test_a_price_can_be_no_lower_than_that_of_a_noise_that_is_told() -> None:
    flat = np.repeat((10.0, 10.2), 50)
    assert noise_of(flat) == 0.0
    assert change_points(flat, penalty=penalty_of(flat)) == (50,)
    assert change_points(flat, penalty=penalty_of(flat, noise_least=0.5)) == ()
    assert penalty_of(flat, noise_least=0.5) == pytest.approx(3 * 0.25 * math.log(100))


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_series_too_short_for_two_segments_has_no_change(count: int) -> None:
    values = [float(place * place) for place in range(count)]
    assert change_points(values, penalty=1.0) == ()
    assert len(segments_of(values, ())) == bool(count)
