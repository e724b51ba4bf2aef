"""An old run under another version of its standard: the other version's conversation is given the
recorded answers, for as long as it asks for the recorded steps.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from teijo import units
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.terms import step
from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Answer


@dataclass(frozen=True, kw_only=True)
class Heard:
    """How far a conversation got: steps it took, how it ended, and what it asked for then."""

    used: int
    ending: Ending | None
    asks: step.Step | None


class Rescorable(Protocol):
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

    def steps(self, settings: Any, geometry: Geometry) -> Generator[step.Step, Answer, Ending]:
        """Return the conversation."""
        ...

    def judging(self, ran: Any, ruled: Any) -> set[str]:
        """Return the fields in which the version has its own way with what was run."""
        ...


def heard(method: Rescorable, settings: object, record: Record) -> Heard:
    """Give a method the recorded answers for as long as it asks for the recorded steps."""
    steps = method.steps(settings, record.geometry)
    used = 0
    try:
        asks = next(steps)
        for exchange in record.steps:
            if step.step_to_json(asks) != step.step_to_json(exchange.step):
                break
            used += 1
            asks = steps.send(exchange.answer)
    except StopIteration as end:
        return Heard(used=used, ending=end.value, asks=None)
    return Heard(used=used, ending=None, asks=asks)


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
    left = record.steps[heard.used :]
    if heard.asks is not None:
        text = say("{spec} goes on with {step}", spec=spec, step=_named(heard.asks))
        if left:
            text = say(
                "{missing}; what the run has there (step {number}) is {other}",
                missing=text,
                number=left[0].seq,
                other=_named(left[0].step),
            )
        else:
            text = say("{missing}, and the run has no more steps", missing=text)
        remarks.append(Remark(kind=RemarkKind.STEPS_MISSING, text=text))
    elif left:
        text = say(
            "{spec} ends after step {used}; {left} more are left out",
            spec=spec,
            used=heard.used,
            left=len(left),
        )
        remarks.append(Remark(kind=RemarkKind.RESCORED, text=text))
    if heard.ending == "not steady":
        shown = "Steady state was not reached; the report shows the last rounds."
        remarks.append(Remark(kind=RemarkKind.NOT_STEADY, text=shown))
    return remarks


def _named(asked: step.Step) -> str:
    match asked:
        case step.Purge():
            return "a purge"
        case step.Precondition():
            return say("a preconditioning of {gb:,.1f} GB", gb=asked.total_bytes / units.GIGA)
        case step.Configure():
            return say("the configuration {settings}", settings=asked.text)
        case step.Idle():
            return say("{seconds:g} s of idleness", seconds=asked.duration_ns / units.NS_PER_S)
        case step.Measure() | step.Perform():
            cell = asked.cell or asked.phase
            if asked.round_number is None:
                return say("the measurement {cell}", cell=cell)
            return say(
                "{phase} {number}, {cell}", phase=asked.phase, number=asked.round_number, cell=cell
            )
