"""The cells of the study, the slices a cell is driven in until its rate is steady, and what a
conversation says of each so far.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from teijo import units
from teijo.analysis.slices import Slices
from teijo.methods.forms import VOLUME
from teijo.methods.phrases import sequential_writes
from teijo.methods.rounds import Exchange
from teijo.methods.studies.tier.settings import PATTERNS, TierSettings
from teijo.terms.configured import geometry_in
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Configure, Measure, Precondition
from teijo.terms.workload import Access, ActiveRange, Stream, Workload

TIER: Final = "tier"
AGAIN: Final = "again"
"""The stage of the tier's two sets about a cliff, measured once more."""
STAGE: Final = "stage"
CELL: Final = "cell"
FILL_BLOCK_BYTES: Final = units.MIB
FILL_DEPTH: Final = 32


@dataclass(frozen=True, kw_only=True, order=True)
class Key:
    """What a cell is: which device ("tier", "fast", "slow"; "again" is the tier once more),
    pattern, block and set in bytes; the set is the full-size device's.
    """

    stage: str
    pattern: str
    block_size_bytes: int
    set_bytes: int

    @property
    def name(self) -> str:
        """The cell's name: "tier randread 4 KiB 256GB"."""
        block = units.format_block_size(self.block_size_bytes)
        return f"{self.stage} {self.pattern} {block} {VOLUME.show(self.set_bytes)}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on each axis, by the axis's name."""
        return (
            ("device", self.stage),
            ("pattern", self.pattern),
            ("block size", units.format_block_size(self.block_size_bytes)),
            ("working set", VOLUME.show(self.set_bytes)),
        )


@dataclass(frozen=True, kw_only=True)
class CellFound(Slices):
    """What a cell shows. `range_bytes` is the set on the device at hand."""

    key: Key
    range_bytes: int

    @property
    def swept(self) -> bool:
        """Whether the window's I/Os went over the whole set: random ones do, a sequential stream
        that goes on from slice to slice does once it has moved as much.
        """
        if is_random(self.key.pattern):
            return True
        return sum(answer.bytes for answer in self.window) >= self.range_bytes


def keys_of(settings: TierSettings, stage: str, geometry: Geometry) -> tuple[Key, ...]:
    """Return the cells of a stage, working sets within patterns within blocks.

    The sets ascend, so that what a smaller one has brought into the tier stays of use.
    """
    return tuple(
        Key(stage=stage, pattern=pattern, block_size_bytes=block, set_bytes=each)
        for block in settings.block_sizes_bytes
        for pattern in settings.patterns
        for each in settings.sets_of(geometry)
        if each / geometry.scale >= 2 * block  # a single block leaves no choice of places
    )


def configuring(settings: TierSettings, stage: str) -> Configure:
    """Return the step that puts one of the two devices in place of the tier, or calls the hook."""
    device = {"fast": settings.fast, "slow": settings.slow}.get(stage, "")
    return Configure(
        settings=((STAGE, stage),), device="" if settings.hook else device, hook=settings.hook
    )


def filling(settings: TierSettings, geometry: Geometry) -> Precondition | None:
    """Return the step that writes the largest set of a device, so that reads find data."""
    sets = settings.sets_of(geometry)
    if not settings.fill_times or not sets:
        return None
    size = _scaled(sets[-1], geometry)
    workload = sequential_writes(
        min(FILL_BLOCK_BYTES, size),
        active_range=ActiveRange(amount_bytes=size),
        threads=1,
        queue_depth=FILL_DEPTH,
        content=settings.content,
    )
    return Precondition(workload=workload, total_bytes=settings.fill_times * size)


def slice_of(settings: TierSettings, key: Key, geometry: Geometry, number: int) -> Measure:
    """Return one slice of a cell, counted from 1."""
    access, read_percent = PATTERNS[key.pattern]
    stream = Stream(
        read_percent=read_percent,
        block_size_bytes=key.block_size_bytes,
        access=access,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=ActiveRange(amount_bytes=_scaled(key.set_bytes, geometry)),
        content=settings.content,
    )
    return Measure(
        workload=Workload(streams=(stream,)),
        duration_ns=settings.slice_ns,
        phase=CELL,
        round_number=number,
        cell=key.name,
    )


def is_random(pattern: str) -> bool:
    """Return whether a pattern can show a tier: random I/O goes over the whole of a set at once."""
    return PATTERNS[pattern][0] is Access.RANDOM


def reads(pattern: str) -> bool:
    """Return whether a pattern writes nothing."""
    return PATTERNS[pattern][1] == 100


def cells_in(exchanges: Iterable[Exchange]) -> dict[Key, CellFound]:
    """Return the cells in order; of one that a gap broke, what was measured after it."""
    answers: dict[Key, list[StepResult]] = {}
    ranges: dict[Key, int] = {}
    for step, answer in exchanges:
        if not isinstance(step, Measure):
            continue
        key = _key_of(step)
        ranges[key] = step.workload.streams[0].active_range.amount_bytes or 0
        if isinstance(answer, Gap):
            answers.pop(key, None)
        else:
            answers.setdefault(key, []).append(answer)
    return {
        key: CellFound(key=key, answers=tuple(own), range_bytes=ranges[key])
        for key, own in answers.items()
    }


def geometries_in(exchanges: Iterable[Exchange], geometry: Geometry) -> dict[str, Geometry]:
    """Return the devices that cells were measured on, by stage, as far as one was reached."""
    configured = {
        dict(step.settings)[STAGE]: geometry_in(answer.detail) or geometry
        for step, answer in exchanges
        if isinstance(step, Configure) and isinstance(answer, StepResult)
    }
    return {TIER: geometry} | configured


def _key_of(step: Measure) -> Key:
    """Return the cell of a slice, by the cell's name: a scaled range is rounded."""
    assert step.cell is not None, step
    stage, pattern, *_, volume = step.cell.split()
    return Key(
        stage=stage,
        pattern=pattern,
        block_size_bytes=step.workload.streams[0].block_size_bytes,
        set_bytes=units.parse_size(volume),
    )


def _scaled(size_bytes: int, geometry: Geometry) -> int:
    """Return a set on the device at hand, in whole physical blocks."""
    grain = geometry.physical_block_bytes
    return max(grain, round(size_bytes / geometry.scale) // grain * grain)
