"""The tests a record is made of: those of a campaign, or the one that any other run is."""

from dataclasses import dataclass

from teijo.methods.method import Method, Settings
from teijo.methods.registry import method_named
from teijo.terms.finding import Findings
from teijo.terms.record import Record


@dataclass(frozen=True, kw_only=True)
class Part:
    """One test of a campaign that has begun, as if it had been run alone.

    Its steps keep their numbers in the run file.
    """

    name: str
    method: Method
    settings: Settings
    record: Record
    findings: Findings


def parts_of(record: Record) -> tuple[Part, ...]:
    """Return each test that has begun, with its record as if it had been run alone."""
    method: Method = method_named(record.run.method)
    settings = method.settings_from(record.run.settings)
    if method.id == "pts.all":
        from teijo.methods.pts.campaign.parts import split
        from teijo.methods.pts.campaign.plan import CampaignSettings

        assert isinstance(settings, CampaignSettings)
        return split(settings, record)
    return (
        Part(
            name=method.id.rpartition(".")[2],
            method=method,
            settings=settings,
            record=record,
            findings=method.findings(record),
        ),
    )
