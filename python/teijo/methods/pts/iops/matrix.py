"""The matrix of PTS IOPS: its settings, cells, tracking variables and preconditioning, as data.

How the cells are walked and judged is in iops.
"""

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import Tracked, determine
from teijo.methods import knobs
from teijo.methods.phrases import sequential_writes
from teijo.methods.pts import settings as shared
from teijo.methods.pts.versions import (
    BLOCK_SIZES,
    PRECONDITION_BLOCK_BYTES,
    PRECONDITION_TIMES,
    READ_PERCENTS,
    ROUNDS_MOST,
    TrackingCell,
    Version,
    version_of,
)
from teijo.methods.rounds import ROUND, Rounds
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload


class IopsSettings(shared.PtsSettings, frozen=True):
    """The numbers of one IOPS run, on the device at hand."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    mixes_read_percent: shared.Mixes
    block_sizes_bytes: shared.BlockSizes
    rounds_most: shared.RoundsMost
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: shared.PreconditionBlock


def standard(version: Version, geometry: Geometry) -> IopsSettings:
    """Return the settings as the version has them on this device, unchecked."""
    dropped = dropped_blocks(geometry)
    return IopsSettings.model_validate(
        {
            **shared.shared_defaults(version, geometry),
            "mixes_read_percent": READ_PERCENTS,
            "block_sizes_bytes": tuple(b for b in BLOCK_SIZES if b not in dropped),
            "rounds_most": ROUNDS_MOST,
            "precondition_times": PRECONDITION_TIMES,
            "precondition_block_bytes": PRECONDITION_BLOCK_BYTES,
        }
    )


def cell_name(read_percent: int, block_size_bytes: int) -> str:
    """Return a cell's name within the matrix: "65/35 64 KiB"."""
    return f"{knobs.show_mix(read_percent)} {units.format_block_size(block_size_bytes)}"


def variable_name(cell: TrackingCell) -> str:
    """Return a tracking variable's name: "RND 4 KiB 0/100"."""
    block = units.format_block_size(cell.block_size_bytes)
    return f"RND {block} {knobs.show_mix(cell.read_percent)}"


def tracking_of(settings: IopsSettings) -> tuple[TrackingCell, ...]:
    """Return the version's tracking variables that this matrix has."""
    return tuple(
        cell
        for cell in version_of(settings.spec).tracking
        if cell.read_percent in settings.mixes_read_percent
        and cell.block_size_bytes in settings.block_sizes_bytes
    )


def matrix(settings: IopsSettings, round_number: int) -> tuple[Measure, ...]:
    """Return a round's cells: mixes outside, block sizes inside, a minute each."""
    return tuple(
        Measure(
            workload=Workload(
                streams=(
                    Stream(
                        read_percent=read_percent,
                        block_size_bytes=block,
                        threads=settings.threads,
                        queue_depth=settings.queue_depth,
                        active_range=shared.range_of(settings),
                        content=settings.content,
                    ),
                )
            ),
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=round_number,
            cell=cell_name(read_percent, block),
        )
        for read_percent in settings.mixes_read_percent
        for block in settings.block_sizes_bytes
    )


def preconditioning(settings: IopsSettings, geometry: Geometry) -> tuple[Workload, int]:
    """Return the WIPC stimulus and its volume: the user capacity so many times.

    The volume is the user capacity's, not the active range's, and the amount and segments do
    not restrict it: it goes over the whole share, again and again from its start.
    """
    workload = sequential_writes(
        settings.precondition_block_bytes,
        active_range=shared.share_of(settings),
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        content=settings.content,
    )
    align = geometry.physical_block_bytes
    return workload, settings.precondition_times * (geometry.capacity_bytes // align * align)


def determination(settings: IopsSettings, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the version's tracking variables over the unbroken rounds."""
    return determine(
        [each.number for each in rounds.unbroken],
        [
            Tracked(
                variable=variable_name(cell),
                unit="IOPS",
                values=tuple(
                    measures.exact_iops(
                        each.at(cell_name(cell.read_percent, cell.block_size_bytes))
                    )
                    for each in rounds.unbroken
                ),
            )
            for cell in tracking_of(settings)
        ],
    )


def dropped_blocks(geometry: Geometry) -> tuple[int, ...]:
    """Return the standard's block sizes that this device cannot serve (0.5 KiB on 4Kn)."""
    return tuple(block for block in BLOCK_SIZES if block % geometry.logical_block_bytes)
