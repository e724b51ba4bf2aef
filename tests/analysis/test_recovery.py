"""Recovery against brute force and exact fractions; Student's t against published tables."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.difference import student_t_limit
from teijo.analysis.mean import Mean
from teijo.analysis.recovery import gain_of, mean_of, recovery_of
from teijo.analysis.repeats import resemblance

RATES = st.lists(st.integers(1, 1000).map(float), min_size=1, max_size=60)


def regained_by_brute_force(after: list[float], level: Fraction) -> int | None:
    """The same definition, in fractions and from the front."""
    places = range(1, len(after) - 5 + 2)

    def kept(place: int) -> bool:
        means = [sum(map(Fraction, after[p - 1 : p + 4])) / 5 for p in places if p >= place]
        return all(mean >= Fraction(95, 100) * level for mean in means)

    return next((place for place in places if kept(place)), None)


def test_the_first_minute_that_is_not_below_the_first_groups_mean_is_the_recovery():
    found = recovery_of([100.0, 90.0, 95.0], [20.0, 60.0, 95.0, 99.0], level_samples=2)
    assert found is not None
    assert (found.reference, found.recovered_samples, found.highest) == (95.0, 3, 99.0)


def test_a_drive_that_stays_below_the_mean_has_not_recovered():
    found = recovery_of([100.0] * 10, [99.9] * 20, level_samples=5)
    assert found is not None
    assert found.recovered_samples is None
    assert found.regained_samples == 1, "but it lost no more than a thousandth"


def test_a_fast_fresh_start_raises_the_mean_out_of_reach_but_not_the_level():
    before = [230.0] * 24 + [145.0] * 456
    after = [80.0] * 40 + [145.0] * 440
    found = recovery_of(before, after, level_samples=120)
    assert found is not None
    assert found.recovered_samples is None
    # The window of minutes 40 to 44 is the first of 95 % and more; one at 39 has two at 80.
    assert (found.level, found.regained_samples, found.end_share) == (145.0, 41, 1.0)


def test_one_lucky_minute_recovers_by_the_standard_and_regains_nothing():
    after = [10.0] * 20
    after[6] = 100.0
    found = recovery_of([100.0] * 20, after, level_samples=10)
    assert found is not None
    assert (found.recovered_samples, found.regained_samples) == (7, None)
    assert found.end_share == pytest.approx(0.10)


def test_nothing_measured_has_no_recovery():
    assert recovery_of([], [1.0], 5) is None
    assert recovery_of([1.0], [], 5) is None


@given(before=RATES, after=RATES, level_samples=st.integers(1, 30))
def test_recovery_is_what_exact_brute_force_finds(before, after, level_samples):
    found = recovery_of(before, after, level_samples)
    assert found is not None
    mean = sum(map(Fraction, before)) / len(before)
    tail = before[-level_samples:]
    level = sum(map(Fraction, tail)) / len(tail)
    by_hand = [place for place, value in enumerate(after, 1) if Fraction(value) >= mean]
    on_a_limit = any(
        abs(sum(map(Fraction, after[p : p + 5])) / 5 / level - Fraction(95, 100))
        < Fraction(1, 10**9)
        for p in range(len(after) - 4)
    )
    if not any(abs(Fraction(value) - mean) < Fraction(1, 10**9) for value in after):
        assert found.recovered_samples == (by_hand[0] if by_hand else None)
    if not on_a_limit:
        assert found.regained_samples == regained_by_brute_force(after, level)


def test_the_interval_of_a_mean_is_that_of_five_long_batches_and_allows_for_likeness():
    # Five batches of eight whose means are 1, 2, 3, 2, 2: the variance of the means is 0.5.
    samples = [float(level) for level in (1, 2, 3, 2, 2) for _ in range(8)]
    found = mean_of(samples)
    assert found is not None
    assert found.half_width is not None
    assert found.value == 2.0
    factor, freedom = resemblance(5, 8)
    assert (factor, freedom) == (pytest.approx(1.97, abs=0.01), pytest.approx(3.45, abs=0.01))
    expected = student_t_limit(0.05, freedom) * math.sqrt(factor * 0.5 / 5)
    assert found.half_width == pytest.approx(expected)


@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.8])
def test_the_interval_of_a_gain_leaves_out_the_true_one_at_most_one_time_in_twenty(likeness):
    # As HIR has them: 360 bursts by 15 minutes, whose true gain is 0.5.
    draw = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        bursts, minutes = (ar_series(draw, length, likeness) for length in (360, 15))
        raised, baseline = mean_of((1.5 * bursts).tolist()), mean_of(minutes.tolist())
        assert raised is not None
        assert baseline is not None
        found = gain_of(raised, baseline)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0.5 <= found.high
    assert missed / 400 <= 0.065


def ar_series(draw, length, likeness):
    """Return a series about 100 that scatters by 5."""
    found = draw.standard_normal(length)
    for place in range(1, length):
        found[place] = likeness * found[place - 1] + math.sqrt(1 - likeness**2) * found[place]
    return 100 + 5 * found


def test_neighbours_that_resemble_each_other_widen_the_interval():
    slow = mean_of([float(place // 60 % 2) for place in range(400)])
    quick = mean_of([float(place % 2) for place in range(400)])
    assert slow is not None
    assert slow.half_width is not None
    assert quick is not None
    assert quick.half_width is not None
    assert slow.half_width > 0.2
    assert quick.half_width < 1e-9


def test_fewer_than_five_samples_have_a_mean_and_no_interval():
    assert mean_of([3.0, 5.0]) == Mean(value=4.0, half_width=None)
    assert mean_of([]) is None


def test_a_gain_is_the_quotient_less_one_with_both_intervals_in_it():
    found = gain_of(Mean(value=150.0, half_width=3.0), Mean(value=100.0, half_width=4.0))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    # (3 ⊕ 1.5·4) / 100 = 0.0671.
    assert found.share == pytest.approx(0.5)
    assert (found.low, found.high) == (
        pytest.approx(0.4329, abs=1e-4),
        pytest.approx(0.5671, abs=1e-4),
    )
    unknown = gain_of(Mean(value=150.0, half_width=None), Mean(value=100.0, half_width=4.0))
    assert unknown is not None
    assert unknown.low is None
    assert gain_of(Mean(value=1.0, half_width=None), Mean(value=0.0, half_width=None)) is None
