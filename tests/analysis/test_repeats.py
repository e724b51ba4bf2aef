"""What one run says of the next: the allowance for neighbours that resemble each other, known by
other arithmetic and by drawn series, and the number of runs that are missing.
"""

import math

import numpy as np
import pytest

from teijo.analysis.difference import (
    Level,
    difference_between,
    five_batches,
    level_of,
    student_t_limit,
)
from teijo.analysis.repeats import (
    LIKENESS,
    TOLERANCE,
    level_of_run,
    levels_beside,
    resemblance,
    runs_needed,
)

SERIES = 600


def series(draw: np.random.Generator, count: int, length: int, likeness: float) -> np.ndarray:
    """Return series of unit variance that begin settled."""
    found = draw.standard_normal((count, length))
    for place in range(1, length):
        found[:, place] *= math.sqrt(1 - likeness**2)
        found[:, place] += likeness * found[:, place - 1]
    return found


def wrong_share(length: int, likeness: float) -> float:
    """Return how often two equal drives' intervals leave out zero, at 1 % scatter of samples."""
    draw = np.random.default_rng(5)
    wrong = 0
    for first, second in 100 + series(draw, 2 * SERIES, length, likeness).reshape(-1, 2, length):
        levels = [
            level_of_run(five_batches(each.tolist()), length // 5) for each in (first, second)
        ]
        assert levels[0] is not None
        assert levels[1] is not None
        wrong += difference_between(levels[0], levels[1]).shown
    return wrong / SERIES


@pytest.mark.parametrize("length", [5, 15, 60])
def test_the_interval_of_a_series_that_resembles_itself_is_wrong_one_time_in_twenty(
    length: int,
) -> None:
    assert wrong_share(length, LIKENESS) <= 0.065


def test_what_resembles_itself_less_is_wrong_less_often() -> None:
    assert wrong_share(5, 0.0) <= 0.005
    assert wrong_share(5, 0.5) <= 0.03


@pytest.mark.parametrize(("count", "samples"), [(5, 1), (5, 3), (5, 72), (4, 2), (2, 1)])
def test_the_allowance_is_that_of_the_whole_covariance(count: int, samples: int) -> None:
    places = np.arange(count * samples)
    whole = 0.8 ** np.abs(places[:, None] - places[None, :])
    means = np.kron(np.eye(count), np.full((1, samples), 1 / samples))
    batches = means @ whole @ means.T
    centre = np.eye(count) - 1 / count
    values = np.linalg.eigvals(centre @ batches @ centre).real
    factor, freedom = resemblance(count, samples)
    assert factor == pytest.approx(batches.mean() * count / (values.sum() / (count - 1)))
    assert freedom == pytest.approx(values.sum() ** 2 / (values**2).sum())


def test_samples_that_do_not_resemble_each_other_need_no_allowance() -> None:
    factor, freedom = resemblance(5, 3, 0.0)
    assert (factor, freedom) == (pytest.approx(1), pytest.approx(4))


def test_five_rounds_that_may_resemble_each_other_are_known_a_third_as_well() -> None:
    rounds = [99.0, 100.0, 101.0, 100.0, 100.0]
    plain, allowed = level_of(rounds), level_of_run(rounds, 1)
    assert plain is not None
    assert allowed is not None
    assert allowed.squared_error / plain.squared_error == pytest.approx(10.5, abs=0.05)
    assert (plain.freedom, allowed.freedom) == (4, pytest.approx(2.53, abs=0.01))


def level(share: float) -> Level:
    return Level(mean=1.0, squared_error=share**2, freedom=2.5)


def test_the_runs_that_are_missing_are_the_fewest_that_would_do() -> None:
    found = runs_needed(ratio=1.05, first=level(0.01), second=level(0.01), figures=1)
    assert (found.runs, found.more, found.level_share) == (3, 2, 0.01)

    def reach(runs: int) -> float:
        freedom = 2 * (runs - 1)
        limits = student_t_limit(0.05, freedom) + student_t_limit(0.4, freedom)
        return limits * math.sqrt(2 / runs) * 0.01

    assert reach(3) <= math.log(1.05) < reach(2)


def test_that_many_runs_show_the_difference_about_four_times_in_five() -> None:
    needed = runs_needed(ratio=1.02, first=level(0.01), second=level(0.01), figures=1)
    assert needed.runs is not None
    draw = np.random.default_rng(3)
    shown = 0
    for _ in range(500):
        sides = 100 + draw.standard_normal((2, needed.runs))
        one, other = level_of(sides[0].tolist()), level_of((sides[1] * 1.02).tolist())
        assert one is not None
        assert other is not None
        shown += difference_between(one, other).shown
    assert shown / 500 == pytest.approx(0.83, abs=0.07)


def test_more_figures_and_smaller_differences_need_more_runs_and_none_need_fewer_than_two() -> None:
    def runs(ratio: float, figures: int) -> int | None:
        return runs_needed(ratio=ratio, first=level(0.01), second=level(0.01), figures=figures).runs

    assert [runs(ratio, 1) for ratio in (1.5, 1.05, 1.02, 1 / 1.02)] == [2, 3, 6, 6]
    assert runs(1.05, 56) == 5
    assert runs(1.0005, 1) is None
    assert runs_needed(ratio=1.1, first=level(0), second=level(0), figures=1).more == 1


def test_two_runs_at_either_end_of_the_standards_band_are_as_far_apart_as_is_allowed() -> None:
    found = difference_between(
        Level(mean=90.0, squared_error=1e-12, freedom=4),
        Level(mean=110.0, squared_error=1e-12, freedom=4),
        tolerance=TOLERANCE,
    )
    assert found.low == pytest.approx(1, abs=1e-4)
    assert found.p_value == pytest.approx(1, abs=1e-3)


def test_a_single_run_beside_several_is_taken_to_scatter_as_they_do() -> None:
    found = levels_beside([100.0] * 5, [98.0, 100.0, 102.0])
    assert found is not None
    # 2 % of scatter: 4e-4 of the one run, a third of it of the mean of three; one freedom of 2.
    assert found[0] == Level(mean=100.0, squared_error=pytest.approx(16e-4 / 3), freedom=2)
    assert found[1] == Level(mean=100.0, squared_error=0.0, freedom=2)
    assert difference_between(*found).freedom == pytest.approx(2)
    noisy = levels_beside([80.0, 120.0, 100.0, 90.0, 110.0], [98.0, 100.0, 102.0])
    assert noisy is not None
    assert noisy[0].squared_error > 0.01
    assert levels_beside([100.0], [100.0]) is None
