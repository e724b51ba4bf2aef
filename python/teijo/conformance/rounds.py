"""Rounds as a record shows them, without the method's settings."""

from teijo.conformance.requirement import Case, Measured, Stretch
from teijo.terms.result import Gap
from teijo.terms.step import HISTOGRAM, ROUND, Measure

PREWRITE_CELL = "pre-write"
BURST_PHASE = "burst"
"""A burst is seconds long in the standard too."""


def rounds_in(case: Case) -> tuple[tuple[Measured, ...], ...]:
    """Return the cells of every whole round that counts, in order.

    A round that was broken by an interruption is none; the last may be under way.
    """
    found = [each for stretch in case.stretches for each in _rounds_of(stretch)]
    if not case.is_over and len(found) > 1 and len(found[-1]) < len(found[0]):
        del found[-1]
    return tuple(found)


def _rounds_of(stretch: Stretch) -> list[tuple[Measured, ...]]:
    found: list[list[Measured]] = []
    number: int | None = None
    for each in stretch.steps:
        if not isinstance(each.step, Measure) or each.step.phase != ROUND:
            continue
        if isinstance(each.answer, Gap):
            if number == each.step.round_number and found:
                found.pop()
            # The round is asked for again under the same number, and begins anew.
            number = None
            continue
        if each.step.round_number != number:
            number = each.step.round_number
            found.append([])
        found[-1].append((each, each.step, each.answer))
    return [tuple(cells) for cells in found]


def is_prewrite(measured: Measured) -> bool:
    """Return whether it is a minute of the pre-write before a sweep."""
    return (measured[1].cell or "").startswith(PREWRITE_CELL)


def minutes_in(case: Case) -> tuple[Measured, ...]:
    """Return every measurement that the standard has a minute for."""
    return tuple(each for each in case.measured if each[1].phase not in (HISTOGRAM, BURST_PHASE))
