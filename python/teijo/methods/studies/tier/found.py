"""What a record of the study shows of each pattern and block size: the cliff, the devices alone,
the models beside the measured rates; and what follows for a buyer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from teijo.analysis.difference import difference_of
from teijo.analysis.tiering import (
    Cliff,
    Fall,
    cliff_known,
    cliff_of,
    crossover,
    hit_share,
    in_turn,
    is_sharp,
    settled,
    side_by_side,
    stripes,
)
from teijo.methods.rounds import exchanges_of
from teijo.methods.studies.tier.cells import (
    AGAIN,
    TIER,
    CellFound,
    Found,
    found_in,
    is_evidence,
    ratio_of,
)
from teijo.methods.studies.tier.settings import PATTERNS, TierSettings
from teijo.terms.record import Record

EQUAL: Final = 0.02
"""Rates of the two devices that are nearer to each other than this share are taken as equal."""

Seen = Literal["tier", "none", "unknown"]
"""Whether there is a tier: it is seen, none is seen among the sets, or it cannot be known."""
Reason = Literal["unfilled", "few sets", "no reads", "falls"]
"""Why it cannot be known: what is read may never have been written; no pattern was random, or it
had one set; only writes, which wear; or a fall that nothing explains.
"""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One pattern and block size: cells over ascending sets, of the tier, of the tier's two sets
    about its cliff once more, and of either device alone (empty where it was not measured).
    """

    pattern: str
    block_bytes: int
    tier: tuple[CellFound, ...]
    again: tuple[CellFound, ...]
    fast: tuple[CellFound, ...]
    slow: tuple[CellFound, ...]

    @property
    def cliff(self) -> Cliff | None:
        """Where the tier's rate falls: the sets about it that are known to be held, and not to be;
        as far as the rates' scatter lets that be known of any.
        """
        rates, _ = self._settled
        cliff = cliff_of(rates)
        return None if cliff is None else (self._known(cliff) or cliff)

    @property
    def fall(self) -> Fall | None:
        """What that fall is evidence of; None where there is none, and of a sequential stream,
        which does not go over the whole of a set at once.
        """
        _, fall = self._settled
        if fall is None or not is_evidence(self.pattern):
            return None
        if fall.kind == "tier" and not self._is_certain(fall):
            return replace(fall, kind="scattered")
        return fall

    @property
    def warmed(self) -> tuple[int, ...]:
        """The sets that were slow at first, and held when they were measured again."""
        later = dict(self._settled[0])
        return tuple(each for each, rate in self._rates if later[each] != rate)

    @property
    def reads(self) -> bool:
        """Whether nothing is written."""
        return PATTERNS[self.pattern][1] == 100

    @property
    def _rates(self) -> list[tuple[int, float]]:
        return [(cell.key.set_bytes, cell.throughput.mean) for cell in self.tier]

    @property
    def _settled(self) -> tuple[tuple[tuple[int, float], ...], Fall | None]:
        later = {cell.key.set_bytes: cell.throughput.mean for cell in self.again}
        return settled(self._rates, later, reads=self.reads)

    @property
    def _cells(self) -> list[CellFound]:
        """The cells behind the rates, ascending: of a set that was not warm, the later one."""
        later = {cell.key.set_bytes: cell for cell in self.again}
        warmed = self.warmed
        return [
            later[cell.key.set_bytes] if cell.key.set_bytes in warmed else cell
            for cell in self.tier
        ]

    def _known(self, cliff: Cliff) -> Cliff | None:
        first, *others = self._cells
        ratios = {each.key.set_bytes: ratio_of(first, each) for each in others}
        known = {each: ratio for each, ratio in ratios.items() if ratio is not None}
        return cliff_known(cliff, self._settled[0], known)

    def _is_certain(self, fall: Fall) -> bool:
        """Return whether what makes the fall a tier's is beyond the rates' scatter: that it is
        slower there at all, sharply so, and again.
        """
        cliff = cliff_of(self._settled[0])
        assert cliff is not None, "it falls"
        later = {cell.key.set_bytes: cell for cell in self.again}
        again = ratio_of(later[fall.back_bytes], later[fall.bad_bytes])
        if self._known(cliff) is None or again is None or again.high >= 1:
            return False
        cells = self._cells
        before = [each for each in cells if each.key.set_bytes <= fall.good_bytes]
        behind = [each for each in cells if each.key.set_bytes >= fall.bad_bytes]
        return any(
            (ratio := ratio_of(one, other)) is not None
            and is_sharp(ratio, other.key.set_bytes / one.key.set_bytes)
            for one in before
            for other in behind
        )

    @property
    def swept(self) -> bool:
        """Whether every cell of the tier went over the whole of its set, so that the models, which
        are of uniform accesses, say something of it.
        """
        return all(cell.swept for cell in self.tier)

    @property
    def fast_rate(self) -> float | None:
        """MB/s of the fast device alone: the mean over its sets."""
        return _mean(self.fast)

    @property
    def slow_rate(self) -> float | None:
        """MB/s of the slow device alone: the mean over its sets."""
        return _mean(self.slow)

    def slow_at(self, set_bytes: int) -> float | None:
        """Return MB/s of the slow device alone at a set, or at the measured one next to it."""
        return _near(self.slow, set_bytes).throughput.mean if self.slow else None

    def slow_beside(self, cell: CellFound) -> CellFound:
        """Return the slow device's cell at the set of another, or at the one next to it."""
        return _near(self.slow, cell.key.set_bytes)

    @property
    def stripes(self) -> int | None:
        """How many fast devices are together at least as fast as the slow one."""
        fast, slow = self.fast_rate, self.slow_rate
        return None if fast is None or slow is None else stripes(fast, slow, equal=EQUAL)

    def model(self, tier_bytes: int, set_bytes: int) -> tuple[float, float] | None:
        """Return MB/s of the two models at a set: each I/O in turn, and devices side by side."""
        fast, slow = self.fast_rate, self.slow_at(set_bytes)
        if fast is None or slow is None:
            return None
        share = hit_share(tier_bytes, set_bytes)
        return in_turn(fast, slow, share), side_by_side(fast, slow, share)


