"""Where on a device a workload goes: shares and amounts become bytes of one geometry."""

from teijo.errors import PlanError
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Access, ActiveRange, Stream
from teijo.units import format_size


def place(
    active_range: ActiveRange, geometry: Geometry, block_size_bytes: int
) -> tuple[int, int, int]:
    """Return (segments, segment_bytes, stride_bytes) of an active range, all whole blocks.

    A share is rounded down to physical blocks. An amount is cut in equal segments, which begin
    at equal distances over the range; an amount the range does not hold is the whole range. The
    first segment begins at the range's first byte.

    Raises:
        PlanError: a segment would be smaller than one block, or the range ends behind the device.
    """
    grain = geometry.physical_block_bytes
    end_bytes = active_range.first_byte + (active_range.length_bytes or 0)
    if end_bytes > geometry.capacity_bytes:
        raise PlanError(
            f"The active range ends at byte {end_bytes:,} of a device of "
            f"{geometry.capacity_bytes:,} B.",
            remedy="Use a smaller range, or a larger device.",
        )
    range_bytes = active_range.span_bytes(geometry.capacity_bytes, grain)
    segments, segment_bytes, stride_bytes = 1, range_bytes, range_bytes
    amount = active_range.amount_bytes
    if amount is not None and amount < range_bytes:
        segments = active_range.segments
        segment_bytes = amount // segments // grain * grain
        stride_bytes = range_bytes // segments // grain * grain
    if segment_bytes < block_size_bytes:
        raise PlanError(
            f"A block of {format_size(block_size_bytes)} does not fit in a piece of "
            f"{format_size(segment_bytes)} of the active range.",
            remedy="Use a smaller block, fewer segments, or a larger range or device.",
        )
    return segments, segment_bytes, stride_bytes


def begins_at(stream: Stream, cursor_bytes: int, length_bytes: int) -> int:
    """Return where a stream of ordered blocks begins, when its cursor was left there."""
    # The order of a shuffle is drawn from the step's seed: there is nothing to carry on. What
    # repeats begins anew.
    if stream.access is Access.SHUFFLED or stream.repeats:
        return 0
    return _aligned(cursor_bytes, stream.block_size_bytes, length_bytes)


def _aligned(cursor_bytes: int, block_size_bytes: int, length_bytes: int) -> int:
    """Return where a stream goes on: at the next whole block, at 0 past the end."""
    cursor_bytes = -(-cursor_bytes // block_size_bytes) * block_size_bytes
    return cursor_bytes if cursor_bytes < length_bytes else 0
