"""Write amplification by a drive's own counters, and how finely those counters can tell it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.analysis.measures import HOST_WRITES
from teijo.terms.reading import Reading
from teijo.units import NVME_DATA_UNIT

MEDIA_WRITES: Final = "media_writes_bytes"
"""What reached the flash, of an NVMe drive with OCP's log C0h."""
UNITS_LEAST: Final = 10
"""Fewer units of the host's counter leave more than 10 % of doubt: no number is told."""


@dataclass(frozen=True, kw_only=True)
class Amplification:
    """Bytes of the media by bytes of the host, between the readings of a run.

    The host's are known to `doubt_bytes` either way.
    """

    host_bytes: int
    media_bytes: int
    doubt_bytes: int

    @property
    def is_known(self) -> bool:
        """Whether enough was written for the counters to tell it."""
        return self.media_bytes >= 0 and self.host_bytes >= UNITS_LEAST * self.doubt_bytes

    @property
    def value(self) -> float:
        """The ratio itself; only where it is known."""
        return self.media_bytes / self.host_bytes

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that it may be; only where it is known."""
        least = self.media_bytes / (self.host_bytes + self.doubt_bytes)
        return least, self.media_bytes / (self.host_bytes - self.doubt_bytes)


def amplification(sessions: Sequence[Sequence[Reading]]) -> Amplification | None:
    """Return it over pieces of a run in which the drive was watched without a gap.

    None where the drive does not tell both counters, at two moments of a piece at least.
    """
    host = media = pieces = 0
    for readings in sessions:
        told = [
            each.counters for each in readings if {HOST_WRITES, MEDIA_WRITES} <= {*each.counters}
        ]
        if len(told) < 2:
            continue
        host += told[-1][HOST_WRITES] - told[0][HOST_WRITES]
        media += told[-1][MEDIA_WRITES] - told[0][MEDIA_WRITES]
        pieces += 1
    if not pieces:
        return None
    # Of each piece the first and the last count may be up to a unit too high.
    return Amplification(host_bytes=host, media_bytes=media, doubt_bytes=pieces * NVME_DATA_UNIT)
