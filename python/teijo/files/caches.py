"""Empties the page cache of the host, as `echo 3 > /proc/sys/vm/drop_caches` does."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from teijo.errors import HostError

_SWITCH: Final = Path("/proc/sys/vm/drop_caches")
_LOOK_S: Final = 0.1


def drop_caches(look: Callable[[], bool], switch: Path = _SWITCH) -> None:
    """Write back what is dirty and empty the caches; `look` may end the wait for that.

    Raises:
        HostError: this program may not do that.
    """
    try:
        # Without O_CREAT and O_TRUNC: it is there, or it is not.
        descriptor = os.open(switch, os.O_WRONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _kept(switch, error) from error
    failed: list[OSError] = []

    def drop() -> None:
        try:
            os.sync()
            os.write(descriptor, b"3")
        except OSError as error:
            failed.append(error)
        finally:
            os.close(descriptor)

    # A device that does not answer holds it for ever, and must not hold the run.
    thread = threading.Thread(target=drop, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
        if thread.is_alive() and not look():
            return
    if failed:
        raise _kept(switch, failed[0]) from failed[0]


def _kept(switch: Path, error: OSError) -> HostError:
    return HostError(
        f"The page cache cannot be emptied: {switch}: {error.strerror}.",
        remedy="Run as root, outside of a container, or leave the caches as they are.",
    )
