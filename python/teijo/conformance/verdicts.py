"""How checks come to a verdict: met or not, or not verifiable, and what many of them have alike."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from teijo.conformance.requirement import Case, Check, Found

T = TypeVar("T")


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
    """Return whether there are as many lengths as asked for, each within these shares of its own.

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
