"""How checks come to a verdict: met or not, or not verifiable, and what many of them have alike."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from teijo.conformance.requirement import Case, Check, Found
from teijo.units import NS_PER_MS

T = TypeVar("T")
MOST: Final = 12
"""Digits after the point: doubles of the size of a percentage have no more to give."""


def met_if(holds: bool, evidence: str, short: str = "") -> Found:
    """Return that a requirement was met or not, by this evidence."""
    if holds:
        return Found(verdict="met", evidence=evidence)
    return Found(verdict="deviated", evidence=evidence, short=short)


def untold(evidence: str) -> Found:
    """Return that the record does not show it, and why."""
    return Found(verdict="not verifiable", evidence=evidence)


def judging(
    items: Callable[[Case], Sequence[T]], missing: str = "not yet"
) -> Callable[[Callable[[Case, Sequence[T]], Found]], Check]:
    """Make a check of what judges certain items: without any it is `missing` and not verifiable."""

    def made(judge: Callable[[Case, Sequence[T]], Found]) -> Check:
        def check(case: Case) -> Found:
            several = items(case)
            return judge(case, several) if several else untold(missing)

        return check

    return made


def at_the_end(check: Check) -> Check:
    """Make a check that has its evidence at any time, and a verdict once the test is over."""

    def judged(case: Case) -> Found:
        found = check(case)
        return found if case.is_over else untold(found.evidence)

    return judged


def in_shares(
    lengths: Sequence[float], *, asked: Sequence[float], shares: tuple[float, float]
) -> bool:
    """Return whether there is a length for each in `asked`, within these shares of it.

    `lengths` and `asked` are in one unit.
    """
    low, high = shares
    return len(lengths) == len(asked) and all(
        low * wanted <= length <= high * wanted
        for wanted, length in zip(asked, lengths, strict=True)
    )


def ruled(rule: T | None) -> T:
    """Return a version's rule for a test, which a version that has the test has."""
    assert rule is not None, "the version has this test"
    return rule


def ends(values: Sequence[float]) -> dict[str, float]:
    """Return the least and the greatest of several values, as sentences have them."""
    return {"low": min(values), "high": max(values)}


def pause(case: Case, longest_ns: int) -> dict[str, float]:
    """Return a pause beside what is allowed, in ms, with the digits that show which is longer."""
    ms, limit = longest_ns / NS_PER_MS, case.rest_ns_most / NS_PER_MS
    return {"ms": ms, "limit": limit, "digits": digits_beside([(ms, limit)], least=3)}


def digits_beside(pairs: Iterable[tuple[float, float]], *, least: int) -> int:
    """Return after how many digits each number is as much above or below its limit as it is.

    `pairs` are numbers with their limits, both printed with so many digits; `least` are usual.
    """
    judged = list(pairs)
    enough = (
        digits
        for digits in range(least, MOST)
        if all(
            _side(_printed(value, digits), _printed(limit, digits)) == _side(value, limit)
            for value, limit in judged
        )
    )
    return next(enough, MOST)


def _printed(value: float, digits: int) -> float:
    return float(f"{value:.{digits}f}")


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)
