"""Steady state against the whitepaper's numbers, exact fractions, and its own symmetries."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from teijo.analysis.steady_state import Tracked, determine, line_at, window_of

# SNIA whitepaper, figure 21: SEQ 128 KiB write of drive SLC-B, MB/s by round from 1.
SLC_B = (346.22, 346.16, 346.61, 338.03, 296.00, 285.18, 252.63, 268.06, 235.99, 243.71, 232.93,
         258.44)  # fmt: skip

# (first round, average, range %, slope, slope excursion %, range ok, slope ok)
SLC_B_WINDOWS = [
    (1, 334.604, 15.13, -10.857, 12.98, True, False),
    (2, 322.396, 19.05, -17.257, 21.41, True, False),
    (3, 303.690, 30.95, -24.081, 31.72, False, False),
    (4, 287.980, 29.65, -18.331, 25.46, False, False),
    (5, 267.572, 22.43, -13.714, 20.50, False, False),
    (6, 257.114, 19.13, -9.958, 15.49, True, False),
    (7, 246.664, 14.24, -6.375, 10.34, True, False),
    (8, 247.826, 14.18, -2.230, 3.60, True, True),
]


def tracked(*series: tuple[float, ...]) -> list[Tracked]:
    return [
        Tracked(variable=f"variable {place}", unit="IOPS", values=values)
        for place, values in enumerate(series)
    ]


def determine_one(values: tuple[float, ...]):
    return determine(range(1, len(values) + 1), tracked(values))[0]


@pytest.mark.parametrize(
    ("first", "average", "range_percent", "slope", "slope_percent", "range_ok", "slope_ok"),
    SLC_B_WINDOWS,
)
def test_every_window_of_slc_b_has_the_published_numbers(
    first, average, range_percent, slope, slope_percent, range_ok, slope_ok
):
    window = window_of(first, SLC_B[first - 1 : first + 4])
    assert window.average == pytest.approx(average, abs=5e-4)
    assert window.range / window.average * 100 == pytest.approx(range_percent, abs=5e-3)
    assert window.slope == pytest.approx(slope, abs=5e-4)
    assert window.slope_excursion / window.average * 100 == pytest.approx(slope_percent, abs=5e-3)
    assert (window.range_ok, window.slope_ok) == (range_ok, slope_ok)
    assert (window.first_round, window.last_round) == (first, first + 4)


def test_slc_b_is_steady_in_rounds_8_to_12_and_never_before():
    state = determine_one(SLC_B)
    assert state.reached == 7
    assert state.window is not None
    assert (state.window.first_round, state.window.last_round) == (8, 12)
    assert [window.steady for window in state.windows] == [False] * 7 + [True]
    assert determine_one(SLC_B[:11]).reached is None


def test_range_alone_would_have_stopped_seven_rounds_too_early():
    assert window_of(1, SLC_B[:5]).range_ok
    assert not window_of(1, SLC_B[:5]).steady


def figure_9() -> tuple[float, ...]:
    # The five raw points are only drawn in the figure, so these are points on its line, pushed
    # off it by a pattern that has no sum and no slope.
    line = np.linspace(1706.071556, 1614.799196, 5)
    return tuple(line + 20 * np.array([1, -2, 0, 2, -1]))


def test_figure_9_is_reproduced_to_its_last_digit():
    window = window_of(14, figure_9())
    assert window.average == pytest.approx(1660.435376, abs=1e-6)
    assert window.average * 1.1 == pytest.approx(1826.478914, abs=1e-6)
    assert window.average * 0.9 == pytest.approx(1494.391838, abs=1e-6)
    assert window.slope == pytest.approx(-22.81809, abs=1e-6)
    assert window.intercept == pytest.approx(2025.524816, abs=1e-6)
    assert line_at(window, 14) == pytest.approx(1706.071556, abs=1e-6)
    assert line_at(window, 18) == pytest.approx(1614.799196, abs=1e-6)
    assert window.slope_excursion / window.average * 100 == pytest.approx(5.4969, abs=5e-5)
    assert window.slope_limit == pytest.approx(166.0435376, abs=1e-6)
    assert window.range_limit == pytest.approx(332.0870752, abs=1e-6)
    assert window.steady


def test_a_window_of_five_flat_rounds_is_steady():
    window = window_of(1, [100.0] * 5)
    assert window.steady
    assert window.slope == 0
    assert window.range == 0


def test_a_point_outside_ninety_percent_can_stand_in_a_steady_window():
    # Whitepaper, figure 22: the limit is on the range, not on the distance from the average.
    window = window_of(1, [103.0, 103.0, 86.0, 103.0, 105.0])
    assert min(window.values) < 0.9 * window.average
    assert window.steady


def test_rounds_of_nothing_are_never_steady():
    assert not window_of(1, [0.0] * 5).steady


@pytest.mark.parametrize(
    ("values", "range_ok", "slope_ok"),
    [
        ((90, 110, 100, 110, 90), True, True),  # range 20 of 100: on the limit
        ((89, 110, 101, 110, 90), False, True),  # one above it
        ((95, 100, 100, 100, 105), True, True),  # slope excursion 8 of 100
        ((95, 97, 100, 103, 105), True, False),  # 10.4
        ((190, 195, 200, 205, 210), True, True),  # 20 of 200: on the limit
        ((189, 195, 200, 205, 211), True, False),
    ],
)
def test_whole_numbers_on_a_limit_pass_and_beyond_it_fail(values, range_ok, slope_ok):
    window = window_of(1, [float(value) for value in values])
    assert (window.range_ok, window.slope_ok) == (range_ok, slope_ok)


def exact(values: list[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """Return (average, range, slope excursion) of five rounds in exact arithmetic."""
    average = sum(values, Fraction(0)) / 5
    slope = sum(((i - 2) * (v - average) for i, v in enumerate(values)), Fraction(0)) / 10
    return average, max(values) - min(values), abs(slope) * 4


@given(st.lists(st.integers(1, 10**9), min_size=5, max_size=5))
def test_whole_numbers_are_judged_as_exact_fractions_judge_them(values):
    average, spread, excursion = exact([Fraction(value) for value in values])
    window = window_of(1, [float(value) for value in values])
    assert window.range_ok == (spread <= average / 5)
    assert window.slope_ok == (excursion <= average / 10)


@given(st.integers(-8, 8), st.integers(-8, 8), st.integers(1, 10**6), st.integers(-2, 2))
def test_the_boundary_itself_is_judged_exactly(bend, wave, scale, nudge):
    # Around a slope excursion of exactly 10 %: rounds 19, 19.5, 20, 20.5, 21 times 10·scale, then
    # bent without changing sum or slope, then nudged by one.
    base = np.array([190, 195, 200, 205, 210]) * scale
    shape = bend * np.array([1, -2, 0, 2, -1]) + wave * np.array([2, -1, -2, -1, 2])
    values = [int(value) for value in base + shape]
    values[4] += nudge
    average, spread, excursion = exact([Fraction(value) for value in values])
    window = window_of(1, [float(value) for value in values])
    assert window.slope_ok == (excursion <= average / 10)
    assert window.range_ok == (spread <= average / 5)


@given(st.lists(st.floats(1e-3, 1e9), min_size=5, max_size=5))
@example([0.9, 1.1, 1.0, 1.1, 0.9])
def test_doubles_are_judged_as_the_decimals_they_print_as(values):
    average, spread, excursion = exact([Fraction(repr(value)) for value in values])
    window = window_of(1, values)
    assert window.range_ok == (spread <= average / 5)
    assert window.slope_ok == (excursion <= average / 10)


@given(st.lists(st.floats(1, 1e6), min_size=5, max_size=5), st.integers(1, 1000))
def test_the_line_is_numpys(values, first):
    window = window_of(first, values)
    slope, intercept = np.polyfit(np.arange(first, first + 5), values, 1)
    assert window.slope == pytest.approx(slope, abs=1e-6 * max(values))
    middle = first + 2
    assert line_at(window, middle) == pytest.approx(slope * middle + intercept, rel=1e-6)
    assert line_at(window, middle) == pytest.approx(window.average, rel=1e-9)


EDGE = [90, 110, 100, 110, 90]
"""On the limit of the range: in doubles it was steady, and a hundredth of it was not."""


@given(
    st.lists(st.integers(80, 120), min_size=5, max_size=30),
    st.fractions(min_value=Fraction(1, 10**12), max_value=10**12),
    st.integers(1, 50),
)
@example(EDGE, Fraction(1, 100), 1)
@example(EDGE, Fraction(1, 3), 1)
def test_any_scale_and_any_numbers_of_the_rounds_have_the_same_verdict(values, scale, shift):
    assume(scale > 0)
    plain = determine_one(tuple(values))
    scaled = determine_one(tuple(value * scale for value in values))
    rounds = range(1 + shift, 1 + shift + len(values))
    moved = determine(rounds, tracked(tuple(values)))[0]
    verdicts = {
        tuple((window.range_ok, window.slope_ok) for window in state.windows)
        for state in (plain, scaled, moved)
    }
    assert len(verdicts) == 1
    assert plain.reached == scaled.reached == moved.reached


@given(st.lists(st.integers(80, 120), min_size=5, max_size=5), st.integers(-90, 90))
@example(EDGE, -2)
def test_typed_decimals_have_the_same_verdict_in_any_unit(values, power):
    plain = window_of(1, values)
    typed = window_of(1, [Decimal(value).scaleb(power) for value in values])
    # A double is the decimal that it prints as: 0.9 is nine tenths.
    double = window_of(1, [float(f"{value}e{power}") for value in values])
    for window in (typed, double):
        assert (window.range_ok, window.slope_ok) == (plain.range_ok, plain.slope_ok)


@given(st.lists(st.fractions(Fraction(1, 10**6), 10**9), min_size=5, max_size=5))
def test_what_is_shown_beside_a_verdict_never_contradicts_it(values):
    # Each operand and limit is the double nearest to it, and rounding keeps the order.
    window = window_of(1, values)
    assert not window.range_ok or window.range <= window.range_limit
    assert window.range_ok or window.range >= window.range_limit
    assert not window.slope_ok or window.slope_excursion <= window.slope_limit
    assert window.slope_ok or window.slope_excursion >= window.slope_limit
    average, spread, excursion = exact(values)
    assert (window.average, window.range) == (float(average), float(spread))
    assert (window.slope_excursion, window.slope_limit) == (float(excursion), float(average / 10))


@pytest.mark.parametrize("kind", [int, float, Decimal, Fraction, np.int64, np.float64, np.float32])
def test_numbers_of_every_kind_are_taken_as_they_are(kind):
    assert window_of(1, [kind(value) for value in EDGE]).steady
    tenths = [kind(value) / kind(100) for value in EDGE]
    assert window_of(1, tenths).steady


@given(st.lists(st.integers(80, 120), min_size=5, max_size=5))
def test_a_window_read_backwards_has_the_same_verdict(values):
    forward = window_of(1, [float(value) for value in values])
    backward = window_of(1, [float(value) for value in reversed(values)])
    assert forward.steady == backward.steady
    assert forward.slope == pytest.approx(-backward.slope)


def test_all_variables_must_be_steady_in_the_same_window():
    rises = tuple(float(value) for value in (50, 70, 100, 100, 100, 100, 100, 50, 100))
    settles = (10.0, 20.0, 30.0, 40.0, 50.0, 50.0, 50.0, 50.0, 50.0, 50.0)
    # `rises` is steady in 3–7 only, `settles` only from 4 on: never together.
    states = determine(range(1, 10), tracked(rises, settles[:9]))
    assert determine_one(rises).reached == 2
    assert determine_one(settles).reached is not None
    assert [state.reached for state in states] == [None, None]
    # Five more flat rounds of both, and they are.
    states = determine(range(1, 15), tracked(rises + (100.0,) * 5, settles[:9] + (50.0,) * 5))
    places = {state.reached for state in states}
    assert places == {8}
    assert all(state.window is not None and state.window.steady for state in states)


def test_without_steady_state_the_last_five_rounds_are_reported():
    values = tuple(2.0**number for number in range(25))
    state = determine_one(values)
    assert state.reached is None
    assert state.window is not None
    assert (state.window.first_round, state.window.last_round) == (21, 25)
    assert state.window.values == values[-5:]


def test_fewer_than_five_rounds_have_no_window():
    state = determine_one((1.0, 1.0, 1.0, 1.0))
    assert state.windows == ()
    assert state.window is None
    assert state.reached is None
