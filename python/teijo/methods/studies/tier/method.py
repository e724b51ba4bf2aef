"""The study `tier`: how large a working set a fast tier before slow storage can be given before it
stops helping, and where it hurts.
"""

from collections.abc import Generator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Final

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.analysis.tiering import Cliff, cliff_of, settled
from teijo.document.model import Document
from teijo.document.phrase import say
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import insist
from teijo.methods.rounds import exchanges_of
from teijo.methods.studies.tier.cells import (
    AGAIN,
    CELL,
    TIER,
    Key,
    configuring,
    filling,
    found_in,
    is_evidence,
    keys_of,
    over,
    rate_over,
    slice_of,
)
from teijo.methods.studies.tier.found import Tiering, tiering_of
from teijo.methods.studies.tier.settings import (
    PATTERNS,
    TierSettings,
    asked_on,
    settings_of,
    show_volume,
)
from teijo.terms.configured import geometry_in
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.watch import Watch

NARROW_BYTES: Final = units.MIB
"""A stretch between two sets that is no wider than this is not halved any more."""

Rate = Generator[Step, Answer, float]


class TierFound(FlatFound[TierSettings]):
    """What a record of Tier shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return every cell over its last slices, and the cliff of each pattern and block size."""
        settings, record = self.settings, self.record
        tiering = tiering_of(settings, record)
        return Findings(
            method=record.run.method,
            spec="",
            converged=None,
            rounds=len(tiering.found.cells),
            scalars=_scalars(settings, tiering),
            cells=_cells(tiering),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        return _watch(settings, record)


class Tier(Method[TierSettings, TierFound]):
    """The method `tier`."""

    id = "tier"
    title = "Tier"
    summary = "fast storage before slow: to which working set it helps, and where it hurts"
    settings_type = TierSettings
    found_type = TierFound

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> TierSettings:
        """Return the settings asked for; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        return settings_of(overrides, geometry)

    def asked_on(self, overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the overrides with what a simulated pair says of itself; see KnowsPairs."""
        return asked_on(overrides, facts)

    def writes(self, settings: TierSettings) -> bool:
        """Return whether a pattern writes, or the largest set is filled before."""
        return settings.writes

    def steps(self, settings: TierSettings, geometry: Geometry) -> Steps:
        """Measure the tier, look closer at its cliffs and at each twice, then each device alone.

        A cell that a gap broke is measured again from its first slice.
        """
        for stage in settings.stages:
            sizes = yield from _begin(settings, stage, geometry)
            rates: dict[Key, float] = {}
            for key in keys_of(settings, stage, sizes):
                rates[key] = yield from _cell(settings, key, sizes)
            if stage == TIER:
                yield from _closer(settings, sizes, rates)
        return "done"

    def document(self, found: TierFound) -> Document:
        """Return the report."""
        from teijo.methods.studies.tier.pages import pages

        return pages(found)


def _begin(
    settings: TierSettings, stage: str, geometry: Geometry
) -> Generator[Step, Answer, Geometry]:
    """Put a stage's device in place and fill it; return its sizes."""
    if stage != TIER or settings.hook:
        answer = yield from insist(configuring(settings, stage))
        geometry = geometry_in(answer.detail) or geometry
    fill = filling(settings, geometry)
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
    while not over(settings, slices, back_to=back_to):
        answer = yield slice_of(settings, key, geometry, len(slices) + 1)
        if isinstance(answer, Gap):
            slices.clear()
            if settings.hook:
                stage = TIER if key.stage == AGAIN else key.stage
                yield from insist(configuring(settings, stage))
            continue
        slices.append(measures.exact_mb_s(answer))
    return rate_over(slices)


def _closer(
    settings: TierSettings, geometry: Geometry, rates: dict[Key, float]
) -> Generator[Step, Answer, None]:
    """Halve the stretch in which each curve falls, as often as asked, and see whether it comes
    back and falls again: a tier does, a drive that was worn by writing does not come back.
    """
    for block in settings.block_sizes_bytes:
        for pattern in settings.patterns:
            own = {
                key.set_bytes: rate
                for key, rate in rates.items()
                if (key.block_bytes, key.pattern) == (block, pattern)
            }
            for _ in range(settings.refine):
                cliff = cliff_of(sorted(own.items()))
                if cliff is None or cliff.bad_bytes - cliff.good_bytes <= NARROW_BYTES:
                    break
                middle = between(cliff)
                key = Key(stage=TIER, pattern=pattern, block_bytes=block, set_bytes=middle)
                own[middle] = yield from _cell(settings, key, geometry)
            if is_evidence(pattern):
                yield from _turned_back(settings, geometry, (pattern, block), own)


def _turned_back(
    settings: TierSettings, geometry: Geometry, of: tuple[str, int], own: dict[int, float]
) -> Generator[Step, Answer, None]:
    """Go back to a smaller set after a fall, and, if it is as fast as before, forth again.

    A set that is read as fast then was not warm before: the next one is measured again too.
    """
    pattern, block = of
    later: dict[int, float] = {}
    while True:
        rates, fall = settled(sorted(own.items()), later, reads=PATTERNS[pattern][1] == 100)
        if fall is None or fall.kind != "unfinished":
            return
        back_to = dict(rates)[fall.back_bytes] if fall.back is None else None
        size = fall.bad_bytes if back_to is None else fall.back_bytes
        key = Key(stage=AGAIN, pattern=pattern, block_bytes=block, set_bytes=size)
        later[size] = yield from _cell(settings, key, geometry, back_to=back_to)


def between(cliff: Cliff) -> int:
    """Return the working set that halves the stretch with the cliff, without odd bytes."""
    grain = 10**9 if cliff.bad_bytes - cliff.good_bytes >= 10**10 else 4096
    middle = max(grain, round(cliff.middle_bytes / grain) * grain)
    return middle if cliff.good_bytes < middle < cliff.bad_bytes else cliff.middle_bytes


def _scalars(settings: TierSettings, tiering: Tiering) -> tuple[Scalar, ...]:
    """Return the cliffs, the crossovers, and how many fast devices would never hurt."""
    scalars = []
    for curve in tiering.curves:
        block = units.format_block_size(curve.block_bytes)
        cliff = curve.cliff
        scalars += [
            Scalar(
                name=say("{pattern} {block}: held up to", pattern=curve.pattern, block=block),
                value=cliff.good_bytes / 1e9 if cliff else None,
                unit="GB",
            ),
            Scalar(
                name=say("{pattern} {block}: not held at", pattern=curve.pattern, block=block),
                value=cliff.bad_bytes / 1e9 if cliff else None,
                unit="GB",
            ),
        ]
    for pattern in settings.patterns:
        size = tiering.crossover(pattern)
        scalars.append(
            Scalar(
                name=say("{pattern}: slow device alone is faster from", pattern=pattern),
                value=None if size is None else size / units.KIB,
                unit="KiB",
            )
        )
    widest = tiering.widest
    count = None if widest is None or widest.stripes is None else float(widest.stripes)
    return (*scalars, Scalar(name="fast devices that never hurt", value=count, unit=""))


def _cells(tiering: Tiering) -> tuple[Cell, ...]:
    return tuple(
        measures.cell_over(
            (
                ("device", key.stage),
                ("pattern", key.pattern),
                ("block size", units.format_block_size(key.block_bytes)),
                ("working set", show_volume(key.set_bytes)),
            ),
            cell.window,
        )
        for key, cell in tiering.found.cells.items()
    )


def _watch(settings: TierSettings, record: Record) -> Watch:
    """Return the watch of a run under way: the cell, and what the cells still need.

    Of the devices alone the sizes are not known yet; they are taken to hold as many sets.
    """
    found = found_in(exchanges_of(record), record.geometry)
    last = [each.step for each in record.steps if isinstance(each.step, Measure)]
    stage = last[-1].cell.split()[0] if last and last[-1].cell else TIER
    stage = TIER if stage == AGAIN else stage
    ahead = settings.stages[settings.stages.index(stage) :]
    keys = [
        key
        for each in ahead
        for key in keys_of(settings, each, found.geometries.get(each, record.geometry))
    ]
    done = [key for key in keys if key in found.cells and over(settings, found.cells[key].exact)]
    left = len(keys) - len(done)
    filled = any(isinstance(each.step, Precondition) for each in record.steps)
    fill = None if filled else filling(settings, record.geometry)
    again = 2 * sum(map(is_evidence, settings.patterns))
    refined = settings.refine * len(settings.patterns) + again
    extra = refined * len(settings.block_sizes_bytes) if stage == TIER else 0
    return Watch(
        phase="precondition" if fill else CELL,
        cell=last[-1].cell if last else None,
        remaining_ns_least=left * WINDOW_ROUNDS * settings.slice_ns,
        remaining_ns_most=(left + extra) * settings.slices_most * settings.slice_ns,
        remaining_bytes=fill.total_bytes if fill else 0,
    )
