"""Whether drives share a bottleneck: how much slower each is together with others than without.

A round has every spell twice, the second half in the reverse order of the first, so that what
drifts evenly is in both sides alike. Each round gives one ratio; the rounds give the interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from teijo.analysis.difference import CONFIDENCE, student_t_limit
from teijo.terms.bottleneck import BLOCK_BYTES, LOADS, ROUNDS_LEAST, Driven, LoadName, Measured
from teijo.terms.topology import Sharers

LOSS_LEAST: Final = 0.05
"""A drive that loses less together with others is said to share no bottleneck with them."""
BUSY_MOST: Final = 0.90
"""Processors that are busier are taken for the limit."""
BOUND_SHARE: Final = 0.90
"""A link that carries more of what is usable of it is at its bound."""
BEYOND_SHARE: Final = 1.15
"""What is usable of a link is known about so well: more did not come over it."""

Cell = tuple[str, LoadName, frozenset[str], str]
"""Host, load, the drives of a spell, and one of them."""
Side = Sequence[tuple[int, Driven, float | None]]
"""One drive in the spells of one kind: the round, what it gave, how busy the processors were."""


class Verdict(StrEnum):
    """Whether a drive shares a bottleneck with others of a group."""

    SHARES = "shares a bottleneck"
    HOST = "shares one, which may be the host"
    NOT = "does not share one"
    NOT_KNOWN = "cannot be known"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One drive of a group at one load, together with all of it and without.

    `without` are the drives of the largest smaller group that it was measured in, or itself: what
    those share among them is in both sides. Rates are I/Os a second, `alone` and `together` over
    all spells; `ratio`, and `low` and `high` as its bounds, are None where nothing can be told, and
    `why` says the reason.
    """

    drive: str
    without: tuple[str, ...]
    alone_iops: float
    together_iops: float
    verdict: Verdict
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A group at one load: its drives, and their sum by what its narrowest link carries.

    `alone_bytes` is the sum of the drives alone, `together_bytes` that of all at once, in bytes a
    second; `bound` what the link carries, None where it is not told. `busy` and `busy_alone` are
    how busy the processors were in either, with all that else this host does.
    """

    group: Sharers
    load: LoadName
    comparisons: tuple[Comparison, ...]
    alone_bytes: float
    together_bytes: float
    bound: int | None
    busy: float | None
    busy_alone: float | None

    @property
    def sharing(self) -> tuple[Comparison, ...]:
        """The drives that lose by the others."""
        return tuple(
            each for each in self.comparisons if each.verdict in (Verdict.SHARES, Verdict.HOST)
        )

    @property
    def is_at_bound(self) -> bool:
        """Whether the drives together give about all that the link carries."""
        return (
            self.bound is not None
            and not self.is_beyond_bound
            and (self.together_bytes >= BOUND_SHARE * self.bound)
        )

    @property
    def is_beyond_bound(self) -> bool:
        """Whether the drives together give more than the link can carry."""
        return self.bound is not None and self.together_bytes > BEYOND_SHARE * self.bound


@dataclass(frozen=True)
class Bottlenecks:
    """A measurement, judged. That any of its verdicts is false is a matter of 5 %."""

    measured: Measured

    @cached_property
    def comparisons(self) -> int:
        """How many comparisons are judged together."""
        return sum(len(group.drives) for group in self.measured.groups) * len(LOADS)

    @cached_property
    def shared(self) -> tuple[Shared, ...]:
        """Each group at each load."""
        return tuple(self._shared(group, load) for group in self.measured.groups for load in LOADS)

    @cached_property
    def _spells(self) -> Mapping[Cell, Side]:
        found: dict[Cell, list[tuple[int, Driven, float | None]]] = {}
        for spell in self.measured.spells:
            for drive, driven in zip(spell.drives, spell.driven, strict=True):
                key = (spell.host, spell.load, frozenset(spell.drives), drive)
                found.setdefault(key, []).append((spell.round, driven, spell.busy))
        return found

    def _shared(self, group: Sharers, load: LoadName) -> Shared:
        comparisons = tuple(self._compared(group, load, drive) for drive in group.drives)
        narrowest = group.narrowest
        block = BLOCK_BYTES[load]
        alone = (self._mean(group.host, load, (drive,), drive) for drive in group.drives)
        return Shared(
            group=group,
            load=load,
            comparisons=comparisons,
            alone_bytes=block * math.fsum(alone),
            together_bytes=block * math.fsum(each.together_iops for each in comparisons),
            bound=None if narrowest is None else narrowest.usable,
            busy=self._busy(group, load, group.drives),
            busy_alone=self._busy(group, load, *((drive,) for drive in group.drives)),
        )

    def _compared(self, group: Sharers, load: LoadName, drive: str) -> Comparison:
        without = self._without(group, drive)
        sides = [
            self._spells.get((group.host, load, frozenset(drives), drive), ())
            for drives in (without, group.drives)
        ]
        told = Comparison(
            drive=drive,
            without=without,
            alone_iops=self._mean(group.host, load, without, drive),
            together_iops=self._mean(group.host, load, group.drives, drive),
            verdict=Verdict.NOT_KNOWN,
        )
        ratios = log_ratios(*([(at, driven) for at, driven, _ in side] for side in sides))
        if isinstance(ratios, str):
            return replace(told, why=ratios)
        interval = interval_of(ratios, self.comparisons)
        limited = [_is_limited(side) for side in sides]
        verdict, why = verdict_of(interval, alone_limited=limited[0], together_limited=limited[1])
        mean = math.fsum(ratios) / len(ratios)
        return replace(
            told, verdict=verdict, why=why, ratio=math.exp(mean), low=interval[0], high=interval[1]
        )

    def _without(self, group: Sharers, drive: str) -> tuple[str, ...]:
        """Return the largest smaller group that a drive is in, or it alone."""
        inner = [
            each.drives
            for each in self.measured.groups
            if each.host == group.host
            and drive in each.drives
            and set(each.drives) < set(group.drives)
        ]
        return max(inner, key=len, default=(drive,))

    def _mean(self, host: str, load: LoadName, drives: tuple[str, ...], drive: str) -> float:
        found = self._spells.get((host, load, frozenset(drives), drive), ())
        rates = [driven.iops for _, driven, _ in found if driven.iops > 0 and not driven.error]
        return math.exp(math.fsum(map(math.log, rates)) / len(rates)) if rates else 0.0

    def _busy(self, group: Sharers, load: LoadName, *kinds: tuple[str, ...]) -> float | None:
        """Return how busy the processors were in spells of these kinds, on average."""
        sides = (
            self._spells.get((group.host, load, frozenset(kind), kind[0]), ()) for kind in kinds
        )
        shares = [busy for side in sides for _, _, busy in side if busy is not None]
        return math.fsum(shares) / len(shares) if shares else None


def log_ratios(
    alone: Sequence[tuple[int, Driven]], together: Sequence[tuple[int, Driven]]
) -> list[float] | str:
    """Return the logarithm of the ratio of each round, or why there are none.

    A round counts where both of its sides were measured, each as the mean of its logarithms.
    """
    errors = dict.fromkeys(driven.error for _, driven in (*alone, *together) if driven.error)
    if errors:
        return next(iter(errors))
    if any(driven.iops <= 0 for _, driven in (*alone, *together)):
        return "it answered nothing in a whole spell"
    sides = [_by_round(alone), _by_round(together)]
    rounds = sorted(sides[0].keys() & sides[1].keys())
    if len(rounds) < ROUNDS_LEAST:
        return "there are too few rounds"
    return [sides[1][at] - sides[0][at] for at in rounds]


def _by_round(side: Sequence[tuple[int, Driven]]) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for at, driven in side:
        found.setdefault(at, []).append(math.log(driven.iops))
    return {at: math.fsum(each) / len(each) for at, each in found.items()}


def interval_of(ratios: Sequence[float], comparisons: int) -> tuple[float, float]:
    """Return the bounds of the ratio that holds for so many comparisons at once, at 95 %.

    Student's t on the rounds' logarithms, at 5 % over the number of comparisons (Bonferroni).
    """
    assert len(ratios) >= ROUNDS_LEAST, ratios
    assert comparisons >= 1, comparisons
    count = len(ratios)
    mean = math.fsum(ratios) / count
    variance = math.fsum((each - mean) ** 2 for each in ratios) / (count - 1)
    reach = student_t_limit((1 - CONFIDENCE) / comparisons, count - 1)
    reach *= math.sqrt(variance / count)
    return math.exp(mean - reach), math.exp(mean + reach)


def verdict_of(
    interval: tuple[float, float], *, alone_limited: bool, together_limited: bool
) -> tuple[Verdict, str]:
    """Return what an interval of a ratio says, and why it says nothing.

    A drive that the host held back without the others shows the host, and no more.
    """
    low, high = interval
    if high < 1 - LOSS_LEAST:
        return (Verdict.HOST if together_limited else Verdict.SHARES), ""
    if low <= 1 - LOSS_LEAST:
        return Verdict.NOT_KNOWN, "the rounds scatter too much"
    if alone_limited:
        return Verdict.NOT_KNOWN, "the host may have held it back without the others too"
    return Verdict.NOT, ""


def _is_limited(side: Side) -> bool:
    """Tell whether the host was the limit in more than half of the spells."""
    limited = [
        driven.limited or (busy is not None and busy > BUSY_MOST) for _, driven, busy in side
    ]
    return 2 * sum(limited) > len(limited)
