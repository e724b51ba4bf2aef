"""The study `block-size`: how many I/Os of each size a device serves at each load, and the unit it
works in.
"""

from collections.abc import Mapping
from functools import cached_property

from teijo import units
from teijo.analysis import measures
from teijo.document.model import Document
from teijo.document.phrase import say
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import insist
from teijo.methods.rounds import Exchange, exchanges_of, rounds_of
from teijo.methods.studies.block_size.cells import block, cells_in_block, preconditioning
from teijo.methods.studies.block_size.found import BlockSizes, blocks_of
from teijo.methods.studies.block_size.settings import BlockSizeSettings, settings_of
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import ROUND, Precondition
from teijo.terms.watch import Watch


class BlockSizeFound(FlatFound[BlockSizeSettings]):
    """What a record of BlockSize shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return every cell over the counted blocks, and the unit with its weight."""
        settings, record = self.settings, self.record
        found = blocks_of(settings, record)
        return Findings(
            method=record.run.method,
            spec="",
            converged=None,
            rounds=len(found.rounds.whole),
            window_rounds=(found.counted[0].number, found.counted[-1].number)
            if found.counted
            else None,
            scalars=_scalars(settings, found) if found.counted else (),
            cells=_cells(settings, found),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        return _watch(settings, record)


class BlockSize(Method[BlockSizeSettings, BlockSizeFound]):
    """The method `block-size`."""

    id = "block-size"
    title = "Block size"
    summary = "IOPS and time per I/O by block size and load; infers the unit the device works in"
    settings_type = BlockSizeSettings
    found_type = BlockSizeFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> BlockSizeSettings:
        """Return the settings asked for; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        return settings_of(overrides, geometry)

    def writes(self, settings: BlockSizeSettings) -> bool:
        """Return whether the mix writes, or the range is filled before."""
        return settings.writes

    def steps(self, settings: BlockSizeSettings, geometry: Geometry) -> Steps:
        """Fill the range, then measure block after block; a block anew after a gap in it."""
        for step in preconditioning(settings, geometry):
            yield from insist(step)
        number, exchanges = 1, list[Exchange]()
        while number <= settings.blocks:
            cells = block(settings, geometry, number)
            for cell in cells:
                answer = yield cell
                exchanges.append((cell, answer))
                if isinstance(answer, Gap):
                    break
            number = len(rounds_of(exchanges, len(cells)).whole) + 1
        return "done"

    def document(self, found: BlockSizeFound) -> Document:
        """Return the report."""
        from teijo.methods.studies.block_size.pages import pages

        return pages(found)


def _scalars(settings: BlockSizeSettings, found: BlockSizes) -> tuple[Scalar, ...]:
    unit = found.unit
    size = None if unit is None or unit.unit_bytes is None else unit.unit_bytes / units.KIB
    weight = None if unit is None or size is None else unit.weights[unit.unit_bytes or 0]
    sizes = [
        Scalar(
            name=say("size of 90 % of the highest throughput, {load} outstanding", load=load),
            value=None if (size_bytes := found.enough(load)) is None else size_bytes / units.KIB,
            unit="KiB",
        )
        for load in settings.loads
    ]
    return (
        Scalar(name="unit of the device", value=size, unit="KiB"),
        Scalar(name="weight of that unit", value=weight, unit=""),
        *sizes,
    )


def _cells(settings: BlockSizeSettings, found: BlockSizes) -> tuple[Cell, ...]:
    return tuple(
        measures.cell_over(
            (
                ("r/w mix", mix_name(settings.read_percent)),
                ("outstanding", str(point.load)),
                ("block size", units.format_block_size(point.size_bytes)),
            ),
            each.answers,
        )
        for point, each in found.points.items()
    )


def _watch(settings: BlockSizeSettings, record: Record) -> Watch:
    """Return the watch of a run under way: the block and cell, and what is left."""
    geometry = record.geometry
    fills = preconditioning(settings, geometry)
    filled = sum(
        isinstance(each.step, Precondition) and isinstance(each.answer, StepResult)
        for each in record.steps
    )
    count = cells_in_block(settings, geometry)
    rounds = rounds_of(exchanges_of(record), count)
    number, done = len(rounds.whole) + 1, len(rounds.under_way)
    left_ns = max(0, (settings.blocks - number + 1) * count - done) * settings.duration_ns
    if filled < len(fills):
        return Watch(
            phase="precondition",
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
            remaining_bytes=sum(step.total_bytes for step in fills[filled:]),
        )
    within = number <= settings.blocks
    return Watch(
        phase=ROUND if within else "measure",
        round_number=number if within else None,
        rounds_least=settings.blocks,
        rounds_most=settings.blocks,
        cell=block(settings, geometry, number)[done].cell if within else None,
        remaining_ns_least=left_ns,
        remaining_ns_most=left_ns,
    )
