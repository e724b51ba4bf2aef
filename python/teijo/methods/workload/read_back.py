"""Reading back what a verified workload wrote, once its last write was acknowledged."""

from typing import Final

from teijo import units
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.step import Precondition
from teijo.terms.workload import Access, ActiveRange, Stream, Workload

PHASE: Final = "verify"
BLOCK_BYTES: Final = 128 * units.KIB
QUEUE_DEPTH: Final = 32


def read_back(workload: Workload, geometry: Geometry, answer: StepResult) -> Precondition | None:
    """Return the step that reads what `workload` wrote, None where it wrote nothing.

    One pass over the largest range that was written to, in blocks of 128 KiB. What one sequential
    stream wrote in less than a pass is read to where it ended and no further.
    """
    writers = [stream for stream in workload.streams if stream.writes]
    if not any(part.count for part in answer.of("write")):
        return None
    # Every range begins at LBA 0, so the largest holds all others.
    share_percent = max(stream.active_range.share_percent for stream in writers)
    active_range = ActiveRange(share_percent=share_percent)
    span_bytes = active_range.span_on(geometry)
    block_size_bytes = BLOCK_BYTES
    if span_bytes < block_size_bytes:
        block_size_bytes = min(stream.block_size_bytes for stream in writers)
    reader = Stream(
        name="read-back",
        read_percent=100,
        block_size_bytes=block_size_bytes,
        access=Access.SEQUENTIAL,
        queue_depth=QUEUE_DEPTH,
        active_range=active_range,
        verified=True,
    )
    return Precondition(
        workload=Workload(streams=(reader,)),
        total_bytes=min(span_bytes, _written_bytes(answer, span_bytes)),
        phase=PHASE,
    )


def _written_bytes(answer: StepResult, span_bytes: int) -> int:
    """Return how far from its start the range was written to, as far as that is known."""
    match answer.written:
        # A shuffle, or a second stream, may have written anywhere in the range.
        case (only,) if only.order == "sequential" and only.from_bytes == 0:
            return only.length_bytes
        case _:
            return span_bytes
