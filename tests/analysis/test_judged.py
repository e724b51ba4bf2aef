"""What the rates of a factorial say: known ratios, a control, a drift, and the one to choose."""

import numpy as np
import pytest
from numpy.typing import NDArray

from teijo.analysis.judged import Judged, Rates, choice_of, effects_of, judged

BLOCKS = 6
FASTER = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
"""The second factor does nothing; the first one's last level is three times its first."""


def rates(
    cells: NDArray[np.float64],
    *,
    name: str = "small",
    again: float = 1.0,
    drift: float = 0.0,
    seed: int = 1,
) -> Rates:
    """Return rates about these means in blocks, each in an order drawn by lot, 1 % of scatter."""
    random = np.random.default_rng(seed)
    count = cells.size + 1
    order = np.stack([random.permutation(count) for _ in range(BLOCKS)], axis=-1)
    places = order + 1 + np.arange(BLOCKS) * count
    means = np.append(cells.reshape(-1), cells.reshape(-1)[0] * again)[:, None]
    values = 1_000 * means * (1 + drift * places) * np.exp(random.normal(0, 0.01, places.shape))
    return Rates(
        name=name,
        unit="IOPS",
        values=values[:-1].reshape(*cells.shape, BLOCKS),
        again=values[-1],
        places=places[:-1].reshape(*cells.shape, BLOCKS),
        places_again=places[-1],
        control=0,
    )


def one(found: Rates) -> Judged:
    (each,) = judged([found])
    return each


def test_a_known_ratio_is_found_within_its_interval_and_a_factor_that_does_nothing_is_not() -> None:
    found = one(rates(FASTER))
    (effect,) = effects_of([found])
    assert (effect.pair.factor, effect.pair.first, effect.pair.second) == (0, 0, 2)
    assert effect.pair.low <= 3 <= effect.pair.high
    assert found.control is not None
    assert not found.control.shown
    source = found.source(0)
    assert source is not None
    assert source.share > 0.99


def test_a_level_that_is_slower_is_the_worse_one_and_the_ratio_is_above_one() -> None:
    (effect,) = effects_of([one(rates(1 / FASTER))])
    assert (effect.pair.first, effect.pair.second) == (2, 0)
    assert effect.pair.low < effect.pair.ratio < effect.pair.high
    assert effect.pair.ratio == pytest.approx(3, rel=0.03)


def test_a_control_that_differs_from_itself_is_shown_and_hides_what_is_no_larger() -> None:
    found = one(rates(np.array([[1.0, 1.0], [1.05, 1.05]]), again=0.9))
    assert found.control is not None
    assert found.control.shown
    assert found.noise_percent == pytest.approx(10, abs=2)
    assert effects_of([found]) == []


def test_a_drift_over_the_order_is_found_with_its_size() -> None:
    found = one(rates(FASTER, drift=0.005))
    assert found.drift is not None
    assert found.drift.shown
    # 42 visits, each faster by half a percent of the first one's rate.
    assert found.drift.ratio == pytest.approx(1.21 / 1.005, rel=0.05)


def test_one_block_or_a_rate_of_nothing_is_not_judged() -> None:
    whole = rates(FASTER)
    dead = rates(np.where(FASTER > 2, 0.0, FASTER))
    assert not one(dead).is_judged
    single = Rates(
        name="small",
        unit="IOPS",
        values=whole.values[..., :1],
        again=whole.again[:1],
        places=whole.places[..., :1],
        places_again=whole.places_again[:1],
        control=0,
    )
    assert not one(single).is_judged


def test_the_highest_geometric_mean_is_chosen_and_where_it_is_behind_is_told() -> None:
    found = judged([rates(FASTER**2), rates(1 / FASTER, name="large", seed=2)])
    choice = choice_of(found)
    assert choice is not None
    assert choice.telling == (0,)
    assert choice.place in (4, 5)
    assert choice.times == pytest.approx(3**0.5, rel=0.03)
    small, large = choice.shares
    assert not small.behind
    assert large.behind
    assert large.rate / large.best == pytest.approx(1 / 3, rel=0.03)


def test_nothing_is_chosen_where_nothing_differs_or_the_control_fails() -> None:
    assert choice_of(judged([rates(np.ones((3, 2)))])) is None
    assert choice_of(judged([rates(FASTER, again=0.5)])) is None
    dead = rates(np.zeros((3, 2)), name="dead")
    assert choice_of(judged([rates(FASTER), dead])) is None
