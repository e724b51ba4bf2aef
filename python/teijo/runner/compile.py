"""A step in the standard's words becomes a plan in bytes and nanoseconds."""

from collections.abc import Mapping

from teijo.engine.plan import Plan, StreamPlan, VerifyPlan
from teijo.errors import PlanError
from teijo.terms.geometry import Geometry
from teijo.terms.placing import begins_at, place
from teijo.terms.seed import derive
from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.workload import Stream
from teijo.units import NS_PER_S


def interval_ns(step: Step) -> int:
    """Return the length of an interval of a step's time series: a second, unless it says."""
    return step.interval_ns if isinstance(step, Measure) else NS_PER_S


def compile_load(
    step: Measure | Precondition,
    geometry: Geometry,
    cursors: Mapping[str, int],
    seed: int,
    verify: VerifyPlan | None = None,
) -> Plan:
    """Return the plan of a step that moves data; `verify` is for its verified streams.

    Raises:
        PlanError: a block size the device cannot serve, or a range smaller than a block.
    """
    streams = _streams(step.workload.streams, geometry, cursors, seed, verify)
    match step:
        case Measure():
            return Plan(
                streams=streams,
                duration_ns=step.duration_ns,
                interval_ns=step.interval_ns,
                open_ended=step.open_ended,
                continues=step.continues,
            )
        case Precondition():
            return Plan(
                streams=streams, total_bytes=step.total_bytes, interval_ns=interval_ns(step)
            )


def _streams(
    streams: tuple[Stream, ...],
    geometry: Geometry,
    cursors: Mapping[str, int],
    seed: int,
    verify: VerifyPlan | None,
) -> tuple[StreamPlan, ...]:
    assert verify is not None or not any(stream.verified for stream in streams), "stamps"
    return tuple(
        _stream(
            stream,
            geometry,
            cursors.get(stream.name, 0),
            seed=derive(seed, stream.name),
            verify=verify if stream.verified else None,
        )
        for stream in streams
    )


def _stream(
    stream: Stream, geometry: Geometry, cursor_bytes: int, *, seed: int, verify: VerifyPlan | None
) -> StreamPlan:
    for size in stream.sizes_bytes:
        if size % geometry.logical_block_bytes:
            raise PlanError(
                f"A block size of {size} B is no multiple of the device's logical block, "
                f"{geometry.logical_block_bytes} B.",
                remedy="Choose a multiple of it.",
            )
    segments, segment_bytes, stride_bytes = place(
        stream.active_range, geometry, stream.block_size_bytes
    )
    return StreamPlan(
        stream=stream,
        cursor_bytes=begins_at(stream, cursor_bytes, segments * segment_bytes),
        start_bytes=stream.active_range.first_byte,
        segments=segments,
        segment_bytes=segment_bytes,
        stride_bytes=stride_bytes,
        seed=seed,
        verify=verify,
    )
