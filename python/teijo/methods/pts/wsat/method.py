"""PTS WSAT, write saturation: one continuous random write from a fresh drive, a sample a minute,
until the version's stop rule. What it finds is in found, the report in pages.
"""

from collections.abc import Generator
from typing import Any

from teijo.analysis import measures
from teijo.conformance.versions import WSAT_BLOCK_BYTES, Version
from teijo.methods.method import Steps
from teijo.methods.phrases import histogram_run, purge
from teijo.methods.pts.matrix import stimulus
from teijo.methods.pts.method import PtsMethod
from teijo.methods.pts.wsat.found import (
    Stop,
    WsatFound,
    WsatSettings,
    determinable,
    minute,
    why_stop,
)
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Step


class Wsat(PtsMethod[WsatSettings, WsatFound]):
    """The method `pts.wsat`."""

    id = "pts.wsat"
    settings_type = WsatSettings
    found_type = WsatFound
    # Write saturation is the enterprise drive's question: required there, optional for clients.
    default_spec = "2.0.2-enterprise"

    def ruled(self, version: Version, geometry: Geometry) -> dict[str, Any]:  # noqa: ARG002
        """Return when the test stops, and what it drives until then."""
        # Unverified: the check minute after every 30, and 2.0.2's six hours.
        rule = version.saturation
        return {
            "read_percent": 0,
            "block_size_bytes": WSAT_BLOCK_BYTES,
            "capacity_times": rule.capacity_times,
            "minutes_most": rule.minutes,
            "check_minutes": rule.check_minutes,
            "histogram_minutes": version.histogram_minutes,
        }

    def block_sizes_of(self, settings: WsatSettings) -> tuple[int, ...]:
        """Return the block size of the stimulus."""
        return (settings.block_size_bytes,)

    def writes(self, settings: WsatSettings) -> bool:
        """Return whether the stimulus writes; the standard's does nothing else."""
        return settings.read_percent < 100

    def steps(self, settings: WsatSettings, geometry: Geometry) -> Steps:
        """Purge, then write minute after minute, from the purge again after a gap; then the
        histogram's run, where there is one.
        """
        answers, stop = yield from _saturated(settings, geometry)
        if settings.histogram_minutes is not None:
            length_ns = settings.histogram_minutes * settings.minute_ns
            cell = settings.cell
            # Counted by itself: the minutes before it include the fresh drive's.
            yield from histogram_run(stimulus(settings, cell), length_ns, cell=cell.name)
        if not determinable(settings, answers):
            return "done"
        return "steady" if stop == "steady" else "not steady"


def _saturated(
    settings: WsatSettings, geometry: Geometry
) -> Generator[Step, Answer, tuple[list[StepResult], Stop]]:
    """Write from the purge to a stop rule; return the unbroken minutes and the rule."""
    while True:
        yield from purge(settings.purge)
        answers: list[StepResult] = []
        written = 0
        while (stop := why_stop(settings, geometry, answers, written)) is None:
            answer = yield minute(settings, len(answers) + 1)
            if isinstance(answer, Gap):
                break
            answers.append(answer)
            written += measures.written_bytes(answer)
        # None after a gap: from the purge again, since a rested drive is another drive.
        if stop is not None:
            return answers, stop