@dataclass(frozen=True, kw_only=True)
class Tiering:
    """All that was found. `tier_bytes` is what the models take the fast tier to hold; None where
    neither a setting nor the fast device tells.
    """

    found: Found
    curves: tuple[Curve, ...]
    tier_bytes: int | None
    filled: bool
    """Whether the largest set was written before anything was read."""

    @property
    def witnesses(self) -> tuple[Curve, ...]:
        """The curves that can show a tier: random accesses to two sets or more."""
        return tuple(
            curve for curve in self.curves if is_evidence(curve.pattern) and len(curve.tier) >= 2
        )

    @property
    def proven(self) -> tuple[Curve, ...]:
        """The curves that fall as only a tier or a cache makes them, of reads if there are any."""
        own = [each for each in self.witnesses if each.fall and each.fall.kind == "tier"]
        return tuple([each for each in own if each.reads] or own)

    @property
    def seen(self) -> Seen:
        """Whether there is a tier."""
        if self.unknown is not None:
            return "unknown"
        return "tier" if self.proven else "none"

    @property
    def unknown(self) -> Reason | None:
        """Why it cannot be known whether there is a tier; None where it can.

        A tier answers reads, which wear nothing, so they decide where there are any.
        """
        if not self.witnesses:
            return "few sets"
        if not self.filled:
            return "unfilled"
        if self.proven:
            return None
        reads = [each for each in self.witnesses if each.reads]
        falls = [each.fall for each in reads or self.witnesses if each.fall]
        if all(fall.kind == "gentle" for fall in falls):
            return None
        return "falls" if reads else "no reads"

    def of(self, pattern: str) -> tuple[Curve, ...]:
        """Return the curves of one pattern in ascending block sizes."""
        return tuple(curve for curve in self.curves if curve.pattern == pattern)

    def crossover(self, pattern: str) -> float | None:
        """Return from which block size on the slow device alone is faster than the tier, at the
        smallest set, which the tier holds if it holds any. Where the two do not differ beyond
        their scatter and 2 %, neither is.
        """
        both = [curve for curve in self.of(pattern) if curve.tier and curve.slow]
        rates = [_levelled(curve, self.tier_bytes or 0) for curve in both]
        return crossover(
            [curve.block_bytes for curve in both],
            [tier for tier, _ in rates],
            [slow for _, slow in rates],
        )

    @property
    def widest(self) -> Curve | None:
        """The curve for which the most fast devices would be needed."""
        told = [curve for curve in self.curves if curve.stripes is not None]
        return max(
            told, key=lambda curve: (curve.slow_rate or 0) / (curve.fast_rate or 1), default=None
        )


def tiering_of(settings: TierSettings, record: Record) -> Tiering:
    """Return what a record shows so far, growing or sealed."""
    found = found_in(exchanges_of(record), record.geometry)
    curves = tuple(
        Curve(
            pattern=pattern,
            block_bytes=block,
            tier=tuple(found.curve(TIER, pattern, block)),
            again=tuple(found.curve(AGAIN, pattern, block)),
            fast=tuple(found.curve("fast", pattern, block)),
            slow=tuple(found.curve("slow", pattern, block)),
        )
        for pattern in settings.patterns
        for block in settings.block_sizes_bytes
    )
    fast = found.geometries.get("fast")
    told = settings.tier_bytes
    if told is None and fast is not None and settings.fast:
        told = fast.nominal_capacity_bytes
    measured = tuple(curve for curve in curves if curve.tier or curve.fast or curve.slow)
    return Tiering(found=found, curves=measured, tier_bytes=told, filled=settings.fill_times > 0)


def _mean(cells: Sequence[CellFound]) -> float | None:
    if not cells:
        return None
    return math.fsum(cell.throughput.mean for cell in cells) / len(cells)


def _near(cells: Sequence[CellFound], set_bytes: int) -> CellFound:
    return min(cells, key=lambda cell: abs(math.log(cell.key.set_bytes / set_bytes)))


def _levelled(curve: Curve, tier_bytes: int) -> tuple[float, float]:
    """Return both rates at the smallest set, the tier's twice where they do not differ.

    The sets were measured apart from each other, so how they scatter, the tier's as far as it is
    known to hold them, says how well the rates are known; of a single set its slices have to.
    """
    smallest = curve.tier[0]
    slow = curve.slow_beside(smallest)
    held = [cell.throughput.mean for cell in curve.tier if cell.key.set_bytes <= tier_bytes]
    found = difference_of(held, [cell.throughput.mean for cell in curve.slow])
    if found is None:
        found = ratio_of(smallest, slow, tolerance=0.0)
    rates = smallest.throughput.mean, slow.throughput.mean
    if found is None or not found.shown or abs(found.ratio - 1) <= EQUAL:
        return rates[0], rates[0]
    return rates
