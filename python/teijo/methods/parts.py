"""The tests a record is made of: those of a campaign, or the one that any other run is."""

from teijo.methods.method import Method
from teijo.methods.pts.campaign.method import Campaign
from teijo.methods.pts.campaign.parts import Part, split
from teijo.methods.registry import method_named
from teijo.terms.record import Record


def parts_of(record: Record) -> tuple[Part, ...]:
    """Return each test that has begun, with its record as if it had been run alone."""
    method: Method = method_named(record.run.method)
    settings = method.settings_from(record.run.settings)
    if isinstance(method, Campaign):
        return split(method.settings_from(record.run.settings), record)
    return (
        Part(
            name=method.id.rpartition(".")[2],
            method=method,
            settings=settings,
            record=record,
            findings=method.findings(record),
        ),
    )
