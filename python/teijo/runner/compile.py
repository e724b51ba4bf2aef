"""A step in the standard's words becomes a plan in bytes and nanoseconds; seeds derive here."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from teijo.engine.plan import Plan, StreamPlan, VerifyPlan
from teijo.errors import PlanError
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.workload import Access, ActiveRange, Stream
from teijo.units import NS_PER_S, format_size

_SEED_BITS: Final = 53
"""A seed is exact in every JSON reader, also where numbers are doubles."""


def step_seed(run_seed: int, seq: int, round_number: int | None, cell: str | None) -> int:
    """Return the step's own seed, so that no step replays another's offsets."""
    return _derive(run_seed, seq, round_number or 0, cell or "")


def stamp_run(run_seed: int) -> int:
    """Return the number that is in every stamp of a run and tells it from any other run's."""
    return _derive(run_seed, "stamps")


def interval_ns(step: Step) -> int:
    """Return the length of an interval of a step's time series: a second, unless it says."""
    return step.interval_ns if isinstance(step, Measure) else NS_PER_S


def compile_measure(
    step: Measure,
    geometry: Geometry,
    cursors: Mapping[str, int],
    seed: int,
    verify: VerifyPlan | None = None,
) -> Plan:
    """Return the plan of a measurement; `verify` is for its verified streams.

    Raises:
        PlanError: a block size the device cannot serve, or a range smaller than a block.
    """
    return Plan(
        streams=_streams(step.workload.streams, geometry, cursors, seed, verify),
        duration_ns=step.duration_ns,
        interval_ns=step.interval_ns,
        open_ended=step.open_ended,
        continues=step.continues,
    )


def compile_precondition(
    step: Precondition,
    geometry: Geometry,
    cursors: Mapping[str, int],
    seed: int,
    verify: VerifyPlan | None = None,
) -> Plan:
    """Return the plan of a byte-bounded preconditioning.

    Raises:
        PlanError: as `compile_measure`.
    """
    return Plan(
        streams=_streams(step.workload.streams, geometry, cursors, seed, verify),
        total_bytes=step.total_bytes,
        interval_ns=interval_ns(step),
    )


def _streams(
    streams: tuple[Stream, ...],
    geometry: Geometry,
    cursors: Mapping[str, int],
    seed: int,
    verify: VerifyPlan | None,
) -> tuple[StreamPlan, ...]:
    plans = []
    for stream in streams:
        assert verify is not None or not stream.verified, "a verified stream has stamps"
        plan = _stream(stream, geometry, cursors.get(stream.name, 0), _derive(seed, stream.name))
        plans.append(replace(plan, verify=verify) if stream.verified else plan)
    return tuple(plans)


def _stream(stream: Stream, geometry: Geometry, cursor_bytes: int, seed: int) -> StreamPlan:
    block = stream.block_size_bytes
    for size in stream.sizes_bytes:
        if size % geometry.logical_block_bytes:
            raise PlanError(
                f"A block size of {size} B is no multiple of the device's logical block, "
                f"{geometry.logical_block_bytes} B.",
                remedy="Choose a multiple of it.",
            )
    segments, segment_bytes, stride_bytes = place(stream.active_range, geometry, block)
    return StreamPlan(
        name=stream.name,
        threads=stream.threads,
        queue_depth=stream.queue_depth,
        read_percent=stream.read_percent,
        block_bytes=block,
        access=stream.access.value,
        cursor_bytes=_cursor(stream, cursor_bytes, segments * segment_bytes),
        start_bytes=0,
        segments=segments,
        segment_bytes=segment_bytes,
        stride_bytes=stride_bytes,
        content=stream.content.value,
        seed=seed,
        ios_per_second=stream.rate.ios_per_second if stream.rate else None,
        schedule=stream.rate.schedule.value if stream.rate else "fixed",
        blocks=stream.block_mix,
        alignment_bytes=stream.alignment_bytes,
        skew=stream.skew,
        zones=stream.zones,
        content_percent=stream.content_percent,
        flush_every_writes=stream.flush_every_writes,
        discard_percent=stream.discard_percent,
    )


def place(active_range: ActiveRange, geometry: Geometry, block_bytes: int) -> tuple[int, int, int]:
    """Return (segments, segment_bytes, stride_bytes) of an active range, all whole blocks.

    A share is rounded down to physical blocks. An amount is cut in equal segments, which begin
    at equal distances over the range; an amount the range does not hold is the whole range.

    Raises:
        PlanError: a segment would be smaller than one block.
    """
    grain = geometry.physical_block_bytes
    range_bytes = active_range.span_bytes(geometry.capacity_bytes, grain)
    segments, segment_bytes, stride_bytes = 1, range_bytes, range_bytes
    amount = active_range.amount_bytes
    if amount is not None and amount < range_bytes:
        segments = active_range.segments
        segment_bytes = amount // segments // grain * grain
        stride_bytes = range_bytes // segments // grain * grain
    if segment_bytes < block_bytes:
        raise PlanError(
            f"A block of {format_size(block_bytes)} does not fit in a piece of "
            f"{format_size(segment_bytes)} of the active range.",
            remedy="Use a smaller block, fewer segments, or a larger range or device.",
        )
    return segments, segment_bytes, stride_bytes


def _cursor(stream: Stream, cursor_bytes: int, length_bytes: int) -> int:
    # The order of a shuffle is drawn from the step's seed: there is nothing to carry on.
    if stream.access is Access.SHUFFLED:
        return 0
    return _aligned(cursor_bytes, stream.block_size_bytes, length_bytes)


def _aligned(cursor_bytes: int, block_bytes: int, length_bytes: int) -> int:
    """Return where a stream goes on: at the next whole block, at 0 past the end."""
    cursor_bytes = -(-cursor_bytes // block_bytes) * block_bytes
    return cursor_bytes if cursor_bytes < length_bytes else 0


def _derive(*parts: int | str) -> int:
    text = "\x1f".join(str(part) for part in parts)
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"teijo").digest()
    return int.from_bytes(digest) >> (64 - _SEED_BITS)
