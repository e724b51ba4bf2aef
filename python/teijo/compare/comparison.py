"""A comparison whole: its sides, their conditions, and what it shows. What a report says of it is
in pages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from teijo.compare.conditions import Deviation, check_conditions, deviations_of
from teijo.compare.hosts import HostOfRun, hosts_of
from teijo.compare.judged import Pairing, pairings_of
from teijo.compare.sides import Match, Side, check_sides, kind_of, matches_of
from teijo.terms.record import Record


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One test, and every other side against the first that has run it."""

    match: Match
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All of it. `kind` says what the sides are to each other; `deviations` what differs between
    their conditions, which was allowed.
    """

    sides: tuple[Side, ...]
    kind: str
    deviations: tuple[Deviation, ...]
    tests: tuple[Compared, ...]

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """Every side against the first, test by test."""
        return tuple(pairing for one in self.tests for pairing in one.pairings)

    @property
    def runs(self) -> tuple[tuple[str, Record], ...]:
        """Every run under its label, in the order of the sides."""
        return tuple(
            run for side in self.sides for run in zip(side.labels, side.records, strict=True)
        )

    @cached_property
    def hosts(self) -> tuple[HostOfRun, ...]:
        """The host of every run on a real device."""
        return hosts_of(self.runs)


def compared(sides: Sequence[Side], allowed: Iterable[str] = ()) -> Comparison:
    """Return the comparison of two sides or more, compared with the first of them.

    Raises:
        UsageError: there is nothing to compare, or conditions differ that were not allowed to.
    """
    check_sides(sides)
    matches = matches_of(sides)
    deviations = deviations_of(matches)
    check_conditions(matches, deviations, allowed)
    return Comparison(
        sides=tuple(sides),
        kind=kind_of(sides),
        deviations=deviations,
        tests=tuple(Compared(match=match, pairings=pairings_of(match)) for match in matches),
    )
