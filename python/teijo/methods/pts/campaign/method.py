"""PTS all tests: the conversations of a version's tests, one after the other. Each begins with its
own purge. Which tests is in plan, how the record comes apart in parts, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from itertools import chain

from teijo.conformance.versions import DEFAULT_SPEC, SPECS
from teijo.methods.method import Method, Steps
from teijo.methods.pts.campaign.found import CampaignFound
from teijo.methods.pts.campaign.plan import CampaignSettings, planned
from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step


class Campaign(Method[CampaignSettings, CampaignFound]):
    """The method `pts.all`."""

    id = "pts.all"
    settings_type = CampaignSettings
    found_type = CampaignFound
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> CampaignSettings:
        """Return the settings of a version's tests on this device."""
        return planned(spec, overrides, geometry)

    def writes(self, settings: CampaignSettings) -> bool:
        """Return whether any of the tests writes."""
        return any(part.method.writes(part.own) for part in settings.parts)

    def deviations(self, settings: CampaignSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version in any test, each said once."""
        remarks = (part.method.deviations(part.own, geometry) for part in settings.parts)
        return tuple(dict.fromkeys(chain.from_iterable(remarks)))

    def steps(self, settings: CampaignSettings, geometry: Geometry) -> Steps:
        """Hold every test's conversation; steady only if all that ask for it are."""
        endings: set[Ending] = set()
        for part in settings.parts:
            steps = part.method.steps(part.own, geometry)
            endings.add((yield from _labelled(steps, part.name)))
        # Some tests never ask for steady state (XSR) and end as "done": they decide nothing.
        if "not steady" in endings:
            return "not steady"
        return "steady" if "steady" in endings else "done"

    def rescored(self, record: Record, spec: str) -> Record:
        """Return the record as if every test of it had been taken under another version."""
        from teijo.methods.pts.campaign.rescoring import rescored_campaign

        return rescored_campaign(record, self.settings_from(record.run.settings), spec)


def _labelled(steps: Steps, name: str) -> Generator[Step, Answer, Ending]:
    """Pass a conversation on, its steps labelled with the test they belong to."""
    try:
        step = next(steps)
        while True:
            step = steps.send((yield replace(step, part=name)))
    except StopIteration as end:
        ending: Ending = end.value
        return ending
