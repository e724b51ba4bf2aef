"""A campaign's record taken apart: each test's steps as a separate record."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.methods.parts import Part, found_in
from teijo.methods.pts.campaign.plan import CampaignSettings, PartSettings
from teijo.terms.record import Ending, Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind


def split(settings: CampaignSettings, record: Record) -> tuple[Part, ...]:
    """Return the tests that have begun, in their order."""
    found = {each.step.part for each in record.steps}
    begun = [part for part in settings.parts if part.name in found]
    return tuple(
        part_of(part, record, steps_of(part.name, record), is_last=part is begun[-1])
        for part in begun
    )


def part_of(
    part: PartSettings, record: Record, steps: Sequence[StepRecord], *, is_last: bool
) -> Part:
    """Return one test from its steps; the last one to begin ends as the whole run does."""
    # The file has one ending for all tests; each one's own follows from what it found.
    own = record_of(part, record, steps, "done")
    converged = found_in(own, part.method).converged
    ending: Ending = "done" if converged is None else "steady" if converged else "not steady"
    if is_last and not record.run.is_whole:
        ending = record.run.ending
    whole = replace(
        own,
        run=replace(own.run, ending=ending),
        remarks=_remarks_after(converged, own.remarks),
    )
    return Part(name=part.name, method=part.method, found=found_in(whole, part.method))


def record_of(
    part: PartSettings, record: Record, steps: Sequence[StepRecord], ending: Ending
) -> Record:
    """Return one test's record, with the remarks that are about it."""
    settings = part.own
    numbers = {each.seq for each in steps}
    remarks = (
        *part.method.deviations(settings, record.geometry),
        *(
            remark
            for remark in record.remarks
            # The run's deviations are those of all tests: this test's own were drawn up anew above.
            if remark.kind is not RemarkKind.DEVIATION
            and (remark.step is None or remark.step in numbers)
        ),
    )
    return replace(
        record,
        run=replace(
            record.run,
            method=part.method.id,
            spec=settings.spec,
            settings=settings.model_dump(mode="json"),
            ending=ending,
        ),
        steps=tuple(steps),
        remarks=remarks,
    )


def _remarks_after(converged: bool | None, remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """Return the remarks without that of a steady state which another test did not reach."""
    return tuple(
        remark
        for remark in remarks
        if remark.kind is not RemarkKind.NOT_STEADY or remark.step is not None or converged is False
    )


def steps_of(name: str, record: Record) -> tuple[StepRecord, ...]:
    """Return the steps of one test, as if it had been run alone."""
    return tuple(
        # Re-scoring compares steps with those that the test asks for when run alone.
        replace(each, step=replace(each.step, part=""))
        for each in record.steps
        if each.step.part == name
    )
