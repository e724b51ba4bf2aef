"""Asking again for a moment: a device is not always free the instant its last user ended."""

import time
from collections.abc import Callable
from typing import TypeVar

Got = TypeVar("Got")
PAUSE_SECONDS = 0.01


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
