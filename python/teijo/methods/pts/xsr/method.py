"""PTS XSR, cross stimulus recovery: hours of sequential writes, of random ones, and of sequential
ones again. Does the drive come back? What it finds is in found, the report in pages.
"""

from dataclasses import asdict
from typing import Any

from teijo.conformance.versions import VERSIONS, CrossStimulusRule, LoadRule, Version
from teijo.methods.method import Steps
from teijo.methods.phrases import purge
from teijo.methods.pts.method import PtsMethod
from teijo.methods.pts.xsr.found import XsrFound, XsrSettings, minute_step
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap


def rule_of(version: Version) -> CrossStimulusRule:
    """Return what a version that has XSR says of it."""
    assert version.cross_stimulus is not None, version.id
    return version.cross_stimulus


class Xsr(PtsMethod[XsrSettings, XsrFound]):
    """The method `pts.xsr`."""

    id = "pts.xsr"
    settings_type = XsrSettings
    found_type = XsrFound
    specs = tuple(each.id for each in VERSIONS if each.cross_stimulus is not None)
    # It came with the enterprise specification 1.1.
    default_spec = "2.0.2-enterprise"

    def ruled(self, version: Version, geometry: Geometry) -> dict[str, Any]:  # noqa: ARG002
        """Return the rule for this test: block sizes and minutes."""
        # Unverified: the hours of 1.1, which are taken from 2.0's.
        return asdict(rule_of(version))

    def block_sizes_of(self, settings: XsrSettings) -> tuple[int, ...]:
        """Return the block sizes of both stimuli."""
        return (settings.sequential_block_bytes, settings.random_block_bytes)

    def load(self, version: Version) -> LoadRule:
        """Return the load of this test."""
        return rule_of(version).load

    def steps(self, settings: XsrSettings, geometry: Geometry) -> Steps:
        """Purge, then write minute after minute; from the purge again after a gap."""
        del geometry
        while True:
            yield from purge(settings.purge)
            for minute in range(1, settings.minutes_most + 1):
                answer = yield minute_step(settings, minute)
                # A rested drive is another drive: from the purge again.
                if isinstance(answer, Gap):
                    break
            else:
                return "done"
