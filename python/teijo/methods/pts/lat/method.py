"""PTS LAT: response times of random I/O, one outstanding at a time, round after round, until the
average of 4 KiB writes is in steady state; version 2.0 then runs once more for the histogram.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from teijo.conformance import versions
from teijo.conformance.versions import Version
from teijo.errors import PlanError
from teijo.methods.method import Steps
from teijo.methods.phrases import histogram_run, is_steady
from teijo.methods.pts.lat.found import TRACKED, LatFound, LatSettings, determination
from teijo.methods.pts.matrix import RoundsMethod, matrix_round, stimulus, until_steady, wipc
from teijo.terms.geometry import Geometry


class Lat(RoundsMethod[LatSettings, LatFound]):
    """The method `pts.lat`."""

    id = "pts.lat"
    settings_type = LatSettings
    found_type = LatFound

    def in_rounds(self, version: Version) -> Mapping[str, Any]:
        """Return the matrix, the histogram's run, and the load of the preconditioning."""
        return {
            "mixes_read_percent": versions.LATENCY_READ_PERCENTS,
            "block_sizes_bytes": versions.LATENCY_BLOCK_SIZES,
            "histogram_minutes": version.histogram_minutes,
            # More than the test's 1 × 1, to shorten WIPC; unverified, so the load of IOPS is taken.
            "precondition_threads": version.load.threads,
            "precondition_queue_depth": version.load.queue_depth,
        }

    def check(self, settings: LatSettings, geometry: Geometry) -> None:
        """Make sure that the device serves the matrix, and that the tracked cell is in it."""
        super().check(settings, geometry)
        if TRACKED not in settings.matrix:
            raise PlanError(
                "The tracking variable, RND 4 KiB 0/100, is not in this matrix",
                remedy="Keep at least the mix 0/100 and the block size 4KiB.",
            )

    def free(self, settings: LatSettings, ruled: LatSettings) -> dict[str, object]:
        """Return that the load of the preconditioning is the operator's, and further rounds."""
        own = ("precondition_threads", "precondition_queue_depth")
        return super().free(settings, ruled) | {name: getattr(settings, name) for name in own}

    def steps(self, settings: LatSettings, geometry: Geometry) -> Steps:
        """Purge, precondition, measure rounds until steady; then the histogram's run, if any."""
        states = yield from until_steady(
            settings, wipc(settings, geometry), partial(matrix_round, settings), determination
        )
        # Without steady state too. Unverified: its length and stimulus (one program of 2.0).
        if settings.histogram_ns:
            driven = stimulus(settings, TRACKED)
            yield from histogram_run(driven, settings.histogram_ns, cell=TRACKED.name)
        return "steady" if is_steady(states) else "not steady"
