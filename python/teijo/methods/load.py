"""The load that methods of every kind drive: its settings, and which blocks a device can serve."""

from typing import Annotated

from teijo import units
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.knobs import Knob, meaning
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Content

THREADS_MOST = 256
QUEUE_DEPTH_MOST = 4096

RangePercent = Annotated[
    int,
    Knob(forms.percent(1, 100), "active_range=75", ("ar", "range")),
    meaning("share of the user capacity that is touched, from LBA 0, in percent"),
]
Threads = Annotated[
    int,
    Knob(forms.whole(1, THREADS_MOST), "threads=2", ("tc", "thread_count")),
    meaning("thread count (TC)"),
]
QueueDepth = Annotated[
    int,
    Knob(forms.whole(1, QUEUE_DEPTH_MOST), "queue_depth=16", ("qd",)),
    meaning("outstanding I/Os of each thread (QD)"),
]
DataPattern = Annotated[
    Content,
    Knob(forms.one_of(Content.RANDOM, Content.ZERO), "content=random", ("data_pattern",)),
    meaning("what is written: random (unique in every sector) or zero"),
]


def check_blocks(blocks: tuple[int, ...], geometry: Geometry) -> None:
    """Make sure that the device can serve these block sizes.

    Raises:
        PlanError: one is no whole number of logical blocks.
    """
    logical = geometry.logical_block_bytes
    for block in blocks:
        # Direct I/O takes whole logical blocks only.
        if block % logical:
            raise PlanError(
                f"A block of {units.format_block_size(block)} is no whole number of the device's "
                f"logical blocks of {units.format_block_size(logical)}",
                remedy=f"Use multiples of {units.format_block_size(logical)}.",
            )
