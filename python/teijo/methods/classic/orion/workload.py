"""What a point does to a target: a stream of small I/Os and one of large, as ORION has them."""

from dataclasses import replace
from typing import Final

from teijo.methods.classic.orion.points import Point
from teijo.methods.classic.orion.settings import OrionSettings
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, ActiveRange, Stream, Workload

MEASURE: Final = "measure"
RAMP: Final = "ramp"
WARM_UP: Final = "warm up"
PREPARE: Final = "prepare"
SMALL: Final = "small"
LARGE: Final = "large"
"""Names of the two streams."""


def workload_of(
    settings: OrionSettings, geometry: Geometry, point: Point, *, counted: bool
) -> Workload:
    """Return the two streams of a point, or the one it has.

    Where it is `counted`, a census is taken of the blocks that they touch.
    """
    streams = []
    if point.small:
        streams.append(_random(settings, SMALL, settings.size_small_bytes, point.small))
    if point.large and settings.large_type == "rand":
        streams.append(_random(settings, LARGE, settings.size_large_bytes, point.large))
    elif point.large:
        streams.append(_sequential(settings, geometry, point.large))
    return Workload(streams=tuple(replace(each, census=counted) for each in streams))


def warm_up_of(
    settings: OrionSettings, point: Point, number: int, usual_ns: int
) -> Measure | Precondition | None:
    """Return the unmeasured random I/O before a large sequential point, None where none is asked.

    It reads before a point that reads and writes before one that writes, in the same share. Its
    size and depth are not documented; here they are those of the point's large I/Os.
    """
    depth = settings.large_outstanding(point.large)
    workload = Workload(streams=(_random(settings, LARGE, settings.size_large_bytes, depth),))
    if settings.cache_bytes is None:
        return Measure(
            workload=workload,
            duration_ns=usual_ns,
            phase=WARM_UP,
            round_number=number,
            cell=point.name,
        )
    if not settings.cache_bytes:
        return None
    return Precondition(workload=workload, total_bytes=settings.cache_bytes, phase=WARM_UP)


def preparation_of(settings: OrionSettings, geometry: Geometry) -> Precondition | None:
    """Return the writing of the whole range, None where nothing is written first."""
    if settings.prepare == "no":
        return None
    active_range = _range(settings)
    stream = Stream(
        name=PREPARE,
        read_percent=0,
        block_size_bytes=settings.size_large_bytes,
        access=Access.SEQUENTIAL,
        queue_depth=8,
        active_range=active_range,
    )
    return Precondition(
        workload=Workload(streams=(stream,)),
        total_bytes=active_range.span_on(geometry),
        phase=PREPARE,
    )


def _range(settings: OrionSettings) -> ActiveRange:
    return ActiveRange(share_percent=settings.range_percent)


def _random(settings: OrionSettings, name: str, block_bytes: int, depth: int) -> Stream:
    return Stream(
        name=name,
        read_percent=100 - settings.write_percent,
        block_size_bytes=block_bytes,
        access=Access.RANDOM,
        queue_depth=depth,
        active_range=_range(settings),
    )


def _sequential(settings: OrionSettings, geometry: Geometry, streams: int) -> Stream:
    """Return large sequential streams, each with a cursor of its own, at equal distances.

    Where the original's streams begin is not documented.
    """
    size = settings.size_large_bytes
    apart = _range(settings).span_on(geometry) // streams // size * size
    return Stream(
        name=LARGE,
        read_percent=100 - settings.write_percent,
        block_size_bytes=size,
        access=Access.SEQUENTIAL,
        threads=streams,
        queue_depth=settings.stream_depth,
        active_range=_range(settings),
        thread_stride_bytes=apart,
    )
