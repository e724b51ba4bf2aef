"""PTS all tests: the conversations of a version's tests, one after the other. Each begins with its
own purge. Which tests is in plan, how the record comes apart in parts, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import cached_property

from teijo.conformance.versions import DEFAULT_SPEC, SPECS
from teijo.document.model import Document
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps
from teijo.methods.parts import Part, watch_of
from teijo.methods.pts.campaign.parts import record_of, split, steps_of
from teijo.methods.pts.campaign.plan import TESTS, CampaignSettings, planned
from teijo.terms.finding import Findings, PartFindings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.terms.watch import Watch


class CampaignFound(FlatFound[CampaignSettings]):
    """What a record of Campaign shows."""

    @cached_property
    def tests(self) -> tuple[Part, ...]:
        """The tests that have begun, in their order."""
        return split(self.settings, self.record)

    @cached_property
    def findings(self) -> Findings:
        """Return what each test found; converged if all tests that ask for it did."""
        settings, parts = self.settings, self.tests
        verdicts = [each for part in parts if (each := part.findings.converged) is not None]
        ended = [part for part in parts if part.record.run.ending in ("done", *_JUDGED)]
        return Findings(
            method=self.record.run.method,
            spec=settings.spec,
            converged=all(verdicts) if verdicts else None,
            rounds=sum(part.findings.rounds for part in parts),
            scalars=(
                Scalar(name="tests ended", value=float(len(ended)), unit="tests"),
                Scalar(name="tests asked for", value=float(len(settings.parts)), unit="tests"),
            ),
            parts=tuple(PartFindings(name=part.name, findings=part.findings) for part in parts),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the test under way stands; what later tests take is left as well."""
        parts, record = self.settings.parts, self.record
        name = record.steps[-1].step.part if record.steps else parts[0].name
        place = next(number for number, each in enumerate(parts) if each.name == name)
        part = parts[place]
        own = record_of(part, record, steps_of(name, record), record.run.ending)
        now = watch_of(own, TESTS[part.test])
        if record.run.ending != "running":
            return replace(now, part=name)
        later = [
            watch_of(record_of(each, record, (), "running"), TESTS[each.test])
            for each in parts[place + 1 :]
        ]
        whole = (now, *later)
        return replace(
            now,
            part=name,
            remaining_ns_least=sum(each.remaining_ns_least for each in whole),
            remaining_ns_most=sum(each.remaining_ns_most for each in whole),
            remaining_bytes=sum(each.remaining_bytes for each in whole),
        )


class Campaign(Method[CampaignSettings, CampaignFound]):
    """The method `pts.all`."""

    id = "pts.all"
    title = "All tests"
    summary = "every test a version requires, one after the other, one report (SNIA PTS)"
    settings_type = CampaignSettings
    found_type = CampaignFound
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> CampaignSettings:
        """Return the settings of a version's tests on this device; see Method."""
        return planned(spec, overrides, geometry)

    def writes(self, settings: CampaignSettings) -> bool:
        """Return whether any of the tests writes."""
        parts = settings.parts
        tests = ((TESTS[part.test], part.settings) for part in parts)
        return any(test.writes(test.settings_from(stored)) for test, stored in tests)

    def deviations(self, settings: CampaignSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version in any test, each said once; see Method."""
        remarks: dict[Remark, None] = {}
        for part in settings.parts:
            test = TESTS[part.test]
            own = test.settings_from(part.settings)
            remarks |= dict.fromkeys(test.deviations(own, geometry))
        return tuple(remarks)

    def steps(self, settings: CampaignSettings, geometry: Geometry) -> Steps:
        """Hold every test's conversation; steady only if all that ask for it are."""
        endings: set[Ending] = set()
        for part in settings.parts:
            test = TESTS[part.test]
            steps = test.steps(test.settings_from(part.settings), geometry)
            endings.add((yield from _labelled(steps, part.name)))
        if "not steady" in endings:
            return "not steady"
        return "steady" if "steady" in endings else "done"

    def rescored(self, record: Record, spec: str) -> Record:
        """Return the record as if every test of it had been taken under another version."""
        from teijo.methods.pts.campaign.rescoring import rescored_campaign

        return rescored_campaign(record, self.settings_from(record.run.settings), spec)

    def document(self, found: CampaignFound) -> Document:
        """Return the summary page, then every test's own pages."""
        from teijo.methods.pts.campaign.pages import pages

        return pages(found.settings, found.record, found.reported, found.tests)


_JUDGED: tuple[Ending, ...] = ("steady", "not steady")


def _labelled(steps: Steps, name: str) -> Generator[Step, Answer, Ending]:
    """Pass a conversation on, its steps labelled with the test they belong to."""
    try:
        step = next(steps)
        while True:
            step = steps.send((yield replace(step, part=name)))
    except StopIteration as end:
        ending: Ending = end.value
        return ending
