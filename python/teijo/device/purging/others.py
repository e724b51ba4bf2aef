"""What a purge reaches beside its target: claimed before anything is sent, held until its end.

What it should not reach, by the word of a drive that may lie, is held as well, and only looked at.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from teijo.device.checks import CHECKS, Subject
from teijo.device.preflight import claim, examine, refuse
from teijo.device.purging.offer import Offer
from teijo.errors import UnsafeError

IN_USE: Final = ("claim", "stack", "mounts", "swap", "openers")
"""The checks of what is not to be lost: it must be in nobody's use, and may hold something."""
_LISTERS: Final = {"nvme": "nvme list -v", "sd": "lsblk -d -o NAME,TRAN,HCTL,SERIAL,WWN"}
"""What tells a person which device is which drive, by the beginning of the kernel's name."""


@contextmanager
def held(subject: Subject, offer: Offer) -> Iterator[tuple[Subject, ...]]:
    """Have all that a purge may reach for us alone; give what it says it keeps.

    What is lost goes through every check that the target went through.

    Raises:
        teijo.errors.UnsafeError: a check refuses one, or it is of another drive; nothing was sent.
        teijo.errors.TargetError: one cannot be opened.
    """
    with ExitStack() as held_until_here:
        reports, beside = [], []
        for name in (*offer.others, *offer.beside):
            other = claim(
                subject.roots.dev / name, write=True, results=subject.results, roots=subject.roots
            )
            held_until_here.callback(os.close, other.fd)
            check_of_one_drive(subject, other)
            if name in offer.beside:
                beside.append(other)
            reports.append((other, examine(other, IN_USE if name in offer.beside else CHECKS)))
        refuse(*reports)
        yield tuple(beside)


def check_of_one_drive(subject: Subject, other: Subject) -> None:
    """Make sure that what is claimed beside a target is of its drive.

    Raises:
        teijo.errors.UnsafeError: it is another's by now.
    """
    if other.found.own_serial != subject.found.own_serial:
        raise UnsafeError(
            f"{other.target} is not of the drive of {subject.target} any more; nothing was sent",
            remedy=f"Look which drive this is: {_lister(other)}.",
        )


def _lister(subject: Subject) -> str:
    name = subject.found.node.name
    known = (command for begin, command in _LISTERS.items() if name.startswith(begin))
    return next(known, "lsblk -d -o NAME,SERIAL")
