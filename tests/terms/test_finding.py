"""Findings: which window is the one to report, and when it is steady."""

from dataclasses import replace

from teijo.terms.finding import SteadyState, Window

FLAT = Window(
    first_round=1,
    last_round=5,
    values=(1.0,) * 5,
    average=100.0,
    range=20.0,
    range_limit=20.0,
    slope=2.5,
    intercept=0.0,
    slope_excursion=10.0,
    slope_limit=10.0,
    range_ok=True,
    slope_ok=True,
)
WILD = replace(FLAT, range_ok=False)
TILTED = replace(FLAT, slope_ok=False)


def state(windows: tuple[Window, ...], reached: int | None) -> SteadyState:
    return SteadyState(
        variable="v", unit="IOPS", rounds=(), values=(), windows=windows, reached=reached
    )


def test_a_window_within_both_limits_is_steady_and_beyond_either_is_not():
    assert FLAT.steady
    assert (WILD.range_ok, WILD.slope_ok, WILD.steady) == (False, True, False)
    assert (TILTED.range_ok, TILTED.slope_ok, TILTED.steady) == (True, False, False)


def test_an_average_of_nothing_is_not_steady():
    nothing = replace(FLAT, average=0.0, range=0.0, range_limit=0.0, slope_excursion=0.0,
                      slope_limit=0.0)  # fmt: skip
    assert nothing.range_ok
    assert nothing.slope_ok
    assert not nothing.steady


def test_the_steady_window_is_reported_else_the_last_else_none():
    assert state((WILD, FLAT, TILTED), 1).window is FLAT
    assert state((FLAT, WILD), None).window is WILD
    assert state((), None).window is None
