"""Which factor matters: a published example, least squares as an oracle, coverage of intervals."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from teijo.analysis.difference import student_t_limit
from teijo.analysis.effects import (
    Contrast,
    Variance,
    contrast,
    drift,
    level_weights,
    residuals,
    variance,
)

BATTERY = np.array(
    [
        [[130, 155, 74, 180], [34, 40, 80, 75], [20, 70, 82, 58]],
        [[150, 188, 159, 126], [136, 122, 106, 115], [25, 70, 58, 45]],
        [[138, 110, 168, 160], [174, 120, 150, 139], [96, 104, 82, 60]],
    ],
    float,
)
"""Life of batteries: 3 materials, 3 temperatures, 4 each (Montgomery, Design and Analysis of
Experiments, table 5.1)."""


def drawn(shape: tuple[int, ...], seed: int = 1, scatter: float = 1.0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(10, scatter, shape)


def test_the_published_sums_of_squares_are_found() -> None:
    found = variance(BATTERY)
    squares = [round(each.squares, 2) for each in found.sources]
    assert squares == [10683.72, 39118.72, 9613.78]
    assert [each.freedom for each in found.sources] == [2, 2, 4]
    assert round(found.block_squares + found.residual_squares, 2) == 18230.75
    assert found.block_freedom + found.residual_freedom == 27
    assert round(found.block_squares + found.total_squares, 2) == 77646.97
    assert found.higher is None


def least_squares(values: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    """Sums of squares by fitting nested models of dummies, one more source at a time."""
    levels = values.shape[:-1]
    places = np.indices(values.shape).reshape(values.ndim, -1)

    def dummies(axes: tuple[int, ...]) -> NDArray[np.float64]:
        key = np.ravel_multi_index(
            [places[axis] for axis in axes], [values.shape[axis] for axis in axes]
        )
        return np.asarray(key[:, None] == np.unique(key), float)

    def rss(columns: list[NDArray[np.float64]]) -> float:
        matrix = np.hstack([np.ones((values.size, 1)), *columns])
        fitted = matrix @ np.linalg.lstsq(matrix, values.ravel(), rcond=None)[0]
        return float(((values.ravel() - fitted) ** 2).sum())

    columns = [dummies((len(levels),))]
    left, found = rss(columns), {}
    for size in range(1, len(levels) + 1):
        for axes in combinations(range(len(levels)), size):
            columns.append(dummies(axes))
            now = rss(columns)
            found[axes] = left - now
            left = now
    return found | {(): left}


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2), (4, 3, 3), (2, 3, 4, 2), (2, 2, 2, 3, 2)])
def test_every_sum_of_squares_is_that_of_least_squares(shape: tuple[int, ...]) -> None:
    values = drawn(shape)
    found, expected = variance(values), least_squares(values)
    for source in found.sources:
        assert source.squares == pytest.approx(expected.pop(source.factors), rel=1e-9)
    assert found.residual_squares == pytest.approx(expected.pop(()), rel=1e-9)
    higher = 0.0 if found.higher is None else found.higher.squares
    assert higher == pytest.approx(math.fsum(expected.values()), abs=1e-9)


def parts(found: Variance) -> float:
    higher = 0.0 if found.higher is None else found.higher.squares
    return math.fsum([*(each.squares for each in found.sources), higher, found.residual_squares])


@pytest.mark.parametrize("shape", [(2, 2), (4, 3, 3), (2, 3, 2, 2)])
def test_the_parts_are_the_whole_and_shifting_blocks_changes_none(shape: tuple[int, ...]) -> None:
    values = drawn(shape)
    found = variance(values)
    assert parts(found) == pytest.approx(found.total_squares, rel=1e-9)
    shifted = variance(values + np.arange(shape[-1]) * 100.0)
    for before, after in zip(found.sources, shifted.sources, strict=True):
        assert after.squares == pytest.approx(before.squares, rel=1e-6)
    assert shifted.residual_squares == pytest.approx(found.residual_squares, rel=1e-6)


def test_of_equal_values_nothing_matters() -> None:
    found = variance(np.full((4, 3, 2), 7.3))
    assert [each.share for each in found.sources] == [0, 0, 0]
    assert [each.p_value for each in found.sources] == [1, 1, 1]


def test_without_scatter_what_differs_is_certain() -> None:
    values = np.zeros((2, 3, 2)) + np.array([0.0, 1.0])[:, None, None]
    first, second, both = variance(values).sources
    assert (first.share, first.f, first.p_value) == (1, None, 0)
    assert (second.p_value, both.p_value) == (1, 1)


def test_where_nothing_matters_a_factor_is_called_in_one_of_twenty() -> None:
    called = [variance(drawn((3, 4, 3), seed)).sources[0].p_value < 0.05 for seed in range(1000)]
    assert 0.03 < np.mean(called) < 0.07


def test_of_two_cells_the_contrast_is_the_paired_interval() -> None:
    values = drawn((2, 5)) + np.arange(5) * 3.0
    found = contrast(values, np.array([-1.0, 1.0]))
    pairs = values[1] - values[0]
    reach = student_t_limit(0.05, 4) * pairs.std(ddof=1) / math.sqrt(5)
    assert found.estimate == pytest.approx(pairs.mean())
    assert (found.high - found.low) / 2 == pytest.approx(reach)
    assert found.freedom == 4


def test_a_contrast_of_levels_is_the_difference_of_their_means() -> None:
    values = drawn((4, 3, 3))
    found = contrast(values, level_weights((4, 3), 0, 1, 3))
    assert found.estimate == pytest.approx(values[3].mean() - values[1].mean())


@pytest.mark.parametrize("scatter", ["alike", "one noisy level", "a noisy cell"])
def test_the_interval_of_a_contrast_covers_the_truth_as_often_as_it_says(scatter: str) -> None:
    sizes = np.ones((4, 3, 1))
    if scatter == "one noisy level":
        sizes[:, 2] = 10.0
    if scatter == "a noisy cell":
        sizes[1, 1] = 20.0
    truth = np.array([0.0, 1.0, 2.0])[None, :, None] * np.ones((4, 3, 1))
    draw = np.random.default_rng(7)
    covered = []
    for _ in range(2000):
        values = truth + draw.normal(size=(4, 3, 3)) * sizes + draw.normal(size=3)
        found = contrast(values, level_weights((4, 3), 1, 0, 1))
        covered.append(found.low <= 1 <= found.high)
    assert 0.93 < np.mean(covered) < 0.995


def test_a_contrast_without_scatter_is_what_it_is() -> None:
    values = np.zeros((2, 3)) + np.array([[1.0], [3.0]])
    assert contrast(values, np.array([-1.0, 1.0])) == Contrast(
        estimate=2, low=2, high=2, p_value=0, freedom=math.inf
    )
    nothing = contrast(values, np.array([0.0, 0.0]))
    assert nothing.low <= 0 <= nothing.high


def shuffled(shape: tuple[int, ...], seed: int) -> NDArray[np.float64]:
    draw, *cells, blocks = np.random.default_rng(seed), *shape
    columns = [
        draw.permutation(math.prod(cells)) + block * math.prod(cells) for block in range(blocks)
    ]
    return np.stack(columns, axis=-1).reshape(shape).astype(float)


def test_a_drift_is_found_whatever_the_cells_are() -> None:
    places = shuffled((4, 3, 3), 1)
    cells = drawn((4, 3, 1), 2, scatter=50.0)
    found = drift(cells + 0.1 * places, places)
    assert found is not None
    assert found.estimate == pytest.approx(0.1 * 35)
    assert found.low > 0 or found.high < 0


def test_where_there_is_no_drift_one_is_seen_in_one_of_twenty() -> None:
    seen = []
    for seed in range(1000):
        found = drift(drawn((4, 3, 3), seed), shuffled((4, 3, 3), seed))
        assert found is not None
        seen.append(found.low > 0 or found.high < 0)
    assert 0.03 < np.mean(seen) < 0.07


def test_an_order_that_is_the_same_in_one_block_tells_no_drift() -> None:
    assert drift(drawn((3, 2)), np.zeros((3, 2))) is None


def test_residuals_have_no_mean_in_any_cell_or_block() -> None:
    left = residuals(drawn((3, 4, 3)))
    assert np.allclose(left.mean(axis=-1), 0)
    assert np.allclose(left.mean(axis=(0, 1)), 0)
