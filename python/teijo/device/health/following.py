"""A drive asked again and again by a person who watches it: one look an interval, never more."""

import errno
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from teijo.device.checks import Subject
from teijo.device.drive.portrait import PATIENCE_NS
from teijo.device.health.drive_log import LogReader, log_reader
from teijo.device.watched import watched
from teijo.errors import DeviceError
from teijo.outside.text import shell_path
from teijo.terms.reading import MOST, Reading
from teijo.units import NS_PER_S

Answer = TypeVar("Answer")
LEAST_NS: Final = NS_PER_S
"""A drive is asked no more often: what it answers costs it time."""
_GONE: Final = frozenset({errno.ENODEV, errno.ENXIO})


def follow(
    subject: Subject,
    interval_ns: int,
    *,
    rest: Callable[[float], None] = time.sleep,
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> Iterator[Reading]:
    """Yield what a drive tells, at once and then each interval, for as long as somebody takes it.

    Looks are due at whole intervals since the first; one that took longer leaves the next out. What
    the drive does not answer is a reading with its error.

    Raises:
        teijo.errors.DeviceError: it tells no log, or it is gone.
        teijo.errors.StuckDevice: it does not answer.
    """
    read = _asked(subject, lambda: log_reader(subject.fd))
    if read is None:
        raise DeviceError(
            f"{subject.target} tells no log that can be watched",
            remedy=f"See what it tells at all: teijo health {shell_path(subject.target)}",
        )
    began_ns, number = now_ns(), 0
    while True:
        yield _look(subject, read, began_ns=began_ns, number=number, now_ns=now_ns)
        number += 1
        passed_ns = now_ns() - began_ns
        number = max(number, -(-passed_ns // interval_ns))
        rest(max(0, number * interval_ns - passed_ns) / NS_PER_S)


def _look(
    subject: Subject, read: LogReader, *, began_ns: int, number: int, now_ns: Callable[[], int]
) -> Reading:
    at_ns = now_ns() - began_ns
    try:
        told, error = dict(_asked(subject, read)), ""
    except OSError as refusal:
        if refusal.errno in _GONE:
            raise DeviceError(
                f"{subject.target} went away: {refusal.strerror}",
                remedy="Look at its cable and at dmesg.",
            ) from refusal
        told, error = {}, refusal.strerror or str(refusal)
    return Reading(
        step=number,
        at_ns=at_ns,
        cost_ns=now_ns() - began_ns - at_ns,
        counters={name: count for name, count in told.items() if 0 <= count <= MOST},
        error=error,
    )


def _asked(subject: Subject, question: Callable[[], Answer]) -> Answer:
    return watched(
        lambda _moved: question(),
        what=f"What {subject.target} was asked of its health",
        silence_ns=PATIENCE_NS,
    )
