"""The method `classic.orion`: each point of ORION's load matrix, for a time. Of no standard."""

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from teijo import units
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.classic.orion.found import OrionFound
from teijo.methods.classic.orion.points import Point, points_of
from teijo.methods.classic.orion.settings import (
    STRICT_PASSES,
    STRICT_RAMP_NS,
    WARM_UP_NS,
    OrionSettings,
)
from teijo.methods.classic.orion.workload import (
    MEASURE,
    RAMP,
    preparation_of,
    warm_up_of,
    workload_of,
)
from teijo.methods.load import QUEUE_DEPTH_MOST, THREADS_MOST, check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Measure, Precondition, Step

POINTS_MOST = 10_000
_LEAST_NS = 250 * units.NS_PER_MS
"""No point of a scaled device is shorter: it must hold more large I/Os than are in flight."""
_INTERVALS_LEAST = 30
_INTERVAL_LEAST_NS = 10 * units.NS_PER_MS


class Orion(Method[OrionSettings, OrionFound]):
    """The method `classic.orion`."""

    id = "classic.orion"
    settings_type = OrionSettings
    found_type = OrionFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for; what is left open follows from strict and the scale."""
        asked = super().asked(overrides, geometry)
        asked.setdefault("duration_ns", _scaled_ns(OrionSettings().duration_ns, geometry))
        if asked.get("strict") == "on":
            asked.setdefault("passes", STRICT_PASSES)
            asked.setdefault("order", "random")
            asked.setdefault("prepare", "yes")
            asked.setdefault("ramp_ns", _scaled_ns(STRICT_RAMP_NS, geometry))
            asked.setdefault("deeper", "on")
        return asked

    def check(self, settings: OrionSettings, geometry: Geometry) -> None:
        """Make sure that there are points, not too many, and that the target can carry them."""
        check_blocks((settings.size_small_bytes, settings.size_large_bytes), geometry)
        _check_matrix(settings)
        points = points_of(settings.loads)
        if not 1 <= len(points) <= POINTS_MOST:
            raise PlanError(
                f"The matrix has {len(points):,} points, and 1 to {POINTS_MOST:,} can be",
                remedy="Name fewer disks, or other loads.",
            )
        _check_load(settings, points)
        range_bytes = geometry.capacity_bytes * settings.range_percent // 100
        if range_bytes < settings.size_large_bytes:
            raise PlanError(
                f"A large I/O of {units.format_size(settings.size_large_bytes)} does not fit in "
                f"{units.format_size(range_bytes)}",
                remedy="Name a larger target, or smaller large I/Os.",
            )

    def writes(self, settings: OrionSettings) -> bool:
        """Return whether anything is written."""
        return settings.writes

    def deviations(self, settings: OrionSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what nobody knows of the figures, as the original has them."""
        if settings.prepare == "yes":
            return ()
        touched = geometry.capacity_bytes * settings.range_percent // 100
        return (
            Remark(
                kind=RemarkKind.UNWRITTEN,
                text="nothing was written first, so whether what is read was ever written is "
                "not known",
            ),
            Remark(
                kind=RemarkKind.CACHE_MAY_HOLD,
                text=say(
                    "whether the {size} that are touched fit in a cache of the drive, of a RAID "
                    "controller or of a host is not known",
                    size=units.format_size(touched),
                ),
            ),
        )

    def steps(self, settings: OrionSettings, geometry: Geometry) -> Steps:
        """Write the range where that is asked for, then measure each point of each pass.

        After a gap the point it fell in is warmed up and measured again.
        """
        preparation = preparation_of(settings, geometry)
        if preparation is not None:
            yield from insist(preparation)
        for number in range(1, settings.passes + 1):
            for point in settings.points_in(number):
                yield from _whole(tuple(steps_of(settings, geometry, point, number)))
        return "done"


def steps_of(
    settings: OrionSettings, geometry: Geometry, point: Point, number: int
) -> Iterator[Measure | Precondition]:
    """Return what one point is in one pass: the warm-up of caches, the ramp, the measurement."""
    if settings.large_type == "seq" and point.large:
        warm_up = warm_up_of(settings, point, number, _scaled_ns(WARM_UP_NS, geometry))
        if warm_up is not None:
            yield warm_up
    for phase, length_ns in ((RAMP, settings.ramp_ns), (MEASURE, settings.duration_ns)):
        if length_ns:
            yield Measure(
                workload=workload_of(settings, geometry, point, counted=phase == MEASURE),
                duration_ns=length_ns,
                phase=phase,
                round_number=number,
                cell=point.name,
                interval_ns=_interval_ns(length_ns),
            )


def _whole(steps: tuple[Step, ...]) -> Generator[Step, Answer, None]:
    """Ask for the steps of a point, from the first again after a gap."""
    place = 0
    while place < len(steps):
        answer = yield steps[place]
        place = place + 1 if isinstance(answer, StepResult) else 0


def _interval_ns(length_ns: int) -> int:
    """Return a second, or less, so that a short point still has a course."""
    return max(_INTERVAL_LEAST_NS, min(units.NS_PER_S, length_ns // _INTERVALS_LEAST))


def _scaled_ns(full_ns: int, geometry: Geometry) -> int:
    if geometry.scale <= 1:
        return full_ns
    return max(_LEAST_NS, round(full_ns / geometry.scale))


def _check_matrix(settings: OrionSettings) -> None:
    """Make sure that the matrix has the loads that it needs.

    Raises:
        PlanError: it is not one of this run level, or a load is missing.
    """
    if settings.run != "advanced" and settings.matrix != "basic":
        raise PlanError(
            f"matrix={settings.matrix} is of run=advanced, and run={settings.run} has its own",
            remedy=f"Set run=advanced matrix={settings.matrix}.",
        )
    shape = settings.loads.shape
    needed: dict[str, tuple[str, ...]] = {
        "point": ("num_small", "num_large"),
        "max": ("num_small", "num_large"),
    }
    needed |= {"row": ("num_large",), "col": ("num_small",)}
    if settings.run != "advanced":
        return
    for name in needed.get(shape, ()):
        if getattr(settings, name) is None:
            raise PlanError(f"matrix={shape} needs {name}", remedy=f"For example: --set {name}=2")


def _check_load(settings: OrionSettings, points: tuple[Point, ...]) -> None:
    """Make sure that no point has more in flight than there can be.

    Raises:
        PlanError: one has.
    """
    small = max(point.small for point in points)
    large = max(settings.large_outstanding(point.large) for point in points)
    for what, load in (("small", small), ("large", large)):
        if load > QUEUE_DEPTH_MOST:
            raise PlanError(
                f"A point has {load:,} {what} I/Os outstanding, and {QUEUE_DEPTH_MOST:,} can be",
                remedy="Name fewer disks, or other loads.",
            )
    streams = max(point.large for point in points)
    if settings.large_type == "seq" and streams > THREADS_MOST:
        raise PlanError(
            f"A point has {streams:,} sequential streams, and {THREADS_MOST} can be",
            remedy="Name fewer disks, or other loads.",
        )
