"""What a record of the study shows of each pattern and block size: the cliff, the devices alone,
the models beside the measured rates; and what follows for a buyer.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from teijo import units
from teijo.analysis import measures, over_sets, tiering
from teijo.analysis.slices import is_over
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.phrase import Verbatim, say
from teijo.methods.found import Found
from teijo.methods.studies.tier import cells
from teijo.methods.studies.tier.cells import AGAIN, TIER, CellFound, Key, is_random
from teijo.methods.studies.tier.settings import TierSettings
from teijo.terms.finding import Cell, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure, Precondition
from teijo.terms.watch import Watch

Seen = Literal["tier", "none", "unknown"]
"""Whether there is a tier: it is seen, none is seen among the sets, or it cannot be known."""
Reason = Literal["unfilled", "few sets", "no reads", "falls"]
"""Why it cannot be known: what is read may never have been written; no pattern was random, or it
had one set; only writes, which wear; or a fall that nothing explains.
"""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One pattern and block size: cells by ascending sets, of the tier, of the sets about its
    cliff once more (`again`), and of either device alone (empty where it was not measured).
    """

    pattern: str
    block_size_bytes: int
    tier: Mapping[int, CellFound]
    again: Mapping[int, CellFound]
    fast: Mapping[int, CellFound]
    slow: Mapping[int, CellFound]

    @property
    def smallest(self) -> CellFound:
        """The tier's cell over the smallest set."""
        return self.tier[min(self.tier)]

    @property
    def largest(self) -> CellFound:
        """The tier's cell over the largest set."""
        return self.tier[max(self.tier)]

    @cached_property
    def cliff(self) -> tiering.Cliff | None:
        """Where the tier's rate falls: the sets about it that are known to be held, and not to be;
        as far as the rates' scatter lets that be known of any.
        """
        rates, fall = self._settled
        if fall is None:
            return None
        return over_sets.certain_cliff(fall.cliff, rates, self._cells) or fall.cliff

    @property
    def held(self) -> tuple[int, int] | tuple[None, None]:
        """The largest set that is held, and the first that is not; None where nothing falls."""
        return (self.cliff.good_bytes, self.cliff.bad_bytes) if self.cliff else (None, None)

    @cached_property
    def fall(self) -> tiering.Fall | None:
        """What that fall is evidence of; None where there is none, and of a sequential stream,
        which does not go over the whole of a set at once.
        """
        rates, fall = self._settled
        if fall is None or not is_random(self.pattern):
            return None
        if fall.kind != "tier" or over_sets.is_certain(fall, rates, self._cells, self.again):
            return fall
        return replace(fall, kind="scattered")

    @property
    def fall_factor(self) -> float:
        """How many times the largest set's rate the smallest set's is."""
        last = self.largest.rate
        return self.smallest.rate / last if last > 0 else 0.0

    @cached_property
    def warmed(self) -> tuple[int, ...]:
        """The sets that were slow at first, and held when they were measured again."""
        later = dict(self._settled[0])
        # Only these were given another rate.
        return tuple(size for size, cell in self.tier.items() if later[size] != cell.rate)

    @property
    def reads(self) -> bool:
        """Whether nothing is written."""
        return cells.reads(self.pattern)

    @cached_property
    def _settled(self) -> tuple[tuple[tuple[int, float], ...], tiering.Fall | None]:
        rates, later = (
            {size: cell.rate for size, cell in own.items()} for own in (self.tier, self.again)
        )
        return tiering.settled(tuple(rates.items()), later, reads=self.reads)

    @cached_property
    def _cells(self) -> dict[int, CellFound]:
        """The cells behind the rates, by set: of a set that was not warm, the later one."""
        return {**self.tier, **{each: self.again[each] for each in self.warmed}}

    @cached_property
    def swept(self) -> bool:
        """Whether every cell of the tier went over the whole of its set."""
        return all(cell.swept for cell in self.tier.values())

    @cached_property
    def fast_rate(self) -> float | None:
        """MB/s of the fast device alone: the mean over its sets."""
        return _mean(self.fast)

    @cached_property
    def slow_rate(self) -> float | None:
        """MB/s of the slow device alone at its largest set: a smaller one may lie in its caches."""
        return self.slow[max(self.slow)].rate if self.slow else None

    @property
    def cached_times(self) -> float:
        """How many times its rate at the largest set the slow device alone has at one it reads
        faster.
        """
        rates = [cell.rate for cell in self.slow.values()]
        return max(rates) / self.slow_rate if self.slow_rate else 1.0

    @property
    def slow_by_fast(self) -> float | None:
        """How many times the fast device's rate the slow one's is; None where either has none."""
        return self.slow_rate / self.fast_rate if self.slow_rate and self.fast_rate else None

    @property
    def stripes(self) -> int | None:
        """How many fast devices are together at least as fast as the slow one."""
        return tiering.stripes(self.fast_rate or 0.0, self.slow_rate or 0.0, equal=over_sets.EQUAL)

    @property
    def share_of_slow(self) -> float | None:
        """The tier's rate at the largest set by the slow device's there, where that is known."""
        slow = self._slow_at(max(self.tier))
        return self.largest.rate / slow if slow else None

    def _slow_at(self, set_bytes: int) -> float | None:
        """Return MB/s of the slow device alone at a set, or at the measured one next to it."""
        cell = over_sets.nearest(self.slow, set_bytes)
        return None if cell is None else cell.rate

    def model(self, tier_bytes: int | None, set_bytes: int) -> tuple[float, float] | None:
        """Return MB/s of the two models at a set: each I/O in turn, and devices side by side.

        They are of uniform accesses: None where the tier's cells did not get through their sets.
        """
        fast, slow = self.fast_rate, self._slow_at(set_bytes)
        if tier_bytes is None or fast is None or slow is None or not self.swept:
            return None
        share = tiering.hit_share(tier_bytes, set_bytes)
        return tiering.in_turn(fast, slow, share), tiering.side_by_side(fast, slow, share)


