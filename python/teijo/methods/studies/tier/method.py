"""The study `tier`: how large a working set a fast tier before slow storage can be given before it
stops helping, and where it hurts.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from teijo import units
from teijo.analysis import measures
from teijo.analysis.slices import is_over, rate_over
from teijo.analysis.tiering import Cliff, cliff_of, settled
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.methods.studies.tier import cells
from teijo.methods.studies.tier.cells import AGAIN, TIER, Key, is_random, reads
from teijo.methods.studies.tier.found import TierFound
from teijo.methods.studies.tier.settings import PATTERNS, TierSettings, asked_on
from teijo.terms.configured import geometry_in
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Step

NARROW_BYTES: Final = units.MIB
"""A stretch between two sets that is no wider than this is not halved any more."""

Rate = Generator[Step, Answer, float]


class Tier(Method[TierSettings, TierFound]):
    """The method `tier`."""

    id = "tier"
    settings_type = TierSettings
    found_type = TierFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for; where no pattern writes, nothing is filled by default."""
        asked = super().asked(overrides, geometry)
        # A study that only reads needs no consent, and a fill would.
        if all(map(reads, asked.get("patterns", PATTERNS))):
            asked.setdefault("fill_times", 0)
        return asked

    def check(self, settings: TierSettings, geometry: Geometry) -> None:
        """Make sure that the sets and blocks fit on the device."""
        check_blocks(settings.block_sizes_bytes, geometry)
        if settings.hook and (settings.fast or settings.slow):
            raise PlanError(
                "The setting hook is given with fast or slow, and a device is real or simulated",
                remedy="Set hook for a real target, fast and slow for a simulated one.",
            )
        sets = settings.sets_of(geometry)
        dropped = [each for each in settings.sets_bytes if each not in sets]
        if dropped or not sets:
            raise PlanError(
                f"A working set of {forms.VOLUME.show(max(dropped, default=0))} does not lie on "
                f"{units.format_capacity(geometry.nominal_capacity_bytes)}",
                remedy="Set smaller sets, or take a larger device.",
            )
        largest = settings.block_sizes_bytes[-1]
        if sets[0] / geometry.scale < 2 * largest:
            blocks = units.format_block_size(largest)
            raise PlanError(
                f"Blocks of {blocks} have no choice of places in a set of "
                f"{forms.VOLUME.show(sets[0])} at 1:{geometry.scale:g}",
                remedy="Set smaller block_sizes or larger sets.",
            )

    def asked_on(self, overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the overrides with what a simulated pair says of itself; see KnowsPairs."""
        return asked_on(overrides, facts)

    def writes(self, settings: TierSettings) -> bool:
        """Return whether a pattern writes, or the largest set is filled before."""
        return settings.fill_times > 0 or not all(map(reads, settings.patterns))

    def steps(self, settings: TierSettings, geometry: Geometry) -> Steps:
        """Measure the tier, look closer at its cliffs and at each twice, then each device alone.

        A cell that a gap broke is measured again from its first slice.
        """
        for stage in settings.stages:
            sizes = yield from _begin(settings, stage, geometry)
            curves: dict[Key, dict[int, float]] = {}
            for key in cells.keys_of(settings, stage, sizes):
                rates = curves.setdefault(replace(key, set_bytes=0), {})
                rates[key.set_bytes] = yield from _cell(settings, key, sizes)
            if stage == TIER:
                for curve, rates in curves.items():
                    yield from _closer(settings, sizes, curve, rates)
        return "done"


def _begin(
    settings: TierSettings, stage: str, geometry: Geometry
) -> Generator[Step, Answer, Geometry]:
    """Put a stage's device in place and fill it; return its sizes."""
    # A simulated tier is there from the start; a real target only after its hook.
    if stage != TIER or settings.hook:
        answer = yield from insist(cells.configuring(settings, stage))
        geometry = geometry_in(answer.detail) or geometry
    fill = cells.filling(settings, geometry)
    if fill is not None:
        yield from insist(fill)
    return geometry


def _cell(
    settings: TierSettings, key: Key, geometry: Geometry, *, back_to: float | None = None
) -> Rate:
    """Drive one cell until its rate is steady, or for as many slices as it may have.

    After a gap the hook is called again: nobody knows what has become of its work.
    """
    slices: list[Fraction] = []
    while not is_over(slices, most=settings.slices_most, back_to=back_to):
        answer = yield cells.slice_of(settings, key, geometry, len(slices) + 1)
        if isinstance(answer, Gap):
            slices.clear()
            if settings.hook:
                stage = TIER if key.stage == AGAIN else key.stage
                yield from insist(cells.configuring(settings, stage))
            continue
        slices.append(measures.exact_mb_s(answer))
    return rate_over(slices)


def _closer(
    settings: TierSettings, geometry: Geometry, curve: Key, rates: dict[int, float]
) -> Generator[Step, Answer, None]:
    """Halve the stretch in which a curve falls, as often as asked, and see whether it comes back
    and falls again: a tier does, a drive that was worn by writing does not come back.
    """
    for _ in range(settings.refine):
        cliff = cliff_of(sorted(rates.items()))
        if cliff is None or cliff.bad_bytes - cliff.good_bytes <= NARROW_BYTES:
            break
        middle = between(cliff)
        rates[middle] = yield from _cell(settings, replace(curve, set_bytes=middle), geometry)
    # A sequential stream is not all over its set at once, so its fall is no evidence.
    if is_random(curve.pattern):
        yield from _turned_back(settings, geometry, curve, rates)


def _turned_back(
    settings: TierSettings, geometry: Geometry, curve: Key, rates: dict[int, float]
) -> Generator[Step, Answer, None]:
    """Go back to a smaller set after a fall, and, if it is as fast as before, forth again.

    A set that is read as fast then was not warm before: the next one is measured again too.
    """
    later: dict[int, float] = {}
    while True:
        own, fall = settled(sorted(rates.items()), later, reads=reads(curve.pattern))
        if fall is None or fall.kind != "unfinished":
            return
        back_to = dict(own)[fall.back_bytes] if fall.back is None else None
        size = fall.cliff.bad_bytes if back_to is None else fall.back_bytes
        key = replace(curve, stage=AGAIN, set_bytes=size)
        later[size] = yield from _cell(settings, key, geometry, back_to=back_to)


def between(cliff: Cliff) -> int:
    """Return the working set that halves the stretch with the cliff, without odd bytes."""
    grain = units.GIGA if cliff.bad_bytes - cliff.good_bytes >= 10 * units.GIGA else 4096
    middle = max(grain, round(cliff.middle_bytes / grain) * grain)
    # Rounded it may be a set that was measured already.
    return middle if cliff.good_bytes < middle < cliff.bad_bytes else cliff.middle_bytes
