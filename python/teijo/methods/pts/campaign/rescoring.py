"""A campaign under another version of its standard: each of its tests is, where it has them."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.conformance.rescoring import rescored
from teijo.conformance.versions import Version, version_of
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.pts.campaign.parts import split
from teijo.methods.pts.campaign.plan import CampaignSettings, PartSettings
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark, RemarkKind


def rescored_campaign(record: Record, settings: CampaignSettings, spec: str) -> Record:
    """Return a campaign whose tests are each judged by the other version, where it has them."""
    version = version_of(spec)
    if version.id == record.run.spec:
        return record
    known = [part for part in split(settings, record) if version.id in part.method.specs]
    if not known:
        raise PlanError(
            f"{version.id} has none of this campaign's tests ({', '.join(settings.tests)})",
            remedy="Leave --spec away.",
        )
    judged = {part.name: rescored(part.record, part.method, version.id) for part in known}
    asked = [part for part in settings.parts if version.id in part.method.specs]
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
            # A growing run goes on, though by the other version all tests so far may have ended.
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
        return part.model_copy(update={"settings": dict(judged.run.settings)})
    ruled = part.method.settings(version.id, {}, record.geometry)
    return part.model_copy(update={"settings": ruled.model_dump(mode="json")})


def _of_test(name: str, remark: Remark) -> Remark:
    """Return a remark that names its test, where it is of one test alone."""
    # Two tests may lack the same steps: without a name one remark would stand for both.
    if remark.kind is not RemarkKind.STEPS_MISSING:
        return remark
    return replace(remark, text=say("{test}: {text}", test=name, text=remark.text))


def _worst(endings: Sequence[Ending]) -> Ending:
    order: tuple[Ending, ...] = ("interrupted", "failed", "running", "not steady", "steady", "done")
    return min(endings, key=order.index)