class TierFound(Found[TierSettings]):
    """What a record of the study shows: its cells, a curve of each pattern and block size, and
    whether there is a tier.
    """

    @cached_property
    def measured(self) -> Mapping[Key, CellFound]:
        """All cells in order, by stage, pattern, block and set."""
        return cells.cells_in(self.exchanges)

    @cached_property
    def geometries(self) -> Mapping[str, Geometry]:
        """The devices that cells were measured on, by stage, as far as one was reached."""
        return cells.geometries_in(self.exchanges, self.record.geometry)

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The curves of which a cell was measured."""
        curves = (
            Curve(
                pattern=pattern,
                block_size_bytes=block,
                tier=self._over_sets(TIER, pattern, block),
                again=self._over_sets(AGAIN, pattern, block),
                fast=self._over_sets("fast", pattern, block),
                slow=self._over_sets("slow", pattern, block),
            )
            for pattern in self.settings.patterns
            for block in self.settings.block_sizes_bytes
        )
        return tuple(each for each in curves if each.tier or each.fast or each.slow)

    def _over_sets(self, *of: str | int) -> Mapping[int, CellFound]:
        """Return the cells of a stage, pattern and block, by their sets, ascending."""
        return {
            key.set_bytes: self.measured[key]
            for key in sorted(self.measured)
            if (key.stage, key.pattern, key.block_size_bytes) == of
        }

    @property
    def tier_bytes(self) -> int | None:
        """What the models take the fast tier to hold; None where neither a setting nor the fast
        device says.
        """
        fast = self.geometries.get("fast")
        # Behind a hook it is the same target at every stage, whose size is not the fast one's.
        if self.settings.tier_bytes is None and fast is not None and self.settings.fast:
            return fast.nominal_capacity_bytes
        return self.settings.tier_bytes

    @property
    def rounds(self) -> int:
        """How many cells were measured."""
        return len(self.measured)

    @cached_property
    def witnesses(self) -> tuple[Curve, ...]:
        """The curves that can show a tier: random accesses to two sets or more."""
        return tuple(
            curve for curve in self.curves if is_random(curve.pattern) and len(curve.tier) >= 2
        )

    @cached_property
    def best_witnesses(self) -> tuple[Curve, ...]:
        """Those of reads, which wear nothing; without any, all of them."""
        return tuple(each for each in self.witnesses if each.reads) or self.witnesses

    @cached_property
    def proven(self) -> tuple[Curve, ...]:
        """The curves that fall as only a tier or a cache makes them, of reads if there are any."""
        own = self.falling("tier")
        return tuple(each for each in own if each.reads) or own

    def falling(self, kind: tiering.FallKind) -> tuple[Curve, ...]:
        """Return those that can show a tier whose fall is of this kind."""
        return tuple(each for each in self.witnesses if each.fall and each.fall.kind == kind)

    @property
    def seen(self) -> Seen:
        """Whether there is a tier."""
        if self.unknown is not None:
            return "unknown"
        return "tier" if self.proven else "none"

    @cached_property
    def unknown(self) -> Reason | None:
        """Why it cannot be known whether there is a tier; None where it can.

        A tier answers reads, so they decide where there are any.
        """
        if not self.witnesses:
            return "few sets"
        # What was never written is answered without the medium, and ends as sharply as a tier.
        if not self.settings.fill_times:
            return "unfilled"
        if self.proven:
            return None
        best = self.best_witnesses
        if all(each.fall.kind == "gentle" for each in best if each.fall):
            return None
        return "falls" if best[0].reads else "no reads"

    @property
    def deepest(self) -> Curve | None:
        """The curve with a tier's fall by the largest factor, the smallest block among equals."""
        return deepest_of(self.proven)

    @property
    def hero(self) -> Curve | None:
        """The curve that the first picture shows: the one with the tier's deepest fall, else the
        one that falls deepest of reads, else the first that was measured.
        """
        curves = self.best_witnesses or tuple(curve for curve in self.curves if curve.tier)
        falling = (curve for curve in curves if curve.cliff is not None)
        return self.deepest or deepest_of(falling) or next(iter(curves), None)

    @property
    def looked_at(self) -> tuple[int, int]:
        """The smallest and the largest set that random accesses were measured over, in bytes."""
        sets = [size for curve in self.witnesses for size in curve.tier]
        return min(sets), max(sets)

    def of(self, pattern: str) -> tuple[Curve, ...]:
        """Return the curves of one pattern in ascending block sizes."""
        return tuple(curve for curve in self.curves if curve.pattern == pattern)

    def crossover(self, pattern: str) -> float | None:
        """Return from which block size on the slow device alone is faster than the tier, at the
        largest set that the tier is known to hold, or the largest of all. Where the two do not
        differ beyond their scatter and 2 %, neither is.
        """
        both = [curve for curve in self.of(pattern) if curve.tier and curve.slow]
        held_bytes = self.tier_bytes or 0
        rates = [
            over_sets.levelled(curve.tier, curve.slow, held_bytes=held_bytes) for curve in both
        ]
        return tiering.crossover(
            [curve.block_size_bytes for curve in both],
            [tier for tier, _ in rates],
            [slow for _, slow in rates],
        )

    @property
    def counted(self) -> tuple[Curve, ...]:
        """The curves for which it is known how many fast devices would be needed."""
        return tuple(curve for curve in self.curves if curve.stripes is not None)

    @property
    def widest(self) -> Curve | None:
        """The curve for which the most fast devices would be needed."""
        return max(self.counted, key=lambda curve: curve.slow_by_fast or 0.0, default=None)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The cliffs, the crossovers, and how many fast devices would never hurt."""
        scalars = []
        for curve in self.curves:
            of = {
                "pattern": Verbatim(curve.pattern),
                "block": units.format_block_size(curve.block_size_bytes),
            }
            good, bad = curve.held
            scalars += [
                _scalar(say("{pattern} {block}: held up to", **of), good, units.GIGA, "GB"),
                _scalar(say("{pattern} {block}: not held at", **of), bad, units.GIGA, "GB"),
            ]
        for pattern in self.settings.patterns:
            name = say("{pattern}: slow device alone is faster from", pattern=Verbatim(pattern))
            scalars.append(_scalar(name, self.crossover(pattern), units.KIB, "KiB"))
        count = None if self.widest is None else self.widest.stripes
        return (*scalars, _scalar("fast devices that never hurt", count, 1, ""))

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Every cell over its last slices."""
        return tuple(
            measures.cell_over(key.labels, cell.window) for key, cell in self.measured.items()
        )

    @property
    def watch_running(self) -> Watch:
        """The cell under way, and what the cells still need.

        Of the devices alone the sizes are not known yet; they are taken to hold as many sets.
        """
        settings, record = self.settings, self.record
        names = [each.step.cell for each in record.steps if isinstance(each.step, Measure)]
        last = names[-1] if names else None
        stage = last.split()[0] if last else TIER
        stage = TIER if stage == AGAIN else stage
        left = [
            key
            for each in settings.stages[settings.stages.index(stage) :]
            for key in cells.keys_of(settings, each, self.geometries.get(each, record.geometry))
            if (cell := self.measured.get(key)) is None
            or not is_over(cell.exact, most=settings.slices_most)
        ]
        filled = any(isinstance(each.step, Precondition) for each in record.steps)
        fill = None if filled else cells.filling(settings, record.geometry)
        # Once back to a smaller set, and once forth again.
        again = 2 * sum(map(is_random, settings.patterns))
        closer = settings.refine * len(settings.patterns) + again if stage == TIER else 0
        most = len(left) + closer * len(settings.block_sizes_bytes)
        return Watch(
            phase="precondition" if fill else cells.CELL,
            cell=last,
            remaining_ns_least=len(left) * WINDOW_ROUNDS * settings.slice_ns,
            remaining_ns_most=most * settings.slices_most * settings.slice_ns,
            remaining_bytes=fill.total_bytes if fill else 0,
        )


def deepest_of(curves: Iterable[Curve]) -> Curve | None:
    """Return the curve that falls by the largest factor."""
    return max(curves, key=lambda curve: curve.fall_factor, default=None)


def _mean(cells: Mapping[int, CellFound]) -> float | None:
    return math.fsum(cell.rate for cell in cells.values()) / len(cells) if cells else None


def _scalar(name: str, value: float | None, per: int, unit: str) -> Scalar:
    return Scalar(name=name, value=None if value is None else value / per, unit=unit)
