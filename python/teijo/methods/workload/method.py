"""A free workload in one line: what people start fio for, with a report. Not of any standard.

What it finds is in found, the report in pages.
"""

from collections.abc import Mapping
from typing import Any

from teijo import units
from teijo.errors import PlanError
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.methods.workload.found import WorkloadFound, step_of
from teijo.methods.workload.read_back import read_back
from teijo.methods.workload.settings import (
    THREADS_MOST,
    StreamSettings,
    WorkloadSettings,
    asked_in,
    check_streams,
)
from teijo.methods.workload.words import insist_whole_zones
from teijo.terms.geometry import Geometry
from teijo.terms.workload import ActiveRange


class FreeWorkload(Method[WorkloadSettings, WorkloadFound]):
    """The method `workload`."""

    id = "workload"
    settings_type = WorkloadSettings
    found_type = WorkloadFound

    def asked(
        self,
        overrides: Mapping[str, str],
        geometry: Geometry,  # noqa: ARG002 — no default follows from it
    ) -> dict[str, Any]:
        """Return the stimulus asked for."""
        return asked_in(overrides)

    def check(self, settings: WorkloadSettings, geometry: Geometry) -> None:
        """Make sure that the streams go together and the device can serve them."""
        stimuli = [stimulus for _, stimulus in settings.stimuli]
        check_streams(stimuli)
        sizes = [stimulus.stream("").sizes_bytes for stimulus in stimuli]
        check_blocks(tuple(size for each in sizes for size in each), geometry)
        for stimulus in stimuli:
            insist_whole_zones(stimulus.access)
            _check_room(stimulus, geometry)
        threads = sum(stimulus.threads for stimulus in stimuli)
        if threads > THREADS_MOST:
            raise PlanError(
                f"The streams have {threads} threads together, and {THREADS_MOST} is the most",
                remedy="Give them fewer threads, and more depth (qd) each.",
            )

    def writes(self, settings: WorkloadSettings) -> bool:
        """Return whether any I/O writes."""
        return step_of(settings).workload.writes

    def steps(
        self,
        settings: WorkloadSettings,
        geometry: Geometry,
    ) -> Steps:
        """Drive the workload once, from its start again after a gap; read back what it wrote."""
        asked = step_of(settings)
        answer = yield from insist(asked)
        if settings.reads_back:
            reading = read_back(asked.workload, geometry, answer)
            if reading is not None:
                yield from insist(reading)
        return "done"


def _check_room(settings: StreamSettings, geometry: Geometry) -> None:
    active_range = ActiveRange(share_percent=settings.active_range_percent)
    if settings.block_size_bytes > active_range.span_on(geometry):
        raise PlanError(
            f"A block of {units.format_block_size(settings.block_size_bytes)} does not fit in "
            f"{settings.active_range_percent} % of {units.format_size(geometry.capacity_bytes)}",
            remedy="Set a smaller bs, a larger range, or take a larger device.",
        )
