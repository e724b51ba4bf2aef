"""A round over a matrix of R/W mixes and block sizes, and the preconditioning before it, as IOPS
and LAT have them.
"""

from collections.abc import Sequence

from teijo.methods.phrases import sequential_writes
from teijo.methods.pts import settings as shared
from teijo.methods.pts.settings import PtsSettings
from teijo.terms.cell import MatrixCell
from teijo.terms.geometry import Geometry
from teijo.terms.step import ROUND, Measure
from teijo.terms.workload import Stream, Workload


def matrix_of(
    mixes_read_percent: Sequence[int], block_sizes_bytes: Sequence[int]
) -> tuple[MatrixCell, ...]:
    """Return a round's cells in the mandated order: mixes outside, block sizes inside."""
    return tuple(
        MatrixCell(read_percent=mix, block_size_bytes=block)
        for mix in mixes_read_percent
        for block in block_sizes_bytes
    )


def stimulus(settings: PtsSettings, cell: MatrixCell) -> Workload:
    """Return what is driven in a cell: random I/O over the active range."""
    stream = Stream(
        read_percent=cell.read_percent,
        block_size_bytes=cell.block_size_bytes,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))


def round_of(
    settings: PtsSettings, cells: tuple[MatrixCell, ...], number: int
) -> tuple[Measure, ...]:
    """Return one round: a minute for each cell."""
    return tuple(
        Measure(
            workload=stimulus(settings, cell),
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=number,
            cell=cell.name,
        )
        for cell in cells
    )


def preconditioning(
    settings: PtsSettings,
    geometry: Geometry,
    *,
    times: int,
    block_size_bytes: int,
    load: tuple[int, int] | None = None,
) -> tuple[Workload, int]:
    """Return the WIPC stimulus and its volume in bytes: the user capacity so many times.

    The volume is the user capacity's, not the active range's, and the amount and segments do
    not restrict it: it goes over the whole share, again and again from its start. `load` is
    (threads, queue depth) where it is not the test's own.
    """
    threads, queue_depth = load or (settings.threads, settings.queue_depth)
    workload = sequential_writes(
        block_size_bytes,
        active_range=shared.share_of(settings),
        threads=threads,
        queue_depth=queue_depth,
        content=settings.content,
    )
    align = geometry.physical_block_bytes
    return workload, times * (geometry.capacity_bytes // align * align)
