"""What a person gives up for a run that purges: every victim of its method, before a file is made.

So a run file is not even begun where a second namespace was not named, is in use, or is none.
"""

from collections.abc import Sequence

from teijo.device.checks import Subject
from teijo.device.preflight import Preflight, consent_to_all
from teijo.device.purging import ladder, others
from teijo.device.purging.offer import Offer
from teijo.errors import UnsafeError


def consent_to_run(
    subjects: Sequence[Subject], destroy: str | None, method: str
) -> tuple[Preflight, ...]:
    """Return the passed preflights of devices that a run writes to and purges by this method.

    Raises:
        teijo.errors.UnsafeError: a check refuses one of them or what is purged with it, the method
            is refused, or not all that is lost was named, or more.
        teijo.errors.TargetError: one of them has no such method.
    """
    offers = tuple(ladder.wanted(subject, method) for subject in subjects)
    also = dict.fromkeys(one for offer in offers if offer for one in offer.victims)
    passed = consent_to_all(subjects, destroy, also=tuple(also))
    for subject, offer, report in zip(subjects, offers, passed, strict=True):
        if offer is not None:
            ladder.check_given(subject, offer, report.given)
            _tell_apart(subject, offer, subjects)
            with others.held(subject, offer):
                pass  # each is claimed anew when the purge comes
    return passed


def _tell_apart(subject: Subject, offer: Offer, subjects: Sequence[Subject]) -> None:
    """Make sure that a purge of one member does not take another one, which is held.

    Raises:
        teijo.errors.UnsafeError: it does.
    """
    reached = {*offer.others, *offer.beside}
    both = [one.target for one in subjects if one.found.node.name in reached]
    if both:
        raise UnsafeError(
            f"{offer.title} of {subject.target} reaches {', '.join(both)}, which is of the same "
            "drive and of the same target",
            remedy="Purge the drive first (teijo purge), and run with --set purge=none.",
        )
