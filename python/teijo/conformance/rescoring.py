"""An old run under another version of its standard: the other version's conversation is given the
recorded answers, for as long as it asks for the recorded steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from teijo import units
from teijo.conformance.conversation import Converses, Heard, heard
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step


class Rescorable(Converses, Protocol):
    """What a method has to say for its runs to be judged by another version of its standard."""

    id: str
    specs: tuple[str, ...]

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> Any:
        """Return the settings of a version on this geometry."""
        ...

    def settings_from(self, stored: Mapping[str, object]) -> Any:
        """Return the settings a run file holds."""
        ...

    def deviations(self, settings: Any, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what these settings change against the standard."""
        ...

    def judging(self, ran: Any, ruled: Any) -> set[str]:
        """Return the fields in which the version has its own way with what was run."""
        ...


def rescored(record: Record, method: Rescorable, spec: str) -> Record:
    """Return the record as if it had been taken under another version of the standard.

    What was asked of the device stays as it was; what decides when to stop and what is steady
    comes from the version. Steps that the version would not have asked for are left out. Where
    the recorded steps do not suffice, the record is `interrupted` and a remark says what is
    missing; what differs from the version is a deviation, as in any run.

    Raises:
        PlanError: the method follows no standard, or there is no such version.
    """
    if not method.specs:
        raise PlanError(
            f"{method.id} follows no standard, so there is no version to judge it by",
            remedy="Leave --spec away.",
        )
    settings = _judged_by(record, method, spec)
    if settings.spec == record.run.spec:
        return record
    again = heard(method, settings, record)
    return replace(
        record,
        run=replace(
            record.run,
            spec=settings.spec,
            settings=settings.model_dump(mode="json"),
            ending=again.ending or "interrupted",
        ),
        steps=record.steps[: again.used],
        remarks=(
            *_kept(record, method, again.used),
            *_remarks(record, settings.spec, again),
            *method.deviations(settings, record.geometry),
        ),
    )


def _judged_by(record: Record, method: Rescorable, spec: str) -> Any:
    """Return the run's settings with the version's own where they only judge.

    What the run did after all that the version asks for is nothing against it either.
    """
    ruled = method.settings(spec, {}, record.geometry)
    ran = method.settings_from(record.run.settings)
    judging = method.judging(ran, ruled)
    own = {name: value for name, value in ran.model_dump().items() if name not in judging}
    return type(ran).model_validate({**ruled.model_dump(), **own, "spec": ruled.spec})


def _kept(record: Record, method: Rescorable, used: int) -> tuple[Remark, ...]:
    """Return the recorded remarks that still hold: not the old version's deviations and verdict."""
    old = set(method.deviations(method.settings_from(record.run.settings), record.geometry))
    return tuple(
        remark
        for remark in record.remarks
        if remark not in old
        and remark.kind is not RemarkKind.NOT_STEADY
        and (remark.step is None or remark.step <= used)
    )


def _remarks(record: Record, spec: str, heard: Heard) -> Sequence[Remark]:
    text = say("measured under {old}, judged here by {new}", old=record.run.spec, new=spec)
    remarks = [Remark(kind=RemarkKind.RESCORED, text=text)]
    left = len(record.steps) - heard.used
    if heard.asks is not None:
        following: StepRecord | None = record.steps[heard.used] if left else None
        missing = say("{spec} goes on with {step}", spec=spec, step=_named(heard.asks))
        if following is None:
            text = say("{missing}, and the run has no more steps", missing=missing)
        else:
            text = say(
                "{missing}; what the run has there (step {number}) is {other}",
                missing=missing,
                number=following.seq,
                other=_named(following.step),
            )
        remarks.append(Remark(kind=RemarkKind.STEPS_MISSING, text=text))
    elif left:
        text = say(
            "{spec} ends after step {used}; {left} more are left out",
            spec=spec,
            used=heard.used,
            left=left,
        )
        remarks.append(Remark(kind=RemarkKind.RESCORED, text=text))
    if heard.ending == "not steady":
        remarks.append(
            Remark(
                kind=RemarkKind.NOT_STEADY,
                text="Steady state was not reached; the report shows the last rounds.",
            )
        )
    return remarks


def _named(step: Step) -> str:
    match step:
        case Purge():
            return "a purge"
        case Precondition():
            return say("a preconditioning of {gb:,.1f} GB", gb=step.total_bytes / units.GIGA)
        case Configure():
            return say("the configuration {settings}", settings=step.text)
        case Idle():
            return say("{seconds:g} s of idleness", seconds=step.duration_ns / units.NS_PER_S)
        case Measure() | Perform():
            cell = step.cell or step.phase
            if step.round_number is None:
                return say("the measurement {cell}", cell=cell)
            return say(
                "{phase} {number}, {cell}", phase=step.phase, number=step.round_number, cell=cell
            )
