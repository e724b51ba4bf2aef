"""What a campaign shows: what each of its tests found, and how far the one under way is."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from teijo.methods.found import Found
from teijo.methods.parts import Part, watch_of
from teijo.methods.pts.campaign.parts import record_of, split, steps_of
from teijo.methods.pts.campaign.plan import CampaignSettings
from teijo.terms.finding import PartFindings, Scalar
from teijo.terms.watch import Watch


class CampaignFound(Found[CampaignSettings]):
    """What a record of Campaign shows."""

    @cached_property
    def tests(self) -> tuple[Part, ...]:
        """The tests that have begun, in their order."""
        return split(self.settings, self.record)

    @cached_property
    def parts(self) -> tuple[PartFindings, ...]:
        """What each test found."""
        return tuple(PartFindings(name=each.name, findings=each.findings) for each in self.tests)

    @cached_property
    def converged(self) -> bool | None:
        """Whether every test that asks for steady state reached it."""
        verdicts = [each for test in self.tests if (each := test.found.converged) is not None]
        return all(verdicts) if verdicts else None

    @property
    def rounds(self) -> int:
        """The rounds of all tests."""
        return sum(test.found.rounds for test in self.tests)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """How many tests ended, of how many."""
        ended = sum(test.record.run.is_whole for test in self.tests)
        asked = len(self.settings.parts)
        return (
            Scalar(name="tests ended", value=float(ended), unit="tests"),
            Scalar(name="tests asked for", value=float(asked), unit="tests"),
        )

    @cached_property
    def watch(self) -> Watch:
        """How far the test under way is; the time left counts the later tests too."""
        parts, record = self.settings.parts, self.record
        name = record.steps[-1].step.part if record.steps else parts[0].name
        place = [each.name for each in parts].index(name)
        part = parts[place]
        own = record_of(part, record, steps_of(name, record), record.run.ending)
        now = watch_of(own, part.method)
        if record.run.ending != "running":
            return replace(now, part=name)
        later = (
            watch_of(record_of(each, record, (), "running"), each.method)
            for each in parts[place + 1 :]
        )
        return replace(now.followed_by(*later), part=name)
