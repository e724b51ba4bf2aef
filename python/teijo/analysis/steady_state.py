"""Steady state as the PTS defines it (2.0.2 §2.1.24): windows of five rounds, in double.

Nothing is rounded before it is compared. Where the tracked values come from is not known here.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from teijo.terms.finding import SteadyState, Window

WINDOW_ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Tracked:
    """One tracking variable: its name, unit, and one value per round."""

    variable: str
    unit: str
    values: tuple[float, ...]


def window_of(first_round: int, values: Sequence[float]) -> Window:
    """Return the determination over one window of consecutive rounds.

    The range (max − min) may be 20 % of the average; the least-squares line over the rounds may
    rise or fall by 10 % of it from the first round to the last, which are rounds − 1 intervals
    apart. The limits are quotients (average / 5, average / 10), so that whole numbers exactly on
    a limit compare as equal.
    """
    count = len(values)
    assert count >= 2, "a line needs two rounds"
    assert all(math.isfinite(value) for value in values), values
    average = math.fsum(values) / count
    centre = (count - 1) / 2
    # The centred rounds sum to zero, so Σ(i − c)(y − ȳ) = Σ(i − c)·y: one rounding fewer.
    moment = math.fsum((i - centre) * value for i, value in enumerate(values))
    slope = moment / (count * (count * count - 1) / 12)
    return Window(
        first_round=first_round,
        last_round=first_round + count - 1,
        values=tuple(values),
        average=average,
        range=max(values) - min(values),
        range_limit=average / 5,
        slope=slope,
        intercept=average - slope * (first_round + centre),
        slope_excursion=abs(slope) * (count - 1),
        slope_limit=average / 10,
    )


def determine(rounds: Sequence[int], tracked: Sequence[Tracked]) -> tuple[SteadyState, ...]:
    """Return one determination per tracking variable, over consecutive rounds.

    Windows of five slide one round at a time and stop at the first in which *all* variables are
    steady (PTS 2.0.x has three, 1.x one): `reached` is that window's place in every variable.
    Fewer than five rounds have no window.
    """
    assert all(b == a + 1 for a, b in itertools.pairwise(rounds)), "consecutive rounds"
    assert all(len(each.values) == len(rounds) for each in tracked), "one value per round"
    windows: list[list[Window]] = [[] for _ in tracked]
    reached: int | None = None
    for place in range(len(rounds) - WINDOW_ROUNDS + 1):
        for each, found in zip(tracked, windows, strict=True):
            found.append(window_of(rounds[place], each.values[place : place + WINDOW_ROUNDS]))
        if tracked and all(found[-1].steady for found in windows):
            reached = place
            break
    return tuple(
        SteadyState(
            variable=each.variable,
            unit=each.unit,
            rounds=tuple(rounds),
            values=each.values,
            windows=tuple(found),
            reached=reached,
        )
        for each, found in zip(tracked, windows, strict=True)
    )


def line_at(window: Window, round_number: float) -> float:
    """Return the least-squares line's value at a round."""
    return window.slope * round_number + window.intercept
