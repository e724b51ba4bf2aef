"""A step in the standard's words becomes a plan in bytes and nanoseconds."""

from collections.abc import Mapping
from dataclasses import replace

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
        plan = _stream(stream, geometry, cursors.get(stream.name, 0), derive(seed, stream.name))
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
        cursor_bytes=begins_at(stream, cursor_bytes, segments * segment_bytes),
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
