"""PTS all tests: the conversations of a version's tests, one after the other. Each begins with its
own purge. Which tests is in plan, how the record comes apart in parts, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace

from teijo.document.model import Document
from teijo.methods import knobs
from teijo.methods.method import Settings, Steps
from teijo.methods.pts.campaign.parts import record_of, split, steps_of
from teijo.methods.pts.campaign.plan import TESTS, CampaignSettings, planned
from teijo.methods.pts.versions import DEFAULT_SPEC, SPECS
from teijo.terms.finding import Findings, PartFindings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.terms.watch import Watch


class Campaign:
    """The method `pts.all`."""

    id = "pts.all"
    title = "All tests"
    summary = "every test a version requires, one after the other, one report (SNIA PTS)"
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> CampaignSettings:
        """Return the settings of a version's tests on this device; see Method."""
        return planned(spec, overrides, geometry)

    def settings_from(self, stored: Mapping[str, object]) -> CampaignSettings:
        """Return the settings a run file holds."""
        return knobs.build(CampaignSettings, stored)

    def writes(self, settings: Settings) -> bool:
        """Return whether any of the tests writes."""
        parts = _own(settings).parts
        tests = ((TESTS[part.test], part.settings) for part in parts)
        return any(test.writes(test.settings_from(stored)) for test, stored in tests)

    def deviations(self, settings: Settings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version in any test, each said once; see Method."""
        remarks: dict[Remark, None] = {}
        for part in _own(settings).parts:
            test = TESTS[part.test]
            own = test.settings_from(part.settings)
            remarks |= dict.fromkeys(test.deviations(own, geometry))
        return tuple(remarks)

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        """Hold every test's conversation; steady only if all that ask for it are."""
        endings: set[Ending] = set()
        for part in _own(settings).parts:
            test = TESTS[part.test]
            steps = test.steps(test.settings_from(part.settings), geometry)
            endings.add((yield from _labelled(steps, part.name)))
        if "not steady" in endings:
            return "not steady"
        return "steady" if "steady" in endings else "done"

    def findings(self, record: Record) -> Findings:
        """Return what each test found; converged if all tests that ask for it did."""
        settings = self.settings_from(record.run.settings)
        parts = split(settings, record)
        verdicts = [each for part in parts if (each := part.findings.converged) is not None]
        ended = [part for part in parts if part.record.run.ending in ("done", *_JUDGED)]
        return Findings(
            method=self.id,
            spec=settings.spec,
            converged=all(verdicts) if verdicts else None,
            rounds=sum(part.findings.rounds for part in parts),
            scalars=(
                Scalar(name="tests ended", value=float(len(ended)), unit="tests"),
                Scalar(name="tests asked for", value=float(len(settings.parts)), unit="tests"),
            ),
            parts=tuple(PartFindings(name=part.name, findings=part.findings) for part in parts),
        )

    def watch(self, record: Record) -> Watch:
        """Return where the test under way stands; what later tests take is left as well."""
        parts = self.settings_from(record.run.settings).parts
        name = record.steps[-1].step.part if record.steps else parts[0].name
        place = next(number for number, each in enumerate(parts) if each.name == name)
        part = parts[place]
        own = record_of(part, record, steps_of(name, record), record.run.ending)
        now = TESTS[part.test].watch(own)
        if record.run.ending != "running":
            return replace(now, part=name)
        later = [
            TESTS[each.test].watch(record_of(each, record, (), "running"))
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

    def document(self, record: Record, findings: Findings) -> Document:
        """Return the summary page, then every test's own pages."""
        from teijo.methods.pts.campaign.pages import pages

        settings = self.settings_from(record.run.settings)
        return pages(settings, record, findings, split(settings, record))


_JUDGED: tuple[Ending, ...] = ("steady", "not steady")


def _own(settings: Settings) -> CampaignSettings:
    assert isinstance(settings, CampaignSettings), type(settings)
    return settings


def _labelled(steps: Steps, name: str) -> Generator[Step, Answer, Ending]:
    """Pass a conversation on, its steps labelled with the test they belong to."""
    try:
        step = next(steps)
        while True:
            step = steps.send((yield replace(step, part=name)))
    except StopIteration as end:
        ending: Ending = end.value
        return ending
