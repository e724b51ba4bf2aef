"""The pages of a matrix of R/W mixes and block sizes, as IOPS and LAT have them."""

from collections.abc import Callable, Mapping

from teijo import units
from teijo.document.grid import Edge, Figure, Grid, matrix
from teijo.document.model import Axis
from teijo.document.phrase import say
from teijo.methods.pts.header import Loop
from teijo.methods.pts.matrix import MatrixSettings
from teijo.methods.pts.report import sequential_words
from teijo.methods.report import Rows
from teijo.terms.cell import MatrixCell, mix_name
from teijo.terms.finding import Cell

MIX_AXIS = Axis(name="R/W mix", scale="category")


def matrix_loop(
    settings: MatrixSettings, *, title: str, subtitle: str, dependent: str, more: Rows = ()
) -> Loop:
    """Return what the test adds to the header, with `more` rows of its parameters."""
    length = units.format_duration(settings.minute_ns)
    return Loop(
        title=title,
        subtitle=subtitle,
        workload_independent=sequential_words(
            settings.precondition_times, settings.precondition_block_bytes
        ),
        workload_dependent=dependent,
        stimulus=(
            ("Stimulus", say("RND, {length} each", length=length)),
            ("R/W mix, outer loop", say("{count} mixes", count=len(settings.mixes_read_percent))),
            ("Block size, inner loop", say("{count} sizes", count=len(settings.block_sizes_bytes))),
            *more,
        ),
        preparation_load=settings.precondition_load,
    )


def by_block_size(
    cells: Mapping[MatrixCell, Cell],
    of: Callable[[Cell], float],
    *,
    digits: int,
    unit: str = "",
) -> Grid:
    """Return a figure of every cell: the smallest block first, a line for each mix from all
    writes to all reads.
    """
    blocks = sorted({key.block_size_bytes for key in cells})
    mixes = sorted({key.read_percent for key in cells})
    kibibytes = [block / units.KIB for block in blocks]
    rows = Edge(
        name="Block size",
        unit="KiB",
        scale="log",
        from_zero=True,
        places=tuple(kibibytes),
        words=tuple(f"{each:g}" for each in kibibytes),
    )
    return matrix(
        rows,
        blocks,
        mixes,
        lambda block, mix: of(cells[MatrixCell(read_percent=mix, block_size_bytes=block)]),
        figure=lambda mix: Figure(name=mix_name(mix), unit=unit, digits=digits),
    )
