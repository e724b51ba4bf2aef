"""A device looked at: all that `teijo device` and `teijo health` tell of it, asked once."""

from contextlib import closing
from dataclasses import dataclass

from teijo.api.crystaldiskinfo import Original, original_disk, original_verdict
from teijo.device import Inspection, inspect_target, open_target, survey
from teijo.device.health.report import HealthReport, health_report, told
from teijo.device.target import BlockTarget, parse_target
from teijo.device.watched import SILENCE_NS, watched
from teijo.errors import TeijoError
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.remark import Remark


@dataclass(kw_only=True)
class Look:
    """What is known of a device. `trouble` is why nothing more is, or no health is: a drive that
    does not answer, or a device that has none.

    `seen` is None of a simulated device, and of one that cannot be opened; then `identity` is
    None as well. `original` is CrystalDiskInfo's verdict.
    """

    target: str
    identity: Identity | None = None
    geometry: Geometry | None = None
    seen: Inspection | None = None
    remarks: tuple[Remark, ...] = ()
    health: HealthReport | None = None
    original: Original | None = None
    trouble: TeijoError | None = None


def look(target: str, *, silence_ns: int = SILENCE_NS) -> Look:
    """Return what is known of a block device or a simulated one. Nothing is written.

    A block device is claimed for the moment, as by `teijo device`. One that does not come back for
    `silence_ns` is left to itself. No error is raised: it stands in the answer.
    """
    found = Look(target=target)
    try:
        # In a thread that can be left: to close what hangs would hang as well.
        return watched(
            lambda _: _looked(target),
            what=f"What {target} was asked of itself",
            silence_ns=silence_ns,
        )
    except TeijoError as error:
        found.trouble = error
    return found


def _looked(target: str) -> Look:
    named = parse_target(target, makes=False)
    found = Look(target=target)
    if isinstance(named, BlockTarget):
        found.seen = inspect_target(named)
        found.identity, found.geometry = found.seen.identity, found.seen.geometry
    else:
        with closing(open_target(survey(named), write=False)) as opened:
            found.identity, found.geometry = opened.identity, opened.geometry
            found.remarks = tuple(opened.remarks())
    try:
        found.health = _health(target, found.seen)
        found.original = original_verdict(original_disk(target, found.health))
    except TeijoError as error:
        found.trouble = error
    return found


def _health(target: str, seen: Inspection | None) -> HealthReport:
    """Return the health of a device as it was seen, or where it was not, as it is asked."""
    # A drive that does not answer is not asked again.
    if seen is not None and seen.drive is not None and seen.drive.portrait.stuck is not None:
        raise seen.drive.portrait.stuck
    if seen is None or seen.health is None:
        return health_report(target)
    return told(seen.health)
