"""The ways to purge in order, and the one course that all of them take.

The course: what is in use is asked again, the drive offers, consent covers every victim, stamps are
written, the method is carried out, the drive is asked who it is, and the stamps are looked for.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from teijo.device import serial
from teijo.device.checks import Subject
from teijo.device.open_changes import close
from teijo.device.preflight import confirm
from teijo.device.purging import (
    ata_sanitize,
    ata_security,
    earlier,
    nvme_format,
    nvme_sanitize,
    others,
    same_drive,
    scsi_format,
    scsi_sanitize,
    verify,
)
from teijo.device.purging.discard import Discard
from teijo.device.purging.offer import Certified, Method, NotOffered, Offer
from teijo.device.watched import Moved, unwatched
from teijo.errors import DeviceError, TargetError, UnsafeError
from teijo.terms.purge import AUTO, DISCARD, NONE, PurgeResult

LADDER: Final[tuple[Method, ...]] = (
    nvme_sanitize.BLOCK,
    nvme_sanitize.CRYPTO,
    nvme_sanitize.OVERWRITE,
    nvme_format.USER_DATA,
    nvme_format.CRYPTO,
    ata_sanitize.BLOCK,
    ata_sanitize.CRYPTO,
    ata_sanitize.OVERWRITE,
    ata_security.NORMAL,
    ata_security.ENHANCED,
    scsi_sanitize.BLOCK,
    scsi_sanitize.CRYPTO,
    scsi_sanitize.OVERWRITE,
    scsi_format.UNIT,
    Discard(),
)
AUTOMATIC: Final = ("nvme-format", DISCARD)
"""What `auto` tries, in this order; everything else only by name."""


def method_named(name: str) -> Method | None:
    """Return a method by its name; None of one that this version does not have."""
    return next((way for way in LADDER if way.name == name), None)


def offers(subject: Subject) -> tuple[Offer, ...]:
    """Return what this drive can be purged by; nothing is written.

    Raises:
        teijo.errors.UnsafeError: its controller is another drive's.
    """
    found = (method.offer(subject) for method in LADDER)
    return tuple(offer for offer in found if offer is not None)


def wanted(subject: Subject, method: str) -> Offer | None:
    """Return what a method by its name would do; None of `auto` and `none`: they take no more than
    the target.

    Raises:
        teijo.errors.TargetError: the drive has no such method.
        teijo.errors.UnsafeError: it is refused here and now, or its controller is another drive's.
    """
    if method in (AUTO, NONE):
        return None
    found = (_chosen(way, subject, method) for way in LADDER)
    offer = next((each for each in found if each is not None), None)
    if offer is None:
        raise _without(subject, method)
    return offer


def purge(
    subject: Subject,
    method: str = AUTO,
    *,
    given: Sequence[str] = (),
    moved: Moved = unwatched,
    takes_over: bool = False,
) -> PurgeResult | None:
    """Purge a device that preflight passed; None where `auto` finds no way, or the drive ignored
    the discard. `given` are the serials that a person gave up. `moved` hears of all that came back.
    `takes_over`: the result of an attempt before counts, where it is proven (`earlier.py`).

    Raises:
        teijo.errors.TargetError: the drive has no such method.
        teijo.errors.UnsafeError: it is in use by now, it is another drive's controller, or
            something would be lost that nobody gave up; nothing was written.
        teijo.errors.IdentityError: another device took its place, and the rest was not purged; or
            it came back from its purge as another drive, or in another shape.
        teijo.errors.DeviceError: the purge failed; the message says what is left.
    """
    if method == NONE:
        return None
    confirm(subject)
    chosen = [(way, offer) for way in LADDER if (offer := _chosen(way, subject, method))]
    for way, offer in chosen:
        check_given(subject, offer, given)
        try:
            # All of them are ours until it ended, and the stamps come after that was proven.
            with others.held(subject, offer) as beside:
                before = earlier.attempt(way, subject, moved) if takes_over else None
                if before is not None and before.looked is not None:
                    return _taken_over(way, offer, subject, before, before.looked)
                done = _carry_out(way, offer, subject, moved, beside)
                return replace(done, earlier=before.told) if done and before else done
        except NotOffered:
            continue
    if method == AUTO:
        return None
    raise _without(subject, method)


def _without(subject: Subject, method: str) -> TargetError:
    return TargetError(
        f"{subject.target} has no purge by {method}",
        remedy="Take another method, or purge=auto.",
    )


def _chosen(way: Method, subject: Subject, method: str) -> Offer | None:
    """Return what a way offers where it is the one that is asked for, or one that `auto` tries.

    Raises:
        teijo.errors.UnsafeError: it was asked for by name and is refused.
    """
    if way.name not in (AUTOMATIC if method == AUTO else (method,)):
        return None
    offer = way.offer(subject)
    if offer is not None and method == AUTO and (offer.refusal or reaches_further(offer)):
        return None
    if offer is None or not offer.refusal:
        return offer
    raise UnsafeError(
        f"{subject.target} is not purged by {method}: {offer.refusal}",
        remedy=offer.remedy or "Take another method, or purge=auto.",
    )


def reaches_further(offer: Offer) -> bool:
    """Return whether a way may reach more than its target: then only a person takes it, by name."""
    return bool(offer.others or offer.beside) or len(offer.victims) > 1


def check_given(subject: Subject, offer: Offer, given: Sequence[str]) -> None:
    """Make sure that a person gave up all that a purge takes.

    Raises:
        teijo.errors.UnsafeError: something was not named; nothing was sent.
    """
    missing = [victim for victim in offer.victims if not serial.is_named(victim, given)]
    if missing:
        raise UnsafeError(
            f"{offer.title} of {subject.target} would lose {', '.join(missing)} too, and nobody "
            "gave that up; nothing was sent",
            remedy=f"To lose all of it: {serial.typed(offer.victims)}",
        )


def _carry_out(
    way: Method, offer: Offer, subject: Subject, moved: Moved, beside: Sequence[Subject]
) -> PurgeResult | None:
    kept_beside = [(one, verify.sample(one)) for one in beside]
    was = same_drive.who_is(subject)
    stamps = verify.stamp(subject, moved)
    began_ns = time.monotonic_ns()
    words = way.carry_out(replace(subject, stamps=earlier.noted(stamps, was)), moved)
    elapsed_ns = time.monotonic_ns() - began_ns
    same_drive.check_same(subject, was)
    _check_kept(subject, words, kept_beside)
    looked = verify.look(subject, stamps, moved)
    kept = len(stamps) - looked.gone
    claimed = way.name == DISCARD
    if kept and not claimed:
        raise DeviceError(
            f"{subject.target}: {words} returned without error, and {kept} of {len(stamps)} stamps "
            "are still there",
            remedy="The drive does not purge this way; use its maker's tool.",
        )
    if kept == len(stamps):
        return None  # a discard that is ignored, as a drive may, is no purge
    return PurgeResult(
        method=way.name,
        words=words,
        estimate_s=offer.seconds,
        elapsed_ns=elapsed_ns,
        stamps_written=len(stamps),
        stamps_gone=looked.gone,
        zeros=looked.zeros,
        ones=looked.ones,
        certificate=way.certificate(subject) if isinstance(way, Certified) else "",
        claimed=claimed,
    )


def _taken_over(
    way: Method, offer: Offer, subject: Subject, before: earlier.Attempt, looked: verify.Looked
) -> PurgeResult:
    result = PurgeResult(
        method=way.name,
        words=offer.title,
        estimate_s=offer.seconds,
        stamps_written=looked.gone,
        stamps_gone=looked.gone,
        zeros=looked.zeros,
        ones=looked.ones,
        certificate=way.certificate(subject) if isinstance(way, Certified) else "",
        earlier=before.told,
    )
    close(before.change)
    return result


def _check_kept(
    subject: Subject, words: str, beside: Sequence[tuple[Subject, tuple[bytes, ...]]]
) -> None:
    """Make sure that what the drive said it keeps reads as before.

    Raises:
        teijo.errors.DeviceError: it does not: the drive's word was wrong, and that is lost.
    """
    lost = [one.target for one, was in beside if verify.sample(one) != was]
    if lost:
        raise DeviceError(
            f"{subject.target}: {words} reached {', '.join(lost)} too, which the drive had said it "
            "keeps (FNA): what was there is lost",
            remedy="Restore it from its backup, and tell the drive's maker. Purge this drive as a "
            "whole from now on.",
        )
