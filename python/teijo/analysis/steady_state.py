"""Steady state as the PTS defines it (2.0.2 §2.1.24): windows of five rounds, in exact numbers.

Nothing is rounded before it is compared, so that no verdict depends on the unit of its values.
Where the tracked values come from is not known here.
"""

import itertools
import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from teijo.terms.finding import SteadyState, Window

WINDOW_ROUNDS = 5
Number = int | float | Decimal | Fraction
"""What a round may be given as; a float counts as the shortest decimal that reads as it."""


@dataclass(frozen=True, kw_only=True)
class Tracked:
    """One tracking variable: its name, unit, and one value per round.

    What was measured comes as a `Fraction` of whole ns, bytes and I/Os: see `exactly`.
    """

    variable: str
    unit: str
    values: tuple[Number, ...]


def exactly(value: Number) -> Fraction:
    """Return the number that was meant: 0.9 is nine tenths, not the double next to it.

    A float is read as it prints, which is what somebody typed; all others are exact already.
    """
    if isinstance(value, Decimal | Fraction):
        return Fraction(value)
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    assert math.isfinite(value), value
    return Fraction(str(value))


def window_of(first_round: int, values: Sequence[Number]) -> Window:
    """Return the determination over one window of consecutive rounds.

    The range (max − min) may be 20 % of the average; the least-squares line over the rounds may
    rise or fall by 10 % of it from the first round to the last, which are rounds − 1 intervals
    apart. Both verdicts come from whole numbers, the values over their common denominator; each
    operand and limit beside them is the double nearest to the truth.
    """
    count = len(values)
    assert count >= 2, "a line needs two rounds"
    given = [exactly(value) for value in values]
    unit = math.lcm(*(value.denominator for value in given))
    whole = [value.numerator * (unit // value.denominator) for value in given]
    total, spread = sum(whole), max(whole) - min(whole)
    # Twice the moment about the centre, since the centre of an even count is no whole number.
    # The centred rounds sum to zero, so Σ(i − c)(y − ȳ) = Σ(i − c)·y.
    moment = sum((2 * place - (count - 1)) * value for place, value in enumerate(whole))
    # Σ(i − c)² = count·(count² − 1) / 12, of which `moment` is twice its share.
    squares = count * (count * count - 1)
    average, slope = Fraction(total, count * unit), Fraction(6 * moment, squares * unit)
    centre = first_round + Fraction(count - 1, 2)
    return Window(
        first_round=first_round,
        last_round=first_round + count - 1,
        values=tuple(float(value) for value in given),
        average=float(average),
        range=spread / unit,
        range_limit=float(average / 5),
        slope=float(slope),
        intercept=float(average - slope * centre),
        slope_excursion=float(abs(slope) * (count - 1)),
        slope_limit=float(average / 10),
        # The definition says both "less than" and "no more than": so ≤, multiplied out to be exact.
        range_ok=5 * count * spread <= total,
        slope_ok=60 * count * (count - 1) * abs(moment) <= squares * total,
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
            values=tuple(float(exactly(value)) for value in each.values),
            windows=tuple(found),
            reached=reached,
        )
        for each, found in zip(tracked, windows, strict=True)
    )


def line_at(window: Window, round_number: float) -> float:
    """Return the least-squares line's value at a round."""
    return window.slope * round_number + window.intercept
