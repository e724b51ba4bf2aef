"""PTS IOPS: random I/O over a matrix of R/W mixes and block sizes, round after round, until the
tracking variables are in steady state. What it finds is in found, the report in pages.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from teijo.conformance import versions
from teijo.conformance.versions import Version, version_of
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady
from teijo.methods.pts.iops.found import IopsFound, IopsSettings, determination, tracked
from teijo.methods.pts.matrix import RoundsMethod, matrix_round, until_steady, wipc
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind


class Iops(RoundsMethod[IopsSettings, IopsFound]):
    """The method `pts.iops`."""

    id = "pts.iops"
    settings_type = IopsSettings
    found_type = IopsFound

    def in_rounds(self, version: Version) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the matrix, which all versions have alike."""
        return {
            "mixes_read_percent": versions.READ_PERCENTS,
            "block_sizes_bytes": versions.BLOCK_SIZES,
        }

    def check(self, settings: IopsSettings, geometry: Geometry) -> None:
        """Make sure that the device serves the matrix, and that something of it is tracked."""
        super().check(settings, geometry)
        # Without a variable no window is ever steady: it would run all its rounds for nothing.
        if not tracked(settings):
            version = version_of(settings.spec)
            wanted = ", ".join(cell.stimulus for cell in version.tracking)
            raise PlanError(
                f"No tracking variable of {version.revision} is in this matrix ({wanted})",
                remedy="Keep at least the mix 0/100 and the block size 4KiB.",
            )

    def writes(self, settings: IopsSettings) -> bool:
        """Return whether the matrix or its preconditioning writes."""
        return settings.precondition_times > 0 or min(settings.mixes_read_percent) < 100

    def deviations(self, settings: IopsSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version, and which tracking variables are missing."""
        missing = (
            Remark(
                kind=RemarkKind.DEVIATION,
                text=say(
                    "tracking variable {variable} is not in the matrix: steady state is determined "
                    "without it",
                    variable=cell.stimulus,
                ),
            )
            for cell in version_of(settings.spec).tracking
            if cell not in tracked(settings)
        )
        return (*super().deviations(settings, geometry), *missing)

    def steps(self, settings: IopsSettings, geometry: Geometry) -> Steps:
        """Purge, precondition, and measure rounds until all tracking variables are steady."""
        states = yield from until_steady(
            settings,
            wipc(settings, geometry),
            partial(matrix_round, settings),
            partial(determination, settings),
        )
        return "steady" if is_steady(states) else "not steady"
