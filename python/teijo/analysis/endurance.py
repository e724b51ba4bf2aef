"""How much may be written to a drive in its life: rated, or inferred from what it counts itself."""

from dataclasses import dataclass

from teijo.terms.result import Health
from teijo.units import TERA

PERCENT_LEAST = 1
PERCENT_MOST = 254
"""NVMe counts to 255 and stays there (base specification, SMART log, Percentage Used)."""


@dataclass(frozen=True, kw_only=True)
class Endurance:
    """Terabytes written (TBW) that a drive is rated for, in bytes.

    `low_bytes` and `high_bytes` are the ends of what it may be; equal where it is rated. `source`
    says where it is from.
    """

    rated_bytes: int
    low_bytes: int
    high_bytes: int
    source: str

    def share(self, written_bytes: int) -> float:
        """Return which share of the rated endurance a write of so many bytes takes."""
        return written_bytes / self.rated_bytes


def endurance_told(rated_bytes: int) -> Endurance:
    """Return the endurance of a data sheet, as a person stated it."""
    assert rated_bytes > 0, rated_bytes
    return Endurance(
        rated_bytes=rated_bytes, low_bytes=rated_bytes, high_bytes=rated_bytes, source="as told"
    )


def endurance_from(health: Health) -> Endurance | None:
    """Return what a drive's counters imply: bytes written by the share of its life they took.

    Percentage Used is a vendor's estimate in whole percents, rounded down or to the nearest: p
    stands for anything from p − 0.5 up to p + 1. None where either counter is missing, below one
    percent, and where the percents have run out.
    """
    written, percent = health.get("host_writes_bytes"), health.get("percentage_used")
    # At 255 the counter has stopped while writes go on; at 0 there is nothing to divide by.
    if not written or percent is None or not PERCENT_LEAST <= percent <= PERCENT_MOST:
        return None
    return Endurance(
        rated_bytes=written * 100 // percent,
        low_bytes=written * 100 // (percent + 1),
        high_bytes=written * 200 // (2 * percent - 1),  # 100 / (p − 0.5)
        source=f"estimated from {percent} % used after {written / TERA:.3g} TB written",
    )
