"""Is a drive fit to be measured, by its own word? A failing one is refused, others are remarked.

Health that cannot be read is unknown: it refuses nothing, and it is recorded as unknown.
"""

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.health.asked import opening_condition
from teijo.device.health.tiers import OpeningCondition
from teijo.document.phrase import say
from teijo.errors import UnsafeError
from teijo.terms.drive_warning import MEANINGS, REFUSING, DriveWarning
from teijo.terms.remark import Remark, RemarkKind

OPTION: Final = "--accept-warning"
IN_VAIN: Final = "accepted, and the drive does not say so"


@dataclass(frozen=True, kw_only=True)
class Fitness:
    """What a drive says of itself, and which of it was accepted."""

    condition: OpeningCondition
    accepted: frozenset[DriveWarning] = frozenset()

    @property
    def facts(self) -> dict[str, str]:
        """What is kept in the record, a line each."""
        in_vain = sorted(self.accepted - set(self.condition.warnings or ()))
        facts = {"health": self.condition.text}
        return facts | ({IN_VAIN: ", ".join(in_vain)} if in_vain else {})

    def remarks(self) -> tuple[Remark, ...]:
        """Return a remark for each warning, an accepted one too."""
        return tuple(
            Remark(
                kind=RemarkKind.DRIVE_WARNS,
                text=say(
                    "the drive says {name} before the run: {meaning}",
                    name=warning.value,
                    meaning=MEANINGS[warning],
                ),
            )
            for warning in self.condition.warnings or ()
        )


def look(subject: Subject) -> OpeningCondition:
    """Return what a claimed drive says of itself; one that went away says nothing."""
    try:
        return opening_condition(subject.fd, subject.roots)
    except OSError as error:
        why = error.strerror or errno.errorcode.get(error.errno or 0, "no answer")
        return OpeningCondition(warnings=None, told_by=why)


def fit(subjects: Sequence[Subject], accepted: frozenset[DriveWarning]) -> tuple[Fitness, ...]:
    """Return what each drive says of itself, where none says that it fails.

    Raises:
        teijo.errors.UnsafeError: one does, and that was not accepted by name.
    """
    # All are asked before one refuses, so that each failing drive is named.
    seen = tuple(look(subject) for subject in subjects)
    causes, named = [], set()
    for subject, one in zip(subjects, seen, strict=True):
        failing = [each for each in one.warnings or () if each in REFUSING - accepted]
        named.update(failing)
        if failing:
            said = ", ".join(f"{each} ({MEANINGS[each]})" for each in failing)
            causes.append(f"{subject.target} says of itself: {said}")
    if causes:
        raise UnsafeError(
            "; ".join(causes) + ". Nothing was written",
            remedy="Save what it holds and replace it. To measure it all the same: "
            f"{OPTION} {','.join(sorted(named))}",
        )
    return tuple(Fitness(condition=one, accepted=accepted) for one in seen)
