"""An old run under another version of its standard: the other version's conversation is given the
recorded answers, for as long as it asks for the recorded steps.
"""

from collections.abc import Sequence
from dataclasses import replace

from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods import conversation
from teijo.methods.conversation import Heard
from teijo.methods.knobs import knobs_of
from teijo.methods.method import AnyMethod
from teijo.methods.pts.campaign.method import Campaign
from teijo.methods.pts.campaign.parts import split
from teijo.methods.pts.campaign.plan import TESTS, CampaignSettings, PartSettings
from teijo.methods.pts.versions import Version, version_of
from teijo.methods.settings import Settings
from teijo.terms.record import Ending, Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge, Step


def rescored(record: Record, method: AnyMethod, spec: str) -> Record:
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
    if isinstance(method, Campaign):
        return _rescored_campaign(record, method, spec)
    settings = _judged_by(record, method, spec)
    if settings.spec == record.run.spec:
        return record
    heard = conversation.heard(method, settings, record)
    return replace(
        record,
        run=replace(
            record.run,
            spec=settings.spec,
            settings=settings.model_dump(mode="json"),
            ending=heard.ending or "interrupted",
        ),
        steps=record.steps[: heard.used],
        remarks=(
            *_kept(record, method, heard.used),
            *_remarks(record, settings.spec, heard),
            *method.deviations(settings, record.geometry),
        ),
    )


def _rescored_campaign(record: Record, campaign: Campaign, spec: str) -> Record:
    """Return a campaign whose tests are each judged by the other version, where it has them."""
    version = version_of(spec)
    if version.id == record.run.spec:
        return record
    settings = campaign.settings_from(record.run.settings)
    known = [part for part in split(settings, record) if version.id in part.method.specs]
    if not known:
        raise PlanError(
            f"{version.id} has none of this campaign's tests ({', '.join(settings.tests)})",
            remedy="Leave --spec away.",
        )
    judged = {part.name: rescored(part.record, part.method, version.id) for part in known}
    asked = [part for part in settings.parts if version.id in TESTS[part.test].specs]
    own = CampaignSettings(
        spec=version.id,
        tests=tuple(test for test in settings.tests if test in {part.test for part in asked}),
        parts=tuple(_asked_of(part, judged.get(part.name), version, record) for part in asked),
    )
    endings = [each.run.ending for each in judged.values()]
    return replace(
        record,
        run=replace(
            record.run,
            spec=version.id,
            settings=own.model_dump(mode="json"),
            ending="running" if record.run.ending == "running" else _worst(endings),
        ),
        steps=tuple(
            replace(each, step=replace(each.step, part=name))
            for name, one in judged.items()
            for each in one.steps
        ),
        remarks=tuple(
            dict.fromkeys(
                _of_test(name, remark) for name, one in judged.items() for remark in one.remarks
            )
        ),
    )


def _asked_of(
    part: PartSettings, judged: Record | None, version: Version, record: Record
) -> PartSettings:
    """Return a test's settings under the version; one that has not begun is as it asks for it."""
    if judged is not None:
        return PartSettings(name=part.name, test=part.test, settings=dict(judged.run.settings))
    ruled = TESTS[part.test].settings(version.id, {}, record.geometry)
    return PartSettings(name=part.name, test=part.test, settings=ruled.model_dump(mode="json"))


def _of_test(name: str, remark: Remark) -> Remark:
    """Return a remark that names its test, where it is of one test alone."""
    if remark.kind is not RemarkKind.STEPS_MISSING:
        return remark
    return replace(remark, text=say("{test}: {text}", test=name, text=remark.text))


def _worst(endings: Sequence[Ending]) -> Ending:
    order: tuple[Ending, ...] = ("interrupted", "failed", "running", "not steady", "steady", "done")
    return min(endings, key=order.index)


def _judged_by(record: Record, method: AnyMethod, spec: str) -> Settings:
    """Return the run's settings with the version's own where they only judge.

    What the run did after all that the version asks for is nothing against it either.
    """
    ruled = method.settings(spec, {}, record.geometry)
    ran = method.settings_from(record.run.settings)
    judging = {
        name
        for name, knob in knobs_of(type(ran)).items()
        if knob.judges or (knob.adds and getattr(ruled, name) is None)
    }
    own = {name: value for name, value in ran.model_dump().items() if name not in judging}
    judged: Settings = type(ran).model_validate({**ruled.model_dump(), **own, "spec": ruled.spec})
    return judged


def _kept(record: Record, method: AnyMethod, used: int) -> tuple[Remark, ...]:
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
            return say("a preconditioning of {gb:,.1f} GB", gb=step.total_bytes / 1e9)
        case Configure():
            return say("the configuration {settings}", settings=step.text)
        case Idle():
            return say("{seconds:g} s of idleness", seconds=step.duration_ns / 1e9)
        case Measure():
            cell = step.cell or step.phase
            if step.round_number is None:
                return say("the measurement {cell}", cell=cell)
            return say(
                "{phase} {number}, {cell}", phase=step.phase, number=step.round_number, cell=cell
            )
