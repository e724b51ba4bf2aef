"""The ways to purge in order, and the one course that all of them take.

The course: what is in use is asked again, the drive offers, consent covers every victim, stamps are
written, the method is carried out, and the stamps are looked for.
"""

import time
from collections.abc import Sequence
from typing import Final

from teijo.device import serial
from teijo.device.checks import Subject
from teijo.device.preflight import confirm
from teijo.device.presence import check_present
from teijo.device.purging import nvme_format, nvme_sanitize, others, verify
from teijo.device.purging.discard import Discard
from teijo.device.purging.offer import Certified, Method, NotOffered, Offer
from teijo.device.watched import Moved, unwatched
from teijo.errors import DeviceError, TargetError, UnsafeError
from teijo.outside.text import shell_path
from teijo.terms.purge import AUTO, DISCARD, NONE, PurgeResult

LADDER: Final[tuple[Method, ...]] = (
    nvme_sanitize.BLOCK,
    nvme_sanitize.CRYPTO,
    nvme_sanitize.OVERWRITE,
    nvme_format.USER_DATA,
    nvme_format.CRYPTO,
    Discard(),
)
AUTOMATIC: Final = ("nvme-format", DISCARD)
"""What `auto` tries, in this order; everything else only by name."""


def offers(subject: Subject) -> tuple[Offer, ...]:
    """Return what this drive can be purged by; nothing is written.

    Raises:
        teijo.errors.UnsafeError: its controller is another drive's.
    """
    found = (method.offer(subject) for method in LADDER)
    return tuple(offer for offer in found if offer is not None)


def victims(subject: Subject, method: str) -> tuple[str, ...]:
    """Return the serials of all that a method by its name takes with it; of `auto` none.

    Raises:
        teijo.errors.UnsafeError: its controller is another drive's.
    """
    found = (way.offer(subject) for way in LADDER if way.name == method)
    return tuple(victim for offer in found if offer is not None for victim in offer.victims)


def purge(
    subject: Subject, method: str = AUTO, *, given: Sequence[str] = (), moved: Moved = unwatched
) -> PurgeResult | None:
    """Purge a device that preflight passed; None where `auto` finds no way, or the drive ignored
    the discard. `given` are the serials that a person gave up. `moved` hears of all that came back.

    Raises:
        teijo.errors.TargetError: the drive has no such method.
        teijo.errors.UnsafeError: it is in use by now, it is another drive's controller, or
            something would be lost that nobody gave up; nothing was written.
        teijo.errors.IdentityError: another device took its place; the rest was not purged.
        teijo.errors.DeviceError: the purge failed; the message says what is left.
    """
    if method == NONE:
        return None
    confirm(subject)
    chosen = [(way, offer) for way in LADDER if (offer := _chosen(way, subject, method))]
    for way, offer in chosen:
        _check_consent(subject, offer, given)
        try:
            # All of them are ours until it ended, and the stamps come after that was proven.
            with others.held(subject, offer.others):
                return _carry_out(way, offer, subject, moved)
        except NotOffered:
            continue
    if method == AUTO:
        return None
    raise TargetError(
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
    if offer is None or not offer.refusal:
        return offer
    if method == AUTO:
        return None
    raise UnsafeError(
        f"{subject.target} is not purged by {method}: {offer.refusal}",
        remedy="Take another method, or purge=auto.",
    )


def _check_consent(subject: Subject, offer: Offer, given: Sequence[str]) -> None:
    missing = [victim for victim in offer.victims if not serial.is_named(victim, given)]
    if missing:
        raise UnsafeError(
            f"{offer.title} of {subject.target} would lose {', '.join(missing)} too, and nobody "
            "gave that up; nothing was sent",
            remedy=f"To lose all of it: teijo purge {shell_path(subject.target)} --method "
            f"{offer.method} {serial.typed(offer.victims)}",
        )


def _carry_out(way: Method, offer: Offer, subject: Subject, moved: Moved) -> PurgeResult | None:
    stamps = verify.stamp(subject, moved)
    began_ns = time.monotonic_ns()
    words = way.carry_out(subject, moved)
    elapsed_ns = time.monotonic_ns() - began_ns
    check_present(subject)
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
