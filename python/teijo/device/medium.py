"""What a session is opened on: something with blocks, claimed. A device, a file, or several."""

from typing import Protocol

from teijo.device.health.drive_log import LogReader
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.watched import Moved, unwatched
from teijo.engine.plan import Layout
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, PurgeResult
from teijo.terms.remark import Remark


class Medium(Protocol):
    """Something with blocks, ours until `release` or `abandon`."""

    identity: Identity
    geometry: Geometry

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The open descriptors, in the order of `layout`."""
        ...

    @property
    def layout(self) -> Layout:
        """How the address space lies over the descriptors."""
        ...

    def remarks(self) -> tuple[Remark, ...]:
        """Return what must be said of every run on it."""
        ...

    def free_counters(self) -> FreeCounters:
        """Return the counters that cost nothing to read; as `Device.free_counters`."""
        ...

    def asked_counters(self) -> AskedCounters:
        """Ask it for its own counters; as `Device.asked_counters`."""
        ...

    def log_reader(self) -> LogReader | None:
        """Return what reads its log; as `Device.log_reader`."""
        ...

    def purge(self, moved: Moved = unwatched, method: str = AUTO) -> PurgeResult | None:
        """Return how it was purged, or None where it cannot be; errors as `Device.purge`."""
        ...

    def check(self) -> None:
        """Make sure it is still what was opened; errors as `Device.check`."""
        ...

    def release(self) -> None:
        """Give up the claim at the end of a run."""
        ...

    def abandon(self) -> None:
        """Give up the claim before anything was measured, and remove what was made for it."""
        ...
