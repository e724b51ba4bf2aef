"""What is read of a drive while a run goes on: the NVMe log 02h, and OCP's C0h where there is one.

Only NVMe drives are asked: a drive on SATA empties its queue to answer, which a measurement shows.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from teijo.analysis.throttling import LIMIT
from teijo.device.commands import nvme
from teijo.device.health.reading import kind_of, read_counters, read_vendor
from teijo.device.smart import HOTTEST

LogReader = Callable[[], Mapping[str, int]]
"""Asks a drive once. It may raise an OSError: the drive refused, or is gone."""

_WARNING_LIMIT: Final = slice(266, 268)
"""Of Identify Controller: WCTEMP in kelvins, 0 where the drive does not tell it."""


def log_reader(fd: int) -> LogReader | None:
    """Return what reads the logs of the NVMe drive under a descriptor; None where there is none.

    What does not change, and whether the drive has OCP's log, is asked once, here.
    """
    try:
        if kind_of(fd) != "nvme":
            return None
    except OSError:
        return None
    limit, has_vendor = 0, False
    with suppress(OSError):
        told = nvme.identify(fd, structure=1, number=0)
        limit = int.from_bytes(told[_WARNING_LIMIT], "little")
    with suppress(OSError):
        read_vendor(fd)
        has_vendor = True
    constant = {LIMIT: limit} if 0 < limit <= HOTTEST else {}

    def read() -> Mapping[str, int]:
        vendor = read_vendor(fd).counts if has_vendor else {}
        return {**read_counters(fd).counts, **vendor, **constant}

    return read
