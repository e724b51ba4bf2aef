"""What a purge reaches beside its target: claimed before anything is sent, held until its end."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from teijo.device.checks import Subject
from teijo.device.preflight import claim, examine, refuse
from teijo.errors import UnsafeError


@contextmanager
def held(subject: Subject, names: Sequence[str]) -> Iterator[None]:
    """Have these devices for us alone, each after every check that the target went through.

    Raises:
        teijo.errors.UnsafeError: a check refuses one, or it is of another drive; nothing was sent.
        teijo.errors.TargetError: one cannot be opened.
    """
    with ExitStack() as held_until_here:
        reports = []
        for name in names:
            other = claim(
                subject.roots.dev / name, write=True, results=subject.results, roots=subject.roots
            )
            held_until_here.callback(os.close, other.fd)
            if other.found.own_serial != subject.found.own_serial:
                raise UnsafeError(
                    f"{other.target} is not of the drive of {subject.target} any more; nothing was "
                    "sent",
                    remedy="Look which drive this is: nvme list -v.",
                )
            reports.append((other, examine(other)))
        refuse(*reports)
        yield
