"""Waiting: for a device that is not free the instant its last user ended, and while one rests."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from teijo.units import NS_PER_S

Got = TypeVar("Got")
PAUSE_SECONDS: Final = 0.01
LOOK_UP_NS: Final = NS_PER_S // 10


def retry_for(attempt: Callable[[], Got], *, errors: frozenset[int], seconds: float) -> Got:
    """Return what `attempt` returns, asking again while it fails with one of the errors.

    The ring (io_uring) of a process that ended lets go of its files a little later, and udev
    looks at each device for a moment after it changed.

    Raises:
        OSError: the last one, when the time is over.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except OSError as error:
            if error.errno not in errors or time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_SECONDS)


def rest(duration_ns: int, look: Callable[[], None]) -> None:
    """Wait in real time; `look` is called several times a second and may end it by an exception."""
    until_ns = time.monotonic_ns() + duration_ns
    while (left_ns := until_ns - time.monotonic_ns()) > 0:
        time.sleep(min(left_ns, LOOK_UP_NS) / NS_PER_S)
        look()
