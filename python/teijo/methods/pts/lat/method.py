"""PTS LAT: response times of random I/O, one outstanding at a time, round after round, until the
average of 4 KiB writes is in steady state; version 2.0 then runs once more for the histogram.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from teijo.conformance import versions
from teijo.conformance.versions import Version
from teijo.errors import PlanError
from teijo.methods.method import Steps
from teijo.methods.phrases import (
    histogram_run,
    is_steady,
    precondition,
    purge,
    rounds_until_steady,
)
from teijo.methods.pts import settings as shared
from teijo.methods.pts.lat.found import (
    TRACKED,
    LatFound,
    LatSettings,
    cells,
    determination,
    matrix,
    wipc,
)
from teijo.methods.pts.matrix import stimulus
from teijo.methods.pts.method import PtsMethod, cells_dropped, more_rounds
from teijo.terms.geometry import Geometry


class Lat(PtsMethod[LatSettings, LatFound]):
    """The method `pts.lat`."""

    id = "pts.lat"
    settings_type = LatSettings
    found_type = LatFound

    def standard(self, version: Version, geometry: Geometry) -> LatSettings:
        """Return the settings as the version has them on this device, unchecked."""
        defaults = shared.shared_defaults(version, geometry)
        logical = geometry.logical_block_bytes
        sizes = versions.LATENCY_BLOCK_SIZES
        return LatSettings.model_validate(
            {
                **{
                    name: each
                    for name, each in defaults.items()
                    if name in LatSettings.model_fields
                },
                "mixes_read_percent": versions.LATENCY_READ_PERCENTS,
                "block_sizes_bytes": tuple(size for size in sizes if not size % logical),
                "rounds_most": versions.ROUNDS_MOST,
                "histogram_minutes": version.histogram_minutes,
                "precondition_times": versions.PRECONDITION_TIMES,
                "precondition_block_bytes": versions.PRECONDITION_BLOCK_BYTES,
                "precondition_threads": version.load.threads,
                "precondition_queue_depth": version.load.queue_depth,
            }
        )

    def block_sizes_of(self, settings: LatSettings) -> tuple[int, ...]:
        """Return the block sizes of the matrix."""
        return settings.block_sizes_bytes

    def check(self, settings: LatSettings, geometry: Geometry) -> None:
        """Make sure that the device serves the matrix, and that the tracked cell is in it."""
        super().check(settings, geometry)
        shared.check_blocks((settings.precondition_block_bytes,), geometry)
        if TRACKED not in matrix(settings):
            raise PlanError(
                "The tracking variable, RND 4 KiB 0/100, is not in this matrix",
                remedy="Keep at least the mix 0/100 and the block size 4KiB.",
            )

    def free(self, settings: LatSettings, ruled: LatSettings) -> Mapping[str, object]:
        """Return that the load of the preconditioning is the operator's, and further rounds."""
        return {
            "precondition_threads": settings.precondition_threads,
            "precondition_queue_depth": settings.precondition_queue_depth,
            **more_rounds(settings, ruled),
        }

    def dropped(self, version: Version, geometry: Geometry) -> Sequence[str]:
        """Return the block sizes that the device cannot serve."""
        del version
        return cells_dropped(versions.LATENCY_BLOCK_SIZES, geometry)

    def steps(self, settings: LatSettings, geometry: Geometry) -> Steps:
        """Purge, precondition, measure rounds until steady; then the histogram's run, if any."""
        yield from purge()
        if settings.precondition_times:
            yield from precondition(*wipc(settings, geometry))
        states = yield from rounds_until_steady(
            partial(cells, settings), judge=determination, limit_rounds=settings.rounds_most
        )
        if settings.histogram_minutes is not None:
            length_ns = settings.histogram_minutes * settings.minute_ns
            yield from histogram_run(stimulus(settings, TRACKED), length_ns, cell=TRACKED.name)
        return "steady" if is_steady(states) else "not steady"
