"""PTS IOPS: random I/O over a matrix of R/W mixes and block sizes, round after round, until the
tracking variables are in steady state. What it finds is in found, the report in pages.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from teijo.conformance import versions
from teijo.conformance.versions import Version, version_of
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady, precondition, purge, rounds_until_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.iops.found import (
    IopsFound,
    IopsSettings,
    cells,
    determination,
    tracked,
    wipc,
)
from teijo.methods.pts.method import PtsMethod, cells_dropped, more_rounds
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind


class Iops(PtsMethod[IopsSettings, IopsFound]):
    """The method `pts.iops`."""

    id = "pts.iops"
    settings_type = IopsSettings
    found_type = IopsFound

    def standard(self, version: Version, geometry: Geometry) -> IopsSettings:
        """Return the settings as the version has them on this device, unchecked."""
        logical = geometry.logical_block_bytes
        return IopsSettings.model_validate(
            {
                **shared.shared_defaults(version, geometry),
                "mixes_read_percent": versions.READ_PERCENTS,
                "block_sizes_bytes": tuple(b for b in versions.BLOCK_SIZES if not b % logical),
                "rounds_most": versions.ROUNDS_MOST,
                "precondition_times": versions.PRECONDITION_TIMES,
                "precondition_block_bytes": versions.PRECONDITION_BLOCK_BYTES,
            }
        )

    def block_sizes_of(self, settings: IopsSettings) -> tuple[int, ...]:
        """Return the block sizes of the matrix."""
        return settings.block_sizes_bytes

    def check(self, settings: IopsSettings, geometry: Geometry) -> None:
        """Make sure that the device serves the matrix, and that something of it is tracked."""
        super().check(settings, geometry)
        shared.check_blocks((settings.precondition_block_bytes,), geometry)
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

    def free(self, settings: IopsSettings, ruled: IopsSettings) -> Mapping[str, object]:
        """Return that further rounds are allowed."""
        return more_rounds(settings, ruled)

    def dropped(self, version: Version, geometry: Geometry) -> Sequence[str]:
        """Return the block sizes that the device cannot serve."""
        del version
        return cells_dropped(versions.BLOCK_SIZES, geometry)

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
        yield from purge()
        if settings.precondition_times:
            yield from precondition(*wipc(settings, geometry))
        states = yield from rounds_until_steady(
            partial(cells, settings),
            judge=partial(determination, settings),
            limit_rounds=settings.rounds_most,
        )
        return "steady" if is_steady(states) else "not steady"
